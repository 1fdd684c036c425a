import { describe, expect, test } from "vitest";
import { SimulatedCloud } from "../../test/simulated-cloud.ts";
import { conditionOf, isReady } from "./world/conditions.ts";

describe("a machine", () => {
  test("joins after its boot time, with what its type has, and is Ready after its join time", async () => {
    const cloud = await SimulatedCloud.started();
    const { providerID } = await cloud.launch("web-1");
    await cloud.run(29.999);
    expect(await cloud.node(providerID)).toBeUndefined();
    await cloud.run(0.001);
    const young = await cloud.node(providerID);
    expect(young?.metadata).toMatchObject({
      name: expect.stringMatching(/^web-1-[a-z0-9]{4}$/),
      labels: { "node.kubernetes.io/instance-type": "c-1x-amd64-linux", "karpenter.sh/capacity-type": "spot" },
    });
    expect(young?.spec.taints).toContainEqual(
      expect.objectContaining({ key: "karpenter.sh/unregistered", effect: "NoExecute" }),
    );
    expect(young?.status).toMatchObject({
      capacity: { cpu: "1", memory: "2Gi" },
      allocatable: { cpu: "900m", memory: "2038Mi", pods: "16" },
    });
    expect(young && isReady(young)).toBe(false);
    await cloud.run(10);
    const grown = await cloud.node(providerID);
    expect(grown && conditionOf(grown, "Ready")?.status).toBe("True");
    expect(cloud.failures).toEqual([]);
  });
});
