import { beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../src/api/meta.ts";
import { rebootRemediations } from "../src/api/remediation.ts";
import { simulatedNodeClasses } from "../src/api/simulated-node-class.ts";
import type { Taint } from "../src/api/taint.ts";
import { outOfServiceTaint } from "../src/api/well-known.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { accessReviews, nodes, pods } from "../src/control/resources.ts";
import { ControlledBox } from "./controlled-box.ts";
import { fenceGroup, fences, Ward } from "./ward.ts";

describe("what a check tells", () => {
  let ward: Ward;
  beforeEach(async () => {
    ward = new Ward();
    await ward.open();
    await ward.unbounded();
  });

  test("changes at most once a second however often nodes do, and the last of it is told", async () => {
    const unhealthyConditions = [{ type: "Hot", status: "True", duration: "10m" }];
    await ward.check({ unhealthyConditions, maxUnhealthy: "100%" });
    const names = await ward.nodeNames();
    const before = ward.count("update-check");
    for (let beat = 0; beat < 60; beat++) {
      const name = names[beat % names.length] ?? "";
      const lastTransitionTime = new Date(ward.box.clock.now()).toISOString();
      const hot = { type: "Hot", status: beat % 7 < 4 ? "True" : "False", lastTransitionTime };
      const patch = { type: "strategic", body: { status: { conditions: [hot] } } } as const;
      await ward.box.settle(ward.box.api.patch(nodes, { name }, patch, { subresource: "status" }));
      await ward.box.run(0.1);
    }
    const during = ward.count("update-check") - before;
    expect(during).toBeGreaterThan(2);
    expect(during).toBeLessThanOrEqual(7);
    await ward.box.run(2);
    const hot = (await ward.box.list(nodes)).filter(({ status }) =>
      JSON.stringify(status).includes('"Hot","status":"True"'),
    );
    expect(await ward.status()).toMatchObject({ observedNodes: 6, healthyNodes: 6 - hot.length });
  });
});

describe("a reboot that does not bring the node back", () => {
  test("gives its pods up once the boot id has changed, not before, and takes that back with the recovery", async () => {
    const ward = new Ward();
    const { box } = ward;
    await box.create(simulatedNodeClasses.resource, {
      metadata: { name: "default" },
      spec: { reboot: { heals: "0%" } },
    });
    await ward.open();
    const [sick = ""] = await ward.silence();
    const spec = { nodeName: sick, containers: [{ name: "c", image: "i" }] };
    await box.create(pods, { metadata: { name: "stuck" }, spec });
    await box.run(60);
    await box.delete(pods, "stuck");
    await box.create(rebootRemediations.resource, { metadata: { name: sick }, spec: { timeout: "30m" } });
    await box.run(300);
    expect(await taintsOf(ward, sick)).not.toContain(outOfServiceTaint.key);
    expect((await box.list(pods)).map(({ metadata }) => metadata.name)).toContain("stuck");
    const body = { status: { nodeInfo: { bootID: "another" } } };
    await box.settle(box.api.patch(nodes, { name: sick }, { type: "strategic", body }, { subresource: "status" }));
    await box.run(5);
    expect(await taintsOf(ward, sick)).toContain(outOfServiceTaint.key);
    await box.run(60);
    expect((await box.list(pods)).map(({ metadata }) => metadata.name)).not.toContain("stuck");
    await ward.simulate(sick, null);
    await box.run(120);
    expect(await taintsOf(ward, sick)).not.toContain(outOfServiceTaint.key);
    expect((await ward.actions()).map(({ status }) => status?.phase)).toEqual(["Done"]);
    await box.delete(rebootRemediations.resource, sick);
    await box.run(10);
    expect(await box.list(rebootRemediations.resource)).toEqual([]);
    expect(ward.controller.verify()).toEqual([]);
  });
});

async function taintsOf({ box }: Ward, name: string): Promise<string[]> {
  const found = (await box.list<KubeObject & { spec?: { taints?: Taint[] } }>(nodes)).find(
    ({ metadata }) => metadata.name === name,
  );
  return (found?.spec?.taints ?? []).map(({ key }) => key);
}

type Attributes = { readonly verb: string; readonly resource: string };

function withRights(api: KubeApi, mayDo: (asked: Attributes) => boolean): KubeApi {
  const create = async (...args: Parameters<KubeApi["create"]>) => {
    const [resource, , object] = args;
    if (resource.plural !== accessReviews.plural) return api.create(...args);
    const { resourceAttributes } = object["spec"] as { resourceAttributes: Attributes };
    return { ...object, status: { allowed: mayDo(resourceAttributes) } };
  };
  const bound = (key: keyof KubeApi) => api[key].bind(api) as unknown;
  return new Proxy(api, { get: (_, key: keyof KubeApi) => (key === "create" ? create : bound(key)) });
}

describe("rights", () => {
  test.each(["create", "delete", "patch", "get"])(
    "a check whose kind may not be written (%s) says so before a node fails, with what grants it",
    async missing => {
      const granted = new Set<string>();
      const box = new ControlledBox();
      const api = withRights(box.api, ({ verb }) => verb !== missing || granted.has(verb));
      const ward = new Ward({ box, api });
      await ward.open();
      await ward.check();
      expect(await ward.status()).toMatchObject({ phase: "Disabled" });
      const told = await ward.condition("Disabled");
      expect(told).toMatchObject({ status: "True", reason: "RemediationTemplateForbidden" });
      expect(told?.message).toContain(`We may not ${missing} ${fences.plural} of ${fenceGroup}/v1.`);
      expect(told?.message).toContain("rbac.ext-remediation/aggregate-to-ext-remediation");
      granted.add(missing);
      await ward.box.run(30);
      expect(await ward.condition("Disabled")).toMatchObject({ status: "False" });
      expect(ward.controller.verify()).toEqual([]);
    },
  );
});
