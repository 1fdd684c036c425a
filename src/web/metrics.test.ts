import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aClaim, aNode, anAction, aPod, aPool, aSafetyPolicy, at, aWorld } from "../../test/builders.ts";
import type { Command } from "../decide/decision.ts";
import type { Measured } from "./measured.ts";
import { described, Metrics } from "./metrics.ts";
import { metricsPage } from "./metrics-page.ts";

const picture = aWorld({
  nodes: [
    aNode("a", {
      zone: "z1",
      labels: {
        "node.kubernetes.io/instance-type": "m",
        "karpenter.sh/capacity-type": "spot",
        "kubernetes.io/os": "linux",
      },
      allocatable: { cpu: "3900m" },
      capacity: { cpu: "4" },
    }),
    aNode("b", { ready: "Unknown", allocatable: {}, capacity: {} }),
    aNode("by-hand", { providerID: "", allocatable: {}, capacity: {} }),
  ],
  pods: [aPod("p", { on: "a" }), aPod("q", { on: "a" }), aPod("r", { phase: "Pending", isUnschedulable: true })],
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
    health: { count: () => ({ nodes: 20, unhealthy: 2, byPolicy: new Map(), initialized: 20 }) },
    refusals: () => [{ subject: "cluster", code: "frozen", message: "", liftedBy: "" }],
    ...more,
  };
}

const watches = [
  { resource: "nodes", isSynced: true, ageMs: 1500 },
  { resource: "pods", isSynced: false, ageMs: 250 },
];

const options = {
  version: "1.2.3",
  settings: { cluster: "c", dryRun: false, foreignClaims: "ignore" },
  now: () => at("1h"),
  watches: () => watches,
  pause: async () => {},
} as const;

function metrics(now = measured()) {
  return new Metrics({ ...options, measured: () => now });
}

const linesOf = async (from: Metrics) => (await from.text()).text.split("\n").filter(line => !line.startsWith("#"));

const ofA = 'node_name="a",nodepool="web",instance_type="m",capacity_type="spot",zone="z1",arch="",os="linux"';

test.each([
  "karpenter_cluster_state_node_count 3",
  `karpenter_nodes_allocatable{${ofA},resource_type="cpu"} 3.9`,
  `karpenter_nodes_current_lifetime_seconds{${ofA}} 3600`,
  'fettle_nodeclaims{nodepool="web",state="launched"} 2',
  'fettle_nodeclaims{nodepool="web",state="launching"} 0',
  'fettle_nodeclaims{nodepool="web",state="deleting"} 0',
  'fettle_nodes{nodepool="web",ready="True"} 1',
  'fettle_nodes{nodepool="web",ready="Unknown"} 1',
  'fettle_nodes{nodepool="",ready="True"} 1',
  'fettle_pods{phase="Running"} 2',
  'fettle_pods{phase="Pending"} 1',
  "karpenter_scheduler_queue_depth 3",
  "karpenter_scheduler_unschedulable_pods_count 0",
  "fettle_pods_expected 0",
  'fettle_cap_allowed{cap="repair.cluster",zone=""} 1',
  'fettle_cap_used{cap="repair.cluster",zone=""} 0',
  'fettle_cap_allowed{cap="repair.zone",zone="z1"} 1',
  'fettle_cap_allowed{cap="repair.perWindow",zone=""} 1',
  'fettle_dry_run{cause="flag"} 0',
  'fettle_dry_run{cause="safety-policy"} 0',
  'fettle_dry_run{cause="rival"} 0',
  "fettle_frozen 0",
  'karpenter_nodepools_allowed_disruptions{nodepool="web",reason="drifted"} 1',
  // What somebody deletes holds no repair at its pace.
  'karpenter_nodepools_allowed_disruptions{nodepool="web",reason="unhealthy"} 2',
  'karpenter_nodepools_nodes_consuming_budgets{nodepool="web",reason="deleted"} 1',
  'fettle_nodepools_sick_nodes{nodepool="web"} 2',
  'karpenter_voluntary_disruption_eligible_nodes{reason="drifted"} 0',
  'fettle_disruption_blocked_nodes{reason="expired"} 0',
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
  'fettle_refusals{code="frozen",kind="cluster"} 1',
  'fettle_events_total{result="written"} 6',
  'fettle_watch_age_seconds{resource="nodes"} 1.5',
  'fettle_build_info{version="1.2.3"} 1',
])("%s", async line => {
  expect(await linesOf(metrics())).toContain(line);
});

test("asked twice, nothing is counted twice, and what has gone is gone", async () => {
  let now = measured();
  const from = new Metrics({ ...options, measured: () => now });
  expect(await linesOf(from)).toEqual(await linesOf(from));
  now = measured({ refusals: () => [], epoch: undefined });
  const lines = await linesOf(from);
  expect(lines).toContain("fettle_leader 0");
  expect(lines.filter(line => line.startsWith("fettle_refusals{"))).toEqual([]);
});

test("what a node keeps for itself is the difference", async () => {
  const [line = ""] = (await linesOf(metrics())).filter(each => each.startsWith("karpenter_nodes_system_overhead{"));
  expect(Number(line.split(" ").at(-1))).toBeCloseTo(0.1);
});

test("who holds everything back is told", async () => {
  const held = aWorld({ safety: aSafetyPolicy({ dryRun: true, freeze: { reason: "the year ends" } }) });
  held.setRival({ holder: "karpenter-0", namespace: "karpenter" });
  const settings = { ...options.settings, dryRun: true };
  const lines = await linesOf(new Metrics({ ...options, settings, measured: () => measured({ picture: held }) }));
  for (const cause of ["flag", "safety-policy", "rival"]) expect(lines).toContain(`fettle_dry_run{cause="${cause}"} 1`);
  expect(lines).toContain("fettle_frozen 1");
});

test("pods are counted as they come, change and go", async () => {
  const world = aWorld({ pods: [aPod("p", { phase: "Pending" }), aPod("q")] });
  world.put("pod", aPod("p", { phase: "Running", startedAt: at("1s") }));
  world.remove("pod", aPod("q"));
  const lines = await linesOf(metrics(measured({ picture: world })));
  expect(lines).toContain('fettle_pods{phase="Running"} 1');
  expect(lines).toContain('fettle_pods{phase="Pending"} 0');
});

test("a repair under way uses up its caps", async () => {
  const repair = anAction("r", { node: "a", spec: { action: "Repair", zone: "z1" } });
  const world = aWorld({
    nodes: [aNode("a", { zone: "z1" })],
    claims: [aClaim("a", { zone: "z1" })],
    actions: [repair],
  });
  const lines = await linesOf(metrics(measured({ picture: world })));
  expect(lines).toContain('fettle_cap_used{cap="repair.cluster",zone=""} 1');
  expect(lines).toContain('fettle_cap_used{cap="repair.zone",zone="z1"} 1');
});

test("a cluster of 5,000 nodes is told in small steps, and others run in between", async () => {
  const names = Array.from({ length: 5_000 }, (_, index) => `n${index}`);
  const large = aWorld({
    nodes: names.map(name => aNode(name)),
    claims: names.map(name => aClaim(name, { pool: "web" })),
  });
  let looks = 0;
  let most = 0;
  const counting = new Proxy(large, {
    get: (target, key) => {
      const value = Reflect.get(target, key, target) as unknown;
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        looks++;
        return (value as (...given: unknown[]) => unknown).apply(target, args);
      };
    },
  });
  const pause = async () => {
    most = Math.max(most, looks);
    looks = 0;
  };
  const { text } = await new Metrics({ ...options, pause, measured: () => measured({ picture: counting }) }).text();
  expect(text.match(/^karpenter_nodes_allocatable\{/gm)).toHaveLength(15_000);
  expect(most).toBeGreaterThan(0);
  // Two look-ups a node, at most one node a step.
  expect(most).toBeLessThanOrEqual(2 * 100 + 20);
});

test("docs/metrics.md is the page of these metrics: npm run generate writes it", async () => {
  expect(readFileSync(join(import.meta.dirname, "../../docs/metrics.md"), "utf8")).toBe(metricsPage());
  const served = [...(await metrics().text()).text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => ({
    name,
    type,
  }));
  const told = described().map(({ name, type }) => ({ name, type }));
  expect(served.sort((a, b) => (`${a.name}` < `${b.name}` ? -1 : 1))).toEqual(told);
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
