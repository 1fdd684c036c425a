import { describe, expect, test } from "vitest";
import { aCondition, aNode, at } from "../../../test/builders.ts";
import { formatTime, type Instant, secondMs } from "../../api/time.ts";
import { laneOfRemediation } from "../lane.ts";
import type { RemediationView } from "../../snapshot/check-views.ts";
import type { ActionView, NodeView } from "../../snapshot/views.ts";
import {
  aCheck,
  aLease,
  aRemediation,
  type CheckWorld,
  commandsOf,
  resourceOf,
  someNodes,
  remediating,
  running,
  web,
  decideOn as decide,
  codesOn as codes,
} from "../../../test/check-builders.ts";

describe("recovery", () => {
  const well = someNodes(3, 0);
  const made = aRemediation({ of: web, on: "n0", createdAt: at("30m") });
  const world = (more: CheckWorld = {}): CheckWorld => ({
    nodes: well,
    actions: [running(web)],
    leases: [aLease("n0")],
    remediations: [made],
    ...more,
  });

  test("removes the remediation at once, by its uid", () => {
    const [command] = commandsOf(decide(world()), "delete-remediation");
    expect(command?.remediation).toEqual({
      resource: resourceOf("FenceRemediation"),
      name: "n0",
      namespace: "fencing",
      uid: made.uid,
    });
  });

  test("waits for the entry to know of what was made: whoever comes next could not tell that it ever was", () => {
    const unwritten = remediating(web, { phase: "Running", status: { startedAt: formatTime(at("30m")) } });
    const found = decide(world({ actions: [unwritten] }));
    expect(found.commands).toMatchObject([
      { kind: "update-action", progress: { steps: [{ name: "remediation-1", isFinished: false }] } },
    ]);
  });

  test("that cannot be carried out is said, on the entry too, and tried again", () => {
    const lane = laneOfRemediation(made);
    const failure = { at: at("59m"), retryAt: at("61m"), count: 3, reason: "InternalError", message: "etcd is full" };
    const found = decide(world({ failures: { [lane]: failure } }));
    const message = "FenceRemediation n0 could not be deleted: etcd is full";
    expect(found.refusals).toMatchObject([{ code: "write-failed", message, until: at("61m") }]);
    expect(found.commands).toMatchObject([
      { kind: "delete-remediation" },
      { kind: "update-action", progress: { waitingFor: { reason: "WriteFailed", message } } },
    ]);
  });

  test("waits for the entry to be ours: under another leader's nobody would write down what was made", () => {
    const theirs = running(web);
    const found = decide(world({ actions: [{ ...theirs, spec: { ...theirs.spec, epoch: 0 } }] }));
    expect(commandsOf(found, "delete-remediation")).toEqual([]);
  });

  test("waits for finalizers, then ends the action and gives the lease back", () => {
    const going = { ...made, deletingSince: at("50m"), finalizers: ["fence.example.org"] };
    expect(codes(world({ remediations: [going] }))).toEqual(["remediation-finishing"]);
    const ended = decide(world({ remediations: [] })).commands;
    expect(ended).toMatchObject([
      { kind: "update-action", progress: { phase: "Done", steps: [{ name: "remediation-1" }, { name: "ended" }] } },
    ]);
    expect(decide(world({ remediations: [], actions: [] })).commands).toMatchObject([{ kind: "release-node-lease" }]);
  });

  test("leaves a lease that is another's alone", () => {
    const lease = aLease("n0", { holder: "node-maintenance" });
    expect(decide({ nodes: well, leases: [lease] }).commands).toEqual([]);
  });

  test("happens under pause and upgrade too: a recovered node does not keep its remediation", () => {
    const check = aCheck("web", { spec: { pauseRequests: ["upgrade"] } });
    const upgrade = { isOpenShift: true, progressing: [{ name: "version", message: "working" }] };
    const remediations = [aRemediation({ of: check, on: "n0" })];
    const found = decide(world({ checks: [check], remediations, upgrade, actions: [running(check)] }));
    expect(commandsOf(found, "delete-remediation").length).toBe(1);
  });

  test("own remediations from before, which the ledger does not know, are removed; another's are not", () => {
    const remediations = [made, aRemediation({ of: aCheck("other"), on: "n1" })];
    expect(commandsOf(decide(world({ actions: [], remediations })), "delete-remediation").length).toBe(1);
    expect(decide(world({ actions: [], remediations }), "n1").commands).toEqual([]);
  });

  test("a node that leaves the selection by its labels is let go at once", () => {
    const check = aCheck("web", { spec: { selector: { matchLabels: { role: "worker" } } } });
    const remediations = [aRemediation({ of: check, on: "n0" })];
    const found = decide({ checks: [check], nodes: someNodes(3, 1), remediations });
    expect(commandsOf(found, "delete-remediation").length).toBe(1);
    expect(found.proposals).toEqual([]);
  });

  test("a node that leaves the selection does not wait for healthyDelay", () => {
    const check = aCheck("web", { spec: { selector: { matchLabels: { role: "worker" } }, healthyDelay: "-1s" } });
    const found = decide({
      checks: [check],
      nodes: someNodes(3, 0),
      remediations: [aRemediation({ of: check, on: "n0" })],
    });
    expect(commandsOf(found, "delete-remediation").length).toBe(1);
  });

  describe("a node that has left the selection and has no remediation any more", () => {
    const check = aCheck("web", { spec: { selector: { matchLabels: { role: "worker" } } } });
    const left = (more: CheckWorld) => decide({ checks: [check], ...world({ remediations: [], ...more }) });

    test.each<[string, ActionView, string]>([
      ["that had begun is over", running(check), "Done"],
      ["that had not is given up", remediating(check), "Abandoned"],
    ])("is not kept by its entry: one %s", (_, entry, phase) => {
      expect(left({ actions: [entry] }).commands).toMatchObject([{ kind: "update-action", progress: { phase } }]);
    });

    test("is not kept by the lease", () => {
      expect(commandsOf(left({ actions: [] }), "release-node-lease")).toHaveLength(1);
      expect(left({ actions: [], leases: [aLease("n0", { of: "other" })] }).commands).toEqual([]);
    });
  });

  test("a remediation that somebody removed from an unhealthy node is asked for anew", () => {
    const found = decide(world({ nodes: someNodes(3, 1), remediations: [] }));
    expect(found.commands).toMatchObject([{ kind: "update-action", progress: { phase: "Done" } }]);
    expect(decide({ actions: [] }).proposals.length).toBe(1);
  });

  test("one that goes as soon as it is made has failed, so that it is not made again and again at once", () => {
    const entry = running(web);
    const startedAt = formatTime(at("59m"));
    const actions = [{ ...entry, status: { ...entry.status, startedAt } }];
    const phaseAt = (now: Instant, sick = 1) =>
      decide(world({ nodes: someNodes(3, sick), remediations: [], actions, now })).commands;
    expect(phaseAt(at("60m") - 1)).toMatchObject([{ progress: { phase: "Failed" } }]);
    expect(phaseAt(at("60m"))).toMatchObject([{ progress: { phase: "Done" } }]);
    expect(phaseAt(at("60m") - 1, 0)).toMatchObject([{ progress: { phase: "Done" } }]);
  });
});

describe("a check that is gone", () => {
  const check = aCheck("web");
  const world: CheckWorld = { checks: [], nodes: [aNode("n0")], actions: [running(check)], leases: [aLease("n0")] };
  const ends = ({ commands }: ReturnType<typeof decide>) =>
    commands.filter(command => command.kind === "update-action" && command.progress?.phase === "Done");

  test("leaves nothing open: what it had begun ends, and its lease is given back", () => {
    const found = decide(world);
    expect(ends(found)).toHaveLength(1);
    expect(commandsOf(found, "release-node-lease")).toHaveLength(1);
  });

  test("is not one that is there, nor one under another leader's entry", () => {
    const still = { ...world, checks: [check], remediations: [aRemediation({ of: check, on: "n0" })] };
    expect(ends(decide(still))).toEqual([]);
    expect(ends(decide({ ...world, epoch: 2 }))).toEqual([]);
  });
});

describe("healthyDelay", () => {
  const check = aCheck("web", { spec: { healthyDelay: "6s" } });
  const recovered = at("1h");
  const node = aNode("n0", { since: recovered });
  const made = (views: Partial<RemediationView> = {}) => aRemediation({ of: check, on: "n0", ...views });
  const world = (remediation: RemediationView, now: Instant, more: CheckWorld = {}): CheckWorld => ({
    checks: [check],
    nodes: [node, aNode("b")],
    actions: [running(check)],
    remediations: [remediation],
    leases: [aLease("n0")],
    now,
    ...more,
  });

  test("the first sight of a healthy node is stamped", () => {
    const [command] = commandsOf(decide(world(made(), recovered)), "annotate-remediation");
    expect(command?.annotations).toEqual({ "remediation.medik8s.io/healthy-delay": "" });
  });

  test.each([
    { after: 6 * secondMs - 1, removed: 0 },
    { after: 6 * secondMs, removed: 1 },
  ])("the remediation goes $after ms after it", ({ after, removed }) => {
    const found = decide(world(made({ healthySince: recovered }), recovered + after));
    expect(commandsOf(found, "delete-remediation").length).toBe(removed);
    if (removed === 0) {
      expect(found.refusals).toMatchObject([{ code: "healthy-delay", until: recovered + 6 * secondMs }]);
      expect(found.wakeAt).toBe(recovered + 6 * secondMs);
    }
  });

  test("a node that fails again during the delay begins it anew", () => {
    const sick = [aNode("n0", { ready: "False", since: recovered + secondMs }), aNode("b")];
    const stamped = made({ healthySince: recovered });
    const failed = decide(world(stamped, recovered + 2 * secondMs, { nodes: sick }));
    expect(commandsOf(failed, "annotate-remediation")[0]?.annotations).toEqual({
      "remediation.medik8s.io/healthy-delay": null,
    });
    // Even if nobody saw it fail: its condition says that it is healthy only since then.
    const again = [aNode("n0", { since: recovered + 5 * secondMs }), aNode("b")];
    const unseen = decide(world(stamped, recovered + 6 * secondMs, { nodes: again }));
    expect(commandsOf(unseen, "delete-remediation")).toEqual([]);
    expect(unseen.wakeAt).toBe(recovered + 11 * secondMs);
  });

  const forEver = aCheck("web", { spec: { healthyDelay: "-1s" } });
  const confirmed = { annotations: { "remediation.medik8s.io/manually-confirmed-healthy": "yes" } };
  const negative = (nodes: readonly NodeView[], remediations: readonly RemediationView[]): CheckWorld => ({
    checks: [forEver],
    nodes,
    remediations,
    now: at("100h"),
  });

  test("negative, it lasts until somebody confirms", () => {
    const kept = aRemediation({ of: forEver, on: "n0" });
    expect(codes(negative([aNode("n0"), aNode("b")], [kept]))).toEqual(["awaits-confirmation"]);
    const found = decide(negative([aNode("n0", confirmed), aNode("b")], [kept]));
    expect(commandsOf(found, "delete-remediation").length).toBe(1);
  });

  test("a confirmation is taken off the node once it is used up, by a write that our own role allows", () => {
    const kept = aRemediation({ of: forEver, on: "n0", deletingSince: at("99h") });
    const early = decide(negative([aNode("n0", confirmed), aNode("b")], [kept]));
    expect(early.commands).toEqual([]);
    const found = decide(negative([aNode("n0", confirmed), aNode("b")], []));
    expect(found.commands).toMatchObject([
      {
        kind: "update-node",
        node: { name: "n0", uid: "n0-uid" },
        change: { annotations: { "remediation.medik8s.io/manually-confirmed-healthy": null } },
      },
    ]);
  });
});

describe("a node that came under the name of one that a remediation took away", () => {
  const succeeded = aCondition("Succeeded", "True");
  const taken = { of: web, on: "n0", createdAt: at("10m"), takesNodeAway: true, succeeded };
  const decideOn = (createdAt: Instant, remediation: Parameters<typeof aRemediation>[0]) => {
    const nodes = someNodes(3, 1, { createdAt });
    return decide({ nodes, remediations: [aRemediation(remediation)], now: at("30m") });
  };

  test("is not taken for it: what is over is removed, and then it is asked for anew", () => {
    expect(decideOn(at("15m"), taken).commands).toMatchObject([{ kind: "delete-remediation" }]);
    expect(decideOn(at("15m"), taken).proposals).toEqual([]);
  });

  test.each([
    { what: "the very node", createdAt: at("10m"), more: {} },
    {
      what: "one that has not said yet that it has succeeded",
      createdAt: at("15m"),
      more: { succeeded: aCondition("Succeeded", "Unknown") },
    },
    {
      what: "one that takes no node away, and may have made it anew",
      createdAt: at("15m"),
      more: { takesNodeAway: false },
    },
    { what: "one that is being removed", createdAt: at("15m"), more: { deletingSince: at("20m") } },
  ])("leaves what there is: $what", ({ createdAt, more }) => {
    expect(commandsOf(decideOn(createdAt, { ...taken, ...more }), "delete-remediation")).toEqual([]);
  });
});
