import { describe, expect, test } from "vitest";
import {
  aClaim,
  aClassRef,
  aCondition,
  anAction,
  aNode,
  aPool,
  aProvider,
  aSafetyPolicy,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import type { Evidence, NodeActionSpec } from "../api/node-action.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import type { SafetyPolicySpec } from "../api/safety-policy.ts";
import { formatTime, parseDuration } from "../api/time.ts";
import type { ActionView } from "../snapshot/views.ts";
import { ledgerRule, stillHolds } from "./actions.ts";
import type { Context, Decision } from "./decision.ts";
import { saysDryRun } from "./dry-run.ts";
import type { Live } from "./evidence.ts";

function contextOf(world: WorldOptions, now = at("1m")): Context {
  const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
  return { picture: aWorld(world), now, settings, epoch: 2 };
}

/** Its age is reason enough for an action. */
const aged = (more: Parameters<typeof aClaim>[1] = {}) =>
  aClaim("a", { ...more, spec: { ...aClaim("a").spec, expireAfter: "1s", ...more.spec } });
const there: WorldOptions = { nodes: [aNode("a")], claims: [aged()] };
const withClaim = (more: Parameters<typeof aClaim>[1]): WorldOptions => ({ ...there, claims: [aged(more)] });

const repair = (more: Parameters<typeof anAction>[1] = {}) =>
  anAction("x", {
    phase: "Pending",
    ...more,
    spec: {
      action: "Repair",
      askedBy: { kind: "NodePool", name: "web" },
      message: "Node a is sick.",
      evidence: [{ kind: "Age", seenAt: formatTime(t0) }],
      epoch: 2,
      ...more.spec,
    },
  });

const decide = (action: ActionView, world: WorldOptions = there, now?: number): Decision =>
  ledgerRule.decide("x", contextOf({ ...world, actions: [action] }, now));
/** Of the pool, for repairs. */
const noRepair = { nodes: "0", action: "Repair" } as const;
const codes = ({ refusals }: Decision) => refusals.map(({ code }) => code);

describe("a pending action", () => {
  test("is started", () => {
    expect(decide(repair())).toEqual({
      commands: [{ kind: "start-action", why: "Node a is sick.", action: { name: "x", uid: "x-action-uid" } }],
      proposals: [],
      refusals: [],
      notices: [],
      wakeAt: at("10m"),
    });
  });

  test("is started again if its phase was never written, or its claim is not being deleted after all", () => {
    const { phase: _phase, ...status } = repair().status;
    expect(decide({ ...repair(), status }).commands).toMatchObject([{ kind: "start-action" }]);
    const running = decide(repair({ phase: "Running", status: { startedAt: formatTime(t0) } }), there, at("9h"));
    expect(running.commands).toMatchObject([{ kind: "start-action" }]);
  });

  test("is let alone while it is only being written", () => {
    expect(decide(repair({ isProvisional: true })).commands).toEqual([]);
  });

  test("waits after a failed start, and says why", () => {
    const failure = { at: t0, retryAt: at("2m"), count: 1, reason: "Conflict", message: "the server is busy" };
    const world = { ...there, failures: { "action/x": failure } };
    const before = decide(repair(), world, at("1m59.999s"));
    expect([before.commands, codes(before), before.wakeAt]).toEqual([[], ["start-failed"], at("2m")]);
    expect(before.refusals[0]?.message).toBe("NodeAction x could not be started: the server is busy");
    const then = decide(repair(), world, at("2m"));
    expect([then.commands.map(({ kind }) => kind), then.wakeAt]).toEqual([["start-action"], at("10m")]);
  });

  test.each<[string, Parameters<typeof aSafetyPolicy>, string]>([
    ["a freeze", [{ freeze: { reason: "a launch" } }], "Frozen"],
    ["a freeze that ends", [{ freeze: { reason: "a launch", until: formatTime(at("5m")) } }], "Frozen"],
    ["an untouchable node", [{ untouchable: { matchLabels: { keep: "yes" } } }], "Untouchable"],
    ["a policy that nobody understands", [{}, { invalid: "no such selector" }], "PolicyInvalid"],
  ])("is not started under %s that came after it was written", (_, policy, reason) => {
    const world = { ...there, nodes: [aNode("a", { labels: { keep: "yes" } })], safety: aSafetyPolicy(...policy) };
    const decision = decide(repair(), world);
    expect(decision.commands).toMatchObject([{ kind: "update-action", progress: { waitingFor: { reason } } }]);
    const waitingFor = { reason, message: decision.refusals[0]?.message ?? "", since: formatTime(t0) };
    const again = decide(repair({ status: { waitingFor } }), world);
    expect([again.commands, again.refusals]).toEqual([[], decision.refusals]);
    expect(again.wakeAt).toBe(decision.refusals[0]?.until ?? at("10m"));
    const begun = repair({ phase: "Running", status: { startedAt: formatTime(t0) } });
    expect(decide(begun, world).commands).toMatchObject([{ kind: "start-action" }]);
    const persons = repair({ spec: { action: "Deletion", askedBy: { kind: "Person", name: "unknown" } } });
    const deleted = { ...world, nodes: [aNode("a", { deletingSince: t0, labels: { keep: "yes" } })] };
    expect(decide(persons, deleted).commands).toMatchObject([{ kind: "start-action" }]);
  });

  test.each<[string, string, NodePoolSpec, SafetyPolicySpec]>([
    ["its pool is only shown", "dry-run", { dryRun: true }, {}],
    ["its pool has no budget for it", "budget-closed", { disruption: { budgets: [noRepair] } }, {}],
    ["the cluster lets none go", "cap-closed", {}, { caps: { repair: { cluster: 0 } } }],
    ["its zone lets none go", "cap-closed", {}, { caps: { all: { zone: "0%" } } }],
    ["none may go in an hour", "cap-closed", {}, { caps: { repair: { perWindow: { nodes: 0, duration: "1h" } } } }],
  ])("does not start once %s (%s), and says so", (_what, code, spec, safety) => {
    const pools = [aPool("web", { spec })];
    const nodes = [aNode("a", { labels: { "topology.kubernetes.io/zone": "z" } })];
    const world = { nodes, claims: [aged({ pool: "web" })], pools, safety: aSafetyPolicy(safety) };
    const action = repair({ spec: { nodePool: "web" } });
    const found = decide(action, world);
    expect(codes(found)).toEqual([code]);
    expect(found.commands).toMatchObject([{ kind: "update-action", progress: { waitingFor: {} } }]);
    const free = { ...world, pools: [aPool("web")], safety: aSafetyPolicy({ caps: { repair: { cluster: 1 } } }) };
    expect(decide(action, free).commands).toMatchObject([{ kind: "start-action" }]);
  });

  test("is given up after ten minutes without a start: its reason is asked for anew", () => {
    const failure = { at: t0, retryAt: at("11m"), count: 9, reason: "", message: "no answer" };
    const world = { ...there, failures: { "action/x": failure } };
    expect(decide(repair(), world, at("9m59.999s")).wakeAt).toBe(at("10m"));
    expect(decide(repair(), world, at("10m")).commands).toMatchObject([
      {
        kind: "update-action",
        resourceVersion: "1",
        progress: {
          phase: "Abandoned",
          outcome: "It was not begun in time, and its reason is asked for anew: no answer",
        },
      },
    ]);
  });

  test("is given up if the node went before anything was done; another of that name is another node", () => {
    const world = { ...there, nodes: [aNode("a", { uid: "new" })] };
    expect(decide(repair(), world).commands).toMatchObject([
      { progress: { phase: "Abandoned", outcome: "Node a (a-uid) went before anything was done." } },
    ]);
  });

  test("is left to the termination once its claim is being deleted", () => {
    expect(decide(repair(), withClaim({ deletingSince: t0 }), at("9h"))).toMatchObject({ commands: [], refusals: [] });
  });

  test("of a kind that others carry out is not touched, and ends if nobody takes it up", () => {
    const left = repair({ spec: { method: "Remediate" } });
    const waiting = decide(left);
    expect([waiting.commands, codes(waiting), waiting.wakeAt]).toEqual([[], ["not-begun"], at("10m")]);
    expect(decide(left, there, at("10m")).commands).toMatchObject([{ progress: { phase: "Abandoned" } }]);
    const begun = repair({ phase: "Running", spec: { method: "Remediate" } });
    expect(decide(begun, there, at("9h")).commands).toEqual([]);
  });

  test("of a health check ends where those are switched off: with its node, which nobody took away", () => {
    const begun = repair({ phase: "Running", spec: { method: "Remediate" } });
    const context = contextOf({ ...there, actions: [begun] }, at("9h"));
    const off = { ...context, settings: { ...context.settings, checks: false } };
    expect(ledgerRule.decide("x", off).commands).toMatchObject([
      { kind: "update-action", progress: { phase: "Done", steps: [{ name: "ended", isFinished: true }] } },
    ]);
  });
});

describe("an action is over", () => {
  test.each([
    ["running", repair({ phase: "Running" })],
    // Whoever was killed between the delete and the note of it has done it all the same.
    ["pending", repair()],
    ["of an older leader", repair({ spec: { epoch: 1 } })],
  ])("when node and claim are gone (%s)", (_name, action) => {
    expect(decide(action, {}).commands).toMatchObject([
      { progress: { phase: "Done", waitingFor: null, outcome: "Node a and its NodeClaim a are gone." } },
    ]);
  });

  test("also when others have taken their names", () => {
    const world = { nodes: [aNode("a", { uid: "new" })], claims: [aClaim("a", { uid: "new-claim" })] };
    expect(decide(repair({ phase: "Running" }), world).commands).toMatchObject([{ progress: { phase: "Done" } }]);
  });

  test("when a node that nobody provisioned is gone", () => {
    const { claim: _claim, ...spec } = repair().spec;
    const action = { ...repair(), spec };
    expect(decide(action, {}).commands).toMatchObject([{ progress: { phase: "Done", outcome: "Node a is gone." } }]);
  });

  test("not while the claim is there", () => {
    const world = { claims: [aClaim("a", { deletingSince: t0 })] };
    expect(decide(repair({ phase: "Running" }), world).commands).toEqual([]);
  });
});

describe("a node whose claim has gone", () => {
  const world = { nodes: [aNode("a")] };
  const message = "NodeClaim a is gone, and node a is still there.";
  const waiting = (since: number) =>
    repair({ phase: "Running", status: { waitingFor: { reason: "NodeRemains", message, since: formatTime(since) } } });

  test("is waited for, and written so", () => {
    expect(decide(repair({ phase: "Running" }), world).commands).toMatchObject([
      { progress: { phase: "Running", waitingFor: { reason: "NodeRemains", message } } },
    ]);
    const held = decide(waiting(t0), world, at("4m59.999s"));
    expect([held.commands, codes(held), held.wakeAt]).toEqual([[], ["node-remains"], at("5m")]);
  });

  test("is a failure after five minutes: a person must look", () => {
    expect(decide(waiting(t0), world, at("5m")).commands).toMatchObject([{ progress: { phase: "Failed" } }]);
  });
});

describe("what an older leader left", () => {
  const older = (more: Parameters<typeof anAction>[1] = {}) => repair({ ...more, spec: { epoch: 1, ...more.spec } });

  test("is adopted and goes on from there", () => {
    const { commands } = decide(older());
    expect(commands).toEqual([
      {
        kind: "update-action",
        why: "Adopted from the leader of epoch 1.",
        action: { name: "x", uid: "x-action-uid" },
        resourceVersion: "1",
        spec: { epoch: 2 },
      },
    ]);
  });

  test("is given up if it was never begun and its reason is gone", () => {
    const spec: Partial<NodeActionSpec> = { evidence: [{ kind: "NeverReady", seenAt: formatTime(t0) }] };
    expect(decide(older({ spec })).commands).toMatchObject([
      {
        progress: {
          phase: "Abandoned",
          outcome: "Not begun by the leader of epoch 1, and without a reason now: Repair: it is Ready now.",
        },
      },
    ]);
    expect(decide(older({ spec, phase: "Running" })).commands).toMatchObject([{ spec: { epoch: 2 } }]);
  });

  test("is adopted while its claim is being deleted, whatever its reason", () => {
    const action = older({ spec: { evidence: [] } });
    expect(decide(action, withClaim({ deletingSince: t0 })).commands).toMatchObject([{ spec: { epoch: 2 } }]);
  });
});

describe("nothing is done", () => {
  test("to what a newer leader has adopted; but the action says why, once", () => {
    const decision = decide(repair({ phase: "Running", spec: { epoch: 3 } }));
    expect(codes(decision)).toEqual(["newer-leader"]);
    const message = "NodeAction x says that a newer leader has it (epoch 3); this one's is 2.";
    expect(decision.commands).toMatchObject([
      { kind: "update-action", progress: { waitingFor: { reason: "NewerLeader", message } } },
    ]);
    const waitingFor = { reason: "NewerLeader", message, since: formatTime(t0) };
    const said = decide(repair({ phase: "Running", spec: { epoch: 3 }, status: { waitingFor } }));
    expect([said.commands, codes(said), said.wakeAt]).toEqual([[], ["newer-leader"], undefined]);
  });

  test.each(["Pending", "Running"] as const)(
    "in a dry run of the SafetyPolicy to one that is %s: it says so",
    phase => {
      const safety = aSafetyPolicy({ dryRun: true });
      const decision = decide(repair({ phase }), { ...there, safety });
      const message = "NodeAction x stands still, because SafetyPolicy default has spec.dryRun.";
      expect(decision.refusals).toMatchObject([{ code: "dry-run", message }]);
      expect(decision.commands).toMatchObject([{ progress: { waitingFor: { reason: "DryRun", message } } }]);
      expect(decision.commands.map(saysDryRun)).toEqual([true]);
      const waitingFor = { reason: "DryRun", message, since: formatTime(t0) };
      expect(decide(repair({ phase, status: { waitingFor } }), { ...there, safety }).commands).toEqual([]);
    },
  );

  test("in a dry run that the cluster did not ask for: nothing is written on what is real either", () => {
    const context = contextOf({ ...there, actions: [repair({ phase: "Running" })] });
    const decision = ledgerRule.decide("x", { ...context, settings: { ...context.settings, dryRun: true } });
    expect([decision.commands, codes(decision)]).toEqual([[], ["dry-run"]]);
  });

  test("on a picture that is too old: not even closed", () => {
    const decision = decide(repair({ phase: "Running" }), { staleness: { resource: "nodes", message: "silent" } });
    expect([decision.commands, codes(decision)]).toEqual([[], ["picture-stale"]]);
  });

  test("about what does not exist", () => {
    expect(ledgerRule.decide("y", contextOf(there)).commands).toEqual([]);
  });
});

test("a dry run is left to the arbiter, once its phase is written", () => {
  expect(decide(repair({ phase: "DryRun", spec: { dryRun: true } })).commands).toEqual([]);
  const { phase: _phase, ...status } = repair().status;
  const unwritten = { ...repair({ spec: { dryRun: true } }), status };
  expect(decide(unwritten).commands).toMatchObject([{ progress: { phase: "DryRun" } }]);
});

test("a foreign claim is taken away by its own controller, and the ledger says so once", () => {
  const spec = { nodeClassRef: { ...aClassRef, kind: "EC2NodeClass" } };
  const world = { ...withClaim({ deletingSince: t0, spec }), provider: aProvider() };
  const first = decide(repair(), world);
  const message = "NodeClaim a is deleted; its own controller takes the node away.";
  expect(first.commands).toMatchObject([
    { progress: { phase: "Running", waitingFor: { reason: "ForeignController", message } } },
  ]);
  const status = { waitingFor: { reason: "ForeignController", message, since: formatTime(t0) } };
  const later = decide(repair({ phase: "Running", status }), world);
  expect([later.commands, codes(later)]).toEqual([[], ["left-to-owner"]]);
});

describe("a finished action", () => {
  const done = repair({ phase: "Done", status: { finishedAt: formatTime(t0) } });
  test("is kept seven days, to the second", () => {
    const before = decide(done, {}, at("168h0.999s"));
    expect([before.commands, before.wakeAt]).toEqual([[], at("168h1s")]);
    expect(decide(done, {}, at("168h1s")).commands).toMatchObject([{ kind: "delete-action", action: { name: "x" } }]);
  });

  test("goes also if it was a dry run, and by its creation if it does not say when it ended", () => {
    const dry = repair({ phase: "Abandoned", spec: { dryRun: true } });
    expect(decide(dry, {}, at("169h")).commands).toMatchObject([{ kind: "delete-action" }]);
  });

  test("is not one that is open, however old: a drain may be held for weeks", () => {
    for (const phase of ["Pending", "WaitingForReplacement", "Running"] as const) {
      const { commands } = decide(repair({ phase, spec: { epoch: 1 } }), {}, at("1000h"));
      expect(commands.map(({ kind }) => kind)).not.toContain("delete-action");
    }
  });
});

describe("between the ledger and the first destructive call a reason still holds", () => {
  const now = at("1h");
  const seenAt = formatTime(at("59m"));
  const unknown: Evidence = {
    kind: "Condition",
    conditionType: "Ready",
    conditionStatus: "Unknown",
    since: formatTime(at("30m")),
    dueAt: formatTime(at("1h")),
    toleration: "30m",
    seenAt,
  };
  /** Of a sickness that has just begun, where it is borne for no time. */
  const young: Evidence = { ...unknown, since: formatTime(now), dueAt: formatTime(now), toleration: "0s" };
  const isSilent = aNode("a", { ready: "Unknown", since: at("30m") });
  /** Who bears them for no time is no reason to give anything up. */
  const provider = statesSick("0s");
  const judge = (evidence: Evidence[], live: Live, world: WorldOptions = {}, spec: Partial<NodeActionSpec> = {}) => {
    const verdict = stillHolds(
      repair({ spec: { evidence, ...spec } }).spec,
      live,
      contextOf({ provider, ...world }, now),
    );
    return verdict.holds ? "holds" : verdict.why;
  };
  const live: Live = { node: isSilent, claim: aClaim("a") };
  const expiring = (expireAfter: string) => aClaim("a", { spec: { ...aClaim("a").spec, expireAfter } });

  test.each<[string, NonNullable<NodePoolSpec["repair"]>, string]>([
    ["still asks for it", {}, "holds"],
    ["has disabled repair since", { mode: "Disabled" }, "Repair: repair is Disabled now"],
    ["only shows repair since", { mode: "DryRun" }, "Repair: repair is DryRun now"],
    [
      "has another policy for the reason that it has now",
      {
        policies: [
          { conditionType: "Ready", conditionStatus: "Unknown", conditionReasons: ["Test"], toleration: "24h" },
        ],
      },
      "Repair: Ready=Unknown (Test) is borne for longer now (spec.repair.policies[0])",
    ],
    ["bears it as long as before", { defaultTolerationDuration: "30m" }, "holds"],
    [
      "bears it for a second longer now",
      { defaultTolerationDuration: "1801s" },
      "Repair: Ready=Unknown (Test) is borne for longer now (spec.repair.defaultTolerationDuration)",
    ],
    ["bears it for less now", { defaultTolerationDuration: "1m" }, "holds"],
  ])("a repair whose pool %s", (_, asks, verdict) => {
    const pools = [aPool("web", { spec: { repair: asks } })];
    expect(judge([unknown], ofPool, { pools, provider: statesSick("30m") })).toBe(verdict);
  });

  test.each<[string, NonNullable<NodePoolSpec["repair"]>, Partial<NodeActionSpec>, string]>([
    [
      "wants it gentle since",
      { termination: "Graceful" },
      { termination: "Forceful" },
      "Repair: it is to go gently now",
    ],
    ["wants it gentle as before", { termination: "Graceful" }, { termination: "Graceful" }, "holds"],
    ["wants it by force since", { termination: "Forceful" }, { termination: "Graceful" }, "holds"],
    [
      "adds up no more",
      { flappingWindow: "0s" },
      { evidence: [{ ...unknown, kind: "Flapping" }] },
      "Repair: Ready=Unknown (Test) is not added up any more",
    ],
    ["adds up as before", {}, { evidence: [{ ...unknown, kind: "Flapping" }] }, "holds"],
  ])("a repair whose pool %s", (_, asks, spec, verdict) => {
    const pools = [aPool("web", { spec: { repair: asks } })];
    expect(judge([unknown], ofPool, { pools, provider: statesSick("30m") }, spec)).toBe(verdict);
  });

  test("a repair by force that joined a gentle one is reason enough for force", () => {
    const disk: Evidence = {
      kind: "Condition",
      conditionType: "Disk",
      conditionStatus: "True",
      since: formatTime(t0),
      seenAt,
    };
    const joined = { action: "Repair", askedBy: { kind: "NodePool", name: "web" }, at: seenAt, message: "" } as const;
    const sicker = { ...isSilent, conditions: [aCondition("Ready", "Unknown", reason), aCondition("Disk", "True")] };
    const policies = [
      { conditionType: "Disk", conditionStatus: "True", toleration: "0s", termination: "Forceful" } as const,
    ];
    const pools = [aPool("web", { spec: { repair: { termination: "Graceful", policies } } })];
    const judged = (more: Partial<NodeActionSpec>) =>
      judge(
        [unknown],
        { ...ofPool, node: sicker },
        { pools, provider: statesSick("30m") },
        { termination: "Forceful", ...more },
      );
    expect(judged({})).toBe("Repair: it is to go gently now");
    expect(judged({ joined: [{ ...joined, evidence: [disk] }] })).toBe("holds");
  });

  const reason = { since: at("30m"), reason: "Test" };
  const ofPool: Live = {
    node: { ...isSilent, conditions: [aCondition("Ready", "Unknown", reason)] },
    claim: aClaim("a", { pool: "web" }),
  };

  test.each<[string, WorldOptions, string]>([
    ["is gone", { pools: [] }, "Repair: NodePool web is not there to say what follows"],
    [
      "cannot be understood any more",
      { pools: [{ ...aPool("web"), invalid: "a budget nobody can read" }] },
      "Repair: NodePool web cannot be understood",
    ],
    [
      "has lost the policy that made it one",
      { pools: [aPool("web")], provider: aProvider() },
      "Repair: nobody says any more that Ready=Unknown (Test) is sick",
    ],
  ])("a repair whose pool %s is given up", (_, world, verdict) => {
    expect(judge([unknown], ofPool, world)).toBe(verdict);
  });

  test.each<[string, Evidence[], Live, string]>([
    ["the condition is as it was", [unknown], live, "holds"],
    ["the lease is old", [unknown], { ...live, leaseRenewedAt: at("30m40s") }, "holds"],
    [
      "the lease moved clearly after the sickness began",
      [unknown],
      { ...live, leaseRenewedAt: at("30m40s") + 1 },
      "Repair: the kubelet is alive: it renewed its lease at 2026-01-01T00:30:40Z",
    ],
    ["the sickness is young and the lease old", [young], { ...live, leaseRenewedAt: now - 40_000 }, "holds"],
    [
      "the lease lies ahead of our clock, and has not been seen to stand still for 40 s",
      [unknown],
      { ...live, leaseRenewedAt: at("2h"), leaseSeenAt: now - 39_999 },
      "Repair: the kubelet is alive: it renewed its lease at 2026-01-01T02:00:00Z",
    ],
    [
      "the lease lies ahead of our clock, and stood still for 40 s",
      [unknown],
      { ...live, leaseRenewedAt: at("2h"), leaseSeenAt: now - 40_000 },
      "holds",
    ],
    [
      "the kubelet was alive after the sickness began, and has been silent for less than is borne since it was looked at",
      [unknown],
      { ...live, leaseRenewedAt: at("31m"), leaseSeenAt: at("30m") + 60_001 },
      "Repair: the kubelet is alive: it renewed its lease at 2026-01-01T00:31:00Z",
    ],
    [
      "the kubelet was alive after the sickness began, and has been silent for as long as is borne",
      [{ ...unknown, toleration: "29m" }],
      { ...live, leaseRenewedAt: at("31m"), leaseSeenAt: at("31m") },
      "holds",
    ],
    [
      "the sickness is young and the lease moved within 40 s",
      [young],
      { ...live, leaseRenewedAt: now - 39_999 },
      "Repair: the kubelet is alive: it renewed its lease at 2026-01-01T00:59:20Z",
    ],
    [
      "it flaps, but the lease moves",
      [{ ...young, kind: "Flapping" }],
      { ...live, leaseRenewedAt: now },
      "Repair: the kubelet is alive: it renewed its lease at 2026-01-01T01:00:00Z",
    ],
    [
      "somebody has written do-not-repair on the node since",
      [unknown],
      { ...live, node: { ...isSilent, annotations: { "karpenter.sh/do-not-repair": "true" } } },
      "Repair: Node a says karpenter.sh/do-not-repair",
    ],
    [
      "or on its claim, until a later time",
      [unknown],
      { ...live, claim: aClaim("a", { annotations: { "karpenter.sh/do-not-repair": "2026-01-01T01:00:01Z" } }) },
      "Repair: NodeClaim a says karpenter.sh/do-not-repair until 2026-01-01T01:00:01Z",
    ],
    [
      "the kubelet itself says False, and renews its lease",
      [{ ...unknown, conditionStatus: "False" }],
      { ...live, node: aNode("a", { ready: "False", since: at("30m") }), leaseRenewedAt: now },
      "holds",
    ],
    ["it is Ready now", [unknown], { ...live, node: aNode("a") }, "Repair: condition Ready is True now"],
    [
      "it changed to False",
      [unknown],
      { ...live, node: aNode("a", { ready: "False" }) },
      "Repair: condition Ready is False now",
    ],
    [
      "the condition is gone",
      [unknown],
      { ...live, node: aNode("a", { conditions: [] }) },
      "Repair: condition Ready is not there now",
    ],
    [
      "it began within the second that is written",
      [unknown],
      { ...live, node: aNode("a", { ready: "Unknown", since: at("30m0.999s") }) },
      "holds",
    ],
    [
      "it went and came again",
      [unknown],
      { ...live, node: aNode("a", { ready: "Unknown", since: at("30m1s") }) },
      "Repair: condition Ready began anew at 2026-01-01T00:30:01Z",
    ],
    [
      "only its due time is written",
      [
        {
          kind: "Condition",
          conditionType: "Ready",
          conditionStatus: "Unknown",
          dueAt: formatTime(at("1h")),
          toleration: "30m",
          seenAt,
        },
      ],
      { ...live, node: aNode("a", { ready: "Unknown", since: at("30m1s") }) },
      "Repair: condition Ready began anew at 2026-01-01T00:30:01Z",
    ],
    [
      "nothing says since when",
      [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", seenAt }],
      live,
      "Repair: nothing says since when condition Ready was seen",
    ],
    [
      "we saw it ourselves, and the reporter's time, which was not believed, is what it was",
      [{ ...unknown, clock: "Observer", reportedSince: formatTime(at("59m")) }],
      { ...live, node: aNode("a", { ready: "Unknown", since: at("59m") }) },
      "holds",
    ],
    [
      "we saw it ourselves, and it went and came again unseen",
      [{ ...unknown, clock: "Observer", reportedSince: formatTime(at("29m")) }],
      { ...live, node: aNode("a", { ready: "Unknown", since: at("59m") }) },
      "Repair: condition Ready began anew at 2026-01-01T00:59:00Z",
    ],
    [
      "we saw it ourselves, and the reporter now says a time before that",
      [{ ...unknown, clock: "Observer", reportedSince: formatTime(at("29m")) }],
      { ...live, node: aNode("a", { ready: "Unknown", since: at("28m") }) },
      "holds",
    ],
    ["one of two remains", [{ ...unknown, conditionType: "Disk", conditionStatus: "True" }, unknown], live, "holds"],
    ["it flaps and is bad now", [{ ...unknown, kind: "Flapping", since: formatTime(t0) }], live, "holds"],
    [
      "it flaps and is good now",
      [{ ...unknown, kind: "Flapping" }],
      { ...live, node: aNode("a") },
      "Repair: condition Ready is True now",
    ],
    ["it was never Ready", [{ kind: "NeverReady", seenAt }], live, "holds"],
    ["it is Ready at last", [{ kind: "NeverReady", seenAt }], { ...live, node: aNode("a") }, "Repair: it is Ready now"],
    [
      "it was Ready once",
      [{ kind: "NeverReady", seenAt }],
      { ...live, claim: aClaim("a", { status: { firstReadyTime: seenAt } }) },
      `Repair: it was first Ready at ${seenAt}`,
    ],
    ["it has its age", [{ kind: "Age", seenAt }], { ...live, claim: expiring("1h") }, "holds"],
    [
      "it is younger",
      [{ kind: "Age", seenAt }],
      { ...live, claim: expiring("3601s") },
      `Repair: NodeClaim a comes of age at ${formatTime(at("1h1s"))}`,
    ],
    [
      "it never comes of age",
      [{ kind: "Age", seenAt }],
      { ...live, claim: expiring("Never") },
      "Repair: no claim has an age at which it goes",
    ],
    ["it is not drifted", [{ kind: "Drift", seenAt }], live, "Repair: it is not drifted now"],
    [
      "it is drifted",
      [{ kind: "Drift", seenAt }],
      { ...live, claim: aClaim("a", { conditions: [aCondition("Drifted", "True")] }) },
      "holds",
    ],
    [
      "the node is being deleted",
      [{ kind: "DeletionTimestamp", seenAt }],
      { ...live, node: aNode("a", { deletingSince: t0 }) },
      "holds",
    ],
    [
      "nobody deletes it",
      [{ kind: "DeletionTimestamp", seenAt }],
      live,
      "Repair: neither the node nor its claim is being deleted",
    ],
    [
      "the instance is gone",
      [{ kind: "InstanceGone", seenAt }],
      { ...live, instance: { providerID: "p", state: "gone", seenAt: t0 } },
      "holds",
    ],
    [
      "the instance runs",
      [{ kind: "InstanceGone", seenAt }],
      { ...live, instance: { providerID: "p", state: "running", seenAt: t0 } },
      "Repair: the provider says that the instance is running",
    ],
    [
      "nobody has looked the instance up",
      [{ kind: "InstanceGone", seenAt }],
      live,
      "Repair: the provider says that the instance is not looked up",
    ],
    [
      "the instance is gone, but the node is Ready",
      [{ kind: "InstanceGone", seenAt }],
      { claim: aClaim("a"), node: aNode("a"), instance: { providerID: "p", state: "gone", seenAt: t0 } },
      "Repair: the node is Ready, so something runs it",
    ],
    ["empty: nothing runs there", [{ kind: "Empty", seenAt }], live, "holds"],
    [
      "of a kind that this version does not know",
      [{ kind: "Omen" as "Age", seenAt }],
      live,
      "Repair: evidence Omen cannot be confirmed here",
    ],
    ["without evidence", [], live, "Repair: no evidence is given"],
    ["the node is another one", [unknown], { ...live, node: { ...isSilent, uid: "new" } }, "node a (a-uid) is gone"],
    ["the node is gone", [unknown], { claim: aClaim("a") }, "node a (a-uid) is gone"],
    [
      "the claim is another one",
      [unknown],
      { ...live, claim: aClaim("a", { uid: "new" }) },
      "NodeClaim a (a-claim-uid) is gone",
    ],
    ["the claim is gone", [unknown], { node: isSilent }, "NodeClaim a (a-claim-uid) is gone"],
    ["the claim is being deleted: it has begun", [], { claim: aClaim("a", { deletingSince: t0 }) }, "holds"],
  ])("%s", (_name, evidence, seen, expected) => expect(judge(evidence, seen)).toBe(expected));

  test("only for a node with a claim to delete", () => {
    const { claim: _claim, ...spec } = repair({ spec: { evidence: [unknown] } }).spec;
    expect(stillHolds(spec, live, contextOf({}, now))).toEqual({
      holds: false,
      why: "the node has no NodeClaim to delete",
    });
  });

  test("by what joined it, if its own reason is gone", () => {
    const joined = [
      {
        action: "Repair" as const,
        askedBy: { kind: "NodePool" as const, name: "web" },
        at: seenAt,
        message: "",
        evidence: [unknown],
      },
    ];
    expect(judge([{ kind: "Drift", seenAt }], live, {}, { action: "Drift", joined })).toBe("holds");
    const bothGone = judge([{ kind: "Drift", seenAt }], { ...live, node: aNode("a") }, {}, { action: "Drift", joined });
    expect(bothGone).toBe("Drift: it is not drifted now; Repair: condition Ready is True now");
  });

  test.each([
    [2, "holds"],
    [3, "Repair: NodePool web has 3 claims for 3 replicas now"],
    [undefined, "Repair: its claim is of no pool with replicas now"],
  ])("of a surplus while the pool wants %s", (replicas, expected) => {
    const pools = [aPool("web", { spec: replicas === undefined ? {} : { replicas } })];
    const claims = ["a", "b", "c"].map(name => aClaim(name, { pool: "web" }));
    const going = aClaim("d", { pool: "web", deletingSince: t0 });
    const world = { pools, claims: [...claims, going] };
    expect(judge([{ kind: "SurplusReplica", seenAt }], { ...live, claim: aClaim("a", { pool: "web" }) }, world)).toBe(
      expected,
    );
  });

  test.each<[string, number, Record<string, string>]>([
    ["both go while both are too many", 1, { a: "holds", b: "holds" }],
    [
      "one goes when the pool wants one more meanwhile, and it is the same one for both",
      2,
      { a: "holds", b: "ScaleDown: NodePool web has 3 claims, 1 of them about to go for 2 replicas now" },
    ],
  ])("of a surplus that two starts judge on one picture: %s", (_, replicas, expected) => {
    const claims = ["a", "b", "c"].map(name => aClaim(name, { pool: "web" }));
    const actions = ["a", "b"].map(name =>
      anAction(`x-${name}`, { node: name, phase: "Pending", spec: scaleDown(name) }),
    );
    const world = { pools: [aPool("web", { spec: { replicas } })], claims, actions, nodes: [aNode("a"), aNode("b")] };
    const evidence: Evidence[] = [{ kind: "SurplusReplica", seenAt }];
    const found = Object.fromEntries(
      ["a", "b"].map(name => {
        const spec = { node: { name, uid: `${name}-uid` }, ...scaleDown(name) };
        return [name, judge(evidence, { node: aNode(name), claim: aClaim(name, { pool: "web" }) }, world, spec)];
      }),
    );
    expect(found).toEqual(expected);
  });

  test("of a surplus leaves to a repair of the same pool what is going by it", () => {
    const claims = ["a", "b"].map(name => aClaim(name, { pool: "web" }));
    const repairing = anAction("x-b", {
      node: "b",
      phase: "Pending",
      spec: { action: "Repair", claim: claimRef("b") },
    });
    const world = { pools: [aPool("web", { spec: { replicas: 1 } })], claims, actions: [repairing] };
    const surplusOf = { ...live, claim: aClaim("a", { pool: "web" }) };
    expect(judge([{ kind: "SurplusReplica", seenAt }], surplusOf, world)).toBe(
      "Repair: NodePool web has 2 claims, 1 of them about to go for 1 replicas now",
    );
  });
});

function statesSick(toleration: string) {
  const parsed = parseDuration(toleration);
  const borne = parsed.ok ? parsed.value : 0;
  const repairStatements = ["False", "Unknown"].map(conditionStatus => ({
    conditionType: "Ready",
    conditionStatus,
    toleration: borne,
  }));
  return aProvider({ repairStatements });
}

const claimRef = (name: string) => ({ name, uid: `${name}-claim-uid` });
const scaleDown = (name: string) => ({ action: "ScaleDown", claim: claimRef(name) }) as const;
