import { describe, expect, test } from "vitest";
import { aClaim, aNode, aPod, aPool, aProvider, at, t0 } from "../../../test/builders.ts";
import { settings } from "../../../test/termination-world.ts";
import type { PodSpec } from "../../api/pod.ts";
import type { Taint } from "../../api/taint.ts";
import { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { Placement } from "../../snapshot/placement.ts";
import type { NodeView, PodView } from "../../snapshot/views.ts";
import { registration } from "../registration.ts";
import { untoldCount } from "./nomination.ts";
import { pendingPod } from "./provisioning.ts";

const unregistered: Taint = { key: "karpenter.sh/unregistered", effect: "NoExecute" };
const notReady: Taint = { key: "node.kubernetes.io/not-ready", effect: "NoSchedule" };
const onClaim: Placement = { on: "claim", name: "p-1", at: t0 };
const claim = aClaim("p-1", { providerID: "i-1", pool: "p", stage: "launched" });

function pending(views: Partial<PodView> = {}): PodView {
  return aPod("a", { phase: "Pending", isUnschedulable: true, ...views });
}

/** Pod a waits, and is to go there. */
class World {
  readonly picture = new ClusterPicture(aProvider(), { now: () => t0 });

  constructor(pod: PodView = pending(), placement: Placement = onClaim) {
    this.picture.put("pool", aPool("p", { spec: { podPlacement: "Planned" } }));
    this.picture.put("claim", claim);
    this.picture.put("pod", pod);
    this.place(pod, placement);
  }

  place({ uid }: PodView, placement: Placement): void {
    this.picture.settleSearch({ at: t0, placements: new Map([[uid, placement]]), claims: [] });
  }

  node(views: Parameters<typeof aNode>[1] = {}): NodeView {
    const node = aNode("n", { providerID: "i-1", ...views });
    this.picture.put("node", node);
    return node;
  }

  /** The names that are sent. */
  told(): string[] {
    const context = { picture: this.picture, now: t0, settings, epoch: 1 };
    const { commands } = pendingPod.decide("default/a", context);
    return commands.flatMap(command => (command.kind === "nominate-pod" ? [command.nodeName] : []));
  }
}

describe("the scheduler is told of a pod that waits", () => {
  test("the name of its node, once that is up, and no more once it knows", () => {
    const world = new World();
    expect(world.told()).toEqual([]);
    world.node({ ready: "False", taints: [unregistered, notReady] });
    expect(world.told()).toEqual([]);
    world.node({ taints: [unregistered, notReady] });
    expect(world.told()).toEqual([]);
    world.node({ taints: [unregistered] });
    expect(world.told()).toEqual(["n"]);
    world.picture.put("pod", pending({ nominatedNode: "n" }));
    expect(world.told()).toEqual([]);
    world.picture.put("pod", pending());
    expect(world.told()).toEqual(["n"]);
  });

  test("before that, and once, where the node will open by itself", () => {
    const world = new World();
    world.node({ ready: "False", taints: [notReady] });
    expect(world.told()).toEqual(["n"]);
    world.picture.put("pod", pending({ nominatedNode: "n" }));
    world.picture.put("pod", pending());
    expect(world.told()).toEqual([]);
    world.node();
    expect(world.told()).toEqual(["n"]);
  });

  test("once while somebody has still to take the taints of its start off", () => {
    const network: Taint = { key: "network", effect: "NoSchedule" };
    const world = new World();
    world.picture.put("claim", { ...claim, spec: { ...claim.spec, startupTaints: [network] } });
    world.node({ taints: [network] });
    expect(world.told()).toEqual(["n"]);
    world.picture.put("pod", pending({ nominatedNode: "n" }));
    world.picture.put("pod", pending());
    expect(world.told()).toEqual([]);
    world.node();
    expect(world.told()).toEqual(["n"]);
  });

  test("another name where it is to go elsewhere now", () => {
    const world = new World();
    world.node();
    world.picture.put("pod", pending({ nominatedNode: "n" }));
    world.picture.put("claim", aClaim("m", { pool: "p" }));
    world.picture.put("node", aNode("m"));
    world.picture.remove("claim", claim);
    world.place(pending(), { on: "node", name: "m", at: t0 });
    expect(world.told()).toEqual(["m"]);
  });

  test("nothing where two nodes say that they are the claim's", () => {
    const world = new World();
    world.node();
    world.picture.put("node", aNode("twin", { providerID: "i-1" }));
    expect(world.told()).toEqual([]);
  });

  test.each<[string, (world: World) => void]>([
    ["whose pool leaves that to the scheduler", ({ picture }) => picture.put("pool", aPool("p"))],
    [
      "whose pool only shows what it would do",
      ({ picture }) => picture.put("pool", aPool("p", { spec: { podPlacement: "Planned", dryRun: true } })),
    ],
    ["whose pool is gone", ({ picture }) => picture.remove("pool", aPool("p"))],
  ])("nothing of one %s", (_, change) => {
    const world = new World();
    world.node();
    change(world);
    expect(world.told()).toEqual([]);
  });

  test("nothing of one that runs on a node that goes: its successor is another pod", () => {
    const world = new World(pending({ nodeName: "going" }));
    world.picture.put("node", aNode("going", { deletingSince: t0 }));
    world.place(pending(), onClaim);
    world.node();
    expect(world.told()).toEqual([]);
  });

  const spread = (whenUnsatisfiable: "DoNotSchedule" | "ScheduleAnyway") => ({
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: "zone", whenUnsatisfiable, labelSelector: {} }],
  });
  const term = [{ topologyKey: "zone", labelSelector: {} }];
  test.each<[string, Partial<PodSpec>, boolean]>([
    ["that is spread by all means", spread("DoNotSchedule"), false],
    ["that is spread where that can be", spread("ScheduleAnyway"), true],
    [
      "that must be beside others",
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term } } },
      false,
    ],
    [
      "that keeps away from others",
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: term } } },
      true,
    ],
  ])("of one %s or not, by whether where others run meanwhile decides: %j", (_, spec, isTold) => {
    const pod = pending({ needs: { spec: { containers: [], ...spec } } });
    const world = new World(pod);
    const node = world.node();
    expect(world.told()).toEqual(isTold ? ["n"] : []);
    expect(untoldCount("p-1", node, world.picture)).toBe(isTold ? 1 : 0);
  });
});

describe("a node that is up opens", () => {
  const joined = (world: World) =>
    world.node({ createdAt: t0, finalizers: [], labels: { "karpenter.sh/registered": "" }, taints: [unregistered] });
  const opens = ({ picture }: World, now = t0) => registration(claim, { picture, now }).commands.length > 0;

  test("when its pods have been told, five seconds after it has joined at the latest", () => {
    const world = new World();
    joined(world);
    const { refusals, wakeAt } = registration(claim, { picture: world.picture, now: t0 });
    expect(refusals).toMatchObject([{ code: "node-coming-up", message: expect.stringContaining("for 1 pods") }]);
    expect(wakeAt).toBe(at("5s"));
    expect([opens(world), opens(world, at("5s"))]).toEqual([false, true]);
    world.picture.put("pod", pending({ nominatedNode: "n" }));
    expect(opens(world)).toBe(true);
  });

  test("at once where it could not be told", () => {
    const world = new World();
    joined(world);
    const failure = { at: t0, retryAt: at("1s"), count: 1, reason: "Forbidden", message: "" };
    world.picture.takeDirty();
    world.picture.setFailure("pod/default/a", failure);
    expect(opens(world)).toBe(true);
    expect([...world.picture.takeDirty()]).toContain("claim/p-1");
  });

  test("and it is asked when its pods are told", () => {
    const world = new World();
    joined(world);
    world.picture.takeDirty();
    world.picture.put("pod", pending({ nominatedNode: "n" }));
    expect([...world.picture.takeDirty()]).toContain("claim/p-1");
  });
});
