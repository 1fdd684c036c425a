// What the controllers make of a cluster, in the box and in a real kube-controller-manager: garbage collection, the
// end of a namespace, the status of disruption budgets. The same steps on both; once each has come to rest, what they
// hold is the same.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeApi } from "../../src/control/ports.ts";
import { isUnavailable } from "../control-plane/binaries.ts";
import { type ControlPlane, controlPlane } from "../control-plane/start.ts";
import { addressOf, connectTo, type Running, startBox } from "./backends.ts";
import { contents, isAtRest, type Phase, scenarios } from "./controllers/scenarios.ts";
import { namespaces } from "./kinds.ts";

const controllers = ["garbage-collector-controller", "namespace-controller", "disruption-controller"];
const patience = { timeout: 90_000, interval: 100 };

describe.skipIf(isUnavailable("etcd", "kube-apiserver", "kube-controller-manager"))("the box's controllers", () => {
  let plane: ControlPlane;
  let apis: readonly [real: Running<KubeApi>, box: Running<KubeApi>];

  beforeAll(async () => {
    plane = await controlPlane({ components: ["kube-controller-manager"], controllers });
    const box = await startBox({ controllers: true });
    const [real, inTheBox] = [connectTo(addressOf(plane)), connectTo(box)];
    apis = [
      { ...real, close: async () => void (await Promise.all([real.close(), plane.stop()])) },
      { ...inTheBox, close: async () => void (await Promise.all([inTheBox.close(), box.close()])) },
    ];
  });
  afterAll(async () => {
    await Promise.all((apis ?? []).map(api => api.close()));
  });

  test.each(Object.entries(scenarios))("%s", async (name, phases) => {
    const namespace = name.replaceAll(/[^a-z]+/g, "-");
    const manifest = { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } };
    await Promise.all(apis.map(api => api.create(namespaces, {}, manifest)));
    for (const phase of phases) {
      const [real, box] = await Promise.all(apis.map(api => run(api, namespace, phase)));
      expect(box).toEqual(real);
    }
  });

  /** Does what the phase says and waits until its end is reached. */
  async function run(api: KubeApi, namespace: string, { act, rest }: Phase) {
    await act(api, namespace);
    await expect.poll(async () => isAtRest(await contents(api, namespace), rest), patience).toBe(true);
    return contents(api, namespace);
  }
});
