import { describe, expect, test } from "vitest";
import {
  aBudget,
  aClaim,
  aCondition,
  anAction,
  aNode,
  aPod,
  aPool,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../../test/builders.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { formatTime, type Instant } from "../../api/time.ts";
import { doNotDisruptKey } from "../../api/well-known.ts";
import type { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { Move } from "../../snapshot/moves.ts";
import type { ClaimView } from "../../snapshot/views.ts";
import { candidateOf, dueOf, needsMove } from "./candidate.ts";
import { disruption } from "./disruption.ts";

const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;
const day = "24h";
const never: NodePoolSpec = { disruption: { consolidateAfter: "Never" } };

type Case = {
  claim?: Parameters<typeof aClaim>[1];
  /** Conditions that the claim has beside those of its life. */
  is?: readonly ReturnType<typeof aCondition>[];
  spec?: NodePoolSpec;
  world?: WorldOptions;
  move?: Partial<Move>;
  stay?: string;
  putOffUntil?: Instant;
  now?: Instant;
};

const consolidatable = aCondition("Consolidatable", "True", { since: at("15s") });
const drifted = aCondition("Drifted", "True", {
  since: at("2h"),
  reason: "NodePoolDrifted",
  message: "Another template.",
});
const web = aPod("web", { on: "a" });
const { ownerKind: _, ...ownerless } = web;

function aClaimOf({ claim = {}, is = [] }: Case): ClaimView {
  const made = aClaim("a", { pool: "web", ...claim });
  return { ...made, conditions: [...made.conditions, ...is] };
}

function contextOf(one: Case) {
  const { spec = {}, world = {}, now = at("1m") } = one;
  const picture = aWorld({
    pools: [aPool("web", { spec })],
    claims: [aClaimOf(one)],
    nodes: [aNode("a")],
    now: () => now,
    ...world,
  });
  return { picture: withMove(picture, one), now, settings, epoch: 1 };
}

function withMove(picture: ClusterPicture, { move, stay, putOffUntil: until }: Case): ClusterPicture {
  const found: Move | undefined = move && {
    batch: "move-1",
    action: "Drift",
    nodes: [{ name: "a", uid: "a-uid" }],
    claims: [],
    podCount: 1,
    price: { before: 0.2, after: 0.1 },
    stuck: [],
    at: t0,
    ...move,
  };
  picture.moveOf = () => found;
  picture.stayOf = () =>
    stay === undefined ? undefined : { short: stay, at: t0, ...(until === undefined ? {} : { until }) };
  return picture;
}

const decide = (one: Case) => disruption.decide("a", contextOf(one));
/** What comes of it in a word: the action that is proposed, or the code of the refusal. */
function wordOf(one: Case): string {
  const { proposals, refusals } = decide(one);
  return [...proposals.map(({ action }) => action), ...refusals.map(({ code }) => code)].join(" ") || "nothing";
}

const replacement = (name: string): Move["claims"][number] => ({
  name,
  pool: "web",
  poolVersion: "1",
  manifest: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name } },
  pods: [],
  capacity: {},
  at: t0,
});

describe("Expiration", () => {
  const aged = { claim: { spec: { expireAfter: day } }, spec: never };

  test.each<[string, Instant, string, Instant | undefined]>([
    ["a millisecond before its age", at(day) - 1, "nothing", at(day)],
    ["at its age", at(day), "Expiration", undefined],
    ["after it", at(day) + 1, "Expiration", undefined],
  ])("%s", (_, now, word, wakeAt) => {
    expect(wordOf({ ...aged, now })).toBe(word);
    expect(decide({ ...aged, now }).wakeAt).toBe(wakeAt);
  });

  test.each<[string, Instant, string, Instant | undefined]>([
    ["before its age", at(day) - 1, "nothing", at(day)],
    ["at its age", at(day), "not-long-enough", at("25h")],
    ["a millisecond before the end of its wait", at("25h") - 1, "not-long-enough", at("25h")],
    ["at the end of its wait", at("25h"), "Expiration", undefined],
  ])("with a disruptAfter of its own, %s", (_, now, word, wakeAt) => {
    const spec: NodePoolSpec = {
      disruption: { ...never.disruption, actionControls: { Expiration: { disruptAfter: "1h" } } },
    };
    expect(wordOf({ ...aged, spec, now })).toBe(word);
    expect(decide({ ...aged, spec, now }).wakeAt).toBe(wakeAt);
  });

  test.each<[string, Case]>([
    ["expireAfter", { claim: { spec: { expireAfter: "Never" } }, spec: never }],
    [
      "disruptAfter",
      {
        ...aged,
        spec: { disruption: { ...never.disruption, actionControls: { Expiration: { disruptAfter: "Never" } } } },
      },
    ],
  ])("never with %s: Never", (_, one) => {
    expect(decide({ ...one, now: at("9999h") })).toMatchObject({ proposals: [], refusals: [], wakeAt: undefined });
  });

  test("says since when, by which policy, and how", () => {
    expect(decide({ ...aged, now: at("30h") }).proposals).toEqual([
      {
        node: { name: "a", uid: "a-uid" },
        claim: { name: "a", uid: "a-claim-uid" },
        action: "Expiration",
        method: "Terminate",
        termination: "Graceful",
        askedBy: { kind: "NodePool", name: "web", uid: "web-pool-uid" },
        message: "Node a came of age at 2026-01-02T00:00:00Z (expireAfter 24h).",
        policy: { kind: "NodeClaim", name: "a", path: "spec.expireAfter", generation: 1 },
        evidence: [
          {
            kind: "Age",
            message: "Node a came of age at 2026-01-02T00:00:00Z (expireAfter 24h).",
            since: "2026-01-02T00:00:00Z",
            clock: "Creation",
          },
        ],
        dueAt: at(day),
        priority: 1,
      },
    ]);
  });

  test("a node over its age that is held says since when it should have gone", () => {
    const world = { pods: [web], budgets: [aBudget("web")] };
    const { refusals, notices } = decide({ ...aged, world, now: at("30h") });
    expect(refusals).toEqual([
      {
        subject: "node/a",
        code: "budget-allows-none",
        message:
          "Pod default/web holds its node: PodDisruptionBudget default/web allows 0 now. Node a came of age at 2026-01-02T00:00:00Z (expireAfter 24h).",
        liftedBy: "another of its pods becoming ready, or a looser PodDisruptionBudget",
      },
    ]);
    expect(notices.map(({ about, reason, message }) => [about.kind, about.name, reason, message])).toEqual(
      ["Node", "NodeClaim"].map(kind => [
        kind,
        "a",
        "DisruptionBlocked",
        "Pod default/web holds its node: PodDisruptionBudget default/web allows 0 now.",
      ]),
    );
  });

  test("with a terminationGracePeriod pods only slow it down", () => {
    const claim = { spec: { expireAfter: day, terminationGracePeriod: "1h" } };
    const world = { pods: [web], budgets: [aBudget("web")] };
    expect(wordOf({ claim, spec: never, world, now: at("30h"), move: {} })).toBe("Expiration");
  });

  test("holds also for a pool with replicas, once there is one in its place", () => {
    const one = { ...aged, spec: { ...never, replicas: 1 }, now: at(day) };
    expect(wordOf(one)).toBe("move-not-found-yet");
    expect(wordOf({ ...one, move: { claims: [replacement("web-1")] } })).toBe("Expiration");
  });

  test.each<[string, Case, string]>([
    ["of no pool", { claim: { spec: { expireAfter: day }, labels: {} }, world: { pools: [] } }, "pool-missing"],
  ])("a claim %s is left alone", (_, one, word) => {
    expect(wordOf({ ...one, now: at(day) - 1 })).toBe("nothing");
    expect(decide({ ...one, now: at(day) - 1 }).wakeAt).toBe(at(day));
    expect(wordOf({ ...one, now: at(day) })).toBe(word);
  });

  test("a claim that somebody made by hand is left alone", () => {
    const claims = [aClaim("a", { spec: { expireAfter: day } })];
    expect(wordOf({ world: { claims }, now: at(day) })).toBe("no-pool");
  });
});

describe("Drift", () => {
  const gone = { is: [drifted], spec: never };

  test("at once, from the time of the condition", () => {
    const [proposal] = decide({ ...gone, now: at("2h") }).proposals;
    expect(proposal).toMatchObject({
      action: "Drift",
      dueAt: at("2h"),
      message: "Node a has drifted since 2026-01-01T02:00:00Z (NodePoolDrifted): Another template.",
      policy: { kind: "NodePool", name: "web", path: "spec.template", generation: 1 },
      evidence: [
        { kind: "Drift", conditionType: "Drifted", conditionReason: "NodePoolDrifted", since: formatTime(at("2h")) },
      ],
    });
  });

  test.each<[Instant, string]>([
    [at("3h") - 1, "not-long-enough"],
    [at("3h"), "Drift"],
    [at("3h") + 1, "Drift"],
  ])("after its disruptAfter (%#)", (now, word) => {
    const spec: NodePoolSpec = {
      disruption: { ...never.disruption, actionControls: { Drift: { disruptAfter: "1h" } } },
    };
    expect(wordOf({ ...gone, spec, now })).toBe(word);
  });

  test.each<[string, Case]>([
    ["no condition", {}],
    ["a condition that is False", { is: [{ ...drifted, status: "False" }] }],
    ["a condition that is being written", { is: [aCondition("Drifted", "True", { since: undefined as never })] }],
  ])("%s: nothing", (_, one) => {
    expect(wordOf({ ...one, spec: never, now: at("9h") })).toBe("nothing");
  });

  test("an empty node needs no search, and goes before those in use", () => {
    const [empty] = decide({ ...gone, now: at("3h") }).proposals;
    expect(empty?.priority).toBe(1);
    const [used] = decide({ ...gone, world: { pods: [web] }, move: {}, now: at("3h") }).proposals;
    expect(used).not.toHaveProperty("priority");
  });

  test("a node in use goes with the move that was found for it", () => {
    const one = { ...gone, world: { pods: [web] }, now: at("3h") };
    expect(wordOf(one)).toBe("move-not-found-yet");
    const claims = [replacement("web-1"), replacement("web-2")];
    expect(decide({ ...one, move: { claims } }).proposals[0]).toMatchObject({
      batch: "move-1",
      replacements: [{ name: "web-1" }, { name: "web-2" }],
      message:
        "Node a has drifted since 2026-01-01T02:00:00Z (NodePoolDrifted): Another template. When it goes, 1 pod moves and web-1, web-2 come first.",
    });
    expect(decide({ ...one, move: {} }).proposals[0]).not.toHaveProperty("replacements");
  });

  test("a node whose pods have no place stays, and the pod is named", () => {
    const stuck = [
      { pod: "payments/ledger-0", short: "no pool has a type with 64 CPUs" },
      { pod: "b/c", short: "no" },
    ];
    expect(decide({ ...gone, world: { pods: [web] }, move: { stuck }, now: at("3h") }).refusals).toEqual([
      {
        subject: "node/a",
        code: "pods-without-place",
        message:
          "There is no place for pod payments/ledger-0 of node a, nor for 1 more: no pool has a type with 64 CPUs. Node a has drifted since 2026-01-01T02:00:00Z (NodePoolDrifted): Another template.",
        liftedBy: "room on another node, or a pool that may launch one",
      },
    ]);
  });

  test("a move of other nodes for another reason is not its own", () => {
    const nodes = ["a", "b"].map(name => ({ name, uid: `${name}-uid` }));
    const one = { ...gone, world: { pods: [web] }, now: at("3h") };
    expect(wordOf({ ...one, move: { action: "Consolidation", nodes } })).toBe("move-not-found-yet");
    expect(wordOf({ ...one, move: { action: "Consolidation" } })).toBe("Drift");
  });
});

describe("Emptiness", () => {
  const idle = { is: [consolidatable] };

  test.each<[Instant, string]>([
    [at("15s") - 1, "not-long-enough"],
    [at("15s"), "Emptiness"],
    [at("15s") + 1, "Emptiness"],
  ])("once it has stood still for 15 s, whatever the pool says (%#)", (now, word) => {
    expect(wordOf({ ...idle, spec: { disruption: { consolidateAfter: "0s" } }, now })).toBe(word);
  });

  test.each<[Instant, string]>([
    [at("10m") - 1, "not-long-enough"],
    [at("10m"), "Emptiness"],
  ])("after its disruptAfter (%#)", (now, word) => {
    const spec: NodePoolSpec = { disruption: { actionControls: { Emptiness: { disruptAfter: "10m" } } } };
    expect(wordOf({ ...idle, spec, now })).toBe(word);
  });

  test("a pod that has gone in the meantime starts it over", () => {
    const one = contextOf({ ...idle, world: { pods: [web] }, now: at("1m") });
    one.picture.remove("pod", web);
    expect(disruption.decide("a", one)).toMatchObject({ proposals: [], wakeAt: at("1m15s") });
  });

  test.each<[string, Case, string]>([
    ["it is time, and Consolidatable is not written yet", {}, "Emptiness"],
    ["it is not time", { now: at("14s") }, "not-long-enough"],
    ["it is not time, whatever is written", { ...idle, now: at("14s") }, "not-long-enough"],
    [
      "only daemons run",
      { ...idle, world: { pods: [{ ...web, tier: "daemon", ownerKind: "DaemonSet" }] } },
      "Emptiness",
    ],
    ["a static pod runs", { ...idle, world: { pods: [{ ...web, isStatic: true }] } }, "Emptiness"],
    ["its pods have ended", { ...idle, world: { pods: [{ ...web, phase: "Succeeded" }] } }, "Emptiness"],
    ["a Deployment's pod is stopping", { ...idle, world: { pods: [{ ...web, deletionAt: at("30s") }] } }, "Emptiness"],
    [
      "a StatefulSet's pod is stopping",
      { ...idle, world: { pods: [{ ...web, deletionAt: at("30s"), ownerKind: "StatefulSet" }] } },
      "nothing",
    ],
    ["a pod runs that nobody owns", { ...idle, world: { pods: [ownerless] } }, "nothing"],
    ["a pod runs that may be deleted first", { ...idle, world: { pods: [{ ...web, evictionCost: -10 }] } }, "nothing"],
    ["the policy is WhenEmpty", { ...idle, spec: { disruption: { consolidationPolicy: "WhenEmpty" } } }, "Emptiness"],
    ["a pool with replicas", { ...idle, spec: { replicas: 1 } }, "nothing"],
    [
      "the node says do-not-disrupt",
      { ...idle, world: { nodes: [aNode("a", { annotations: { [doNotDisruptKey]: "true" } })] } },
      "do-not-disrupt",
    ],
    [
      "the node says do-not-disrupt: false",
      { ...idle, world: { nodes: [aNode("a", { annotations: { [doNotDisruptKey]: "false" } })] } },
      "Emptiness",
    ],
  ])("%s: %s", (_, one, word) => {
    expect(wordOf(one)).toBe(word);
  });

  test("says since when", () => {
    expect(decide(idle).proposals[0]).toMatchObject({
      message: "Nothing that could run elsewhere has been on node a since 2026-01-01T00:00:00Z.",
      policy: { path: "spec.disruption.consolidateAfter" },
      evidence: [{ kind: "Empty", clock: "Observer", since: "2026-01-01T00:00:00Z" }],
      dueAt: at("15s"),
    });
  });
});

describe("Consolidation", () => {
  const used = { is: [consolidatable], world: { pods: [web] } };
  const cheaper = { action: "Consolidation", claims: [replacement("web-1")] } as const;

  test.each<[string, Case, string]>([
    ["nobody has looked yet", used, "nothing"],
    ["a cheaper place is found", { ...used, move: cheaper }, "Consolidation"],
    [
      "the answer was for another reason and need not pay",
      { ...used, move: { ...cheaper, action: "Drift" } },
      "nothing",
    ],
    ["it is well used", { ...used, stay: "its pods have no cheaper place" }, "unconsolidatable"],
    [
      "the policy is WhenEmpty",
      { ...used, move: cheaper, spec: { disruption: { consolidationPolicy: "WhenEmpty" } } },
      "nothing",
    ],
    [
      "the policy is Balanced",
      { ...used, move: cheaper, spec: { disruption: { consolidationPolicy: "Balanced" } } },
      "Consolidation",
    ],
    ["consolidateAfter is Never", { ...used, move: cheaper, spec: never }, "nothing"],
    ["a pool with replicas", { ...used, move: cheaper, spec: { replicas: 1 } }, "nothing"],
    [
      "a pod may not be moved",
      { ...used, move: cheaper, world: { pods: [{ ...web, doNotDisrupt: "true" }] } },
      "do-not-disrupt",
    ],
  ])("%s: %s", (_, one, word) => {
    expect(wordOf(one)).toBe(word);
  });

  test.each<[Instant, string]>([
    [at("15s") - 1, "nothing"],
    [at("15s"), "Consolidation"],
  ])("once it has stood still (%#)", (now, word) => {
    expect(wordOf({ ...used, move: cheaper, spec: { disruption: { consolidateAfter: "0s" } }, now })).toBe(word);
  });

  test("a node that stays says so as the peer does", () => {
    const { notices } = decide({ ...used, stay: "its pods have no cheaper place" });
    expect(notices.map(({ about, reason, message }) => [about.kind, reason, message])).toEqual(
      ["Node", "NodeClaim"].map(kind => [kind, "Unconsolidatable", "Node a stays: its pods have no cheaper place."]),
    );
  });

  const whenEmpty: NodePoolSpec = { disruption: { consolidationPolicy: "WhenEmpty" } };
  const neverUsed: NodePoolSpec = { disruption: { actionControls: { Consolidation: { disruptAfter: "Never" } } } };
  const neverEmpty: NodePoolSpec = { disruption: { actionControls: { Emptiness: { disruptAfter: "Never" } } } };
  const byNever = (action: string) =>
    `NodePool web never lets a node go by ${action} (its disruptAfter or consolidateAfter is Never).`;
  const onlyEmpty = "NodePool web lets only empty nodes go to save money (consolidationPolicy WhenEmpty).";
  const idle = { is: [consolidatable] };
  const uninitialized = { conditions: [aCondition("Initialized", "Unknown")] };
  test.each<[string, Case, string | undefined]>([
    ["WhenEmpty and a node in use", { ...used, spec: whenEmpty }, onlyEmpty],
    ["WhenEmpty and pods that came a moment ago", { ...used, is: [], spec: whenEmpty, now: at("1s") }, onlyEmpty],
    ["WhenEmpty and an empty node", { ...idle, spec: whenEmpty, now: at("1s") }, undefined],
    ["consolidateAfter Never and a node in use", { ...used, spec: never }, byNever("Consolidation")],
    ["consolidateAfter Never and an empty node", { ...idle, spec: never }, byNever("Emptiness")],
    ["a node in use, never by its own action", { ...used, spec: neverUsed }, byNever("Consolidation")],
    ["an empty node, never by its own action", { ...idle, spec: neverEmpty }, byNever("Emptiness")],
    ["a node in use, where only empty ones never go", { ...used, spec: neverEmpty, now: at("1s") }, undefined],
    ["replicas", { ...used, spec: { ...never, replicas: 1 } }, undefined],
    ["a node that is not initialized", { ...used, claim: uninitialized, spec: never }, undefined],
  ])("C what its pool never lets go says so as the peer does, and refuses nothing: %s", (_, one, message) => {
    const { notices, refusals } = decide(one);
    expect(refusals.filter(({ code }) => code === "unconsolidatable")).toEqual([]);
    expect(notices.map(({ about, reason, message: said }) => [about.kind, reason, said])).toEqual(
      message === undefined ? [] : ["Node", "NodeClaim"].map(kind => [kind, "Unconsolidatable", message]),
    );
  });

  test("one that is put off says until when, and nothing in events", () => {
    const decision = decide({
      ...used,
      stay: "pods still come to other nodes and go from them",
      putOffUntil: at("2m"),
    });
    expect([decision.commands, decision.notices]).toEqual([[], []]);
    expect(decision.refusals).toMatchObject([
      {
        code: "put-off",
        message: "Node a stays: pods still come to other nodes and go from them.",
        until: at("2m"),
        liftedBy: "pods standing still",
      },
    ]);
  });

  test("says what it saves", () => {
    const nodes = ["a", "b"].map(name => ({ name, uid: `${name}-uid` }));
    expect(decide({ ...used, move: { ...cheaper, nodes, podCount: 7 } }).proposals[0]?.message).toBe(
      "No pod has come to node a or gone from it since 2026-01-01T00:00:00Z. When 2 nodes go, 7 pods move and web-1 comes first, 0.1000 instead of 0.2000 an hour.",
    );
  });
});

describe("of several reasons the highest comes first", () => {
  const all: Case = { claim: { spec: { expireAfter: day } }, is: [drifted, consolidatable], now: at(day) };
  test.each<[string, Case, string]>([
    ["expired, drifted and empty", all, "Expiration Drift Emptiness"],
    ["drifted and empty", { ...all, now: at("23h") }, "Drift Emptiness"],
    ["empty", { ...all, is: [consolidatable], now: at("23h") }, "Emptiness"],
    [
      "expired but not to be disrupted for that, drifted",
      { ...all, spec: { disruption: { actionControls: { Expiration: { disruptAfter: "Never" } } } } },
      "Drift Emptiness",
    ],
    [
      "expired and waiting, drifted",
      { ...all, spec: { disruption: { actionControls: { Expiration: { disruptAfter: "1h" } } } } },
      "Drift Emptiness",
    ],
    ["with pods, where one answer is for one reason", { ...all, world: { pods: [web] }, move: {} }, "Expiration"],
  ])("%s", (_, one, word) => {
    expect(wordOf(one)).toBe(word);
  });
});

describe("a reason that its pool is closed to does not hide a lower one", () => {
  const frozen = (...actions: ("Expiration" | "Drift" | "Emptiness" | "Consolidation")[]): NodePoolSpec => ({
    disruption: { budgets: [...actions.map(action => ({ nodes: "0", action })), { nodes: "100%" }] },
  });
  const both: Case = { is: [drifted, consolidatable], now: at("9h") };
  const busy: Case = { ...both, world: { pods: [web] } };
  const saves: Partial<Move> = { action: "Consolidation" };
  test.each<[string, Case, string]>([
    ["a drifted node that is empty", { ...both, spec: frozen("Drift") }, "Emptiness budget-closed"],
    ["one that costs too much", { ...busy, spec: frozen("Drift"), move: saves }, "Consolidation budget-closed"],
    ["one that nobody has looked for a place for", { ...busy, spec: frozen("Drift") }, "budget-closed"],
    ["neither where both are closed: the arbiter says so", { ...both, spec: frozen("Drift", "Emptiness") }, "Drift"],
    ["the higher where only the lower is", { ...both, spec: frozen("Emptiness") }, "Drift"],
    [
      "one alone: the arbiter says so",
      { ...busy, is: [drifted], spec: { ...frozen("Drift"), replicas: 1 }, move: {} },
      "Drift",
    ],
  ])("%s", (_, one, word) => {
    expect(wordOf(one)).toBe(word);
  });

  test("and is told beside it, with what closes it and since when it is due", () => {
    expect(decide({ ...both, spec: frozen("Drift") }).refusals).toEqual([
      {
        subject: "node/a",
        code: "budget-closed",
        message:
          "NodePool web lets no node go by Drift now (spec.disruption.budgets[0]). Node a has drifted since 2026-01-01T02:00:00Z (NodePoolDrifted): Another template.",
        liftedBy: "time, or another spec.disruption.budgets[0] of NodePool web",
      },
    ]);
  });

  test.each<[Instant, string]>([
    [at("9h") - 1, "Drift Emptiness"],
    [at("9h"), "Emptiness budget-closed"],
    [at("17h") - 1, "Emptiness budget-closed"],
    [at("17h"), "Drift Emptiness"],
  ])("from edge to edge of the window that closes it (%#)", (now, word) => {
    const hours = { nodes: "0", action: "Drift" as const, schedule: "0 9 * * *", duration: "8h" };
    const one = { ...both, spec: { disruption: { budgets: [hours, { nodes: "100%" }] } }, now };
    expect(wordOf(one)).toBe(word);
    expect(decide(one).wakeAt).toBe(now < at("9h") ? at("9h") : now < at("17h") ? at("17h") : at("33h"));
  });
});

describe("nothing is asked for a node", () => {
  const due = { is: [consolidatable], now: at("1h") };
  test.each<[string, Case]>([
    ["that is being deleted", { ...due, world: { nodes: [aNode("a", { deletingSince: t0 })] } }],
    ["whose claim is being deleted", { ...due, claim: { deletingSince: t0 } }],
    ["that has an action already", { ...due, world: { actions: [anAction("x", { node: "a" })] } }],
    ["whose claim is only expected", { ...due, claim: { isProvisional: true } }],
    ["of another provider", { ...due, claim: { spec: { nodeClassRef: { group: "x", kind: "Y", name: "z" } } } }],
    [
      "with nothing of ours on it",
      { ...due, claim: { status: { nodeName: "b" } }, world: { nodes: [aNode("a", { finalizers: [] })] } },
    ],
    ["that is not there", { ...due, world: { nodes: [] } }],
  ])("%s", (_, one) => {
    expect(wordOf(one)).toBe("nothing");
  });
});

test("a pool in dry run only shows it", () => {
  expect(decide({ is: [consolidatable], spec: { dryRun: true } }).proposals[0]?.dryRun).toBe(true);
});

test("a block that ends by itself is looked at again when it does", () => {
  const pods = [{ ...web, doNotDisrupt: "30m" }];
  expect(wordOf({ is: [drifted], spec: never, world: { pods }, move: {}, now: at("2h") })).toBe("Drift");
  const early = decide({ is: [{ ...drifted, since: at("10m") }], spec: never, world: { pods }, now: at("20m") });
  expect(early.wakeAt).toBe(at("30m"));
  expect(early.refusals[0]).toMatchObject({ code: "do-not-disrupt", until: at("30m") });
});

test("whoever searches is told which nodes to ask about", () => {
  const one = contextOf({ is: [drifted], world: { pods: [web] }, now: at("3h") });
  const candidate = candidateOf(aNode("a"), one);
  const due = candidate && dueOf(candidate, one);
  expect([due?.reason.action, due?.block, candidate && needsMove(candidate)]).toEqual(["Drift", undefined, true]);
});
