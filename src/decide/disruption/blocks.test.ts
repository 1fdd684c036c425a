import { describe, expect, test } from "vitest";
import {
  aBudget,
  aClaim,
  anAction,
  aNode,
  aPod,
  aPool,
  at,
  aWorld,
  t0,
  type WorldOptions,
} from "../../../test/builders.ts";
import { type PlannedAction, plannedActions } from "../../api/budget.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { doNotDisruptKey } from "../../api/well-known.ts";
import type { ClaimView, NodeView, PodView, PoolView } from "../../snapshot/views.ts";
import { blockOf } from "./blocks.ts";

type Case = {
  node?: Partial<NodeView>;
  claim?: Parameters<typeof aClaim>[1];
  pool?: Parameters<typeof aPool>[1];
  world?: WorldOptions;
  action?: PlannedAction;
  now?: number;
};

const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;

function block({ node: of, claim: with_, pool: in_, world = {}, action = "Emptiness", now = at("1h") }: Case) {
  const node: NodeView = aNode("a", of);
  const claim: ClaimView = aClaim("a", { pool: "web", ...with_ });
  const pool: PoolView = aPool("web", in_);
  const picture = aWorld({ ...world, nodes: [node, ...(world.nodes ?? [])], claims: [claim], pools: [pool] });
  return blockOf({ node, claim, pool }, action, { picture, now, settings, epoch: 1 });
}
const pods = (...all: readonly PodView[]): WorldOptions => ({ pods: all });
const ledger = aPod("ledger-0", { namespace: "payments", on: "a", labels: { app: "ledger" } });
const under = (options: Parameters<typeof aBudget>[1] = {}, pod: PodView = ledger): Case => ({
  world: { pods: [pod], budgets: [aBudget("ledger", { namespace: "payments", ...options })] },
});

test.each(plannedActions)("nothing holds an ordinary node from %s", action => {
  expect(block({ action, world: pods(ledger) })).toBe(undefined);
});

describe("each block says who", () => {
  test.each<[string, Case, string, string]>([
    [
      "the node",
      { node: { annotations: { [doNotDisruptKey]: "true" } } },
      "do-not-disrupt",
      "Node a has karpenter.sh/do-not-disrupt=true.",
    ],
    [
      "the claim",
      { claim: { annotations: { [doNotDisruptKey]: "true" } } },
      "do-not-disrupt",
      "NodeClaim a has karpenter.sh/do-not-disrupt=true.",
    ],
    [
      "a duration on a node, which only pods can have",
      { node: { annotations: { [doNotDisruptKey]: "1h" } } },
      "do-not-disrupt",
      'Node a has karpenter.sh/do-not-disrupt=1h. karpenter.sh/do-not-disrupt: "1h" cannot be read and holds like "true": write "true".',
    ],
    [
      "a pod whose annotation cannot be read",
      { world: pods({ ...ledger, doNotDisrupt: "soon" }) },
      "do-not-disrupt",
      'Pod payments/ledger-0 has karpenter.sh/do-not-disrupt=soon and holds its node. karpenter.sh/do-not-disrupt: "soon" cannot be read and holds like "true": write "true" or a duration such as 30m.',
    ],
    [
      "a claim that is not initialized",
      { claim: { stage: "registered" } },
      "not-initialized",
      "Node a is not initialized, so nobody can tell what it would be good for.",
    ],
    [
      "a pool that cannot be understood",
      { pool: { invalid: "spec.x: no" } },
      "pool-invalid",
      "NodePool web cannot be understood, so none of its nodes is disrupted: spec.x: no.",
    ],
    [
      "a pool that goes",
      { pool: { deletingSince: t0 } },
      "pool-deleting",
      "NodePool web is being deleted, and its nodes go with it.",
    ],
    [
      "an action that waits for the node",
      {
        world: {
          actions: [
            anAction("drift-b", { node: "b", phase: "WaitingForReplacement", spec: { replacements: [{ name: "a" }] } }),
          ],
        },
      },
      "awaited-as-replacement",
      "Node a is to take the pods of node b (NodeAction drift-b).",
    ],
    [
      "a pod for as long as it likes",
      { world: pods({ ...ledger, doNotDisrupt: "true" }) },
      "do-not-disrupt",
      "Pod payments/ledger-0 has karpenter.sh/do-not-disrupt=true and holds its node.",
    ],
    [
      "a PodDisruptionBudget",
      under(),
      "budget-allows-none",
      "Pod payments/ledger-0 holds its node: PodDisruptionBudget payments/ledger allows 0 now.",
    ],
    [
      "a PodDisruptionBudget that nobody has worked out",
      under({ isObserved: false, disruptionsAllowed: 5 }),
      "budget-not-observed",
      "Pod payments/ledger-0 holds its node: PodDisruptionBudget payments/ledger has been changed and not been worked out since.",
    ],
    [
      "two PodDisruptionBudgets",
      {
        world: {
          pods: [ledger],
          budgets: ["one", "two"].map(name =>
            aBudget(name, {
              namespace: "payments",
              disruptionsAllowed: 9,
              selector: { matchLabels: { app: "ledger" } },
            }),
          ),
        },
      },
      "several-budgets",
      "Pod payments/ledger-0 holds its node: it is under more than one PodDisruptionBudget (payments/one, payments/two) and cannot be evicted.",
    ],
  ])("%s", (_, one, code, message) => {
    expect(block(one)).toMatchObject({ code, message });
  });

  test("pods that are expected", () => {
    const waiting = (name: string): PodView => ({ ...aPod(name), phase: "Pending", isUnschedulable: true });
    const picture = aWorld({
      nodes: [aNode("a")],
      claims: [aClaim("a", { pool: "web" })],
      pools: [aPool("web")],
      pods: [waiting("x"), waiting("y")],
    });
    const on = { on: "node", name: "a", at: t0 } as const;
    picture.settleSearch({
      at: t0,
      claims: [],
      placements: new Map(["x", "y"].map(name => [`default-${name}-uid`, on])),
    });
    const held = { node: aNode("a"), claim: aClaim("a", { pool: "web" }), pool: aPool("web") };
    const found = blockOf(held, "Drift", { picture, now: t0, settings, epoch: 1 });
    expect(found).toMatchObject({ code: "pods-expected", message: "Pod default/x and 1 more are expected on node a." });
    expect(picture.takeDirty()).toContain("node/a");
  });
});

describe("nobody is held by", () => {
  test.each<[string, Case]>([
    ["a node that says false", { node: { annotations: { [doNotDisruptKey]: "false" } } }],
    ["a pod that says false", { world: pods({ ...ledger, doNotDisrupt: "false" }) }],
    ["a pod that has ended", { world: pods({ ...ledger, doNotDisrupt: "true", phase: "Succeeded" }) }],
    ["a pod that is stopping", { world: pods({ ...ledger, doNotDisrupt: "true", deletionAt: at("2h") }) }],
    ["a budget that lets one go", under({ disruptionsAllowed: 1 })],
    [
      "a budget over a sick pod that may always go",
      under({ evictsUnhealthyAlways: true }, { ...ledger, isReady: false }),
    ],
    ["a budget over a pod that does not run yet", under({}, { ...ledger, phase: "Pending" })],
    ["a budget over a static pod", under({}, { ...ledger, isStatic: true })],
    ["a budget over a pod that bears the taint", under({}, { ...ledger, toleratesDisruption: true })],
    ["a budget of another namespace", under({ namespace: "other" })],
    [
      "an action that is over",
      { world: { actions: [anAction("done", { node: "b", phase: "Done", spec: { replacements: [{ name: "a" }] } })] } },
    ],
    [
      "an action that ends the node's own claim",
      { world: { actions: [anAction("other", { node: "b", spec: { claim: { name: "a", uid: "x" } } })] } },
    ],
  ])("%s", (_, one) => {
    expect(block(one)).toBe(undefined);
  });
});

test("daemons and static pods may say do-not-disrupt, and daemons have budgets", () => {
  expect(block({ world: pods({ ...ledger, doNotDisrupt: "true", isStatic: true }) })?.code).toBe("do-not-disrupt");
  expect(
    block({ world: pods({ ...ledger, doNotDisrupt: "true", ownerKind: "DaemonSet", tier: "daemon" }) })?.code,
  ).toBe("do-not-disrupt");
  expect(block(under({}, { ...ledger, ownerKind: "DaemonSet", tier: "daemon" }))?.code).toBe("budget-allows-none");
});

test("a sick pod under an ordinary budget holds its node", () => {
  expect(block(under({}, { ...ledger, isReady: false }))?.code).toBe("budget-allows-none");
});

describe("a duration holds from the pod's start", () => {
  const held = (doNotDisrupt: string, more: Case = {}) => block({ world: pods({ ...ledger, doNotDisrupt }), ...more });
  test.each<[number, number | undefined]>([
    [at("30m") - 1, at("30m")],
    [at("30m"), undefined],
    [at("30m") + 1, undefined],
  ])("and ends at its instant (%#)", (now, until) => {
    expect(held("30m", { now })?.until).toBe(until);
  });

  test("and no longer than the pool bears, also where it says true", () => {
    const pool: { spec: NodePoolSpec } = { spec: { disruption: { maxDoNotDisrupt: "20m" } } };
    expect(held("true", { pool, now: at("20m") - 1 })?.until).toBe(at("20m"));
    expect(held("true", { pool, now: at("20m") })).toBe(undefined);
    expect(held("30m", { pool, now: at("20m") })).toBe(undefined);
  });

  test("a node's own word neither, from when its claim has said so", () => {
    const since = { type: "DoNotDisrupt", status: "True", reason: "Annotated", message: "", since: at("1h") } as const;
    const { conditions } = aClaim("a", { pool: "web" });
    const pinned = {
      pool: { spec: { disruption: { maxDoNotDisrupt: "20m" } } },
      node: { annotations: { [doNotDisruptKey]: "true" } },
      claim: { conditions: [...conditions, since] },
    };
    expect(block({ ...pinned, now: at("1h20m") - 1 })).toMatchObject({ code: "do-not-disrupt", until: at("1h20m") });
    expect(block({ ...pinned, now: at("1h20m") })).toBe(undefined);
    expect(block({ ...pinned, claim: { conditions }, now: at("9h") })?.code).toBe("do-not-disrupt");
  });

  test("of several pods the longest counts, and says how many hold as long; it says the same when shorter ones end", () => {
    const all = ["10m", "30m", "20m", "30m"].map((doNotDisrupt, index) => aPod(`p${index}`, { on: "a", doNotDisrupt }));
    const first = block({ world: pods(...all), now: at("5m") });
    expect(first).toMatchObject({
      until: at("30m"),
      message:
        "Pod default/p1 has karpenter.sh/do-not-disrupt=30m and holds its node until 2026-01-01T00:30:00Z. It is one of 2 pods that hold node a so long.",
    });
    expect(block({ world: pods(...all), now: at("30m") - 1 })).toEqual(first);
  });

  test("one without an end outlasts them all", () => {
    const all = [aPod("batch", { on: "a", doNotDisrupt: "9h" }), ledger];
    const found = block({ world: { ...under().world, pods: all } });
    expect(found?.code).toBe("budget-allows-none");
    expect(found).not.toHaveProperty("until");
  });
});

describe("with a terminationGracePeriod", () => {
  const patient = { claim: { spec: { terminationGracePeriod: "1h" } } };
  const doNotDisrupt = { world: pods({ ...ledger, doNotDisrupt: "true" }) };
  test.each<[PlannedAction, boolean]>([
    ["Expiration", false],
    ["Drift", false],
    ["Emptiness", true],
    ["Consolidation", true],
  ])("pods hold up %s: %s", (action, isHeld) => {
    expect(block({ ...patient, ...doNotDisrupt, action }) !== undefined).toBe(isHeld);
    expect(block({ ...patient, ...under(), action }) !== undefined).toBe(isHeld);
    // And without one they always do.
    expect(block({ ...doNotDisrupt, action })?.code).toBe("do-not-disrupt");
    expect(block({ ...under(), action })?.code).toBe("budget-allows-none");
  });

  test.each(plannedActions)("the node's own word still holds it from %s", action => {
    expect(block({ ...patient, node: { annotations: { [doNotDisruptKey]: "true" } }, action })?.code).toBe(
      "do-not-disrupt",
    );
  });
});

describe("a node that is to take the pods of another", () => {
  const taking = (action: PlannedAction) => {
    const move = {
      batch: "drift-1",
      action: "Drift",
      nodes: [{ name: "b", uid: "b-uid" }],
      claims: [],
      podCount: 1,
    } as const;
    const node = aNode("a");
    const claim = aClaim("a", { pool: "web" });
    const pool = aPool("web");
    const going = anAction("drift-b", { node: "b", spec: { action: "Drift", batch: "drift-1" } });
    const picture = aWorld({ nodes: [node, aNode("b")], claims: [claim], pools: [pool] });
    picture.beginMoves();
    const found = { move: { ...move, price: { before: 1, after: 0 }, stuck: [], at: t0 }, poolVersions: new Map() };
    const moves = [{ ...found, places: new Map([["default/web", "a"]]) }];
    picture.settleMoves({ at: t0, moves, stays: new Map(), unanswered: [] });
    picture.put("action", going);
    return blockOf({ node, claim, pool }, action, { picture, now: at("1h"), settings, epoch: 1 });
  };

  test.each<PlannedAction>(["Emptiness", "Consolidation"])("stays for them: %s", action => {
    expect(taking(action)).toEqual({
      code: "awaited-as-target",
      message: "Node a is to take pods of node b (NodeAction drift-b).",
      liftedBy: "the end of NodeAction drift-b",
    });
  });

  test.each<PlannedAction>(["Drift", "Expiration"])("goes all the same where it must: %s", action => {
    expect(taking(action)).toBe(undefined);
  });
});
