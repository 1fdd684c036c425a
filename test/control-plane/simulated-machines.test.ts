import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { customResourceDefinition } from "../../src/api/crd.ts";
import { simulatedInstances, simulatedNamespace } from "../../src/api/simulated-instance.ts";
import { simulatedNodeClasses } from "../../src/api/simulated-node-class.ts";
import type { InstanceProvider } from "../../src/control/ports.ts";
import { Reflector } from "../../src/kube/reflector.ts";
import { systemClock as clock } from "../../src/kube/system-clock.ts";
import { simulatedProvider } from "../../src/provider/simulated.ts";
import { type Machines, machines } from "../../src/sim/machines.ts";
import { conditionOf, isReady } from "../../src/sim/world/conditions.ts";
import type { Node } from "../../src/sim/world/objects.ts";
import { nodeResource } from "../../src/sim/world/resources.ts";
import { defaultRef, launchOf } from "../simulated-cloud.ts";
import { isUnavailable } from "./binaries.ts";
import { established } from "./established.ts";
import { type ControlPlane, controlPlane } from "./start.ts";
import { realSide, type Side } from "./world/side.ts";

const times = {
  boot: { median: "1s" },
  join: { median: "1s" },
  stop: { median: "1s" },
  reboot: { time: { median: "2s" } },
};
const sickly = { faults: [{ kind: "Lies", conditionType: "KernelDeadlock", conditionStatus: "True" }] };

describe.skipIf(isUnavailable("etcd", "kube-apiserver", "kubectl"))("simulated machines on a real API server", () => {
  let plane: ControlPlane;
  let side: Side;
  let provider: InstanceProvider;
  let player: Machines;
  const failures: string[] = [];
  const newPlayer = () => {
    const failed = (error: unknown, key: string) => failures.push(`${key}: ${String(error)}`);
    return machines({ api: side.api, clock, kubelets: side.kubelets, seed: 1, failed });
  };

  beforeAll(async () => {
    plane = await controlPlane();
    const apply = (object: object) => plane.kubectl(["apply", "-f", "-"], JSON.stringify(object));
    await apply(customResourceDefinition(simulatedNodeClasses));
    await established(plane);
    const spec = { ...times, ...sickly };
    await apply({
      apiVersion: "fettle.dev/v1alpha1",
      kind: defaultRef.kind,
      metadata: { name: "default" },
      spec,
    });
    side = await realSide(plane);
    const { api } = side;
    provider = simulatedProvider({ api, clock, feed: request => new Reflector({ api, clock, ...request }) });
    player = newPlayer();
    await side.until("the class", async () =>
      provider.view.nodeClass(defaultRef).state === "Ready" ? true : undefined,
    );
  });

  afterAll(async () => {
    player?.stop();
    provider?.stop();
    await side?.stop();
    await plane?.stop();
  });

  const nodeOf = async (providerID: string) =>
    (await side.api.list<Node>(nodeResource)).items.find(({ spec }) => spec.providerID === providerID);
  const instances = async () => (await side.api.list(simulatedInstances, { namespace: simulatedNamespace })).items;

  test("are launched once, join, lie, reboot and end, through a restart of their player", async () => {
    const [one, other] = await Promise.all([provider.create(launchOf("a")), provider.create(launchOf("a"))]);
    expect(one).toEqual(other);
    if ("error" in one) throw new Error(one.message);
    const { providerID } = one;
    const ready = await side.until("the node", async () => {
      const node = await nodeOf(providerID);
      return node && isReady(node) ? node : undefined;
    });
    expect(ready.spec.taints).toContainEqual(expect.objectContaining({ key: "karpenter.sh/unregistered" }));
    const lie = conditionOf(ready, "KernelDeadlock")?.lastTransitionTime ?? "";
    expect(Date.parse(lie)).toBeLessThan(Date.parse(ready.metadata.creationTimestamp));

    player.stop();
    player = newPlayer();
    expect(await provider.reboot(providerID, "token")).toBe("rebooting");
    const healed = await side.until("the healed node", async () => {
      const node = await nodeOf(providerID);
      return node && conditionOf(node, "KernelDeadlock")?.status === "False" ? node : undefined;
    });
    expect(healed.metadata.uid).toBe(ready.metadata.uid);

    expect(await provider.list("blue")).toMatchObject([{ providerID, state: "running" }]);
    expect(await provider.delete(providerID)).toBe("terminating");
    await side.until("the end", async () => ((await provider.get(providerID)) === "gone" ? true : undefined));
    expect(await provider.delete(providerID)).toBe("gone");
    expect(await instances()).toEqual([]);
    expect(failures).toEqual([]);
  });

  test("show in the status of their class what can be had", async () => {
    const key = { name: "default" };
    const { status } = await side.api.get(simulatedNodeClasses.resource, key);
    expect(status).toMatchObject({ observedGeneration: 1, instanceTypes: 144, conditions: [{ status: "True" }] });
  });

  test("are bounded by a quota, which is an error of its own", async () => {
    const quota = {
      apiVersion: "v1",
      kind: "ResourceQuota",
      metadata: { name: "q" },
      spec: { hard: { "count/configmaps": "0" } },
    };
    const kubectl = (...args: string[]) => plane.kubectl(["-n", simulatedNamespace, ...args], JSON.stringify(quota));
    await kubectl("create", "namespace", simulatedNamespace); // It is there if something was launched before.
    await kubectl("apply", "-f", "-");
    // What the controller-manager would count: without it nothing is held.
    const status = { hard: quota.spec.hard, used: quota.spec.hard };
    await kubectl(
      "patch",
      "resourcequota",
      "q",
      "--subresource=status",
      "--type=merge",
      "-p",
      JSON.stringify({ status }),
    );
    const refused = await side.until("the quota", async () => {
      const answer = await provider.create(launchOf(`b-${clock.now()}`));
      return "error" in answer ? answer : undefined;
    });
    expect(refused).toMatchObject({ error: "QuotaExceeded" });
  });
});
