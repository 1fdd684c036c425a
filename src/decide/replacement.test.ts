import { describe, expect, test } from "vitest";
import {
  aBudget,
  aClaim,
  aCondition,
  anAction,
  aNode,
  aPod,
  aPool,
  aProvider,
  aSafetyPolicy,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import { formatTime } from "../api/time.ts";
import { disruptedTaint, doNotDisruptKey, replacementForKey } from "../api/well-known.ts";
import { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Move } from "../snapshot/moves.ts";
import { type PlannedClaim, poolVersion } from "../snapshot/placement.ts";
import type { ActionView, ClaimView } from "../snapshot/views.ts";
import { ledgerRule } from "./actions.ts";
import type { Context, Decision } from "./decision.ts";
import { replacementLaunch } from "./replacement-launch.ts";
import { leftoverRule, untaintRule } from "./replacement-undo.ts";

const batch = "drift-1";
const cheaper: ActionView["spec"]["evidence"] = [{ kind: "Cheaper", since: formatTime(t0), seenAt: formatTime(t0) }];
const pool = aPool("web");
const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;

function planned(name: string, more: Partial<PlannedClaim> = {}): PlannedClaim {
  const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name } };
  return { name, pool: "web", poolVersion: poolVersion(pool), manifest, pods: [], capacity: {}, at: t0, ...more };
}

function aMove(more: Partial<Move> = {}): Move {
  return {
    batch,
    action: "Drift",
    nodes: [{ name: "a", uid: "a-uid" }],
    claims: [],
    podCount: 1,
    price: { before: 1, after: 1 },
    stuck: [],
    at: t0,
    ...more,
  };
}

type ActionOptions = Parameters<typeof anAction>[1] & { on?: string };

/** Of node a, with replacement r, unless the test says otherwise. */
function plan({ on = "a", ...more }: ActionOptions = {}): ActionView {
  return anAction(`drift-${on}`, {
    node: on,
    phase: "Pending",
    ...more,
    spec: {
      action: "Drift",
      askedBy: { kind: "NodePool", name: "web" },
      nodePool: "web",
      message: `Node ${on} is drifted.`,
      evidence: [{ kind: "Drift", seenAt: formatTime(t0) }],
      epoch: 2,
      batch,
      replacements: [{ name: "r" }],
      ...more.spec,
    },
  });
}

const waiting = (more: ActionOptions = {}) => plan({ phase: "WaitingForReplacement", ...more });

/** A replacement, as far as it has come. */
function replacement(stage: "new" | "launched" | "registered" | "initialized", more: Partial<ClaimView> = {}) {
  const annotations = { [replacementForKey]: batch };
  const claim = aClaim("r", { pool: "web", stage, annotations, ...more });
  if (stage !== "launched") return claim;
  return { ...claim, conditions: [...claim.conditions, aCondition("Registered", "Unknown")] };
}

const drifted = (name: string): ClaimView => {
  const claim = aClaim(name, { pool: "web" });
  return { ...claim, conditions: [...claim.conditions, aCondition("Drifted", "True")] };
};
const old = drifted("a");
const there: WorldOptions = { nodes: [aNode("a")], claims: [old], pools: [pool] };

type Scene = { world?: WorldOptions; moves?: readonly Move[]; now?: number; picture?: ClusterPicture };

function contextOf({ world = there, moves = [], now = at("1m"), picture = aWorld(world) }: Scene): Context {
  picture.beginMoves();
  const found = moves.map(move => ({ move, places: new Map(), poolVersions: new Map() }));
  picture.settleMoves({ at: t0, moves: found, stays: new Map(), unanswered: [] });
  return { picture, now, settings, epoch: 2 };
}

const decide = (action: ActionView, scene: Scene = {}): Decision => {
  const world = { ...there, ...scene.world };
  const actions = [action, ...(scene.world?.actions ?? [])];
  return ledgerRule.decide(action.name, contextOf({ ...scene, world: { ...world, actions } }));
};
const codes = ({ refusals }: Decision) => refusals.map(({ code }) => code);
const outcomeOf = ({ commands: [command] }: Decision) =>
  command?.kind === "update-action" ? [command.progress?.phase, command.progress?.outcome] : [command?.kind];
const starts = [{ kind: "start-action", action: { name: "drift-a" } }];

describe("an action of a plan waits", () => {
  test("for claims that are to be made, as long as the plan stands, and nothing is written for that", () => {
    const decision = decide(plan(), { moves: [aMove({ claims: [planned("r")] })] });
    const message = "Node a stays until its replacements are there: NodeClaim r is to be made.";
    expect(decision).toMatchObject({ commands: [], refusals: [{ code: "replacement-not-ready", message }] });
    expect(decision.wakeAt).toBe(at("10m"));
  });

  test("for a claim that is being made", () => {
    const claims = [old, replacement("new", { isProvisional: true })];
    expect(decide(plan(), { world: { claims } })).toMatchObject({
      commands: [],
      refusals: [{ message: "Node a stays until its replacements are there: NodeClaim r is being made." }],
    });
  });

  test("for its replacements, written once; the node takes no new pods meanwhile", () => {
    const world = { claims: [old, replacement("launched")] };
    const message = "Its replacements must be initialized first: r.";
    const first = decide(plan(), { world });
    expect(first.commands).toMatchObject([
      { progress: { phase: "WaitingForReplacement", waitingFor: { reason: "ReplacementNotReady", message } } },
      { kind: "update-node", node: { name: "a" }, change: { addTaints: [disruptedTaint] } },
    ]);
    const tainted = { ...world, nodes: [aNode("a", { taints: [disruptedTaint] })] };
    const status = { waitingFor: { reason: "ReplacementNotReady", message, since: formatTime(t0) } };
    const later = decide(waiting({ status }), { world: tainted });
    expect(later.commands).toEqual([]);
    expect(later.refusals).toMatchObject([{ message: expect.stringContaining("NodeClaim r is not registered") }]);
  });

  test("which is told on each that is not up: for whom it is launched, then that it is waited for, once for a batch", () => {
    const [up, coming] = [
      replacement("initialized"),
      aClaim("s", { ...replacement("launched"), name: "s", uid: "s-uid" }),
    ];
    const spec = { replacements: [{ name: "r" }, { name: "s" }] };
    const told = (action: ActionView, more: WorldOptions = {}) =>
      decide(action, { world: { claims: [old, up, coming], ...more } }).notices.map(
        ({ about, reason, message }) => `${about.kind} ${about.name} ${reason}: ${message}`,
      );
    expect(told(plan({ spec }))).toEqual(["NodeClaim s DisruptionLaunching: Is launched before node a goes by Drift."]);
    expect(told(waiting({ spec }))).toEqual([
      "NodeClaim s DisruptionWaitingReadiness: Node a stays until this one is initialized.",
    ]);
    const first = anAction("drift-0", { node: "0", spec: { ...plan().spec, node: { name: "0", uid: "0-uid" } } });
    expect(told(waiting({ spec }), { actions: [first] })).toEqual([]);
    const asked = replacement("new", { isProvisional: true });
    expect(told(plan(), { claims: [old, asked] })).toEqual([]);
  });

  test("says of each replacement how far it is", () => {
    const noted = [aCondition("Launched", "Unknown", { reason: "LaunchFailed", message: "The cloud is tired." })];
    const claims = [
      old,
      replacement("new", { conditions: noted }),
      aClaim("s", { pool: "web", stage: "registered", annotations: { [replacementForKey]: batch } }),
    ];
    const action = waiting({ spec: { replacements: [{ name: "r" }, { name: "s" }] } });
    const [refusal] = decide(action, { world: { claims } }).refusals;
    expect(refusal?.message).toBe(
      "Node a stays until its replacements are there: NodeClaim r is not launched (The cloud is tired); NodeClaim s is not initialized.",
    );
    expect(refusal?.liftedBy).toBe("the initialization of r, s");
  });

  test("for a fresh look at where its pods go, once they are initialized", () => {
    const world = { claims: [old, replacement("initialized")] };
    const [unjudged, stale] = [
      decide(waiting(), { world }),
      decide(waiting(), { world, moves: [aMove({ batch: "other" })] }),
    ];
    expect([codes(unjudged), codes(stale)]).toEqual([["not-judged-again"], ["not-judged-again"]]);
    // Ten minutes from when the replacement was there.
    expect(unjudged.wakeAt).toBe(at("10m"));
    expect(unjudged.commands).toMatchObject([{ kind: "update-node" }]);
  });

  test.each<[string, Partial<Move>, string, string]>([
    [
      "a pod has no place",
      { stuck: [{ pod: "shop/cart-0", short: "no room for 8 cpu." }] },
      "pods-without-place",
      "Node a stays: pod shop/cart-0 would have no place: no room for 8 cpu.",
    ],
    [
      "others took its room",
      { claims: [planned("s")] },
      "room-taken",
      "Node a stays: its pods would need 1 more than what was launched for them.",
    ],
  ])("while %s, and says so in the ledger", (_, more, code, message) => {
    const world = { claims: [old, replacement("initialized")] };
    const decision = decide(waiting(), { world, moves: [aMove(more)] });
    expect(decision).toMatchObject({ refusals: [{ code, message }] });
    expect(decision.commands[0]).toMatchObject({ progress: { waitingFor: { message } } });
  });

  test("without replacements too, for where its pods go must still be so", () => {
    const action = plan({ spec: { replacements: [] } });
    expect(codes(decide(action))).toEqual(["not-judged-again"]);
    expect(decide(action, { moves: [aMove()] }).commands).toMatchObject(starts);
  });
});

describe("an action of a plan starts", () => {
  const world = { claims: [old, replacement("initialized")] };

  test("once every pod has a place on what is there", () => {
    expect(decide(waiting(), { world, moves: [aMove()] }).commands).toMatchObject(starts);
  });

  test("in a pool with replicas one for one, when the new node is Ready", () => {
    const pools = [aPool("web", { spec: { replicas: 3 } })];
    const ready = { ...world, pools, nodes: [aNode("a"), aNode("r")] };
    expect(decide(waiting(), { world: ready }).commands).toMatchObject(starts);
    const sick = { ...ready, nodes: [aNode("a"), aNode("r", { ready: "False" })] };
    expect(decide(waiting(), { world: sick }).refusals).toMatchObject([
      { code: "replacement-not-ready", message: "Node a stays: the node of its replacement r is not Ready." },
    ]);
  });

  test.each<[string, ActionView, Partial<WorldOptions>]>([
    [
      "what is sick has joined it",
      waiting({
        spec: {
          joined: [
            {
              action: "Repair",
              askedBy: { kind: "NodePool", name: "web" },
              at: formatTime(t0),
              message: "Node a is sick.",
              evidence: [],
            },
          ],
        },
      }),
      {},
    ],
    ["somebody deletes the node", waiting(), { nodes: [aNode("a", { deletingSince: t0 })] }],
  ])("without its replacements when %s", (_, action, more) => {
    const claims = [old, replacement("launched")];
    expect(decide(action, { world: { claims, ...more } }).commands).toMatchObject(starts);
  });

  test("for the sake of what joined it, where its own reason is frozen or its pool closed", () => {
    const joined = [
      {
        action: "Repair" as const,
        askedBy: { kind: "NodePool" as const, name: "web" },
        at: formatTime(t0),
        message: "Node a is sick.",
        evidence: [],
      },
    ];
    const safety = aSafetyPolicy({ freeze: { reason: "launch day", scope: "Disruption" } });
    const pools = [aPool("web", { spec: { disruption: { budgets: [{ nodes: "0" }] } } })];
    const scene = { world: { ...world, safety, pools }, moves: [aMove()] };
    expect(codes(decide(waiting(), scene))).toEqual(["frozen"]);
    expect(decide(waiting({ spec: { joined } }), scene).commands).toMatchObject(starts);
  });

  test("but goes on waiting when it comes of age meanwhile: that is a plan too", () => {
    const joined = [
      {
        action: "Expiration" as const,
        askedBy: { kind: "NodePool" as const, name: "web" },
        at: formatTime(t0),
        message: "Node a is old.",
        evidence: [],
      },
    ];
    const claims = [old, replacement("launched")];
    expect(codes(decide(waiting({ spec: { joined } }), { world: { claims } }))).toEqual(["replacement-not-ready"]);
  });

  test.each<[string, number, string[]]>([
    ["not a moment before it has stood still for 15 s", at("1m14.999s"), ["not-still"]],
    ["when it has stood still for 15 s", at("1m15s"), []],
  ])("consolidated, %s", (_, now, held) => {
    const picture = new ClusterPicture(aProvider(), { now: () => at("1m") });
    const action = plan({ spec: { action: "Consolidation", evidence: cheaper, replacements: [] } });
    picture.put("pool", pool);
    picture.put("claim", old);
    picture.put("node", aNode("a"));
    picture.put("action", action);
    picture.put("pod", aPod("web", { on: "a", startedAt: at("1m") }));
    const decision = ledgerRule.decide(action.name, contextOf({ picture, moves: [aMove()], now }));
    expect(codes(decision)).toEqual(held);
    expect(decision.wakeAt).toBe(held.length > 0 ? at("1m15s") : at("10m"));
    expect(decision.commands.map(({ kind }) => kind)).toEqual(held.length > 0 ? [] : ["start-action"]);
  });

  test.each<[string, Partial<WorldOptions>, string]>([
    [
      "a pod that may not be disturbed has come",
      { pods: [aPod("p", { on: "a", doNotDisrupt: "true" })] },
      "do-not-disrupt",
    ],
    [
      "the budget of a pod allows none",
      { pods: [aPod("p", { on: "a" })], budgets: [aBudget("p")] },
      "budget-allows-none",
    ],
    [
      "the node may not be disturbed",
      { nodes: [aNode("a", { annotations: { [doNotDisruptKey]: "true" } })] },
      "do-not-disrupt",
    ],
    ["its pool cannot be understood", { pools: [{ ...pool, invalid: "nonsense" }] }, "pool-invalid"],
  ])("not when meanwhile %s", (_, more, code) => {
    const decision = decide(waiting(), { world: { ...world, ...more }, moves: [aMove()] });
    expect([codes(decision), decision.wakeAt]).toEqual([[code], at("10m")]);
    expect(decision.commands).toMatchObject([{ progress: { waitingFor: {} } }]);
  });

  const nightly = { schedule: "0 9 * * *", duration: "8h", nodes: "0" };
  test.each<[string, NonNullable<NodePoolSpec["disruption"]>, number, string[]]>([
    ["one ms before the freeze", { budgets: [nightly] }, at("9h") - 1, []],
    ["in the freeze", { budgets: [nightly] }, at("9h"), ["budget-closed"]],
    ["one ms before its end", { budgets: [nightly] }, at("17h") - 1, ["budget-closed"]],
    ["after it", { budgets: [nightly] }, at("17h"), []],
    ["outside the windows", { windows: [{ schedule: "0 9 * * *", duration: "8h" }] }, at("8h"), ["budget-closed"]],
    ["with a share of none", { budgets: [{ nodes: "0%" }] }, at("8h"), ["budget-closed"]],
    ["with a share of any", { budgets: [{ nodes: "1%" }] }, at("8h"), []],
  ])("as its pool allows: %s", (_, disruption, now, held) => {
    const pools = [aPool("web", { spec: { disruption } })];
    const spec = { decidedAt: formatTime(now - 60_000), replacements: [] };
    const decision = decide(plan({ spec }), { world: { pools }, moves: [aMove()], now });
    expect(codes(decision)).toEqual(held);
    expect(decision.commands.map(({ kind }) => kind)).toEqual(held.length > 0 ? ["update-action"] : ["start-action"]);
  });
});

describe("an action of a plan is given up, and its node stays", () => {
  const given = (why: string) => ["Abandoned", `Given up before it began: ${why}.`];

  test.each<[string, ActionView, readonly ClaimView[], string]>([
    [
      "its replacement was never made and nobody knows how",
      plan(),
      [old],
      "what was found for it stood no longer before its replacement r was made",
    ],
    ["its replacement has gone", waiting(), [old], "its replacement r has gone again"],
    [
      "its replacement is deleted",
      waiting(),
      [old, replacement("launched", { deletingSince: t0 })],
      "its replacement r is being deleted",
    ],
    [
      "there is no capacity",
      waiting(),
      [
        old,
        replacement("new", {
          conditions: [aCondition("Launched", "False", { reason: "InsufficientCapacity", message: "no m5 in z1" })],
        }),
      ],
      "its replacement r was not launched: no m5 in z1",
    ],
    [
      "somebody else has a claim of that name",
      plan(),
      [old, aClaim("r", { pool: "web" })],
      "NodeClaim r was not made as its replacement",
    ],
  ])("when %s", (_, action, claims, why) => {
    expect(outcomeOf(decide(action, { world: { claims } }))).toEqual(given(why));
  });

  test.each<[string, "launched" | "registered", number, boolean]>([
    ["one ms before its readinessTTL ends", "launched", at("15m") - 1, false],
    ["when it ends", "launched", at("15m"), true],
    ["registered, one ms before", "registered", at("15m") - 1, false],
    ["registered, when it ends", "registered", at("15m"), true],
  ])("when a replacement does not come: %s", (_, stage, now, isOver) => {
    const decision = decide(waiting(), { world: { claims: [old, replacement(stage)] }, now });
    expect(decision.commands.some(({ kind }) => kind === "update-action") && outcomeOf(decision)[0]).toBe(
      isOver ? "Abandoned" : undefined,
    );
    if (!isOver) expect(decision.wakeAt).toBe(at("15m"));
  });

  test.each<[number, string[]]>([
    [at("10m") - 1, ["not-judged-again"]],
    [at("10m"), []],
  ])("when nobody says where its pods go in ten minutes", (now, held) => {
    const decision = decide(waiting(), { world: { claims: [old, replacement("initialized")] }, now });
    expect(codes(decision)).toEqual(held);
    if (held.length === 0) expect(outcomeOf(decision)[0]).toBe("Abandoned");
  });

  test("when another of the same consolidation was given up; but not when that one goes for another reason", () => {
    const spec: Partial<ActionView["spec"]> = { action: "Consolidation", evidence: cheaper, replacements: [] };
    const other = plan({ on: "b", phase: "Abandoned", spec });
    const nodes = [aNode("a"), aNode("b")];
    const claims = [old, drifted("b")];
    const scene = (more: WorldOptions): Scene => ({
      world: { nodes, claims, actions: [other], ...more },
      moves: [aMove()],
    });
    expect(outcomeOf(decide(plan({ spec }), scene({})))).toEqual(
      given("node b, with which it was to go, stays (NodeAction drift-b)"),
    );
    expect(decide(plan({ spec }), scene({ nodes: [aNode("a")] })).commands).toMatchObject(starts);
  });
});

describe("replacements are launched", () => {
  const launch = (scene: Scene) => replacementLaunch.decide("cluster", contextOf(scene));
  const both = [plan(), plan({ on: "b" })];
  const nodes = [aNode("a"), aNode("b")];
  const claims = [old, drifted("b")];
  const move = aMove({
    nodes: [
      { name: "a", uid: "a-uid" },
      { name: "b", uid: "b-uid" },
    ],
    claims: [planned("r")],
  });

  test("once, with the mark of those they are made for", () => {
    const decision = launch({ world: { ...there, nodes, claims, actions: both }, moves: [move] });
    expect(decision.commands).toMatchObject([
      {
        kind: "create-claim",
        manifest: { metadata: { name: "r", annotations: { [replacementForKey]: batch } } },
        why: "It replaces node a (NodeAction drift-a) before that goes.",
      },
    ]);
  });

  test.each<[string, readonly ActionView[], WorldOptions]>([
    ["before all of the batch is in the ledger", [plan()], {}],
    ["before all of it is written", [plan(), plan({ on: "b", isProvisional: true })], {}],
    ["again", both, { claims: [...claims, replacement("new")] }],
    ["again when one has gone", [waiting(), waiting({ on: "b" })], {}],
    ["for what another leader has", [plan({ spec: { epoch: 1 } }), plan({ on: "b", spec: { epoch: 1 } })], {}],
    ["on an old picture", both, { staleness: { resource: "pods", message: "silent" } }],
  ])("not %s", (_, actions, more) => {
    const world = { ...there, nodes, claims, actions, ...more };
    expect(launch({ world, moves: [move] }).commands).toEqual([]);
  });

  const apart = (on: string, name: string) =>
    aMove({ batch: `drift-${on}`, nodes: [{ name: on, uid: `${on}-uid` }], claims: [planned(name)] });
  const limited = (spec: NodePoolSpec) => {
    const actions = ["a", "b"].map(on =>
      plan({ on, spec: { batch: `drift-${on}`, replacements: [{ name: `r-${on}` }] } }),
    );
    const world = { ...there, nodes, claims, pools: [aPool("web", { spec })], actions };
    return launch({ world, moves: [apart("a", "r-a"), apart("b", "r-b")] });
  };

  test("within the limits of their pool, over all that wait", () => {
    const decision = limited({ limits: { nodes: "3" } });
    expect(decision.commands).toMatchObject([{ manifest: { metadata: { name: "r-a" } } }]);
    expect(decision.refusals).toMatchObject([
      {
        subject: "action/drift-b",
        code: "limit-reached",
        message: "Node b gets no replacement: pool web would pass limits.nodes.",
      },
    ]);
  });

  test.each<[string, NodePoolSpec, number]>([
    ["without a limit", {}, 2],
    ["with a limit that leaves room for none", { limits: { nodes: "2" } }, 0],
    ["with room for one", { limits: { nodes: "3" } }, 1],
    ["with room for both", { limits: { nodes: "4" } }, 2],
  ])("D19 one for one in a pool with replicas, %s", (_, spec, count) => {
    const { commands, refusals } = limited({ ...spec, replicas: 2 });
    expect([commands.length, refusals.length]).toEqual([count, 2 - count]);
  });

  test("not while launches of their pool are held back", () => {
    const backed = aPool("web", { status: { launchBackoff: { failures: 1, until: formatTime(at("2m")) } } });
    const world = { ...there, pools: [backed], nodes, claims, actions: both };
    const decision = launch({ world, moves: [move] });
    expect([decision.commands, decision.wakeAt]).toEqual([[], at("2m")]);
    expect(decision.refusals).toMatchObject([{ subject: "action/drift-a" }]);
  });
});

describe("what a plan that was given up leaves", () => {
  const givenUp = plan({ phase: "Abandoned" });
  const leftover = (scene: Scene) => leftoverRule.decide("r", contextOf(scene));
  const withClaim = (claim: ClaimView, more: WorldOptions = {}): Scene => ({
    world: { ...there, claims: [old, claim], actions: [givenUp], ...more },
  });

  test("a claim without a node goes", () => {
    expect(leftover(withClaim(replacement("launched"))).commands).toMatchObject([
      { kind: "delete-claim", claim: { name: "r" }, why: "Claim r was to replace node a, which stays." },
    ]);
  });

  test("a node on which nothing runs goes as any empty one, within the budgets", () => {
    const nodes = [aNode("a"), aNode("r")];
    const { commands, proposals } = leftover(withClaim(replacement("initialized"), { nodes }));
    expect(commands).toEqual([]);
    expect(proposals).toMatchObject([{ action: "Emptiness", node: { name: "r" }, evidence: [{ kind: "Empty" }] }]);
  });

  test.each<[string, Scene]>([
    [
      "pods run there",
      withClaim(replacement("initialized"), { nodes: [aNode("a"), aNode("r")], pods: [aPod("p", { on: "r" })] }),
    ],
    ["the action waits for it", withClaim(replacement("launched"), { actions: [waiting()] })],
    [
      "it has done its work",
      withClaim(replacement("launched"), { actions: [plan({ phase: "Done", status: { startedAt: formatTime(t0) } })] }),
    ],
    ["the node went otherwise, and its pods may need it", withClaim(replacement("launched"), { nodes: [] })],
    [
      "its pool has replicas, and looks after them itself",
      withClaim(replacement("launched"), { pools: [aPool("web", { spec: { replicas: 1 } })] }),
    ],
    ["it is no replacement", withClaim(aClaim("r", { pool: "web", stage: "launched" }))],
    ["it goes already", withClaim(replacement("launched", { deletingSince: t0 }))],
    ["nobody knows of the action any more", withClaim(replacement("launched"), { actions: [] })],
  ])("stays when %s", (_, scene) => {
    const { commands, proposals } = leftover(scene);
    expect([commands, proposals]).toEqual([[], []]);
  });

  test("stays when pods that want a node are expected on it", () => {
    const wanting = aPod("p", { phase: "Pending", isUnschedulable: true });
    const picture = aWorld({ ...there, claims: [old, replacement("launched")], actions: [givenUp], pods: [wanting] });
    expect(leftover({ picture }).commands).toMatchObject([{ kind: "delete-claim" }]);
    const placements = new Map([[wanting.uid, { on: "claim", name: "r", at: t0 } as const]]);
    picture.settleSearch({ at: t0, placements, claims: [] });
    expect(leftover({ picture }).commands).toEqual([]);
  });

  const untaint = (world: WorldOptions) => untaintRule.decide("a", contextOf({ world: { ...there, ...world } }));
  const nodes = [aNode("a", { taints: [disruptedTaint] })];

  test("the taint comes off", () => {
    expect(untaint({ nodes, actions: [givenUp] }).commands).toMatchObject([
      { kind: "update-node", node: { name: "a" }, change: { removeTaints: [disruptedTaint] } },
    ]);
  });

  test.each<[string, WorldOptions]>([
    ["an action has the node", { nodes, actions: [waiting()] }],
    ["its claim is being deleted", { nodes, claims: [aClaim("a", { pool: "web", deletingSince: t0 })] }],
    ["the node is being deleted", { nodes: [aNode("a", { taints: [disruptedTaint], deletingSince: t0 })] }],
    [
      "it is another controller's",
      { nodes, claims: [aClaim("a", { spec: { nodeClassRef: { group: "x", kind: "Y", name: "z" } } })] },
    ],
    ["there is none", {}],
  ])("the taint stays when %s", (_, world) => expect(untaint(world).commands).toEqual([]));
});
