import { beforeEach, describe, expect, test } from "vitest";
import type { KubeObject, Resource } from "../src/api/meta.ts";
import { nodeHealthChecks } from "../src/api/node-health-check.ts";
import { rebootRemediations } from "../src/api/remediation.ts";
import { simulatedInstances, simulatedNamespace } from "../src/api/simulated-instance.ts";
import { simulatedNodeClasses } from "../src/api/simulated-node-class.ts";
import { ApiError } from "../src/api/status.ts";
import type { Taint } from "../src/api/taint.ts";
import { outOfServiceTaint } from "../src/api/well-known.ts";
import { definitions } from "../src/control/definitions.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { accessReviews, nodes, pods } from "../src/control/resources.ts";
import { clusterVersions } from "./control-plane/health-check/openshift.ts";
import { ControlledBox, leading } from "./controlled-box.ts";
import { definitionOf } from "./definition-of.ts";
import { fenceGroup, fences, templateOf, Ward } from "./ward.ts";

/** A node that falls silent, with a pod on it that nobody stops. */
async function silentWithPod(ward: Ward): Promise<string> {
  const { box } = ward;
  const [sick = ""] = await ward.silence();
  const spec = { nodeName: sick, containers: [{ name: "c", image: "i" }] };
  await box.create(pods, { metadata: { name: "stuck" }, spec });
  await box.run(60);
  await box.delete(pods, "stuck");
  return sick;
}

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
    const sick = await silentWithPod(ward);
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

describe("a reboot that leaves the machine without power", () => {
  test("gives its pods up once the provider says so, not before, and the node is in service again with its return", async () => {
    const ward = new Ward();
    const { box } = ward;
    await ward.open();
    const sick = await silentWithPod(ward);
    await power(ward, sick, "hangs");
    await box.create(rebootRemediations.resource, { metadata: { name: sick }, spec: { timeout: "30m" } });
    await box.run(300);
    expect(await taintsOf(ward, sick)).not.toContain(outOfServiceTaint.key);
    await power(ward, sick, "off");
    await box.run(40);
    expect(await taintsOf(ward, sick)).toContain(outOfServiceTaint.key);
    await box.run(60);
    expect((await box.list(pods)).map(({ metadata }) => metadata.name)).not.toContain("stuck");
    await power(ward, sick, "on");
    await ward.simulate(sick, null);
    await box.run(120);
    expect(await taintsOf(ward, sick)).not.toContain(outOfServiceTaint.key);
    expect((await ward.actions()).map(({ status }) => status?.phase)).toEqual(["Done"]);
    expect(ward.controller.verify()).toEqual([]);
  });
});

/** `hangs`: it has power, and the reboot that was taken for it never comes to an end. */
async function power({ box }: Ward, nodeName: string, state: "hangs" | "off" | "on"): Promise<void> {
  const found = (await box.list(simulatedInstances)).find(({ data }) => JSON.stringify(data).includes(nodeName));
  const key = { name: found?.metadata.name ?? "", namespace: simulatedNamespace };
  const never = new Date(box.clock.now() + 86_400_000).toISOString();
  const now = new Date(box.clock.now()).toISOString();
  const data = {
    hangs: { rebootingSince: never },
    off: { offSince: now },
    on: { offSince: null, rebootingSince: null },
  }[state];
  await box.settle(box.api.patch(simulatedInstances, key, { type: "merge", body: { data } }));
}

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

describe("an upgrade of OpenShift", () => {
  test("holds what is new while it goes on, and while nobody may see whether it does", async () => {
    const rights = { mayList: false };
    const box = new ControlledBox();
    const ward = new Ward({ box, api: withoutLists(box, clusterVersions, rights) });
    await ward.open();
    await ward.unbounded();
    await box.create(definitions, definitionOf(clusterVersions));
    await box.create(clusterVersions, { metadata: { name: "version" } });
    await ward.check({ unhealthyConditions: [{ type: "Ready", status: "Unknown", duration: "60s" }] });
    const [sick = ""] = await ward.silence();
    await box.run(150);
    expect(await ward.fences()).toEqual([]);
    expect(ward.codes(sick)).toContain("upgrade-unknown");
    const told = await ward.condition("RemediationAllowed");
    expect(told).toMatchObject({ status: "False", reason: "UpgradeUnknown" });
    expect(told?.message).toContain("cannot list resource");

    await progressing(ward, "True");
    rights.mayList = true;
    await box.run(90);
    expect(await ward.fences()).toEqual([]);
    expect(await ward.condition("RemediationAllowed")).toMatchObject({ reason: "ClusterUpgrading" });
    await progressing(ward, "False");
    await box.run(30);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    expect(ward.controller.verify()).toEqual([]);
  });

  test("that nobody may see holds nothing where the operator wants it so, and that is said", async () => {
    const box = new ControlledBox();
    const settings = { cluster: "box", dryRun: false, foreignClaims: "ignore", upgradeUnknown: "proceed" } as const;
    const ward = new Ward({ box, settings, api: withoutLists(box, clusterVersions, { mayList: false }) });
    await ward.open();
    await ward.unbounded();
    await box.create(definitions, definitionOf(clusterVersions));
    await ward.check({ unhealthyConditions: [{ type: "Ready", status: "Unknown", duration: "60s" }] });
    const [sick = ""] = await ward.silence();
    await box.run(150);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    const told = await ward.condition("RemediationAllowed");
    expect(told).toMatchObject({ status: "True", message: expect.stringContaining("cannot list resource") as string });
  });
});

async function progressing({ box }: Ward, status: string): Promise<void> {
  const conditions = [{ type: "Progressing", status, reason: "Said", message: "Working towards 4.99." }];
  const patch = { type: "merge", body: { status: { conditions } } } as const;
  await box.settle(box.api.patch(clusterVersions, { name: "version" }, patch, { subresource: "status" }));
}

function withoutLists(box: ControlledBox, { plural }: Resource, rights: { mayList: boolean }): KubeApi {
  const { api } = box;
  const refuse = (verb: string) => {
    const message = `${plural} is forbidden: User "fettle" cannot ${verb} resource "${plural}"`;
    const status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code: 403, message } as const;
    return new ApiError({ ...status, reason: "Forbidden" });
  };
  const isRefused = (resource: Resource) => resource.plural === plural && !rights.mayList;
  const list = async (...args: Parameters<KubeApi["list"]>) => {
    if (isRefused(args[0])) throw refuse("list");
    return api.list(...args);
  };
  const watch = (...args: Parameters<KubeApi["watch"]>) => {
    const [resource, , handlers] = args;
    if (!isRefused(resource)) return api.watch(...args);
    return { close: box.clock.after(5, () => handlers.end(refuse("list"))) };
  };
  const bound = (key: keyof KubeApi) => api[key].bind(api) as unknown;
  const own = { list, watch } as const;
  return new Proxy(api, {
    get: (_, key: keyof KubeApi) => (key === "list" || key === "watch" ? own[key] : bound(key)),
  });
}

describe("the check by default", () => {
  const mark = { name: "fettle-default-health-check", namespace: "kube-system" };
  const settings = (isWanted: boolean) => ({
    cluster: "box",
    dryRun: false,
    foreignClaims: "ignore" as const,
    defaultCheck: { isWanted, mark },
  });

  test("is made once, works out of the box, and is not made again after somebody has deleted it", async () => {
    const box = new ControlledBox();
    const first = new Ward({ box, settings: settings(true) });
    await first.open();
    const [name = ""] = await first.nodeNames();
    await first.label(name, { "node-role.kubernetes.io/worker": "" });
    await box.run(10);
    expect(await first.status("nhc-worker-default")).toMatchObject({ phase: "Enabled", observedNodes: 1 });
    await box.delete(nodeHealthChecks.resource, "nhc-worker-default");
    await box.run(60);
    await first.controller.stop();
    const second = new Ward({ box, settings: settings(true), leadership: leading(2) });
    await box.run(60);
    expect(await box.list(nodeHealthChecks.resource)).toEqual([]);
    await second.controller.stop();
  });

  test("is not made where none is wanted, nor where there is a check", async () => {
    const none = new Ward({ settings: settings(false) });
    await none.box.run(60);
    expect(await none.box.list(nodeHealthChecks.resource)).toEqual([]);
    const box = new ControlledBox();
    await box.create(nodeHealthChecks.resource, {
      metadata: { name: "own" },
      spec: { remediationTemplate: templateOf("reset") },
    });
    const beside = new Ward({ box, settings: settings(true) });
    await box.run(60);
    expect(beside.controller.refusals("check/own").map(({ code }) => code)).toEqual(["check-disabled"]);
    expect((await box.list(nodeHealthChecks.resource)).map(({ metadata }) => metadata.name)).toEqual(["own"]);
  });
});
