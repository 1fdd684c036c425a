import { describe, expect, test } from "vitest";
import {
  aBudget,
  aClaim,
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
import { formatTime } from "../api/time.ts";
import { doNotDisruptKey } from "../api/well-known.ts";
import type { Move } from "../snapshot/moves.ts";
import type { ActionView } from "../snapshot/views.ts";
import { ledgerRule } from "./actions.ts";
import { HealthCounts } from "./brake-counts.ts";
import type { Context, Decision } from "./decision.ts";
import { seenTogether } from "./waiting.ts";

const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
const names = ["a", "b", "c"];
const claims = names.map(name => aClaim(name, { pool: "web" }));
const nodes = names.map(name => aNode(name, { pool: "web" }));
const together = "consolidation-1";

type PlanOptions = Parameters<typeof anAction>[1] & { on: string; batch?: string; decidedAt?: number };

/** Consolidation of a node, onto what is there. */
function plan({ on, batch = together, decidedAt = t0, ...more }: PlanOptions): ActionView {
  return anAction(`consolidation-${on}`, {
    node: on,
    phase: "Pending",
    ...more,
    spec: {
      action: "Consolidation",
      askedBy: { kind: "NodePool", name: "web" },
      nodePool: "web",
      message: `Node ${on} is little used.`,
      evidence: [{ kind: "Cheaper", since: formatTime(t0), seenAt: formatTime(t0) }],
      decidedAt: formatTime(decidedAt),
      epoch: 2,
      batch,
      ...more.spec,
    },
  });
}

function moveOf(of: readonly string[], batch = together): Move {
  const gone = of.map(name => ({ name, uid: `${name}-uid` }));
  const price = { before: of.length, after: 0 };
  return { batch, action: "Consolidation", nodes: gone, claims: [], podCount: 1, price, stuck: [], at: t0 };
}

type Scene = { world?: WorldOptions; moves?: readonly Move[]; now?: number };

function contextOf(actions: readonly ActionView[], { world, moves, now = at("1m") }: Scene = {}): Context {
  const picture = aWorld({ nodes, claims, pools: [lenient], actions, ...world });
  picture.beginMoves();
  const found = (moves ?? [moveOf(["a", "b"])]).map(move => ({ move, places: new Map(), poolVersions: new Map() }));
  picture.settleMoves({ at: t0, moves: found, stays: new Map(), unanswered: [] });
  const health = HealthCounts.from({ picture, now });
  const context = { picture, now, settings, epoch: 2, remembered: { sight: { history: () => undefined }, health } };
  return { ...context, waiting: seenTogether(context) };
}

function allOf(actions: readonly ActionView[], scene: Scene = {}): Map<string, Decision> {
  const context = contextOf(actions, scene);
  return new Map(actions.map(({ name, spec }) => [spec.node.name, ledgerRule.decide(name, context)]));
}

const said = (decisions: Map<string, Decision>) =>
  Object.fromEntries(
    [...decisions].map(
      ([
        node,
        {
          refusals: [first],
        },
      ]) => [node, first?.code ?? "starts"],
    ),
  );

const lenient = aPool("web", { spec: { disruption: { budgets: [{ nodes: "100%" }] } } });
const both = [plan({ on: "a" }), plan({ on: "b" })];

describe("nodes of one batch", () => {
  test("begin together where nothing holds any of them", () => {
    const decisions = allOf(both);
    expect(said(decisions)).toEqual({ a: "starts", b: "starts" });
    expect([...decisions.values()].map(({ commands }) => commands.map(({ kind }) => kind))).toEqual([
      ["start-action"],
      ["start-action"],
    ]);
  });

  const pod = aPod("db", { on: "b", labels: { app: "db" } });
  test.each<[string, string, WorldOptions]>([
    ["a PodDisruptionBudget", "budget-allows-none", { pods: [pod], budgets: [aBudget("db")] }],
    [
      "do-not-disrupt",
      "do-not-disrupt",
      { nodes: [aNode("a"), aNode("b", { annotations: { [doNotDisruptKey]: "true" } })] },
    ],
    [
      "being one never to touch",
      "untouchable",
      {
        nodes: [aNode("a"), aNode("b", { labels: { keep: "yes" } })],
        safety: aSafetyPolicy({ untouchable: { matchLabels: { keep: "yes" } } }),
      },
    ],
  ])("are all held by what holds one of them: %s", (_, code, world) => {
    const decisions = allOf(both, { world });
    expect(said(decisions)).toEqual({ a: "batch-held", b: code });
    const why = decisions.get("b")?.refusals[0]?.message ?? "";
    expect(decisions.get("a")?.refusals[0]?.message).toBe(
      `Node a goes only together with node b, and that is held: ${why}`,
    );
    expect(decisions.get("a")?.wakeAt).toBe(at("10m"));
  });

  test("do not hold those that go by themselves", () => {
    const apart = [plan({ on: "a" }), plan({ on: "b", batch: "consolidation-2" })];
    const moves = [moveOf(["a"]), moveOf(["b"], "consolidation-2")];
    const decisions = allOf(apart, { moves, world: { pods: [pod], budgets: [aBudget("db")] } });
    expect(said(decisions)).toEqual({ a: "starts", b: "budget-allows-none" });
  });

  test.each<[string, Partial<ActionView["status"]>]>([
    ["runs", { phase: "Running" }],
    ["has been started", { startedAt: formatTime(t0) }],
  ])("are on their own once one of them %s", (_, status) => {
    const begun = plan({ on: "c", status });
    const decisions = allOf([...both, begun], { world: { pods: [pod], budgets: [aBudget("db")] } });
    expect(said(decisions)).toMatchObject({ a: "starts", b: "budget-allows-none" });
  });

  test("do not wait for one that has a reason to go which is no plan", () => {
    const reason = { action: "Repair", askedBy: { kind: "NodePool", name: "web" }, at: formatTime(t0) } as const;
    const evidence = [{ kind: "Condition", seenAt: formatTime(t0) }] as const;
    const sick = plan({ on: "b", spec: { joined: [{ ...reason, message: "It is sick.", evidence: [...evidence] }] } });
    const safety = aSafetyPolicy({ untouchable: { matchLabels: { "kubernetes.io/hostname": "b" } } });
    const decisions = allOf([plan({ on: "a" }), sick], { world: { safety } });
    expect(said(decisions)).toMatchObject({ a: "starts" });
  });

  test.each<[string, readonly ActionView[]]>([
    ["is not in the ledger", [plan({ on: "a" })]],
    ["is being written", [plan({ on: "a" }), plan({ on: "b", isProvisional: true })]],
  ])("do not begin while one of them %s", (_, actions) => {
    const decision = allOf(actions).get("a");
    expect(decision).toMatchObject({ commands: [], refusals: [{ code: "batch-incomplete" }] });
    expect(said(allOf([plan({ on: "a" })], { world: { nodes: [aNode("a")] } }))).toEqual({ a: "starts" });
  });
});

describe("a node that was never initialized", () => {
  const claim = aClaim("a", { pool: "web", stage: "registered" });
  const empty = (askedBy: ActionView["spec"]["askedBy"]) => {
    const evidence = [{ kind: "Empty", since: formatTime(t0), seenAt: formatTime(t0) }] as const;
    const common = { action: "Emptiness", nodePool: "web", message: "Nothing runs there.", epoch: 2 } as const;
    return anAction("emptiness-a", { phase: "Pending", spec: { ...common, askedBy, evidence: [...evidence] } });
  };
  const decided = (action: ActionView, now: number) =>
    allOf([action], { world: { claims: [claim, ...claims.slice(1)] }, moves: [], now }).get("a");

  test("stays where its pool asks for it, and says the same at every instant", () => {
    const asked = empty({ kind: "NodePool", name: "web" });
    expect(decided(asked, at("1m"))?.refusals).toMatchObject([{ code: "not-initialized" }]);
    expect(decided(asked, at("1m"))).toEqual(decided(asked, at("2m")));
  });

  test("goes where it was a replacement that nobody waits for any more", () => {
    const leftover = empty({ kind: "Controller", name: "replacement" });
    expect(decided(leftover, at("1m"))?.commands).toMatchObject([{ kind: "start-action" }]);
  });
});

describe("what is written down counts against the budgets of now", () => {
  const one = (on: string, minute: number) =>
    plan({ on, batch: `consolidation-${on}`, decidedAt: t0 + minute * 60_000 });
  const moves = names.map(name => moveOf([name], `consolidation-${name}`));
  // Decided on in this order: c, a, b.
  const three = [one("a", 1), one("b", 2), one("c", 0)];
  const poolOf = (...budgets: { nodes: string; action?: "Drift" | "Consolidation" }[]) =>
    aPool("web", { spec: { disruption: { budgets } } });

  test.each<[string, ReturnType<typeof aPool>, Record<string, string>]>([
    ["all of them", poolOf({ nodes: "3" }), { c: "starts", a: "starts", b: "starts" }],
    ["two", poolOf({ nodes: "2" }), { c: "starts", a: "starts", b: "budget-spent" }],
    ["a share that is two", poolOf({ nodes: "50%" }), { c: "starts", a: "starts", b: "budget-spent" }],
    ["one", poolOf({ nodes: "1" }), { c: "starts", a: "budget-spent", b: "budget-spent" }],
    [
      "one by this action",
      poolOf({ nodes: "3" }, { nodes: "1", action: "Consolidation" }),
      { c: "starts", a: "budget-spent", b: "budget-spent" },
    ],
    [
      "one by another",
      poolOf({ nodes: "3" }, { nodes: "1", action: "Drift" }),
      { c: "starts", a: "starts", b: "starts" },
    ],
    ["none", poolOf({ nodes: "0" }), { c: "budget-closed", a: "budget-closed", b: "budget-closed" }],
  ])("where by now %s may go, the latest wait", (_, pool, expected) => {
    expect(said(allOf(three, { moves, world: { pools: [pool] } }))).toEqual(expected);
  });

  test("says by whose word, and how many were before it", () => {
    const decision = allOf(three, { moves, world: { pools: [poolOf({ nodes: "1" })] } }).get("b");
    expect(decision?.refusals[0]?.message).toBe(
      "Node b stays: of NodePool web at most 1 may be going away by now (spec.disruption.budgets[0]), and 2 were decided on before it.",
    );
  });

  test("what has begun, by whatever reason, comes before", () => {
    const begun = anAction("deletion-c", { node: "c", spec: { nodePool: "web", epoch: 2 } });
    const actions = [one("a", 1), one("b", 2), begun];
    const said2 = said(allOf(actions, { moves, world: { pools: [poolOf({ nodes: "2" })] } }));
    expect(said2).toMatchObject({ a: "starts", b: "budget-spent" });
  });

  test("a batch that is over it in part waits whole", () => {
    const actions = [one("c", 0), plan({ on: "a", decidedAt: at("1m") }), plan({ on: "b", decidedAt: at("1m") })];
    const decisions = allOf(actions, {
      moves: [moveOf(["a", "b"]), moveOf(["c"], "consolidation-c")],
      world: { pools: [poolOf({ nodes: "2" })] },
    });
    expect(said(decisions)).toEqual({ c: "starts", a: "batch-held", b: "budget-spent" });
  });

  test("it is asked again when the budget's time is over", () => {
    const nightly = aPool("web", {
      spec: { disruption: { budgets: [{ nodes: "1", schedule: "0 0 * * *", duration: "5m" }] } },
    });
    const decision = allOf(three, { moves, world: { pools: [nightly] } }).get("a");
    expect(decision).toMatchObject({ refusals: [{ code: "budget-spent", until: at("5m") }], wakeAt: at("5m") });
  });
});
