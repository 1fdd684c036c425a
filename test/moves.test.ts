import { describe, expect, test } from "vitest";
import { aClaim, aCondition, anAction, aNode, aPicture, aPod, aPool, aProvider, at, t0 } from "./builders.ts";
import type { InstanceType } from "../src/api/instance-type.ts";
import { capacityTypeKey, hostnameKey, instanceTypeKey, zoneKey } from "../src/api/node.ts";
import type { NodePoolSpec } from "../src/api/node-pool.ts";
import { formatTime, type Instant } from "../src/api/time.ts";
import type { Execution } from "../src/control/execution.ts";
import { search } from "../src/control/search.ts";
import { Searches } from "../src/control/searches.ts";
import type { Context } from "../src/decide/decision.ts";
import { asking, judgeAgain, moveSearch } from "../src/decide/disruption/search-rules.ts";
import { VirtualClock } from "../src/sim/clock.ts";
import type { ClusterPicture } from "../src/snapshot/cluster-picture.ts";
import type { PlannedClaim } from "../src/snapshot/placement.ts";
import type { PodView } from "../src/snapshot/views.ts";

const settings = { cluster: "test", dryRun: false, foreignClaims: "ignore" } as const;

/** `cpu` CPUs for a dollar each, in one zone and on demand. */
function aType(cpu: number): InstanceType {
  const amounts = { cpu: `${cpu}`, memory: "64Gi", pods: "110" };
  const [zone, capacity] = [
    { key: zoneKey, operator: "In" as const, values: ["z"] },
    { key: capacityTypeKey, operator: "In" as const, values: ["on-demand"] },
  ];
  return {
    name: `t${cpu}`,
    requirements: [{ key: instanceTypeKey, operator: "In", values: [`t${cpu}`] }, zone, capacity],
    offerings: [{ requirements: [zone, capacity], price: cpu, available: true }],
    capacity: amounts,
    allocatable: amounts,
  };
}

function running(name: string, on: string, cpu: string, more: Partial<PodView> = {}): PodView {
  const containers = [{ name: "c", resources: { requests: { cpu } } }];
  return aPod(name, { on, needs: { spec: { containers } }, ...more });
}

type NodeInput = {
  cpu?: number;
  pool?: string;
  isDrifted?: boolean;
  isYoung?: boolean;
  stage?: "registered" | "initialized";
};

const dearer = "nothing that is cheaper could take its pods";

class World {
  readonly clock = new VirtualClock(at("1h"));
  readonly picture: ClusterPicture;
  readonly searches: Searches;
  readonly abort = new AbortController();

  constructor(spec: NodePoolSpec = {}, cpus: readonly number[] = [2, 4, 8]) {
    const provider = aProvider({ instanceTypes: () => cpus.map(aType) });
    this.picture = aPicture(provider, () => this.clock.now());
    this.searches = new Searches(this.picture);
    this.picture.put("pool", aPool("p", { spec }));
  }

  /** Of four CPUs, quiet since it is there. */
  node(name: string, { cpu = 4, pool = "p", isDrifted = false, isYoung = false, stage }: NodeInput = {}): this {
    const isComingUp = stage === "registered";
    const labels = {
      [hostnameKey]: name,
      [instanceTypeKey]: `t${cpu}`,
      [zoneKey]: "z",
      [capacityTypeKey]: "on-demand",
    };
    const allocatable = { cpu: `${cpu}`, memory: "64Gi", pods: "110" };
    const conditions = [
      ...aClaim(name, stage === undefined ? {} : { stage }).conditions,
      ...(isDrifted ? [aCondition("Drifted", "True", { reason: "NodePoolDrifted" })] : []),
    ];
    const status = isYoung ? { lastPodEventTime: formatTime(this.clock.now()) } : {};
    this.picture.put("claim", aClaim(name, { pool, labels, conditions, status }));
    const view = aNode(name, { pool, labels, allocatable });
    const { "karpenter.sh/initialized": _, ...others } = view.labels;
    this.picture.put("node", isComingUp ? { ...view, labels: others } : view);
    return this;
  }

  pods(...pods: readonly PodView[]): this {
    for (const pod of pods) this.picture.put("pod", pod);
    return this;
  }

  start(asked: "provisioning" | "disruption" = "disruption"): Promise<string> {
    // A search reads and writes nothing but the picture.
    const { picture, clock, searches, abort } = this;
    const execution = { picture, clock, searches, settings, epoch: 1, signal: abort.signal } as unknown as Execution;
    return search({ kind: "search", for: asked, askedAt: t0, why: "" }, execution).then(
      ({ result }) => result,
      (error: Error) => error.message,
    );
  }

  async run(): Promise<string> {
    const ended = this.start();
    await this.clock.runFor(0);
    return ended;
  }

  /** Of each node named: what is to come, where its pods go, or what keeps it. */
  told(...names: readonly string[]): Record<string, unknown> {
    return Object.fromEntries(
      names.map(name => {
        const uid = `${name}-uid`;
        const move = this.picture.moveOf(uid);
        if (move === undefined) return [name, this.picture.stayOf(uid)?.short];
        const found = this.picture
          .standingMoves()
          .all()
          .find(one => one.move === move);
        return [name, move.stuck[0] ?? [...(found?.places.values() ?? []), ...move.claims.map(typesOf)].join(" ")];
      }),
    );
  }

  decide(rule: typeof moveSearch, name: string, now: Instant) {
    const context: Context = { picture: this.picture, now, settings, epoch: 1 };
    return rule.decide(name, context);
  }
}

function removed({ picture }: World, name: string, on: string): void {
  picture.remove("pod", aPod(name, { on }));
}

function limited({ picture }: World, nodes: string): void {
  picture.put("pool", aPool("p", { spec: { limits: { nodes } }, resourceVersion: "2" }));
}

function labelled({ picture }: World, name: string): void {
  const node = picture.node(name);
  if (node !== undefined)
    picture.put("node", { ...node, labels: { ...node.labels, is: "special" }, resourceVersion: "9" });
}

function typesOf({ manifest }: { manifest: object }): string {
  const { spec } = manifest as { spec: { requirements: { key: string; values: string[] }[] } };
  return `new ${spec.requirements.find(({ key }) => key === instanceTypeKey)?.values.join("|") ?? ""}`;
}

describe("while pods come and go on other nodes", () => {
  const why = "pods still come to other nodes and go from them";
  const restless = (spec: NodePoolSpec = {}) =>
    new World(spec)
      .node("a")
      .node("b")
      .node("c")
      .pods(running("x", "a", "1"), running("y", "b", "2"), running("z", "c", "2"));
  const events = (world: World, ...names: readonly string[]) => {
    for (const name of names) {
      const pod = running(`gone-from-${name}`, name, "1");
      world.picture.put("pod", pod);
      world.picture.remove("pod", pod);
    }
  };

  test("nobody goes for money, and it is looked at again when they have stood still", async () => {
    const world = restless();
    events(world, "b", "c");
    await world.run();
    expect(world.told("a")).toEqual({ a: why });
    const calmAt = world.clock.now() + 15_000;
    expect(world.decide(moveSearch, "cluster", calmAt - 1)).toMatchObject({ commands: [], wakeAt: calmAt });
    expect(world.decide(moveSearch, "cluster", calmAt).commands).toMatchObject([{ kind: "search" }]);
  });

  test("whoever is due before that waits with the others, and the last of them asks again", async () => {
    const world = restless();
    events(world, "b");
    await world.clock.runFor(1);
    events(world, "c");
    await world.run();
    expect(world.told("a", "b", "c")).toEqual({ a: why, b: why, c: undefined });
  });

  test("a single one is none of its business", async () => {
    const world = restless();
    events(world, "c");
    await world.run();
    expect(world.picture.moveOf("a-uid")).toMatchObject({ action: "Consolidation", claims: [] });
  });
});

describe("a search for moves", () => {
  test("finds where the pods of a node that costs more than it holds would go", async () => {
    const world = new World()
      .node("a")
      .node("b")
      .pods(running("x", "a", "1"), running("y", "b", "2"));
    expect(await world.run()).toBe("done");
    expect(world.told("a", "b")).toEqual({ a: "b", b: "it takes pods of other nodes" });
    expect(world.picture.moveOf("a-uid")).toMatchObject({
      action: "Consolidation",
      nodes: [{ name: "a", uid: "a-uid" }],
      podCount: 1,
      price: { before: 4, after: 0 },
      at: at("1h"),
    });
  });

  test.each<[string, Partial<PodView>, string]>([
    ["as most are", {}, "b"],
    ["missed by much", { evictionCost: 10 }, "too little would be saved for 1 pod that has to move"],
  ])("weighs a saving of a Balanced pool against a pod that is %s", async (_, more, told) => {
    const world = new World({ disruption: { consolidationPolicy: "Balanced" } })
      .node("a")
      .node("b", { cpu: 8 })
      .pods(running("x", "a", "1", more), running("y", "b", "5"));
    await world.run();
    expect(world.told("a")).toEqual({ a: told });
  });

  test("plans a cheaper node where that is what its pods need, with a name that stays", async () => {
    const world = new World().node("a", { cpu: 8 }).pods(running("x", "a", "3"));
    await world.run();
    expect(world.told("a")).toEqual({ a: "new t4" });
    expect(world.picture.moveOf("a-uid")).toMatchObject({ price: { before: 8, after: 4 }, claims: [{ pool: "p" }] });
    const [claim] = world.picture.moveOf("a-uid")?.claims ?? [];
    world.picture.beginMoves();
    await world.run();
    expect(world.picture.moveOf("a-uid")?.claims[0]?.name).toBe(claim?.name);
  });

  test("moves nothing for money onto a node where pods came or went a short while ago", async () => {
    const world = new World()
      .node("a")
      .node("b", { isYoung: true })
      .pods(running("x", "a", "3"), running("y", "b", "1"));
    await world.run();
    expect(world.told("a")).toEqual({ a: "nothing that is cheaper could take its pods" });
  });

  test("lets nobody go for money who is to take the pods of a node that must go", async () => {
    const world = new World().node("a", { isDrifted: true }).node("b").node("c");
    world.pods(running("x", "a", "2"), running("y", "b", "1"), running("z", "c", "1"));
    await world.run();
    expect(world.told("a", "b")).toEqual({ a: "b", b: "it takes pods of other nodes" });
  });

  test.each<[string, NodeInput, string]>([
    ["is still coming up", { stage: "registered" }, dearer],
    ["is of a pool that never consolidates, though it is young", { pool: "never", isYoung: true }, "b"],
  ])("moves pods for money onto a node that %s: %s", async (_, other, told) => {
    const world = new World({}, [4, 8])
      .node("a")
      .node("b", other)
      .pods(running("x", "a", "3"), running("y", "b", "1"));
    world.picture.put("pool", aPool("never", { spec: { disruption: { consolidateAfter: "Never" } } }));
    await world.run();
    expect(world.told("a")).toEqual({ a: told });
  });

  test("moves pods onto nodes that nobody provisioned through us", async () => {
    const world = new World().node("a").pods(running("x", "a", "3"), running("y", "stranger", "1"));
    const labels = { [hostnameKey]: "stranger" };
    world.picture.put("node", aNode("stranger", { labels, allocatable: { cpu: "4", memory: "64Gi", pods: "110" } }));
    await world.run();
    expect(world.told("a")).toEqual({ a: "stranger" });
  });

  test("says of a node whose price nobody knows that it stays", async () => {
    const world = new World().node("a", { cpu: 5 }).pods(running("x", "a", "1"));
    await world.run();
    expect(world.told("a")).toEqual({ a: "nobody knows what it costs" });
  });

  test("finds a place for the pods of a node that has drifted, whatever it costs", async () => {
    const world = new World().node("a", { isDrifted: true }).pods(running("x", "a", "3"));
    await world.run();
    expect(world.told("a")).toEqual({ a: "new t4|t8" });
    expect(world.picture.moveOf("a-uid")).toMatchObject({ action: "Drift", batch: expect.stringMatching(/^drift-/) });
  });

  test("launches several in place of one that has drifted, where nothing as large can be had (D17)", async () => {
    const world = new World({}, [2, 4]).node("a", { cpu: 8, isDrifted: true });
    world.pods(running("x", "a", "2"), running("y", "a", "2"), running("z", "a", "2"));
    await world.run();
    const move = world.picture.moveOf("a-uid");
    expect(move).toMatchObject({ action: "Drift", stuck: [], podCount: 3 });
    expect(move?.claims.length).toBe(2);
    expect(new Set(move?.claims.map(({ name }) => name)).size).toBe(2);
  });

  test("promises no room twice", async () => {
    const never: NodePoolSpec = { disruption: { consolidateAfter: "Never" } };
    const world = new World(never).node("a", { isDrifted: true }).node("b", { isDrifted: true }).node("c");
    world.pods(running("x", "a", "2"), running("y", "b", "2"), running("z", "c", "2"));
    await world.run();
    expect(world.told("a", "b")).toEqual({ a: "c", b: "new t2|t4|t8" });
    world.node("d", { isDrifted: true }).pods(running("w", "d", "2"));
    await world.run();
    expect(world.told("a", "b", "d")).toEqual({ a: "c", b: "new t2|t4|t8", d: "new t2|t4|t8" });
  });

  test("moves pods onto nodes that have drifted themselves only if nothing else can take them", async () => {
    const open = new World()
      .node("a", { isDrifted: true })
      .node("b", { isDrifted: true })
      .pods(running("x", "a", "1"), running("y", "b", "1"));
    await open.run();
    expect(open.told("a", "b")).toEqual({ a: "new t2|t4|t8", b: "new t2|t4|t8" });
    const closed = new World({ limits: { nodes: 2 } }).node("a", { isDrifted: true }).node("b", { isDrifted: true });
    closed.pods(running("x", "a", "1"), running("y", "b", "1"));
    await closed.run();
    expect(closed.told("a", "b")).toEqual({ a: "b", b: expect.objectContaining({ pod: "default/y" }) });
  });

  test("replaces a node of a pool with replicas by one as its template says", async () => {
    const world = new World({ replicas: 1 }).node("a", { isDrifted: true }).pods(running("x", "a", "1"));
    await world.run();
    const move = world.picture.moveOf("a-uid");
    expect(move).toMatchObject({ action: "Drift", claims: [{ pool: "p", pods: [] }], stuck: [] });
  });

  test("names a pod that would have no place, and is asked again when something changes", async () => {
    const spec = { containers: [], nodeSelector: { only: "here" } };
    const world = new World().node("a", { isDrifted: true }).pods(aPod("x", { on: "a", needs: { spec } }));
    await world.run();
    expect(world.picture.moveOf("a-uid")).toMatchObject({ stuck: [{ pod: "default/x" }], claims: [] });
    expect(world.picture.moves).toMatchObject({ heldCount: 1, isSupplyChanged: false });
  });

  describe("who is due and has no place for its pods", () => {
    /** Two of four CPUs each, on nodes that have drifted, and a pool that may have no more nodes. */
    const stuck = async (limits = { nodes: "3" }) => {
      const world = new World({ limits }, [4])
        .node("a", { isDrifted: true })
        .node("b", { isDrifted: true })
        .node("c", { isYoung: true })
        .pods(running("x", "a", "3"), running("y", "b", "2"), running("z", "c", "3"));
      await world.run();
      await world.clock.runFor(10_000);
      return world;
    };
    const triedAt = (world: World, name: string) => world.picture.moveOf(`${name}-uid`)?.at;
    const later = at("1h") + 10_000;

    test("is tried at the first look", async () => {
      const world = await stuck();
      expect([triedAt(world, "a"), triedAt(world, "b")]).toEqual([at("1h"), at("1h")]);
      expect(world.told("a", "b")).toMatchObject({ a: { pod: "default/x" }, b: { pod: "default/y" } });
    });

    test.each<[string, (world: World) => unknown, Record<string, boolean>]>([
      ["nothing", () => undefined, { a: false, b: false }],
      ["room that is too small for any", world => world.pods(running("z", "c", "2500m")), { a: false, b: false }],
      ["room for one, which the first takes", world => removed(world, "z", "c"), { a: true, b: false }],
      ["room for the smaller", world => world.pods(running("z", "c", "2")), { a: false, b: true }],
      ["less room", world => world.pods(running("w", "c", "1")), { a: false, b: false }],
      ["a pod more on one of them", world => world.pods(running("w", "b", "1")), { a: false, b: true }],
      ["a pool that may have one node more", world => limited(world, "4"), { a: true, b: true }],
      ["another node, with room for both", world => world.node("d", { cpu: 8, isYoung: true }), { a: true, b: true }],
      ["labels on another node", world => labelled(world, "c"), { a: false, b: false }],
    ])("is tried again only by what may help it: %s", async (_, change, tried) => {
      const world = await stuck();
      change(world);
      await world.run();
      const isTried = (name: string) => triedAt(world, name) === later;
      expect({ a: isTried("a"), b: isTried("b") }).toEqual(tried);
    });

    test("is tried when room that was promised to others is free again", async () => {
      const world = new World({ limits: { nodes: "3" } }, [4]).node("a", { isDrifted: true });
      world.node("b", { isDrifted: true }).node("c", { isYoung: true });
      world.pods(running("x", "a", "3"), running("y", "b", "3"), running("z", "c", "1"));
      await world.run();
      expect(world.told("a", "b")).toMatchObject({ a: "c", b: { pod: "default/y" } });
      await world.clock.runFor(10_000);
      await world.run();
      expect(triedAt(world, "b")).toBe(at("1h"));
      // With another of them in its way the first goes no more.
      world.pods(running("w", "a", "1", { needs: { spec: { containers: [], nodeSelector: { only: "here" } } } }));
      await world.run();
      expect(world.told("a", "b")).toMatchObject({ a: { pod: "default/w" }, b: "c" });
    });

    test("is tried again after five minutes, whatever is known", async () => {
      const world = await stuck();
      await world.run();
      const again = at("1h") + 5 * 60_000;
      expect(world.decide(moveSearch, "cluster", again - 1)).toMatchObject({ commands: [], wakeAt: again });
      expect(world.decide(moveSearch, "cluster", again).commands).toMatchObject([{ kind: "search" }]);
      await world.clock.runFor(again - world.clock.now());
      await world.run();
      expect([triedAt(world, "a"), triedAt(world, "b")]).toEqual([again, again]);
    });
  });

  test("leaves pods on their way out, daemons and the kubelet's own where they are", async () => {
    const world = new World()
      .node("a", { isDrifted: true })
      .pods(
        running("x", "a", "1"),
        running("going", "a", "1", { deletionAt: at("61m") }),
        running("daemon", "a", "1", { ownerKind: "DaemonSet", tier: "daemon" }),
        running("static", "a", "1", { isStatic: true, ownerKind: "Node" }),
      );
    await world.run();
    expect(world.picture.moveOf("a-uid")?.podCount).toBe(1);
  });
});

describe("a plan whose replacement has come", () => {
  const spec = { action: "Consolidation" as const, batch: "consolidation-1", replacements: [{ name: "r" }] };
  const waiting = anAction("plan", { node: "a", phase: "WaitingForReplacement", spec });
  const planned = () =>
    new World({ disruption: { consolidateAfter: "Never" } })
      .node("a")
      .node("r", { cpu: 2 })
      .pods(running("x", "a", "2"));

  test("is judged by it, and it is nobody else's", async () => {
    const world = planned();
    world.picture.put("action", waiting);
    world.node("b", { isDrifted: true }).pods(running("y", "b", "1"));
    expect(world.decide(judgeAgain, "plan", at("1h")).commands).toMatchObject([{ kind: "search", for: "disruption" }]);
    await world.run();
    expect(world.picture.moveOf("a-uid")).toMatchObject({ batch: "consolidation-1", claims: [], stuck: [] });
    expect(world.told("a", "b")).toEqual({ a: "r", b: "new t2|t4|t8" });
    expect(world.decide(judgeAgain, "plan", at("1h")).commands).toEqual([]);
  });

  test("is judged as it was made: what was launched for a pod that no other takes is left to it", async () => {
    const world = planned().node("c", { cpu: 8 });
    const needs = {
      spec: { containers: [{ name: "c", resources: { requests: { cpu: "2" } } }], nodeSelector: { is: "special" } },
    };
    world.pods(aPod("x", { on: "a", needs }), running("w", "a", "2"));
    labelled(world, "r");
    world.picture.put("action", waiting);
    await world.run();
    expect(world.told("a")).toEqual({ a: "c r" });
  });

  test("and before that its pods keep the room that they may need on nodes that are there", async () => {
    const world = planned();
    world.picture.put("claim", aClaim("r", { pool: "p", resourceVersion: "2", stage: "launched" }));
    world.picture.put("action", waiting);
    world.node("c").pods(running("z", "c", "2"));
    world.node("b", { isDrifted: true }).pods(running("y", "b", "1"));
    await world.run();
    expect(world.told("a", "b")).toEqual({ a: undefined, b: "new t2|t4|t8" });
  });

  describe("of six pods that fill two machines to the last CPU, while the largest first would need three", () => {
    const podsByMachine = {
      r: [running("p5", "a", "5"), running("p3", "a", "3"), running("q3", "a", "3")],
      s: [running("p4", "a", "4"), running("q4", "a", "4"), running("r3", "a", "3")],
    };
    const all = Object.values(podsByMachine).flat();
    const spec = { ...waiting.spec, replacements: [{ name: "r" }, { name: "s" }] };
    const filled = () => {
      const never = { disruption: { consolidateAfter: "Never" } };
      return new World(never, [11, 22]).node("a", { cpu: 22 }).pods(...all);
    };
    const launched = (world: World) => {
      world.picture.put("action", { ...waiting, spec });
      return world.node("r", { cpu: 11 }).node("s", { cpu: 11 });
    };

    test("is judged with the places that were found for it", async () => {
      const world = filled();
      const claims = Object.entries(podsByMachine).map(([name, pods]): PlannedClaim => {
        const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name } };
        const uids = pods.map(({ uid }) => uid);
        return { name, pool: "p", poolVersion: "1", manifest, pods: uids, capacity: {}, at: t0 };
      });
      const nodes = [{ name: "a", uid: "a-uid" }];
      const price = { before: 22, after: 22 };
      const found = { action: "Consolidation" as const, batch: "consolidation-1", podCount: 6, stuck: [], at: t0 };
      const move = { ...found, nodes, claims, price };
      world.picture.beginMoves();
      const answer = { move, places: new Map(), poolVersions: new Map() };
      world.picture.settleMoves({ at: t0, moves: [answer], stays: new Map(), unanswered: [] });
      await launched(world).run();
      const places = world.picture.standingMoves().all()[0]?.places;
      expect(all.map(({ name }) => places?.get(`default/${name}`))).toEqual(["r", "r", "r", "s", "s", "s"]);
    });

    test("is given up by a leader that has not found them itself", async () => {
      const world = launched(filled());
      await world.run();
      expect(world.told("a")).toMatchObject({ a: { short: "no node that is there has room for it" } });
    });
  });

  test("says which pod the room has been taken from", async () => {
    const world = planned().pods(running("z", "r", "1"));
    world.picture.put("action", waiting);
    await world.run();
    expect(world.told("a")).toEqual({ a: { pod: "default/x", short: "no node that is there has room for it" } });
  });

  test.each([
    ["its replacement is not initialized", { stage: "registered" as const }, waiting],
    ["it is over", {}, anAction("plan", { node: "a", phase: "Abandoned", spec })],
    ["it runs", {}, anAction("plan", { node: "a", phase: "Running", spec })],
  ])("nothing is asked when %s", (_, claim, action) => {
    const world = planned();
    world.picture.put("action", action);
    world.picture.put("claim", aClaim("r", { pool: "p", resourceVersion: "2", ...claim }));
    expect(world.decide(judgeAgain, "plan", at("1h")).commands).toEqual([]);
  });
});

describe("beside other searches", () => {
  const crowd = (count: number) => {
    const world = new World();
    for (let index = 0; index < count; index++) {
      world.node(`n${index}`, { cpu: 8 }).pods(running(`p${index}`, `n${index}`, "5"));
    }
    return world;
  };

  test("it comes to an end when pods want a node, and goes on afterwards", async () => {
    const world = crowd(60);
    const moves = world.start();
    world.pods(aPod("pending", { phase: "Pending", isUnschedulable: true, needs: { spec: { containers: [] } } }));
    const places = world.start("provisioning");
    await world.clock.runFor(0);
    expect(await Promise.all([moves, places])).toEqual(["done", "done"]);
    expect(world.picture.placementOf("default-pending-uid")).toMatchObject({ on: "node" });
    const answered = () => Object.values(world.told(...Array.from({ length: 60 }, (_, index) => `n${index}`)));
    const early = answered().filter(one => one !== undefined).length;
    expect(early).toBeLessThan(60);
    expect(world.picture.takeDirty()).toContain("node/n59");
    await world.run();
    // All but the one that a pod is expected on.
    expect(answered().filter(one => one !== undefined).length).toBe(59);
  });

  test("one whose time is up ends, leaves nothing behind, and the next one finds what there is", async () => {
    const [world, other] = [crowd(30), crowd(30)];
    const ended = world.start();
    world.abort.abort(new Error("No answer within 60 s."));
    await world.clock.runFor(0);
    expect(await ended).toBe("No answer within 60 s.");
    Object.assign(world, { abort: new AbortController() });
    await Promise.all([world.run(), other.run()]);
    expect(world.picture.standingMoves().all()).toEqual(other.picture.standingMoves().all());
  });

  test("nothing is searched on a picture that is older than it may be", async () => {
    const world = crowd(2);
    world.picture.setStaleness({ resource: "pods", message: "The watch of pods is silent." });
    expect(await world.run()).toBe("retry");
    expect(world.told("n0")).toEqual({ n0: undefined });
  });
});

describe("when a search is due", () => {
  test.each<[string, Instant, boolean, Instant | undefined]>([
    ["a millisecond before", at("1h") - 1, false, at("1h")],
    ["at the full second", at("1h"), true, undefined],
    ["and later", at("1h") + 1, true, undefined],
  ])("for nodes that are due within a second together: %s", (_, now, isAsked, wakeAt) => {
    const { commands, wakeAt: woken } = asking({ action: "Drift", dueAt: at("1h") - 300 }, undefined, now);
    expect([commands.length > 0, woken]).toEqual([isAsked, wakeAt]);
  });

  test("not for consolidation, while the last answer is that the node stays", () => {
    const stay = { short: "", at: t0 };
    expect(asking({ action: "Consolidation", dueAt: t0 }, stay, at("1h")).commands).toEqual([]);
    expect(asking({ action: "Drift", dueAt: t0 }, stay, at("1h")).commands).toHaveLength(1);
  });

  const held = async () => {
    const world = new World()
      .node("a")
      .node("b")
      .pods(running("x", "a", "4"), running("y", "b", "4"));
    await world.run();
    return world;
  };
  const again = at("1h") + 10_000;

  test("for nodes that stay only once something has changed", async () => {
    const world = await held();
    expect(world.decide(moveSearch, "cluster", again + 1)).toMatchObject({ commands: [], wakeAt: undefined });
  });

  test.each<[string, Instant, boolean, Instant | undefined]>([
    ["a millisecond before", again - 1, false, again],
    ["at the instant", again, true, undefined],
    ["and after", again + 1, true, undefined],
  ])("and then ten seconds after the last: %s", async (_, now, isAsked, wakeAt) => {
    const world = await held();
    world.picture.remove("pod", running("x", "a", "4"));
    const { commands, wakeAt: woken } = world.decide(moveSearch, "cluster", now);
    expect([commands.length > 0, woken]).toEqual([isAsked, wakeAt]);
  });

  test("those that were not judged again are five minutes after all were, at the latest", async () => {
    const world = await held();
    const told = world.told("a", "b");
    expect(world.picture.moves.lookAgainAt).toBe(undefined);
    world.picture.takeDirty();
    await world.run();
    expect(world.picture.moves.lookAgainAt).toBe(at("65m"));
    // What is said again is no news to the nodes.
    expect([world.told("a", "b"), world.picture.takeDirty()]).toEqual([told, new Set(["cluster"])]);
    expect(world.decide(moveSearch, "cluster", at("65m") - 1)).toMatchObject({ commands: [], wakeAt: at("65m") });
    expect(world.decide(moveSearch, "cluster", at("65m")).commands).toHaveLength(1);
    await world.clock.runFor(at("65m") - at("1h"));
    await world.run();
    expect(world.picture.moves).toMatchObject({ lookAgainAt: undefined, searchedAt: at("65m") });
  });

  test("one that failed is repeated when its lane may", async () => {
    const world = await held();
    world.picture.remove("pod", running("x", "a", "4"));
    const retryAt = again + 5_000;
    world.picture.setFailure("search/disruption", { at: again, retryAt, count: 1, reason: "", message: "too late" });
    expect(world.decide(moveSearch, "cluster", retryAt - 1)).toMatchObject({
      commands: [],
      refusals: [{ subject: "cluster", code: "search-failed", until: retryAt }],
      wakeAt: retryAt,
    });
    expect(world.decide(moveSearch, "cluster", retryAt).commands).toHaveLength(1);
  });
});
