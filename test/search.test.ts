import { describe, expect, test, vi } from "vitest";
import { aNode, aPod, aPool, aProvider, t0 } from "./builders.ts";
import type { InstanceType } from "../src/api/instance-type.ts";
import type { Pod } from "../src/api/pod.ts";
import { VirtualClock } from "../src/sim/clock.ts";
import { ClusterPicture } from "../src/snapshot/cluster-picture.ts";
import type { PodView } from "../src/snapshot/views.ts";
import type { Execution } from "../src/control/execution.ts";
import { search } from "../src/control/search.ts";
import { Searches } from "../src/control/searches.ts";

const amounts = { cpu: "4", memory: "16Gi", pods: "110" };
const type: InstanceType = {
  name: "t4",
  requirements: [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["t4"] }],
  offerings: [{ requirements: [], price: 1, available: true }],
  capacity: amounts,
  allocatable: amounts,
};

function pending(name: string, spec: Partial<Pod["spec"]> = {}): PodView {
  const containers = [{ name: "c", resources: { requests: { cpu: "1" } } }];
  return aPod(name, { phase: "Pending", isUnschedulable: true, needs: { spec: { containers, ...spec } } });
}

class World {
  readonly clock = new VirtualClock(t0);
  readonly picture = new ClusterPicture(aProvider({ instanceTypes: () => [type] }), { now: () => this.clock.now() });
  readonly searches = new Searches(this.picture);
  readonly abort = new AbortController();

  constructor(pods: readonly PodView[] = [pending("a")]) {
    this.picture.put("pool", aPool("p"));
    for (const pod of pods) this.picture.put("pod", pod);
  }

  start(): Promise<string> {
    // A search reads and writes nothing but the picture.
    const { picture, clock, searches, abort } = this;
    const execution = { picture, clock, searches, signal: abort.signal } as unknown as Execution;
    return search({ kind: "search", for: "provisioning", askedAt: t0, why: "" }, execution).then(
      ({ result }) => result,
      (error: Error) => error.message,
    );
  }

  async run(): Promise<string> {
    const ended = this.start();
    await this.clock.runFor(0);
    return ended;
  }

  claims(): number {
    return this.picture.plannedClaims("p").length;
  }
}

test("what it finds is in the picture when it ends", async () => {
  const world = new World([pending("a"), pending("b")]);
  expect(await world.run()).toBe("done");
  expect(world.claims()).toBe(1);
  expect(world.picture.placementOf("default-a-uid")).toMatchObject({ on: "claim" });
});

test("one that broke half-way leaves nothing half taken in: the next begins with all that is there", async () => {
  const world = new World();
  await world.run();
  world.picture.put("node", aNode("n", { allocatable: amounts }));
  world.picture.put("pod", pending("b"));
  vi.spyOn(world.picture, "claimOf").mockImplementationOnce(() => {
    throw new Error("broken");
  });
  expect(await world.run()).toBe("broken");
  expect(await world.run()).toBe("done");
  expect(world.picture.placementOf("default-b-uid")).toMatchObject({ on: "node", name: "n" });
});

describe("beside the turns", () => {
  const many = Array.from({ length: 4_000 }, (_, index) => pending(`p${index}`));

  test("it works a slice at a time, on what was there when it began", async () => {
    const world = new World(many);
    let slices = 0;
    const after = world.clock.after.bind(world.clock);
    world.clock.after = (delayMs, run) => {
      slices++;
      // Between two slices a turn could be: something changes.
      if (slices === 40) world.picture.remove("pod", many[0] ?? pending("x"));
      return after(delayMs, run);
    };
    expect(await world.run()).toBe("done");
    expect(slices).toBeGreaterThan(40);
    // The pod that went meanwhile was meant for a claim with others: that one is not made, and they are asked again.
    expect(world.picture.unplacedPods().length).toBeGreaterThan(0);
    expect(world.picture.unplacedPods().length).toBeLessThan(10);
    expect(world.claims()).toBeGreaterThan(900);
  });

  test("the same question gives the same answer in the same slices", async () => {
    const [one, other] = [new World(many), new World([...many].reverse())];
    await Promise.all([one.run(), other.run()]);
    expect(one.picture.plannedClaims("p")).toEqual(other.picture.plannedClaims("p"));
  });

  test("one whose time is up ends, leaves nothing behind, and the next one finds what there is", async () => {
    const world = new World(many);
    const ended = world.start();
    world.abort.abort(new Error("No answer within 60 s."));
    await world.clock.runFor(0);
    expect(await ended).toBe("No answer within 60 s.");
    expect(world.claims()).toBe(0);

    const again = new World(many);
    await again.run();
    Object.assign(world, { abort: new AbortController() });
    expect(await world.run()).toBe("done");
    expect(world.picture.plannedClaims("p")).toEqual(again.picture.plannedClaims("p"));
  });
});

test("one that breaks is an error, not an end of the process, and its pods still wait", async () => {
  const world = new World();
  const instanceTypes = () => {
    throw new Error("a type nobody understands");
  };
  world.picture.setProvider(aProvider({ instanceTypes }));
  expect(await world.run()).toBe("a type nobody understands");
  expect(world.picture.unplacedPods()).toHaveLength(1);
});

describe("what is kept from one search to the next", () => {
  const room = (name: string) => aNode(name, { labels: { "kubernetes.io/hostname": name } });
  const taking = (name: string, cpu: string) =>
    aPod(name, { on: "n", needs: { spec: { containers: [{ name: "c", resources: { requests: { cpu } } }] } } });

  test.each<[string, (picture: ClusterPicture) => void, string]>([
    ["nothing", () => {}, "node"],
    ["a pod that takes the room", picture => picture.put("pod", taking("r", "4")), "claim"],
    ["a cordoned node", picture => picture.put("node", { ...room("n"), isCordoned: true }), "claim"],
    ["a node that goes", picture => picture.put("node", { ...room("n"), deletingSince: t0 }), "claim"],
    ["a node that is gone", picture => picture.remove("node", room("n")), "claim"],
    ["a daemon set", picture => picture.put("daemon-set", daemons), "node"],
    ["a namespace", picture => picture.put("namespace", { name: "new", labels: {} }), "node"],
  ])("takes in what has changed: %s", async (_, change, on) => {
    const world = new World([pending("first")]);
    world.picture.put("node", room("n"));
    await world.run();
    expect(world.picture.placementOf("default-first-uid")).toMatchObject({ on: "node", name: "n" });
    change(world.picture);
    world.picture.put("pod", pending("second"));
    await world.run();
    expect(world.picture.placementOf("default-second-uid")).toMatchObject({ on });
  });

  test("counts pods where they are expected: on a node, on a claim, and on the claim's node once it is there", async () => {
    const three = [{ name: "c", resources: { requests: { cpu: "3" } } }];
    const world = new World([pending("first", { containers: three })]);
    world.picture.put("node", room("n"));
    await world.run();
    world.picture.put("pod", pending("second", { containers: three }));
    await world.run();
    expect(world.picture.placementOf("default-second-uid")).toMatchObject({ on: "claim" });
    world.picture.put("pod", pending("third"));
    await world.run();
    // One is left beside the first on its node.
    expect(world.picture.placementOf("default-third-uid")).toMatchObject({ on: "node", name: "n" });
  });
});

const daemons = { namespace: "kube-system", name: "d", uid: "d", labels: {}, needs: { spec: { containers: [] } } };
