import { expect, test } from "vitest";
import { aClaim, aNode, anAction, aPool, at, aWorld } from "../../test/builders.ts";
import type { Command } from "../decide/decision.ts";
import type { Measured } from "./families.ts";
import { Metrics } from "./metrics.ts";

const picture = aWorld({
  nodes: [aNode("a"), aNode("b")],
  claims: [aClaim("a", { pool: "web" }), aClaim("b", { pool: "web" })],
  pools: [
    aPool("web", {
      spec: { limits: { cpu: "100", memory: "1Gi" } },
      status: { nodes: 2, resources: { cpu: "7500m" } },
    }),
  ],
  actions: [anAction("x"), anAction("y", { node: "b", phase: "Done" })],
});

function measured(more: Partial<Measured> = {}): Measured {
  return {
    picture,
    counts: {
      turns: 3,
      asked: 40,
      withheld: 2,
      ruleFailures: 1,
      commands: new Map([
        ["evict-pod done", 4],
        ["evict-pod retry", 1],
      ]),
      refusals: new Map([["frozen", 5]]),
      events: { written: 6, dropped: 0 },
    },
    runningCount: 1,
    waitingCount: 0,
    epoch: 7,
    refusals: () => [{ subject: "cluster", code: "frozen", message: "", liftedBy: "" }],
    ...more,
  };
}

const watches = [
  { resource: "nodes", isSynced: true, ageMs: 1500 },
  { resource: "pods", isSynced: false, ageMs: 250 },
];

function metrics(now = measured()) {
  return new Metrics({ version: "1.2.3", measured: () => now, watches: () => watches });
}

const linesOf = async (from: Metrics) => (await from.text()).text.split("\n").filter(line => !line.startsWith("#"));

test.each([
  "karpenter_cluster_state_node_count 2",
  "karpenter_cluster_state_synced 0",
  'karpenter_nodepools_limit{nodepool="web",resource_type="memory"} 1073741824',
  'karpenter_nodepools_usage{nodepool="web",resource_type="cpu"} 7.5',
  "fettle_departures 1",
  'fettle_actions{action="Deletion",phase="Running"} 1',
  'fettle_actions{action="Deletion",phase="Done"} 1',
  "fettle_picture_stale 0",
  "fettle_leader 1",
  "fettle_commands_running 1",
  "fettle_commands_withheld_total 2",
  "fettle_subjects_asked_total 40",
  "fettle_rule_failures_total 1",
  'fettle_commands_total{kind="evict-pod",result="done"} 4',
  'fettle_refusals_total{code="frozen"} 5',
  'fettle_refusals{code="frozen"} 1',
  'fettle_events_total{result="written"} 6',
  'fettle_watch_age_seconds{resource="nodes"} 1.5',
  'fettle_build_info{version="1.2.3"} 1',
])("%s", async line => {
  expect(await linesOf(metrics())).toContain(line);
});

test("asked twice, nothing is counted twice, and what has gone is gone", async () => {
  let now = measured();
  const from = new Metrics({ version: "1", measured: () => now, watches: () => watches });
  expect(await linesOf(from)).toEqual(await linesOf(from));
  now = measured({ refusals: () => [], epoch: undefined });
  const lines = await linesOf(from);
  expect(lines).toContain("fettle_leader 0");
  expect(lines.filter(line => line.startsWith("fettle_refusals{"))).toEqual([]);
});

test("turns are measured in seconds", async () => {
  const from = metrics();
  from.turned(4);
  from.turned(300);
  const lines = await linesOf(from);
  expect(lines).toContain('fettle_turn_duration_seconds_bucket{le="0.0025"} 0');
  expect(lines).toContain('fettle_turn_duration_seconds_bucket{le="0.005"} 1');
  expect(lines).toContain("fettle_turn_duration_seconds_count 2");
});

test("lives are counted when the command has ended well, as it was when it was decided", async () => {
  const from = metrics();
  const change = { removeFinalizers: ["karpenter.sh/termination"] };
  const command: Command = { kind: "update-node", node: { name: "a", uid: "a-uid" }, change, why: "" };
  const decided = { at: at("1h"), event: "decided", rule: "termination", subject: "claim/a", command } as const;
  const count = 'karpenter_nodes_terminated_total{nodepool="web"}';
  from.record(decided, picture);
  from.record({ at: at("1h"), event: "ended", command, outcome: { result: "stale" } }, picture);
  expect((await linesOf(from)).filter(line => line.startsWith(count))).toEqual([]);
  from.record({ at: at("1h"), event: "ended", command, outcome: { result: "done" } }, aWorld());
  const lines = await linesOf(from);
  expect(lines).toContain(`${count} 1`);
  expect(lines).toContain('karpenter_nodes_lifetime_duration_seconds_sum{nodepool="web"} 3600');
});
