import { describe, expect, test } from "vitest";
import {
  aClaim,
  aCondition,
  anAction,
  aNode,
  aPod,
  aPool,
  aSafetyPolicy,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../test/builders.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import { formatTime } from "../api/time.ts";
import { replacementForKey } from "../api/well-known.ts";
import type { Move } from "../snapshot/moves.ts";
import { type PlannedClaim, poolVersion } from "../snapshot/placement.ts";
import type { ActionView, ClaimView } from "../snapshot/views.ts";
import { ledgerRule, stillHolds } from "./actions.ts";
import type { Context, Decision } from "./decision.ts";
import { replacementLaunch } from "./replacement-launch.ts";

const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
const batch = "consolidation-1";
const old = aClaim("a", { pool: "web" });
const web = aPod("web", { on: "a" });
const cheaper = [{ kind: "Cheaper", since: formatTime(t0), seenAt: formatTime(t0) }] as const;

type ActionOptions = Parameters<typeof anAction>[1];

/** Node a is little used, r is to take its pod. */
function plan(more: ActionOptions = {}): ActionView {
  return anAction("consolidation-a", {
    phase: "WaitingForReplacement",
    ...more,
    spec: {
      action: "Consolidation",
      askedBy: { kind: "NodePool", name: "web" },
      nodePool: "web",
      message: "Node a is little used.",
      evidence: [...cheaper],
      epoch: 2,
      batch,
      replacements: [{ name: "r" }],
      ...more.spec,
    },
  });
}

function replacement(stage: "new" | "launched" | "initialized", more: Partial<ClaimView> = {}): ClaimView {
  return aClaim("r", { pool: "web", stage, annotations: { [replacementForKey]: batch }, ...more });
}

function moveOf(more: Partial<Move> = {}): Move {
  const nodes = [{ name: "a", uid: "a-uid" }];
  const price = { before: 1, after: 0.5 };
  return { batch, action: "Consolidation", nodes, claims: [], podCount: 1, price, stuck: [], at: t0, ...more };
}

type Scene = { world?: WorldOptions; moves?: readonly Move[]; now?: number; clockAheadMs?: number };

function contextOf(action: ActionView, { world, moves = [], now = at("1m"), clockAheadMs }: Scene): Context {
  const there = { nodes: [aNode("a")], claims: [old, replacement("launched")], pools: [aPool("web")], pods: [web] };
  const picture = aWorld({ ...there, actions: [action], ...world });
  picture.setClockAhead(clockAheadMs);
  picture.beginMoves();
  const found = moves.map(move => ({ move, places: new Map(), poolVersions: new Map() }));
  picture.settleMoves({ at: t0, moves: found, stays: new Map(), unanswered: [] });
  return { picture, now, settings, epoch: 2 };
}

const decide = (action: ActionView, scene: Scene = {}) => ledgerRule.decide(action.name, contextOf(action, scene));
const codes = ({ refusals }: Decision) => refusals.map(({ code }) => code);
const outcomeOf = ({ commands: [command] }: Decision) =>
  command?.kind === "update-action" && command.progress?.phase === "Abandoned" ? command.progress.outcome : undefined;
const poolOf = (spec: NodePoolSpec) => ({ pools: [aPool("web", { spec })] });

describe("a plan that waits is given up when it would not be made any more", () => {
  test.each<[string, WorldOptions, string]>([
    [
      "its pool never consolidates",
      poolOf({ disruption: { consolidateAfter: "Never" } }),
      "NodePool web never lets it go by Consolidation (disruptAfter Never)",
    ],
    [
      "its pool waits longer",
      poolOf({ disruption: { consolidateAfter: "2h" } }),
      `NodePool web lets it go by Consolidation (disruptAfter 2h) not before ${formatTime(at("2h"))}`,
    ],
    [
      "its pool has a wait of its own for the action",
      poolOf({ disruption: { actionControls: { Consolidation: { disruptAfter: "Never" } } } }),
      "NodePool web never lets it go by Consolidation (disruptAfter Never)",
    ],
    [
      "its pool takes empty nodes alone",
      poolOf({ disruption: { consolidationPolicy: "WhenEmpty" } }),
      "NodePool web consolidates only empty nodes now (consolidationPolicy WhenEmpty)",
    ],
    [
      "its pool has its nodes by number",
      poolOf({ replicas: 3 }),
      "NodePool web has its number of nodes from replicas now",
    ],
    ["its pool is gone", { pools: [] }, "NodePool web, which asked for it, is gone"],
  ])("%s", (_, world, why) => {
    expect(outcomeOf(decide(plan(), { world }))).toBe(`Given up before it began: Consolidation: ${why}.`);
  });

  test.each<[string, WorldOptions]>([
    [
      "takes empty nodes alone, and it has become empty",
      { ...poolOf({ disruption: { consolidationPolicy: "WhenEmpty" } }), pods: [] },
    ],
    ["waits for as long as has passed", poolOf({ disruption: { consolidateAfter: "1m" } })],
  ])("but not when its pool %s", (_, world) => {
    expect(codes(decide(plan(), { world }))).toEqual(["replacement-not-ready"]);
  });

  test("a longer wait counts from when the node was first a candidate, to the millisecond", () => {
    const world = poolOf({ disruption: { consolidateAfter: "5m" } });
    expect(outcomeOf(decide(plan(), { world, now: at("5m") - 1 }))).toContain("not before");
    expect(outcomeOf(decide(plan(), { world, now: at("5m") }))).toBeUndefined();
  });

  test("nor does another reason that has joined it let it be given up for the first", () => {
    const joined = [
      {
        action: "Expiration",
        askedBy: { kind: "NodePool", name: "web" },
        at: formatTime(t0),
        message: "It is old.",
        evidence: [{ kind: "Age", since: formatTime(t0), seenAt: formatTime(t0) }],
      },
    ] satisfies ActionView["spec"]["joined"];
    const claims = [aClaim("a", { pool: "web", spec: { expireAfter: "1s" } }), replacement("launched")];
    const world = { claims, ...poolOf({ disruption: { consolidateAfter: "Never" } }) };
    expect(codes(decide(plan({ spec: { joined } }), { world }))).toEqual(["replacement-not-ready"]);
  });

  test("an empty node whose pool never takes those does not start either", () => {
    const evidence = [{ kind: "Empty", since: formatTime(t0), seenAt: formatTime(t0) }] as const;
    const askedBy = { kind: "NodePool", name: "web" } as const;
    const { spec } = anAction("emptiness-a", { spec: { action: "Emptiness", askedBy, evidence: [...evidence] } });
    const world = { ...poolOf({ disruption: { consolidateAfter: "Never" } }), pods: [] };
    const context = contextOf(plan(), { world });
    const live = { node: aNode("a"), claim: old };
    expect(stillHolds(spec, live, context)).toMatchObject({ holds: false });
    // What a plan has left behind is no pool's wish.
    const leftover = { ...spec, askedBy: { kind: "Controller", name: "replacement" } as const };
    expect(stillHolds(leftover, live, context)).toEqual({ holds: true });
  });

  test("its replacement is no longer what the pool would make", () => {
    const claim = replacement("launched");
    const drift = aCondition("Drifted", "True", { reason: "RequirementsDrifted", message: "Another zone." });
    const claims = [old, { ...claim, conditions: [...claim.conditions, drift] }];
    expect(outcomeOf(decide(plan(), { world: { claims } }))).toBe(
      "Given up before it began: its replacement r has drifted already (RequirementsDrifted): Another zone.",
    );
  });

  test("it does not pay by the second look", () => {
    const world = { claims: [old, replacement("initialized")] };
    const moves = [moveOf({ unpaid: "nothing would be saved" })];
    expect(outcomeOf(decide(plan(), { world, moves }))).toBe(
      "Given up before it began: it does not pay any more: nothing would be saved.",
    );
    expect(decide(plan(), { world, moves: [moveOf()] }).commands).toMatchObject([{ kind: "start-action" }]);
  });
});

describe("a plan whose replacement others have taken", () => {
  const world = { claims: [old, replacement("initialized")] };
  const moves = [moveOf({ stuck: [{ pod: "shop/cart-0", short: "no node that is there has room for it" }] })];

  test("is given up at once where it is for money alone", () => {
    expect(outcomeOf(decide(plan(), { world, moves }))).toBe(
      "Given up before it began: pod shop/cart-0 would have no place: no node that is there has room for it.",
    );
  });

  test("waits for room where it is for more", () => {
    const spec = { action: "Drift" } as const;
    expect(codes(decide(plan({ spec }), { world, moves }))).toEqual(["pods-without-place"]);
  });
});

describe("by a clock that nobody can believe", () => {
  const hour = 3_600_000;

  test.each<[string, WorldOptions, string]>([
    ["a replacement that was just made", { claims: [old, replacement("new")] }, "replacement-not-ready"],
    ["one on its way", { claims: [old, replacement("launched")] }, "replacement-not-ready"],
    ["a second look", { claims: [old, replacement("initialized")] }, "not-judged-again"],
  ])("nothing is late, and nobody looks for that: %s", (_, world, code) => {
    const decision = decide(plan(), { world, now: at("2h"), clockAheadMs: 2 * hour });
    expect(codes(decision)).toEqual([code]);
    expect(decision.wakeAt).toBeUndefined();
    expect(outcomeOf(decide(plan(), { world, now: at("2h") }))).toMatch(/until |not there by /);
  });

  test("a plan that could start does not, and is not given up", () => {
    const world = { claims: [old, replacement("initialized")] };
    const decision = decide(plan(), { world, moves: [moveOf()], now: at("2h"), clockAheadMs: 2 * hour });
    expect(codes(decision)).toEqual(["clock-off"]);
    expect([outcomeOf(decision), decision.wakeAt]).toEqual([undefined, undefined]);
  });

  test("a claim that its lifecycle has not seen is not too old at birth, even where nobody knows that the clock is ahead", () => {
    const decidedAt = formatTime(at("2h"));
    const world = { claims: [old, replacement("new")] };
    const decision = decide(plan({ spec: { decidedAt } }), { world, now: at("2h") });
    expect(codes(decision)).toEqual(["replacement-not-ready"]);
    expect(decision.wakeAt).toBe(at("2h10m"));
  });
});

describe("nothing is launched for a plan", () => {
  const pending = plan({ phase: "Pending" });
  const pool = aPool("web");
  const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "r" } };
  const planned: PlannedClaim = {
    name: "r",
    pool: "web",
    poolVersion: poolVersion(pool),
    manifest,
    pods: [],
    capacity: {},
    at: t0,
  };
  const launch = (scene: Scene) => {
    const context = contextOf(pending, { moves: [moveOf({ claims: [planned] })], ...scene });
    return [replacementLaunch.decide("cluster", context), ledgerRule.decide(pending.name, context)] as const;
  };
  const frozen = aSafetyPolicy({ freeze: { reason: "Launch day.", until: formatTime(at("5m")), scope: "Disruption" } });

  test.each<[string, Scene, number | undefined, string]>([
    [
      "in a freeze",
      { world: { claims: [old], safety: frozen } },
      at("5m"),
      "SafetyPolicy default freezes disruption until 2026-01-01T00:05:00Z: Launch day",
    ],
    [
      "by a clock that is off",
      { world: { claims: [old] }, clockAheadMs: 7_200_000 },
      undefined,
      "Our clock is about 2h0m0s ahead of the API server's, so nobody knows what is due",
    ],
  ])("%s, and the plan says so", (_, scene, wakeAt, why) => {
    const [launched, said] = launch(scene);
    expect([launched.commands, launched.wakeAt]).toEqual([[], wakeAt]);
    expect(said.refusals[0]?.message).toBe(
      `Node a stays until its replacements are there: NodeClaim r is to be made (${why}).`,
    );
    expect(launch({ world: { claims: [old] } })[0].commands).toMatchObject([{ kind: "create-claim" }]);
  });
});
