import { expect, test } from "vitest";
import { aNode, at } from "../../test/builders.ts";
import { aCheck, aCheckContext, aRemediation, apiVersion, resourceOf } from "../../test/check-builders.ts";
import type { NodeHealthCheckStatus } from "../api/node-health-check.ts";
import { formatTime } from "../api/time.ts";
import type { Command, Refusal } from "../decide/decision.ts";
import { Metrics } from "./metrics.ts";

const condition = (type: string, word: "True" | "False") => ({
  type,
  status: word,
  reason: "Said",
  message: "",
  lastTransitionTime: formatTime(at("1h")),
});
const storm = [condition("StormActive", "True"), condition("StormCooldownActive", "False")];
const status: NodeHealthCheckStatus = {
  phase: "Remediating",
  conditions: [...storm, condition("NoTemplateLeft", "True")],
};
const web = aCheck("web", { status });
const { picture } = aCheckContext({
  checks: [web, aCheck("other", { spec: { selector: { matchLabels: { nobody: "has-this" } } } })],
  nodes: [aNode("a", { ready: "Unknown" }), aNode("b", { ready: "Unknown" }), aNode("c")],
  remediations: [
    aRemediation({ of: web, on: "a", createdAt: at("1h") }),
    aRemediation({ of: web, on: "gone", kind: "WipeRemediation", createdAt: at("50h") }),
  ],
});

const refused = (subject: Refusal["subject"], code: string, check?: string): Refusal => {
  return { subject, ...(check === undefined ? {} : { check }), code, message: "", liftedBy: "" };
};
const refusals = [
  refused("node/b", "too-many-unhealthy", "web"),
  refused("node/a", "no-template-left", "web"),
  refused("node/b", "tolerated", "web"),
  // What holds every start holds those of checks.
  refused("node/b", "clock-off", "web"),
  refused("node/of-no-check", "paused"),
  // To its pool's repair, or to another check: nothing holds back the one that has the node.
  refused("node/a", "frozen"),
  refused("node/a", "lease-held", "second"),
  refused("check/web", "paused"),
];

const metrics = () =>
  new Metrics({
    version: "1.2.3",
    settings: { cluster: "c", dryRun: false, foreignClaims: "ignore" },
    now: () => at("49h"),
    watches: () => [],
    pause: async () => {},
    measured: () => ({
      picture,
      counts: {
        turns: 0,
        asked: 0,
        withheld: 0,
        ruleFailures: 0,
        commands: new Map(),
        refusals: new Map(),
        events: {},
      },
      runningCount: 0,
      waitingCount: 0,
      epoch: 1,
      health: { count: () => ({ nodes: 0, unhealthy: 0, byPolicy: new Map(), initialized: 0 }) },
      refusals: () => refusals,
    }),
  });

const linesOf = async (from: Metrics) =>
  (await from.text()).text
    .split("\n")
    .filter(line => line.startsWith("fettle_health_check") || line.startsWith("nodehealthcheck"));

test("how checks stand is told by check, cause and kind, and by no node", async () => {
  const lines = await linesOf(metrics());
  expect(lines).toEqual([
    'fettle_health_check_nodes{check="other",state="healthy"} 0',
    'fettle_health_check_nodes{check="other",state="not-healthy"} 0',
    'fettle_health_check_nodes{check="other",state="remediated"} 0',
    'fettle_health_check_nodes{check="web",state="healthy"} 1',
    'fettle_health_check_nodes{check="web",state="not-healthy"} 2',
    'fettle_health_check_nodes{check="web",state="remediated"} 2',
    'fettle_health_check_phase{check="web",phase="Remediating"} 1',
    'fettle_health_check_storm{check="other",state="active"} 0',
    'fettle_health_check_storm{check="other",state="cooling"} 0',
    'fettle_health_check_storm{check="web",state="active"} 1',
    'fettle_health_check_storm{check="web",state="cooling"} 0',
    'fettle_health_check_no_template_left{check="other"} 0',
    'fettle_health_check_no_template_left{check="web"} 1',
    'fettle_health_check_held_back{check="web",cause="too-many-unhealthy"} 1',
    'fettle_health_check_held_back{check="web",cause="no-template-left"} 1',
    'fettle_health_check_held_back{check="web",cause="clock-off"} 1',
    'fettle_health_check_held_back{check="second",cause="lease-held"} 1',
    'fettle_health_check_old_remediations{remediation="FenceRemediation"} 1',
    'nodehealthcheck_ongoing_remediation{remediation="FenceRemediation"} 1',
    'nodehealthcheck_ongoing_remediation{remediation="WipeRemediation"} 1',
  ]);
});

test("how long a remediation was there is counted when its deletion has ended well", async () => {
  const from = metrics();
  const resource = { ...resourceOf("FenceRemediation"), version: apiVersion.split("/")[1] ?? "" };
  const remediation = { resource, name: "a", namespace: "fencing", uid: "FenceRemediation-a-uid" };
  const command: Command = { kind: "delete-remediation", why: "", remediation };
  from.record({ at: at("2h"), event: "decided", rule: "checked-node", subject: "node/a", command }, picture);
  from.record({ at: at("2h"), event: "ended", command, outcome: { result: "done" } }, picture);
  expect(await linesOf(from)).toContain(
    'nodehealthcheck_unhealthy_node_duration_seconds_sum{remediation="FenceRemediation"} 3600',
  );
});
