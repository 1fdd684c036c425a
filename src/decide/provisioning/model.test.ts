// Where a search sees the room that somebody else's word keeps for a pod: a preemption's, or that of the leader before us.

import { describe, expect, test } from "vitest";
import { aNode, aPod, aProvider, at, t0 } from "../../../test/builders.ts";
import type { Instant } from "../../api/time.ts";
import { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { PodView } from "../../snapshot/views.ts";
import { atOnce } from "../packing/effort.ts";
import { PackingModel } from "./model.ts";

class World {
  now: Instant = t0;
  readonly picture = new ClusterPicture(aProvider(), { now: () => this.now });
  readonly #model = new PackingModel(this.picture);

  constructor(...pods: readonly PodView[]) {
    this.picture.put("node", aNode("n", { providerID: "" }));
    for (const pod of pods) this.picture.put("pod", pod);
  }

  /** The pods that a search sends to the node. */
  sentToNode(): string[] {
    const { placements } = atOnce(this.#model.search(() => this.now, { work: 0 }));
    const isSent = ({ uid }: PodView) => placements.get(uid)?.on === "node";
    return [...this.picture.every("pod")].filter(isSent).map(({ name }) => name);
  }
}

/** Three of the node's four CPUs. */
function waiting(name: string, views: Partial<PodView> = {}): PodView {
  const containers = [{ name: "main", resources: { requests: { cpu: "3" } } }];
  const unscheduled = { phase: "Pending", isReady: false, isUnschedulable: true } as const;
  return aPod(name, { ...unscheduled, needs: { spec: { containers } }, ...views });
}

describe("a pod for which another has named a node", () => {
  const a = waiting("a");
  const named = waiting("a", { nominatedNode: "n" });
  const b = waiting("b");
  const { isUnschedulable: _, ...tried } = a;

  test("keeps its room there: nobody else is sent to it", () => {
    expect(new World(b).sentToNode()).toEqual(["b"]);
    expect(new World(named, b).sentToNode()).toEqual([]);
  });

  test("keeps it from the moment on that it is named", () => {
    const world = new World(a);
    expect(world.sentToNode()).toEqual(["a"]);
    world.picture.put("pod", named);
    world.picture.put("pod", b);
    expect(world.sentToNode()).toEqual([]);
  });

  test.each<[string, (world: World) => void]>([
    ["its name is taken out while it is being tried", ({ picture }) => picture.put("pod", tried)],
    ["it is gone", ({ picture }) => picture.remove("pod", named)],
    ["it is bound elsewhere", ({ picture }) => picture.put("pod", waiting("a", { nodeName: "m" }))],
  ])("gives it back when %s", (_, end) => {
    const world = new World(named, b);
    expect(world.sentToNode()).toEqual([]);
    end(world);
    expect(world.sentToNode()).toEqual(["b"]);
  });

  test("is asked about like the others once five minutes have passed", () => {
    const world = new World(named, b);
    expect(world.sentToNode()).toEqual([]);
    world.now = at("5m");
    expect(world.sentToNode()).toHaveLength(1);
  });
});
