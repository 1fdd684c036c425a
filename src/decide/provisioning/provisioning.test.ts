import { describe, expect, test } from "vitest";
import { aClaim, aNode, aPod, aPool, aProvider, at, t0 } from "../../../test/builders.ts";
import { settings } from "../../../test/termination-world.ts";
import type { InstanceType } from "../../api/instance-type.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import { type Placement, type PlannedClaim, poolVersion } from "../../snapshot/placement.ts";
import type { ClaimView, PodView, PoolView } from "../../snapshot/views.ts";
import { type Context, nothing } from "../decision.ts";
import { pendingPod, plannedClaims, provisioning } from "./provisioning.ts";

const amounts = { cpu: "8", memory: "32Gi", pods: "110" };
const type: InstanceType = { name: "t8", requirements: [], offerings: [], capacity: amounts, allocatable: amounts };

function pending(name: string, views: Partial<PodView> = {}): PodView {
  return aPod(name, { phase: "Pending", isUnschedulable: true, ...views });
}

class World {
  now = t0;
  readonly picture = new ClusterPicture(aProvider({ instanceTypes: () => [type] }), { now: () => this.now });

  constructor(...pods: readonly PodView[]) {
    for (const pod of pods) this.picture.put("pod", pod);
  }

  context(now = this.now, more: Partial<Context> = {}): Context {
    return { picture: this.picture, now, settings, epoch: 1, ...more };
  }

  place(pods: readonly PodView[], placement: Placement, lookAgainAt?: number): this {
    const placements = new Map(pods.map(({ uid }) => [uid, placement]));
    this.picture.settleSearch({ at: this.now, placements, claims: [], ...(lookAgainAt ? { lookAgainAt } : {}) });
    return this;
  }

  /** As many claims as are named, with one pod each. */
  plan(pool: PoolView, names: readonly string[], capacity = { cpu: "8", memory: "32Gi" }): this {
    this.picture.put("pool", pool);
    const pods = names.map(name => pending(name));
    for (const pod of pods) this.picture.put("pod", pod);
    const claims = names.map((name, index): PlannedClaim => {
      const manifest = { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata: { name } };
      const uids = [pods[index]?.uid ?? ""];
      return { name, pool: pool.name, poolVersion: poolVersion(pool), manifest, pods: uids, capacity, at: this.now };
    });
    const placements = new Map(
      claims.map(({ name, pods: [uid = ""] }) => [uid, { on: "claim", name, at: this.now } as const]),
    );
    this.picture.settleSearch({ at: this.now, placements, claims });
    return this;
  }
}

const nowhere: Placement = { on: "nothing", short: "0/2 nodes (2 resources)", tree: "" };

describe("a search begins", () => {
  const decide = (world: World, now: number, more: Partial<Context> = {}) =>
    provisioning.decide("cluster", world.context(now, more));

  test("not while nobody wants a node", () => {
    expect(decide(new World(), at("1h"))).toEqual(nothing);
  });

  test("a second after the last pod came, not before", () => {
    const world = new World(pending("a"));
    world.now = at("500ms");
    world.picture.put("pod", pending("b"));
    expect(decide(world, at("1500ms") - 1)).toEqual({ ...nothing, wakeAt: at("1500ms") });
    const commands = [{ kind: "search", for: "provisioning", askedAt: at("1500ms") }];
    expect(decide(world, at("1500ms"))).toMatchObject({ commands, wakeAt: undefined });
    expect(decide(world, at("2s"))).toEqual(decide(world, at("1500ms")));
  });

  test("ten seconds after the first at the latest, however many come", () => {
    const world = new World(pending("a"));
    world.now = at("9500ms");
    world.picture.put("pod", pending("b"));
    expect(decide(world, at("10s") - 1).wakeAt).toBe(at("10s"));
    expect(decide(world, at("10s")).commands).toHaveLength(1);
  });

  test("as the settings say", () => {
    const world = new World(pending("a"));
    const own = { settings: { ...settings, batchIdleMs: 5_000, batchMaxMs: 3_000 } };
    expect(decide(world, t0, own).wakeAt).toBe(at("3s"));
  });

  test("when pods have been expected on a node for long enough", () => {
    const world = new World(pending("a"));
    world.plan(aPool("p"), ["a"]);
    expect(decide(world, at("1m") - 1).wakeAt).toBe(at("1m"));
    expect(decide(world, at("1m")).commands).toHaveLength(1);
  });

  test("for pods that found no place when something has changed, ten seconds after the last at the earliest", () => {
    const world = new World(pending("a")).place([pending("a")], nowhere);
    expect(decide(world, at("1h"))).toEqual(nothing);
    world.picture.put("pool", aPool("p"));
    expect(decide(world, at("10s") - 1).wakeAt).toBe(at("10s"));
    expect(decide(world, at("10s")).commands).toMatchObject([{ why: "Pods that found no place may find one." }]);
  });

  test("for them when what held them back has ended", () => {
    const world = new World(pending("a")).place([pending("a")], nowhere, at("1m"));
    expect(decide(world, t0).wakeAt).toBe(at("1m"));
    expect(decide(world, at("1m")).commands).toHaveLength(1);
  });

  test("not on a stale picture", () => {
    const world = new World(pending("a"));
    world.picture.setStaleness({ resource: "pods", message: "The watch of pods is silent." });
    const refusals = [{ subject: "cluster", code: "picture-stale" }];
    expect(decide(world, at("1m"))).toMatchObject({ commands: [], refusals });
  });

  test("not again at once after one that failed, and that is said", () => {
    const world = new World(pending("a"));
    const failure = { at: t0, retryAt: at("30s"), count: 3, reason: "", message: "broken" };
    world.picture.setFailure("search/provisioning", failure);
    const refusals = [{ code: "search-failed", until: at("30s") }];
    expect(decide(world, at("30s") - 1)).toMatchObject({ commands: [], refusals, wakeAt: at("30s") });
    expect(decide(world, at("30s")).commands).toHaveLength(1);
  });
});

describe("claims of the plan", () => {
  const decide = (world: World, more: Partial<Context> = {}) =>
    plannedClaims.decide("p", world.context(world.now, more));
  const made = (world: World, more: Partial<Context> = {}) =>
    decide(world, more).commands.map(command => command.kind === "create-claim" && command.manifest.metadata.name);

  test("are made all at once, and again under the same name as long as they are not there", () => {
    const world = new World().plan(aPool("p"), ["p-1", "p-2"]);
    expect(made(world)).toEqual(["p-1", "p-2"]);
    world.picture.put("claim", aClaim("p-1", { pool: "p", stage: "new", uid: "", isProvisional: true }));
    expect(made(world)).toEqual(["p-2"]);
    world.picture.put("claim", aClaim("p-2", { pool: "p", stage: "new" }));
    expect(made(world)).toEqual([]);
  });

  test("are no concern of another pool", () => {
    const world = new World().plan(aPool("p"), ["p-1"]);
    world.picture.put("pool", aPool("q"));
    expect(plannedClaims.decide("q", world.context())).toEqual(nothing);
  });

  test.each<[string, NodePoolSpec, Partial<Context>]>([
    ["the pool", { dryRun: true }, {}],
    ["the controller", {}, { settings: { ...settings, dryRun: true } }],
  ])("are only shown in a dry run of %s, and counted", (_, spec, more) => {
    const world = new World().plan(aPool("p", { spec }), ["p-1", "p-2"]);
    const refusals = [{ code: "dry-run", message: expect.stringContaining("2 claims for 2 pods") }];
    expect(decide(world, more)).toMatchObject({ commands: [], refusals });
  });

  test("wait for the class", () => {
    const world = new World().plan(aPool("p"), ["p-1"]);
    world.picture.setProvider(aProvider({ nodeClass: () => ({ state: "NotReady", message: "soon" }) }));
    expect(decide(world)).toMatchObject({ commands: [], refusals: [{ code: "node-class-not-ready" }] });
  });

  const unlaunched = (name: string) => aClaim(name, { pool: "p", stage: "new" });
  const launched = (name: string, cpu: string, views: Partial<ClaimView> = {}) =>
    aClaim(name, { pool: "p", status: { capacity: { cpu } }, ...views });

  test.each<[string, NodePoolSpec["limits"], readonly ClaimView[], readonly string[]]>([
    ["no limit", {}, [unlaunched("x")], ["p-1", "p-2"]],
    ["just enough", { cpu: "16" }, [], ["p-1", "p-2"]],
    ["room for one", { cpu: "15999m" }, [], ["p-1"]],
    ["what is launched counts as what it is", { cpu: "16" }, [launched("x", "4")], ["p-1"]],
    ["what is on its way out counts", { cpu: "16" }, [launched("x", "4", { deletingSince: t0 })], ["p-1"]],
    ["what is not launched yet counts as the largest", { cpu: "16" }, [unlaunched("x")], ["p-1"]],
    ["another resource", { memory: "33Gi" }, [], ["p-1"]],
    ["nodes", { nodes: 2 }, [launched("x", "1")], ["p-1"]],
    ["none at all", { nodes: 0 }, [], []],
  ])("stay within the limits: %s", (_, limits, claims, names) => {
    const world = new World();
    for (const claim of claims) world.picture.put("claim", claim);
    world.plan(aPool("p", { spec: limits === undefined ? {} : { limits } }), ["p-1", "p-2"]);
    expect(made(world)).toEqual(names);
    const codes = decide(world).refusals.map(({ code }) => code);
    expect(codes).toEqual(names.length < 2 ? ["limit-reached"] : []);
  });
});

describe("of a pod that wants a node is said", () => {
  const decide = (world: World) => pendingPod.decide("default/a", world.context());

  test("nothing before a search, and nothing of one that has a node", () => {
    expect(decide(new World(pending("a")))).toEqual(nothing);
    expect(decide(new World(aPod("a", { on: "n" })))).toEqual(nothing);
    expect(decide(new World())).toEqual(nothing);
  });

  test("where it will go", () => {
    const world = new World().plan(aPool("p"), ["a"]);
    const about = { kind: "Pod", namespace: "default", name: "a", uid: "default-a-uid" };
    const message = "Pod should schedule on: nodeclaim/a";
    expect(decide(world)).toEqual({ ...nothing, notices: [{ about, type: "Normal", reason: "Nominated", message }] });
  });

  test("why it can go nowhere", () => {
    const world = new World(pending("a")).place([pending("a")], nowhere);
    expect(decide(world)).toMatchObject({
      refusals: [{ subject: "pod/default/a", code: "no-place", message: expect.stringContaining("2 resources") }],
      notices: [{ type: "Warning", reason: "FailedScheduling", message: nowhere.short }],
    });
  });

  test("that it can go nowhere else, without an event on a pod that runs", () => {
    const running = aPod("a", { on: "n" });
    const world = new World(running);
    world.picture.put("claim", aClaim("n", { deletingSince: t0 }));
    world.picture.put("node", aNode("n", { deletingSince: t0 }));
    world.place([running], nowhere);
    const refusals = [{ code: "no-place", message: expect.stringContaining("nowhere else when node n goes") }];
    expect(decide(world)).toMatchObject({ refusals, notices: [] });
  });
});
