import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, aPod, aPool, aProvider, at, aCondition, t0 } from "../../test/builders.ts";
import type { Phase } from "../api/node-action.ts";
import type { Instant } from "../api/time.ts";
import { ClusterPicture } from "./cluster-picture.ts";
import { type Placement, type Plan, type PlannedClaim, poolVersion } from "./placement.ts";
import type { ActionView, PodView } from "./views.ts";

/** A pod for which the scheduler found no node. */
function pending(name: string, views: Partial<PodView> = {}): PodView {
  return aPod(name, { phase: "Pending", isReady: false, isUnschedulable: true, ...views });
}

class World {
  now: Instant = t0;
  readonly picture = new ClusterPicture(aProvider(), { now: () => this.now });
  readonly pool = aPool("p");

  constructor(...pods: readonly PodView[]) {
    this.picture.put("pool", this.pool);
    for (const pod of pods) this.picture.put("pod", pod);
  }

  wanting(): string[] {
    return this.picture.wantingPods().map(({ name }) => name);
  }

  unplaced(): string[] {
    return this.picture.unplacedPods().map(({ name }) => name);
  }

  planned(name: string, pods: readonly PodView[], more: Partial<PlannedClaim> = {}): PlannedClaim {
    const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name } };
    const uids = pods.map(({ uid }) => uid);
    const version = poolVersion(this.pool);
    return { name, pool: "p", poolVersion: version, manifest, pods: uids, capacity: {}, at: this.now, ...more };
  }

  /** A plan that puts all pods of each claim there. */
  plan(claims: readonly PlannedClaim[], more: Partial<Plan> = {}): Plan {
    const placed = claims.flatMap(({ name, pods }) =>
      pods.map((uid): [string, Placement] => [uid, { on: "claim", name, at: this.now }]),
    );
    return { at: this.now, claims, ...more, placements: new Map([...placed, ...(more.placements ?? [])]) };
  }

  onNode(pod: PodView, name: string): Plan {
    return this.plan([], { placements: new Map([[pod.uid, { on: "node", name, at: this.now }]]) });
  }

  stuck(...pods: readonly PodView[]): Plan {
    const nothing = { on: "nothing", short: "no", tree: "no" } as const;
    return this.plan([], { placements: new Map(pods.map(({ uid }) => [uid, nothing])) });
  }
}

describe("who wants a node", () => {
  test.each<[string, Partial<PodView>, boolean]>([
    ["one that the scheduler could not place", {}, true],
    ["one that the scheduler has not looked at", { isUnschedulable: undefined as never }, false],
    ["one for which the scheduler makes room", { nominatedNode: "n" }, false],
    ["one for which room was made on a node that is no longer there", { nominatedNode: "gone" }, true],
    ["one that runs", { nodeName: "a", phase: "Running" }, false],
    ["one of a DaemonSet", { ownerKind: "DaemonSet" }, false],
    ["one that belongs to its node", { isStatic: true }, false],
    ["one that is being deleted", { deletionAt: t0 }, false],
    ["one that has ended", { phase: "Failed" }, false],
  ])("%s", (_, views, wants) => {
    const { isUnschedulable, ...rest } = { isUnschedulable: true as const, ...views };
    const world = new World();
    world.picture.put("node", aNode("n"));
    world.picture.put("pod", aPod("x", { phase: "Pending", ...(isUnschedulable ? { isUnschedulable } : {}), ...rest }));
    expect(world.wanting()).toEqual(wants ? ["x"] : []);
  });

  test.each<[string, (world: World) => void]>([
    ["is being deleted", ({ picture }) => picture.put("node", aNode("a", { deletingSince: t0 }))],
    ["has a claim that is being deleted", ({ picture }) => picture.put("claim", aClaim("a", { deletingSince: t0 }))],
    ["has an open action", ({ picture }) => picture.put("action", anAction("go", { node: "a" }))],
  ])("one whose node %s, until it does not", (_, leave) => {
    const world = new World(aPod("x", { on: "a" }), aPod("d", { on: "a", ownerKind: "DaemonSet" }));
    world.picture.put("claim", aClaim("a"));
    world.picture.put("node", aNode("a"));
    expect(world.wanting()).toEqual([]);
    leave(world);
    expect(world.wanting()).toEqual(["x"]);
    world.picture.put("node", aNode("a"));
    world.picture.put("claim", aClaim("a"));
    world.picture.put("action", anAction("go", { node: "a", phase: "Done" }));
    expect(world.wanting()).toEqual([]);
  });
});

describe("a plan for a node leaves its pods where they are", () => {
  const spec: Partial<ActionView["spec"]> = { action: "Drift", batch: "drift-1", replacements: [{ name: "r" }] };
  const plan = (more: Partial<ActionView["spec"]> = {}, phase: Phase = "WaitingForReplacement") =>
    anAction("go", { node: "a", phase, spec: { ...spec, ...more } });
  const sick: NonNullable<ActionView["spec"]["joined"]>[number] = {
    action: "Repair",
    askedBy: { kind: "NodePool", name: "web" },
    at: "2026-01-01T00:00:00Z",
    message: "sick",
    evidence: [],
  };

  test.each<[string, ActionView, string[]]>([
    ["while it waits for replacements", plan(), []],
    ["while it is to be judged again", plan({ replacements: [] }, "Pending"), []],
    ["not once it runs", plan({}, "Running"), ["x"]],
    ["not once what is sick has joined it", plan({ joined: [sick] }), ["x"]],
    ["also when another plan has joined it", plan({ joined: [{ ...sick, action: "Expiration" }] }), []],
    [
      "not where it was made without looking at them",
      anAction("go", { node: "a", spec: { action: "Emptiness" } }),
      ["x"],
    ],
  ])("%s", (_, action, wanting) => {
    const world = new World(aPod("x", { on: "a" }));
    world.picture.put("node", aNode("a"));
    world.picture.put("action", action);
    expect(world.wanting()).toEqual(wanting);
  });
});

describe("a batch", () => {
  test("opens with the first pod, is as young as the last, and ends with them", () => {
    const world = new World(pending("a"));
    world.now = at("3s");
    world.picture.put("pod", pending("b"));
    expect(world.picture.pending.batch).toEqual({ openedAt: t0, lastAt: at("3s") });
    world.picture.remove("pod", pending("a"));
    expect(world.picture.pending.batch).toEqual({ openedAt: at("3s"), lastAt: at("3s") });
    world.picture.remove("pod", pending("b"));
    expect(world.picture.pending.batch).toBeUndefined();
  });

  test("is not opened by a pod that only changes", () => {
    const world = new World(pending("a"));
    world.picture.settleSearch(world.stuck(pending("a")));
    world.picture.put("pod", pending("a", { labels: { app: "other" } }));
    expect(world.picture.pending.batch).toBeUndefined();
    expect(world.picture.pending.stuckCount).toBe(1);
  });
});

describe("an answer", () => {
  const [a, b] = [pending("a"), pending("b")];

  test("puts pods on a claim that is to be made, and they wait for no search any more", () => {
    const world = new World(a, b);
    world.picture.settleSearch(world.plan([world.planned("p-1", [a, b])]));
    expect(world.picture.plannedClaims("p").map(({ name }) => name)).toEqual(["p-1"]);
    expect(world.picture.placementOf(a.uid)).toMatchObject({ on: "claim", name: "p-1" });
    expect(world.picture.expectedOn("p-1")).toEqual([a, b]);
    expect(world.unplaced()).toEqual([]);
    expect(world.picture.pending.batch).toBeUndefined();
  });

  test("comes a piece at a time, each claim with its pods; what has changed meanwhile does not stand", () => {
    const pods = Array.from({ length: 600 }, (_, index) => pending(`x${index}`));
    const world = new World(...pods);
    const [first, second, third] = [pods.slice(0, 250), pods.slice(250, 500), pods.slice(500)];
    const plan = world.plan([world.planned("p-1", first), world.planned("p-2", second), world.planned("p-3", third)]);
    const pieces = world.picture.settlingSearch(plan);
    pieces.next();
    expect(world.picture.plannedClaims("p").map(({ name }) => name)).toEqual(["p-1"]);
    expect(world.picture.expectedOn("p-1")).toHaveLength(250);
    expect(world.unplaced()).toHaveLength(350);
    for (const pod of [...pods.slice(0, 25), ...pods.slice(590)]) world.picture.remove("pod", pod);
    for (const _ of pieces) continue;
    expect(world.picture.plannedClaims("p").map(({ name }) => name)).toEqual(["p-2"]);
    expect(world.unplaced()).toHaveLength(225 + 90);
    expect(world.picture.pending.batch).toBeDefined();
  });

  test.each<[string, (world: World) => void]>([
    ["one of its pods is gone", ({ picture }) => picture.remove("pod", a)],
    ["one of its pods is another now", ({ picture }) => picture.put("pod", pending("a", { uid: "new" }))],
    ["one of its pods has a node", ({ picture }) => picture.put("pod", aPod("a", { on: "n" }))],
    ["its pool has another spec", ({ picture }) => picture.put("pool", aPool("p", { generation: 2 }))],
    ["its pool is gone", world => world.picture.remove("pool", world.pool)],
    [
      "its pool backs off",
      ({ picture }) =>
        picture.put("pool", aPool("p", { status: { launchBackoff: { failures: 1, until: "2026-01-01T00:01:00Z" } } })),
    ],
  ])("does not make a claim when %s, and asks again: before it comes and after", (_, change) => {
    const world = new World(a, b);
    const plan = world.plan([world.planned("p-1", [a, b])]);
    change(world);
    world.picture.settleSearch(plan);
    expect(world.picture.plannedClaims("p")).toEqual([]);
    expect(world.unplaced()).toContain("b");

    const later = new World(a, b);
    later.picture.settleSearch(later.plan([later.planned("p-1", [a, b])]));
    later.now = at("5s");
    change(later);
    expect(later.picture.plannedClaims("p")).toEqual([]);
    expect(later.unplaced()).toContain("b");
    expect(later.picture.pending.batch).toMatchObject({ openedAt: at("5s") });
  });

  test("makes a claim that more than nine tenths of its pods still want, so that it is made where pods come and go", () => {
    const pods = Array.from({ length: 20 }, (_, index) => pending(`x${index}`));
    const world = new World(...pods);
    world.picture.settleSearch(world.plan([world.planned("p-1", pods)]));
    world.picture.remove("pod", pods[0] ?? a);
    expect(world.picture.plannedClaims("p")).toHaveLength(1);
    expect(world.picture.expectedOn("p-1")).toHaveLength(19);
    world.picture.put("pod", aPod("x1", { on: "n" }));
    expect(world.picture.plannedClaims("p")).toEqual([]);
    expect(world.unplaced()).toHaveLength(18);
  });

  test("stands when our own counts change the pool's status", () => {
    const world = new World(a);
    world.picture.settleSearch(world.plan([world.planned("p-1", [a])]));
    world.picture.put("pool", aPool("p", { status: { nodes: 3 } }));
    expect(world.picture.plannedClaims("p")).toHaveLength(1);
  });

  test("is carried out once the claim is real; a claim that is only sent may still come to nothing", () => {
    const world = new World(a);
    world.picture.settleSearch(world.plan([world.planned("p-1", [a])]));
    world.picture.put("claim", aClaim("p-1", { pool: "p", stage: "new", uid: "", isProvisional: true }));
    expect(world.picture.plannedClaims("p")).toHaveLength(1);
    world.picture.put("claim", aClaim("p-1", { pool: "p", stage: "new" }));
    expect(world.picture.plannedClaims("p")).toHaveLength(0);
    expect(world.picture.expectedOn("p-1")).toEqual([a]);
  });

  test.each<[string, (world: World) => void]>([
    ["is gone", ({ picture }) => picture.remove("claim", aClaim("p-1", { pool: "p", stage: "new" }))],
    ["goes", ({ picture }) => picture.put("claim", aClaim("p-1", { pool: "p", stage: "new", deletingSince: t0 }))],
    [
      "could not be launched",
      ({ picture }) => {
        const conditions = [aCondition("Launched", "False", { reason: "InsufficientCapacity" })];
        picture.put("claim", aClaim("p-1", { pool: "p", stage: "new", conditions }));
      },
    ],
  ])("ends when the claim %s, and is not carried out again", (_, end) => {
    const world = new World(a);
    world.picture.settleSearch(world.plan([world.planned("p-1", [a])]));
    world.picture.put("claim", aClaim("p-1", { pool: "p", stage: "new" }));
    end(world);
    expect(world.unplaced()).toEqual(["a"]);
    expect(world.picture.plannedClaims("p")).toEqual([]);
  });

  test("that names a node which has gone meanwhile is asked again", () => {
    const world = new World(a);
    world.picture.settleSearch(world.onNode(a, "gone"));
    expect(world.unplaced()).toEqual(["a"]);
  });
});

describe("where pods are expected", () => {
  const [a, b, c] = [pending("a"), pending("b"), pending("c")];

  /** Both are expected on the claim, whose node is there. */
  function joined(): World {
    const world = new World(a, b, c);
    world.picture.settleSearch(world.plan([world.planned("p-1", [a, b])]));
    world.picture.put("claim", aClaim("p-1", { providerID: "i-1" }));
    world.picture.put("node", aNode("n", { providerID: "i-1" }));
    world.picture.settleSearch(world.onNode(c, "n"));
    expect(world.unplaced()).toEqual([]);
    world.now = at("3s");
    return world;
  }

  test("somebody else is bound: whether there is still room for them is asked at once", () => {
    const world = joined();
    world.picture.put("pod", aPod("stranger", { on: "n" }));
    expect(world.unplaced()).toEqual(["a", "b", "c"]);
    expect(world.picture.pending.batch).toEqual({ openedAt: at("3s"), lastAt: at("3s") });
  });

  test("one is bound who is expected elsewhere: the others are asked about, and his place is free", () => {
    const world = joined();
    const d = pending("d");
    world.picture.put("pod", d);
    world.picture.put("node", aNode("m"));
    world.picture.settleSearch(world.onNode(d, "m"));
    world.picture.put("pod", aPod("d", { uid: d.uid, on: "n" }));
    expect(world.unplaced()).toEqual(["a", "b", "c"]);
    expect(world.picture.placementOf(d.uid)).toBeUndefined();
  });

  test.each<[string, (world: World) => void]>([
    ["one of them is bound", ({ picture }) => picture.put("pod", aPod("a", { uid: a.uid, on: "n" }))],
    ["one of a DaemonSet comes", ({ picture }) => picture.put("pod", aPod("d", { on: "n", ownerKind: "DaemonSet" }))],
    ["one comes that belongs to the node", ({ picture }) => picture.put("pod", aPod("s", { on: "n", isStatic: true }))],
    ["somebody is bound elsewhere", ({ picture }) => picture.put("pod", aPod("x", { on: "m" }))],
  ])("%s: nobody is asked about again", (_, change) => {
    const world = joined();
    change(world);
    expect(world.unplaced()).toEqual([]);
  });

  test("a pod that was there before they were sent there is no news", () => {
    const world = joined();
    world.picture.put("pod", aPod("old", { on: "n" }));
    world.picture.settleSearch(world.onNode(a, "n"));
    world.picture.put("pod", aPod("old", { on: "n", isReady: false }));
    expect(world.unplaced()).toEqual(["b", "c"]);
  });
});

describe("a pod that names its node", () => {
  const a = pending("a");
  const told: PodView = { ...a, nominatedNode: "n" };

  test("by our word still wants it, and its room is kept: another who is bound there takes it from nobody", () => {
    const b = pending("b");
    const world = new World(a, b);
    world.picture.settleSearch(world.plan([world.planned("p-1", [a, b])]));
    world.picture.put("claim", aClaim("p-1", { providerID: "i-1" }));
    world.picture.put("node", aNode("n", { providerID: "i-1" }));
    world.picture.put("pod", told);
    world.picture.put("pod", aPod("stranger", { on: "n" }));
    expect(world.wanting()).toEqual(["a", "b"]);
    expect(world.unplaced()).toEqual(["b"]);
  });

  test("by our word, though its place was given up before the answer came: it still wants one", () => {
    const world = new World(a);
    world.picture.settleSearch(world.plan([world.planned("p-1", [a])]));
    world.picture.put("claim", aClaim("p-1", { providerID: "i-1" }));
    world.picture.put("node", aNode("n", { providerID: "i-1" }));
    world.picture.named(a.uid, "n");
    world.picture.put("pod", aPod("stranger", { on: "n" }));
    expect(world.unplaced()).toEqual(["a"]);
    world.picture.put("pod", told);
    expect(world.unplaced()).toEqual(["a"]);
  });

  test("is asked again when its node comes, and when somebody has told it otherwise", () => {
    const world = new World(a);
    world.picture.put("pool", aPool("p", { spec: { podPlacement: "Planned" } }));
    world.picture.settleSearch(world.plan([world.planned("p-1", [a])]));
    world.picture.put("claim", aClaim("p-1", { pool: "p", providerID: "i-1" }));
    world.picture.takeDirty();
    world.picture.put("node", aNode("n", { providerID: "i-1" }));
    expect([...world.picture.takeDirty()]).toContain("pod/default/a");
    world.picture.put("pod", told);
    world.picture.takeDirty();
    world.picture.put("pod", { ...a, nominatedNode: "m" });
    expect([...world.picture.takeDirty()]).toContain("pod/default/a");
  });

  test.each<[string, Parameters<typeof aClaim>[1], readonly PodView[], string[]]>([
    ["twice is asked about: somebody else has the room", {}, [a, told, a], ["a"]],
    ["once is told again: the try may have come before the node was open", {}, [a], []],
    ["is only told again while the node is not open, where every try fails", { stage: "registered" }, [a, told, a], []],
    ["and that is bound is asked about no more", {}, [a, told, aPod("a", { on: "n" })], []],
    ["is told again where another node was named in between", {}, [{ ...a, nominatedNode: "m" }, told, a], []],
  ])("that the scheduler turns down %s", (_, claim, seen, unplaced) => {
    const world = new World(a);
    world.picture.settleSearch(world.plan([world.planned("p-1", [a])]));
    world.picture.put("claim", aClaim("p-1", { providerID: "i-1", ...claim }));
    world.picture.put("node", aNode("n", { providerID: "i-1" }));
    for (const pod of [told, ...seen]) world.picture.put("pod", pod);
    expect(world.unplaced()).toEqual(unplaced);
  });

  test("by another's word is left to them for five minutes, as long as the node stays", () => {
    const world = new World();
    world.picture.put("node", aNode("n"));
    world.picture.put("pod", told);
    world.now = at("1m");
    world.picture.put("pod", { ...told, labels: { app: "other" } });
    expect(world.picture.pending.expiresAt).toBe(at("5m"));
    world.picture.beginSearch(at("5m") - 1);
    expect(world.wanting()).toEqual([]);
    world.picture.beginSearch(at("5m"));
    expect(world.unplaced()).toEqual(["a"]);
    expect(world.picture.pending.expiresAt).toBeUndefined();
  });

  test.each<[string, (world: World) => void]>([
    ["is gone", ({ picture }) => picture.remove("node", aNode("n"))],
    ["goes", ({ picture }) => picture.put("node", aNode("n", { deletingSince: t0 }))],
  ])("by another's word wants one again when that node %s", (_, end) => {
    const world = new World();
    world.picture.put("node", aNode("n"));
    world.picture.put("pod", told);
    end(world);
    expect(world.unplaced()).toEqual(["a"]);
  });

  test("by another's word is expected there, and its node is asked again when that begins and ends", () => {
    const world = new World(a);
    const node = aNode("n");
    world.picture.put("node", node);
    world.picture.takeDirty();
    world.picture.put("pod", told);
    expect(world.picture.podsExpectedOn(node).map(({ name }) => name)).toEqual(["a"]);
    expect([...world.picture.takeDirty()]).toContain("node/n");
    world.picture.beginSearch(at("5m"));
    expect(world.picture.podsExpectedOn(node)).toEqual([]);
    expect([...world.picture.takeDirty()]).toContain("node/n");
  });

  test("is forgotten with its end: the next of its name is believed anew", () => {
    const world = new World();
    world.picture.put("node", aNode("n"));
    world.picture.put("pod", told);
    world.picture.remove("pod", told);
    expect(world.picture.pending.expiresAt).toBeUndefined();
    world.now = at("4m");
    world.picture.put("pod", { ...told, uid: "next" });
    expect(world.picture.pending.expiresAt).toBe(at("9m"));
  });
});

describe("a pod whose node goes by a move", () => {
  const [web, db] = [aPod("web", { on: "a" }), aPod("db", { on: "a" })];
  const going = (more: Partial<ActionView["spec"]> = {}) =>
    anAction("go", { node: "a", phase: "Running", spec: { action: "Consolidation", batch: "b-1", ...more } });
  let world: World;
  const placeOf = ({ uid }: PodView) => world.picture.placementOf(uid);

  beforeEach(() => {
    world = new World(web, db);
    for (const name of ["a", "b", "c"]) {
      world.picture.put("claim", aClaim(name));
      world.picture.put("node", aNode(name));
    }
    const node = world.picture.node("a");
    const nodes = [{ name: "a", uid: node?.uid ?? "" }];
    const price = { before: 1, after: 0 };
    const move = { batch: "b-1", nodes, claims: [], podCount: 1, price, stuck: [], at: t0 } as const;
    const places = new Map([["default/web", "b"]]);
    world.picture.beginMoves();
    world.picture.settleMoves({
      at: t0,
      moves: [{ move: { ...move, action: "Consolidation" }, places, poolVersions: new Map() }],
      stays: new Map(),
      unanswered: [],
    });
  });

  test("is expected where the move has found room for it, and no search is asked; others wait for one", () => {
    world.picture.put("action", going());
    expect(placeOf(web)).toEqual({ on: "node", name: "b", at: t0, isPromised: true });
    expect(world.unplaced()).toEqual(["db"]);
  });

  test("not if its node goes for another reason", () => {
    world.picture.put("action", going({ batch: "another" }));
    expect(world.unplaced()).toEqual(["db", "web"]);
  });

  test("keeps its room though another comes to the node: there is room for all, if not where it was planned", () => {
    world.picture.put("action", going());
    world.picture.put("pod", aPod("new", { on: "b" }));
    expect(placeOf(web)).toMatchObject({ name: "b" });
  });

  test("waits for a search when that node goes as well", () => {
    world.picture.put("action", going());
    world.picture.put("node", aNode("b", { resourceVersion: "2", deletingSince: t0 }));
    expect(world.unplaced()).toEqual(["db", "web"]);
  });

  test("takes nothing from other moves: its room was promised beside theirs", () => {
    const node = world.picture.node("c");
    const price = { before: 1, after: 0 };
    const nodes = [{ name: "c", uid: node?.uid ?? "" }];
    const other = { batch: "b-2", nodes, claims: [], podCount: 1, price, stuck: [], at: t0 } as const;
    world.picture.beginMoves();
    world.picture.settleMoves({
      at: t0,
      moves: [
        { move: { ...other, action: "Consolidation" }, places: new Map([["default/x", "b"]]), poolVersions: new Map() },
      ],
      stays: new Map(),
      unanswered: [],
    });
    world.picture.put("action", going());
    expect(placeOf(web)).toMatchObject({ name: "b" });
    expect(world.picture.moveOf(node?.uid ?? "")).toBeDefined();
  });
});

describe("how long pods are expected", () => {
  const a = pending("a");

  test("on a node for 20 s", () => {
    const world = new World(a);
    world.picture.put("node", aNode("n"));
    world.picture.settleSearch(world.onNode(a, "n"));
    expect(world.picture.pending.expiresAt).toBe(at("20s"));
    world.picture.beginSearch(at("20s") - 1);
    expect(world.unplaced()).toEqual([]);
    world.picture.beginSearch(at("20s"));
    expect(world.unplaced()).toEqual(["a"]);
  });

  test("on a claim that is not made yet for a minute, on one that comes as long as it takes", () => {
    const world = new World(a);
    world.picture.settleSearch(world.plan([world.planned("p-1", [a])]));
    expect(world.picture.pending.expiresAt).toBe(at("1m"));
    world.picture.put("claim", aClaim("p-1", { pool: "p", stage: "registered" }));
    expect(world.picture.pending.expiresAt).toBeUndefined();
    const initialized = aCondition("Initialized", "True", { since: at("5m") });
    world.picture.put("claim", aClaim("p-1", { pool: "p", conditions: [initialized] }));
    expect(world.picture.pending.expiresAt).toBe(at("5m20s"));
  });

  test("a pod that is bound to a node that goes is asked about: what was said of it is said of its successor", () => {
    const world = new World(a);
    world.picture.put("node", aNode("going", { deletingSince: t0 }));
    world.picture.settleSearch(world.plan([world.planned("p-1", [a])]));
    world.picture.takeDirty();
    world.picture.put("pod", { ...a, nodeName: "going" });
    expect(world.wanting()).toEqual(["a"]);
    expect([...world.picture.takeDirty()]).toContain("pod/default/a");
  });

  test("for ever where the pod still runs on a node that goes: the room is for its successor", () => {
    const running = aPod("x", { on: "going" });
    const world = new World(running);
    world.picture.put("node", aNode("going", { deletingSince: t0 }));
    world.picture.put("node", aNode("n"));
    world.picture.settleSearch(world.onNode(running, "n"));
    expect(world.picture.pending.expiresAt).toBeUndefined();
    world.picture.put("node", aNode("n", { deletingSince: t0 }));
    expect(world.unplaced()).toEqual(["x"]);
  });
});

describe("pods that can go nowhere", () => {
  const a = pending("a");

  test.each<[string, (world: World) => void, boolean]>([
    ["a node", ({ picture }) => picture.put("node", aNode("n")), true],
    ["a pool", ({ picture }) => picture.put("pool", aPool("q")), true],
    ["the provider", ({ picture }) => picture.providerChanged(), true],
    ["a pod on a node that goes", ({ picture }) => picture.remove("pod", aPod("r", { on: "n" })), true],
    ["another pod that waits", ({ picture }) => picture.put("pod", pending("b")), false],
  ])("are asked about again after a change of %s", (_, change, isAsked) => {
    const world = new World(a, aPod("r", { on: "n" }));
    world.picture.beginSearch(t0);
    world.picture.settleSearch(world.stuck(a));
    expect(world.picture.pending).toMatchObject({ stuckCount: 1, isSupplyChanged: false });
    change(world);
    expect(world.picture.pending.isSupplyChanged).toBe(isAsked);
    world.picture.beginSearch(t0);
    expect(world.picture.pending.isSupplyChanged).toBe(false);
  });

  test("and after a change that came while the search ran which then said so", () => {
    const world = new World(pending("x"));
    world.picture.beginSearch(t0);
    world.picture.providerChanged();
    world.picture.settleSearch(world.stuck(pending("x")));
    expect(world.picture.pending).toMatchObject({ stuckCount: 1, isSupplyChanged: true });
    world.picture.beginSearch(at("10s"));
    expect(world.picture.pending.isSupplyChanged).toBe(false);
  });

  test("and after a search that came to nothing", () => {
    const world = new World(a);
    world.picture.settleSearch(world.stuck(a));
    world.picture.beginSearch(t0);
    world.picture.abandonSearch();
    expect(world.picture.pending.isSupplyChanged).toBe(true);
  });

  test("and when what held them back ends by itself", () => {
    const world = new World(a);
    world.picture.settleSearch({ ...world.stuck(a), lookAgainAt: at("1m") });
    expect(world.picture.pending.lookAgainAt).toBe(at("1m"));
  });
});

test("whatever happens, a pod counts in one place at most, every pod that wants a node is somewhere, and a picture of the same views says the same", () => {
  const names = ["a", "b", "c", "d"];
  const pods = names.map(name => pending(name));
  const claimNames = ["p-1", "p-2"];
  const step = fc.oneof(
    fc.record({ do: fc.constant("come" as const), pod: fc.constantFrom(...pods) }),
    fc.record({ do: fc.constant("go" as const), pod: fc.constantFrom(...pods) }),
    fc.record({ do: fc.constant("bind" as const), pod: fc.constantFrom(...pods) }),
    fc.record({
      do: fc.constant("tell" as const),
      pod: fc.constantFrom(...pods),
      node: fc.constantFrom("n", "p-1", "nobody"),
    }),
    fc.record({ do: fc.constant("make" as const), claim: fc.constantFrom(...claimNames) }),
    fc.record({ do: fc.constant("lose" as const), claim: fc.constantFrom(...claimNames) }),
    fc.record({ do: fc.constant("search" as const), split: fc.nat(4) }),
    fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(1_000, 20_000, 60_000) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const world = new World();
      const { picture } = world;
      picture.put("node", aNode("n"));
      for (const one of steps) {
        if (one.do === "come") picture.put("pod", one.pod);
        if (one.do === "go") picture.remove("pod", one.pod);
        if (one.do === "bind") picture.put("pod", { ...one.pod, nodeName: "n", phase: "Running" });
        if (one.do === "tell" && picture.pod("default", one.pod.name)?.nodeName === undefined)
          picture.put("pod", { ...one.pod, nominatedNode: one.node });
        if (one.do === "make") picture.put("claim", aClaim(one.claim, { pool: "p", stage: "new" }));
        if (one.do === "lose") picture.remove("claim", aClaim(one.claim, { pool: "p", stage: "new" }));
        if (one.do === "wait") world.now += one.ms;
        if (one.do === "search") {
          picture.beginSearch(world.now);
          const asked = picture.unplacedPods();
          const [first, second] = [asked.slice(0, one.split), asked.slice(one.split)];
          const free = claimNames.filter(
            name => picture.claim(name) === undefined && picture.expectedOn(name).length === 0,
          );
          const claims = [first, second].flatMap((some, i) =>
            some.length > 0 && free[i] !== undefined ? [world.planned(free[i], some)] : [],
          );
          picture.settleSearch(world.plan(claims));
        }
        const placed = claimNames.flatMap(name => picture.expectedOn(name).map(({ uid }) => uid));
        expect(new Set(placed).size).toBe(placed.length);
        const planned = picture.plannedClaims("p").flatMap(claim => claim.pods);
        expect(new Set(planned).size).toBe(planned.length);
        const everywhere = [...placed, ...picture.unplacedPods().map(({ uid }) => uid)].sort();
        expect(everywhere).toEqual(
          picture
            .wantingPods()
            .map(({ uid }) => uid)
            .sort(),
        );
        const fresh = ClusterPicture.rebuilt(picture);
        expect(fresh.pending).toEqual(picture.pending);
        expect(fresh.plannedClaims("p")).toEqual(picture.plannedClaims("p"));
        expect(fresh.wantingPods()).toEqual(picture.wantingPods());
      }
    }),
    { numRuns: 300 },
  );
});
