import { beforeEach, describe, expect, test } from "vitest";
import { aClaim, aCondition, anAction, aNode, aPod, aPool, at, aWorld, t0 } from "../../test/builders.ts";
import { ClusterPicture } from "./cluster-picture.ts";
import type { FoundMove, Move, MovesFound, Stay } from "./moves.ts";
import { type PlannedClaim, poolVersion } from "./placement.ts";

const claims = ["a", "b", "c"].map(name => aClaim(name, { pool: "general" }));
const nodes = ["a", "b", "c"].map(name => aNode(name, { pool: "general" }));
const [nodeA, nodeB, nodeC] = nodes as [ReturnType<typeof aNode>, ReturnType<typeof aNode>, ReturnType<typeof aNode>];
const pool = aPool("general");
const web = aPod("web", { on: "a" });
const db = aPod("db", { on: "b" });
const logs = aPod("logs", { on: "a", ownerKind: "DaemonSet", tier: "daemon" });

/** Node a goes, its pod goes to b. */
function aFound(more: Partial<Move> = {}): FoundMove {
  const move: Move = {
    batch: "consolidation-1",
    action: "Consolidation",
    nodes: [{ name: "a", uid: nodeA.uid }],
    claims: [],
    podCount: 1,
    price: { before: 1, after: 0 },
    stuck: [],
    at: t0,
    ...more,
  };
  return { move, places: new Map([["default/web", "b"]]), poolVersions: new Map([["general", poolVersion(pool)]]) };
}

const planned: PlannedClaim = {
  name: "general-new",
  pool: "general",
  poolVersion: poolVersion(pool),
  manifest: { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name: "general-new" } },
  pods: [],
  capacity: {},
  at: t0,
};

function found(moves: readonly FoundMove[], more: Partial<MovesFound> = {}): MovesFound {
  return { at: t0, moves, stays: new Map(), unanswered: [], ...more };
}

let picture: ClusterPicture;
beforeEach(() => {
  picture = aWorld({ nodes, claims, pools: [pool], pods: [web, db, logs] });
});

function settled(one: FoundMove = aFound()): void {
  picture.beginMoves();
  picture.settleMoves(found([one]));
  picture.takeDirty();
}

/** A state of the object by which a watch would show it. */
const next = { resourceVersion: "2" };

type Happening = readonly [what: string, happens: () => void];

const drops: readonly Happening[] = [
  ["a pod comes onto the node", () => picture.put("pod", aPod("new", { on: "a" }))],
  ["a pod leaves the node", () => picture.remove("pod", web)],
  ["a pod of the node is being deleted", () => picture.put("pod", { ...web, deletionAt: at("1m") })],
  ["a pod of the node asks for more", () => picture.put("pod", { ...web, volumeClaims: ["disk"] })],
  ["the node is another one", () => picture.put("node", aNode("a", { uid: "other", pool: "general" }))],
  ["the node is gone", () => picture.remove("node", nodeA)],
  ["the node is being deleted", () => picture.put("node", { ...nodeA, ...next, deletingSince: t0 })],
  [
    "its claim is being deleted",
    () => picture.put("claim", aClaim("a", { pool: "general", ...next, deletingSince: t0 })),
  ],
  ["a pod comes onto the node that would take its pods", () => picture.put("pod", aPod("new", { on: "b" }))],
  [
    "a daemon comes onto that node",
    () => picture.put("pod", { ...logs, name: "logs-b", uid: "logs-b", nodeName: "b" }),
  ],
  ["a pod leaves that node", () => picture.remove("pod", db)],
  ["that node is cordoned", () => picture.put("node", { ...nodeB, ...next, isCordoned: true })],
  [
    "that node is tainted",
    () => picture.put("node", { ...nodeB, ...next, taints: [{ key: "k", effect: "NoSchedule" }] }),
  ],
  ["that node has less room", () => picture.put("node", { ...nodeB, ...next, allocatable: { cpu: "1" } })],
  ["that node is gone", () => picture.remove("node", nodeB)],
  [
    "that node's claim is being deleted",
    () => picture.put("claim", aClaim("b", { pool: "general", ...next, deletingSince: t0 })),
  ],
  ["an action is opened for that node", () => picture.put("action", anAction("x", { node: nodeB }))],
  ["the pool is changed", () => picture.put("pool", aPool("general", { ...next, generation: 2 }))],
  [
    "the pool's launches are held",
    () =>
      picture.put(
        "pool",
        aPool("general", { ...next, status: { launchBackoff: { failures: 1, until: "2026-01-01T01:00:00Z" } } }),
      ),
  ],
  ["the pool is gone", () => picture.remove("pool", pool)],
  ["the provider has something else to offer", () => picture.providerChanged()],
  [
    "a daemon set is made",
    () =>
      picture.put("daemon-set", {
        namespace: "default",
        name: "d",
        uid: "d",
        labels: {},
        needs: { spec: { containers: [] } },
      }),
  ],
];

const keeps: readonly Happening[] = [
  ["a third node changes", () => picture.put("node", { ...nodeC, ...next, isCordoned: true })],
  ["a pod comes onto a third node", () => picture.put("pod", aPod("new", { on: "c" }))],
  ["a pod of the node gets ready", () => picture.put("pod", { ...web, isReady: false })],
  ["a daemon of the node leaves", () => picture.remove("pod", logs)],
  [
    "the node is tainted for its going",
    () => picture.put("node", { ...nodeA, ...next, taints: [{ key: "k", effect: "NoSchedule" }] }),
  ],
  ["the action of the move is opened", () => picture.put("action", anAction("x", { node: nodeA }))],
  [
    "a condition of the target changes",
    () => picture.put("node", { ...nodeB, ...next, conditions: [aCondition("DiskPressure", "False")] }),
  ],
  [
    "its claim gets a condition",
    () =>
      picture.put(
        "claim",
        aClaim("a", {
          pool: "general",
          ...next,
          conditions: [...(claims[0]?.conditions ?? []), aCondition("Drifted", "True")],
        }),
      ),
  ],
];

describe("a move", () => {
  test("is there for each of its nodes, and who read that there was none is asked again", () => {
    const both = [nodeA, nodeC].map(({ name, uid }) => ({ name, uid }));
    picture.beginMoves();
    picture.settleMoves(found([aFound({ nodes: both })]));
    expect(picture.moveOf(nodeA.uid)?.nodes).toEqual(both);
    expect(picture.moveOf(nodeC.uid)).toBe(picture.moveOf(nodeA.uid));
    expect([...picture.takeDirty()].sort()).toEqual(["cluster", "node/a", "node/c"]);
  });

  test.each(drops)("stands no longer when %s", (_, happens) => {
    settled();
    happens();
    expect(picture.moveOf(nodeA.uid)).toBeUndefined();
    expect(picture.takeDirty()).toContain("node/a");
  });

  test.each(drops)("that was found before does not come to stand when meanwhile %s", (_, happens) => {
    picture.beginMoves();
    happens();
    picture.takeDirty();
    picture.settleMoves(found([aFound()]));
    expect(picture.moveOf(nodeA.uid)).toBeUndefined();
    expect(picture.takeDirty()).toContain("node/a");
  });

  test.each(keeps)("stands although %s", (_, happens) => {
    settled();
    happens();
    expect(picture.moveOf(nodeA.uid)).toBeDefined();
  });

  test("stands while its replacement is made, and no longer once that is initialized: then it is judged again", () => {
    settled(aFound({ claims: [planned] }));
    picture.put("action", anAction("x", { node: nodeA }));
    picture.put("claim", aClaim("general-new", { pool: "general", stage: "new" }));
    picture.put("claim", aClaim("general-new", { pool: "general", stage: "registered", ...next }));
    expect(picture.moveOf(nodeA.uid)?.claims).toEqual([planned]);
    picture.takeDirty();
    picture.put("claim", aClaim("general-new", { pool: "general", resourceVersion: "3" }));
    expect(picture.moveOf(nodeA.uid)).toBeUndefined();
    expect(picture.takeDirty()).toContain("action/x");
  });

  test("of several nodes stands for the others when one of them goes", () => {
    const both = [nodeA, nodeC].map(({ name, uid }) => ({ name, uid }));
    settled(aFound({ nodes: both }));
    picture.put("claim", aClaim("a", { pool: "general", ...next, deletingSince: t0 }));
    expect(picture.moveOf(nodeA.uid)).toBeUndefined();
    expect(picture.moveOf(nodeC.uid)?.nodes).toEqual(both);
    picture.remove("pod", web);
    expect(picture.moveOf(nodeC.uid)).toBeDefined();
    picture.put("pod", aPod("new", { on: "c" }));
    expect(picture.moveOf(nodeC.uid)).toBeUndefined();
  });

  test("stands no longer when somebody else's pod is expected where its own would go", () => {
    settled();
    const waiting = aPod("waiting", { phase: "Pending", isUnschedulable: true });
    picture.put("pod", waiting);
    picture.settleSearch({
      at: t0,
      placements: new Map([[waiting.uid, { on: "node", name: "b", at: t0 }]]),
      claims: [],
    });
    expect(picture.moveOf(nodeA.uid)).toBeUndefined();
  });

  test("gives way to a later one of a node of it, whole", () => {
    const both = [nodeA, nodeC].map(({ name, uid }) => ({ name, uid }));
    settled(aFound({ nodes: both }));
    settled(aFound({ batch: "drift-2", action: "Drift" }));
    expect(picture.moveOf(nodeA.uid)?.batch).toBe("drift-2");
    expect(picture.moveOf(nodeC.uid)).toBeUndefined();
  });
});

describe("what keeps nodes", () => {
  const stays: ReadonlyMap<string, Stay> = new Map([[nodeA.uid, { short: "nothing cheaper", at: t0 }]]);
  const stuck = aFound({ stuck: [{ pod: "default/web", short: "no room" }] });

  test("is told until the next search says otherwise", () => {
    picture.beginMoves();
    picture.settleMoves(found([], { stays }));
    expect(picture.stayOf(nodeA.uid)).toEqual({ short: "nothing cheaper", at: t0 });
    expect(picture.takeDirty()).toContain("node/a");
    picture.beginMoves();
    picture.settleMoves(found([]));
    expect(picture.stayOf(nodeA.uid)).toBeUndefined();
    expect(picture.takeDirty()).toContain("node/a");
  });

  test.each([
    ["a stay", found([], { stays })],
    ["a move without a place for a pod", found([stuck])],
  ])("%s: a change that may help is a reason to search again, once", (_, answer) => {
    picture.beginMoves();
    picture.settleMoves(answer);
    expect(picture.moves).toEqual({ heldCount: 1, isSupplyChanged: false, searchedAt: t0 });
    picture.takeDirty();
    picture.remove("pod", db);
    picture.put("pod", aPod("more", { on: "c" }));
    expect(picture.moves.isSupplyChanged).toBe(true);
    expect(picture.takeDirty()).toContain("cluster");
    picture.beginMoves();
    expect(picture.moves.isSupplyChanged).toBe(false);
    picture.abandonMoves();
    expect(picture.moves.isSupplyChanged).toBe(true);
  });

  test("whoever was not answered is asked again", () => {
    picture.beginMoves();
    picture.settleMoves(found([], { unanswered: ["c"] }));
    expect(picture.takeDirty()).toContain("node/c");
  });
});

describe("a plan that is over", () => {
  const opened = (more: Parameters<typeof anAction>[1] = {}) =>
    anAction("consolidation-a", {
      node: nodeA,
      phase: "WaitingForReplacement",
      ...more,
      spec: { action: "Consolidation", batch: "consolidation-1", ...more.spec },
    });

  test.each<[string, () => void]>([
    ["is given up", () => picture.put("action", { ...opened({ phase: "Abandoned" }), ...next })],
    ["has failed", () => picture.put("action", { ...opened({ phase: "Failed" }), ...next })],
    ["is deleted by somebody", () => picture.remove("action", opened())],
  ])("drops its move when it %s: the next try is another one", (_, happens) => {
    picture.put("action", opened());
    settled();
    happens();
    expect(picture.moveOf(nodeA.uid)).toBeUndefined();
    expect(picture.takeDirty()).toContain("node/a");
  });

  test("leaves the move of another batch, and one whose write came to nothing", () => {
    picture.put("action", opened({ spec: { batch: "consolidation-0" } }));
    settled();
    picture.put("action", { ...opened({ phase: "Abandoned", spec: { batch: "consolidation-0" } }), ...next });
    expect(picture.moveOf(nodeA.uid)).toBeDefined();
    picture.put("action", { ...opened({ isProvisional: true }), ...next });
    picture.remove("action", opened({ isProvisional: true }));
    expect(picture.moveOf(nodeA.uid)).toBeDefined();
  });

  test("keeps who takes its pods from going, until it is over, whatever becomes of the move", () => {
    settled();
    expect(picture.goingOnto("b")).toBeUndefined();
    picture.put("action", opened());
    expect(picture.takeDirty()).toContain("node/b");
    picture.put("claim", aClaim("a", { pool: "general", ...next, deletingSince: t0 }));
    expect([picture.moveOf(nodeA.uid), picture.goingOnto("b")?.name]).toEqual([undefined, "consolidation-a"]);
    expect(picture.goingOnto("c")).toBeUndefined();
    picture.takeDirty();
    picture.put("action", { ...opened({ phase: "Done" }), ...next });
    expect(picture.goingOnto("b")).toBeUndefined();
    expect(picture.takeDirty()).toContain("node/b");
  });

  describe("whose write came to nothing", () => {
    const { name, spec } = opened();
    const opening = { kind: "open-action", name, spec, phase: "Pending", why: "" } as const;

    test("keeps who takes its pods once it is written after all", () => {
      settled();
      picture.expect(opening, t0);
      expect(picture.goingOnto("b")?.isProvisional).toBe(true);
      picture.unexpect(opening);
      expect(picture.goingOnto("b")).toBeUndefined();
      picture.takeDirty();
      picture.put("action", opened());
      expect(picture.goingOnto("b")?.name).toBe(name);
      expect(picture.takeDirty()).toContain("node/b");
    });

    test("keeps nobody once its move has gone", () => {
      settled();
      picture.expect(opening, t0);
      picture.put("claim", aClaim("a", { pool: "general", ...next, deletingSince: t0 }));
      picture.unexpect(opening);
      picture.put("action", opened());
      expect([picture.openActionOn(nodeA.uid)?.name, picture.goingOnto("b")]).toEqual([name, undefined]);
    });
  });

  test("tells who was to take its pods when it is given up while the move still stands", () => {
    settled();
    picture.put("action", opened());
    picture.takeDirty();
    picture.put("action", { ...opened({ phase: "Abandoned" }), ...next });
    expect(picture.goingOnto("b")).toBeUndefined();
    expect(picture.takeDirty()).toContain("node/b");
  });

  test("keeps them as well when its first write came to nothing and it is opened again by the same move", () => {
    settled();
    const sent = { ...opened({ isProvisional: true }), uid: "sent" };
    picture.put("action", sent);
    picture.remove("action", sent);
    expect(picture.goingOnto("b")).toBeUndefined();
    picture.takeDirty();
    picture.put("action", opened());
    expect(picture.takeDirty()).toContain("node/b");
    expect(picture.goingOnto("b")?.name).toBe("consolidation-a");
    expect(ClusterPicture.rebuilt(picture).goingOnto("b")?.name).toBe("consolidation-a");
  });

  test("of two that send pods to one node the first by name is told, in a fresh picture as well", () => {
    const fromC = { batch: "consolidation-2", nodes: [{ name: "c", uid: nodeC.uid }] };
    const openedC = anAction("consolidation-0-c", {
      node: nodeC,
      phase: "Running",
      spec: { action: "Consolidation", batch: "consolidation-2" },
    });
    settled(aFound());
    settled(aFound(fromC));
    picture.put("action", opened());
    picture.put("action", openedC);
    expect(picture.goingOnto("b")?.name).toBe("consolidation-0-c");
    expect(ClusterPicture.rebuilt(picture).goingOnto("b")?.name).toBe("consolidation-0-c");
  });

  test("a move that nobody opened anything for keeps nobody", () => {
    settled();
    picture.put("pod", aPod("new", { on: "a" }));
    picture.put("action", opened());
    expect(picture.goingOnto("b")).toBeUndefined();
  });

  test("of a dry run nobody takes the pods", () => {
    settled();
    picture.put("action", opened({ spec: { dryRun: true } }));
    expect(picture.goingOnto("b")).toBeUndefined();
  });
});
