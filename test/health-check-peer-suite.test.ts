import { beforeEach, describe, expect, test } from "vitest";
import type { Resource } from "../src/api/meta.ts";
import { nodeHealthChecks } from "../src/api/node-health-check.ts";
import { definitions } from "../src/control/definitions.ts";
import { disruptionBudgets, events, leases, namespaces, nodes, pods } from "../src/control/resources.ts";
import { clusterVersions } from "./control-plane/health-check/openshift.ts";
import { definitionOf } from "./definition-of.ts";
import { escalating, fences, fenceTemplates, several, templateOf, Ward } from "./ward.ts";

const silent = [{ type: "Ready", status: "Unknown", duration: "60s" }];
const timedOut = "remediation.medik8s.io/nhc-timed-out";
const excluded = "remediation.medik8s.io/exclude-from-remediation";
const controlPlane = { "node-role.kubernetes.io/control-plane": "" };
const wipes: Resource = { ...fences, plural: "wiperemediations", kind: "WipeRemediation" };
const wipeTemplates: Resource = { ...fences, plural: "wiperemediationtemplates", kind: "WipeRemediationTemplate" };

async function reasonsOf(ward: Ward): Promise<string[]> {
  const found = await ward.box.list(events);
  return found.flatMap(({ involvedObject, reason, count }) => {
    const about = involvedObject as { kind?: string };
    return about.kind === "NodeHealthCheck" ? [`${String(reason)} ${String(count ?? 1)}`] : [];
  });
}

async function ownerOf(ward: Ward, name: string) {
  const found = (await ward.box.list(nodeHealthChecks.resource)).find(({ metadata }) => metadata.name === name);
  return {
    apiVersion: "remediation.medik8s.io/v1alpha1",
    kind: "NodeHealthCheck",
    name,
    uid: found?.metadata.uid ?? "",
  };
}

function condition(type: string, status: string, ward: Ward) {
  const lastTransitionTime = new Date(ward.box.clock.now()).toISOString();
  return { type, status, lastTransitionTime };
}

async function report(ward: Ward, name: string, type: string, status: string): Promise<void> {
  const body = { status: { conditions: [condition(type, status, ward)] } };
  const { box } = ward;
  await box.settle(box.api.patch(nodes, { name }, { type: "strategic", body }, { subresource: "status" }));
}

async function silentNode(ward: Ward): Promise<string> {
  const name = "by-hand";
  ward.box.kubelets.join({ name, capacity: { cpu: "4", memory: "8Gi", pods: "110" } });
  await ward.box.run(30);
  await ward.check({ unhealthyConditions: silent });
  await ward.simulate(name, "silent");
  await ward.box.run(150);
  expect(await ward.fenced()).toEqual([`${name} reset`]);
  return name;
}

const scenarios: Readonly<Record<string, (ward: Ward) => Promise<void>>> = {
  "a template that is deleted later disables the check, and enables it when it is back": async ward => {
    await ward.check({ unhealthyConditions: silent });
    await ward.box.delete(fenceTemplates, "reset");
    await ward.box.run(5);
    expect(await ward.condition("Disabled")).toMatchObject({ status: "True", reason: "RemediationTemplateNotFound" });
    expect(await ward.status()).toMatchObject({ phase: "Disabled" });
    await ward.template("reset");
    await ward.box.run(5);
    expect(await ward.condition("Disabled")).toMatchObject({ status: "False", reason: "NodeHealthCheckEnabled" });
  },

  "a namespaced template without a namespace disables the check": async ward => {
    const { namespace: _none, ...remediationTemplate } = templateOf("reset");
    await ward.check({ unhealthyConditions: silent, remediationTemplate });
    expect(await ward.condition("Disabled")).toMatchObject({ status: "True", reason: "RemediationTemplateNotFound" });
  },

  "one about to fail: nothing before the duration, then an object by the contract": async ward => {
    await ward.check({ unhealthyConditions: silent });
    const [sick = ""] = await ward.silence();
    await ward.box.run(100);
    expect(await ward.fences()).toEqual([]);
    expect(await ward.status()).toMatchObject({ healthyNodes: 6, unhealthyNodes: [], phase: "Enabled" });
    await ward.box.run(40);
    const [made] = await ward.fences();
    expect(made).toMatchObject({
      metadata: {
        name: sick,
        namespace: "default",
        annotations: {
          "remediation.medik8s.io/node-name": sick,
          "remediation.medik8s.io/template-name": "reset",
        },
        labels: { "app.kubernetes.io/part-of": "node-healthcheck-controller" },
        ownerReferences: [await ownerOf(ward, "web")],
      },
      spec: { by: "reset" },
    });
    const resource = { kind: fences.kind, name: sick, uid: made?.metadata.uid };
    expect(await ward.status()).toMatchObject({
      phase: "Remediating",
      observedNodes: 7,
      healthyNodes: 6,
      unhealthyNodes: [{ name: sick, remediations: [{ resource, templateName: "reset" }] }],
    });
  },

  "recovery while the object has a finalizer: counted unhealthy until it is gone": async ward => {
    await ward.check({ unhealthyConditions: silent });
    const [sick = ""] = await ward.silence();
    await ward.box.run(140);
    await ward.hold(sick, ["fence.example.org/undo"]);
    await ward.simulate(sick, null);
    await ward.box.run(60);
    const { unhealthyNodes: [told] = [], healthyNodes } = await ward.status();
    expect(healthyNodes).toBe(6);
    expect(told?.conditionsHealthyTimestamp).toBeDefined();
    await ward.hold(sick, null);
    await ward.box.run(10);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", healthyNodes: 7, unhealthyNodes: [] });
  },

  "4 of 7 unhealthy at 51 %: four entries without remediations": async ward => {
    await ward.check({ unhealthyConditions: silent, minHealthy: "51%" });
    const sick = await ward.silence(4);
    await ward.box.run(150);
    expect(await ward.fences()).toEqual([]);
    const told = await ward.status();
    expect(told).toMatchObject({ phase: "Enabled", observedNodes: 7, healthyNodes: 3 });
    expect(told.unhealthyNodes).toEqual(sick.map(name => ({ name })));
  },

  "an object of a healthy node: our own is removed, another's is left": async ward => {
    await ward.check({ unhealthyConditions: silent });
    const [one = "", two = ""] = await ward.nodeNames();
    const ownerReferences = [await ownerOf(ward, "web")];
    await ward.box.create(fences, { metadata: { name: one, ownerReferences }, spec: { by: "reset" } });
    await ward.box.create(fences, { metadata: { name: two }, spec: { by: "somebody" } });
    await ward.box.run(20);
    expect(await ward.fenced()).toEqual([`${two} somebody`]);
  },

  "an object of another owner: the node is listed and nothing is recorded": async ward => {
    await ward.check({ unhealthyConditions: silent });
    const [sick = ""] = await ward.silence();
    await ward.box.create(fences, { metadata: { name: sick }, spec: { by: "somebody" } });
    await ward.box.run(150);
    expect(await ward.fenced()).toEqual([`${sick} somebody`]);
    expect((await ward.status()).unhealthyNodes).toEqual([{ name: sick }]);
    expect(ward.codes(sick)).toContain("remediation-of-another");
    expect(await ward.actions()).toEqual([]);
  },

  "two checks with different templates on one node: one remediates, the other says why it waits": async ward => {
    await ward.template("other");
    await ward.check({ unhealthyConditions: silent }, "first");
    await ward.check({ unhealthyConditions: silent, remediationTemplate: templateOf("other") }, "second");
    const [sick = ""] = await ward.silence();
    await ward.box.run(240);
    const [{ spec } = {}, ...others] = await ward.fences();
    expect(others).toEqual([]);
    const waits = ward.controller.refusals(`node/${sick}`).filter(({ check }) => check !== undefined);
    const [works, waiting] = spec?.by === "reset" ? ["first", "second"] : ["second", "first"];
    expect(waits).toMatchObject([{ check: waiting, code: "lease-held" }]);
    expect(waits[0]?.message).toContain(`NodeHealthCheck-${works} works on node ${sick}`);
    expect(await reasonsOf(ward)).toContain("RemediationSkipped 1");
  },

  "a lease that another holds delays the object, and is left alone": async ward => {
    await ward.check({ unhealthyConditions: silent });
    const [sick = ""] = await ward.silence();
    const renewTime = new Date(ward.box.clock.now()).toISOString().replace("Z", "000Z");
    await ward.box.create(namespaces, { metadata: { name: "medik8s-leases" } }).catch(() => undefined);
    const lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: { name: `node-${sick}` },
      spec: { holderIdentity: "NodeMaintenance-drill", leaseDurationSeconds: 600, renewTime, acquireTime: renewTime },
    };
    await ward.box.settle(ward.box.api.create(leases, { namespace: "medik8s-leases" }, lease));
    await ward.box.run(300);
    expect(await ward.fences()).toEqual([]);
    expect(ward.codes(sick)).toContain("lease-held");
    expect(await ward.nodeLeases()).toMatchObject([{ spec: { holderIdentity: "NodeMaintenance-drill" } }]);
    await ward.box.run(330);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    expect(await ward.nodeLeases()).toMatchObject([
      { spec: { holderIdentity: "NodeHealthCheck-web", leaseDurationSeconds: 660 } },
    ]);
    const [before] = await ward.nodeLeases();
    await ward.box.run(400);
    const [after] = await ward.nodeLeases();
    expect(after?.metadata.resourceVersion).not.toBe(before?.metadata.resourceVersion);
    expect(ward.codes(sick)).not.toContain("lease-held");
  },

  "a lease that is overdue: after half an hour the only remediation is stamped, and the node is free": async ward => {
    await ward.check({ unhealthyConditions: silent });
    await ward.silence();
    await ward.box.run(140);
    await ward.box.run(28 * 60);
    const [early] = await ward.fences();
    expect(early?.metadata.annotations).not.toHaveProperty([timedOut]);
    expect(await ward.nodeLeases()).toHaveLength(1);
    await ward.box.run(2 * 60);
    const [late] = await ward.fences();
    expect(late?.metadata.annotations).toHaveProperty([timedOut]);
    expect(await ward.nodeLeases()).toEqual([]);
    expect((await ward.actions()).map(({ status }) => status?.phase)).toEqual(["Failed"]);
    expect(await ward.condition("NoTemplateLeft")).toMatchObject({ status: "True" });
  },

  "from one unhealthy condition to another the object stays": async ward => {
    const unhealthyConditions = [
      { type: "Hot", status: "True", duration: "60s" },
      { type: "Hot", status: "Unknown", duration: "10m" },
    ];
    await ward.check({ unhealthyConditions });
    const [sick = ""] = await ward.nodeNames();
    await report(ward, sick, "Hot", "True");
    await ward.box.run(90);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    await report(ward, sick, "Hot", "Unknown");
    await ward.box.run(120);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    await report(ward, sick, "Hot", "False");
    await ward.box.run(10);
    expect(await ward.fenced()).toEqual([]);
  },

  "that a node is unhealthy is told once an outage": async ward => {
    await ward.check({ unhealthyConditions: silent, maxUnhealthy: 0 });
    await ward.silence();
    await ward.box.run(600);
    const detected = (await reasonsOf(ward)).filter(reason => reason.startsWith("DetectedUnhealthy"));
    expect(detected).toEqual(["DetectedUnhealthy 1"]);
  },

  "four steps of two kinds run in order, each told that its time is up, and all go with the recovery": async ward => {
    for (const kind of [wipes, wipeTemplates]) await ward.box.create(definitions, definitionOf(kind));
    for (const name of ["one", "two"]) await ward.template(name, several);
    await ward.box.run(5);
    await ward.box.create(wipeTemplates, {
      metadata: { name: "wipe", annotations: several },
      spec: { template: { spec: { by: "wipe" } } },
    });
    await ward.template("three", several);
    const steps = escalating("2m", "one", "two", "wipe", "three").escalatingRemediations.map(step =>
      step.remediationTemplate.name === "wipe"
        ? { ...step, remediationTemplate: { ...step.remediationTemplate, kind: wipeTemplates.kind } }
        : step,
    );
    await ward.check({ unhealthyConditions: silent, escalatingRemediations: steps });
    const [sick = ""] = await ward.silence();
    await ward.box.run(130);
    const order: string[][] = [];
    for (let step = 0; step < 4; step++) {
      order.push((await ward.status()).unhealthyNodes?.[0]?.remediations?.map(one => one.templateName ?? "") ?? []);
      await ward.box.run(121);
    }
    expect(order).toEqual([["one"], ["one", "two"], ["one", "two", "wipe"], ["one", "two", "wipe", "three"]]);
    const made = [...(await ward.fences()), ...(await ward.box.list(wipes))];
    expect(made.every(({ metadata }) => metadata.annotations?.[timedOut] !== undefined)).toBe(true);
    await ward.simulate(sick, null);
    await ward.box.run(60);
    expect([...(await ward.fences()), ...(await ward.box.list(wipes)), ...(await ward.nodeLeases())]).toEqual([]);
  },

  "a step that succeeded and did not help is followed without a stamp": async ward => {
    for (const name of ["one", "two"]) await ward.template(name, several);
    await ward.check({ unhealthyConditions: silent, ...escalating("5m", "one", "two") });
    const [sick = ""] = await ward.silence();
    await ward.box.run(140);
    const [first] = await ward.fences();
    await ward.say(first?.metadata.name ?? "", { type: "Succeeded", status: "True" });
    await ward.box.run(310);
    expect(await ward.fenced()).toEqual([`${sick} one`, `${sick} two`]);
    const [again] = (await ward.fences()).filter(({ metadata }) => metadata.uid === first?.metadata.uid);
    expect(again?.metadata.annotations).not.toHaveProperty([timedOut]);
  },

  "excluded by label: listed, and no object; other values exclude nothing": async ward => {
    await ward.check({ unhealthyConditions: silent });
    const [one = "", two = "", three = ""] = await ward.silence(3);
    await ward.label(one, { [excluded]: "true" });
    await ward.label(two, { [excluded]: "false" });
    await ward.label(three, { [excluded]: "" });
    await ward.box.run(150);
    expect(await ward.fenced()).toEqual([`${two} reset`, `${three} reset`].sort());
    expect((await ward.status()).unhealthyNodes?.map(({ name }) => name)).toEqual([one, two, three]);
    expect(ward.codes(one)).toContain("excluded");
    expect(await reasonsOf(ward)).toContain("InvalidNodeLabel 1");
  },

  "a node that is deleted takes its object with it": async ward => {
    const sick = await silentNode(ward);
    await ward.box.delete(nodes, sick);
    await ward.box.run(5);
    expect(await ward.fences()).toEqual([]);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", observedNodes: 7, unhealthyNodes: [] });
  },

  "a node that its remediation deletes: the object stays until it has succeeded": async ward => {
    const sick = await silentNode(ward);
    await ward.say(sick, { type: "PermanentNodeDeletionExpected", status: "True" });
    await ward.box.delete(nodes, sick);
    await ward.box.run(60);
    expect(await ward.nodeNames()).not.toContain(sick);
    expect(await ward.fences()).toHaveLength(1);
    expect(await ward.status()).toMatchObject({ unhealthyNodes: [{ name: sick }] });
    await ward.say(
      sick,
      { type: "PermanentNodeDeletionExpected", status: "True" },
      { type: "Succeeded", status: "True" },
    );
    await ward.box.run(10);
    expect(await ward.fences()).toEqual([]);
  },

  "two of the control plane and a worker fail: one of the two and the worker are remediated": async ward => {
    await ward.check({ unhealthyConditions: silent });
    const [one = "", two = ""] = await ward.nodeNames();
    for (const name of [one, two]) await ward.label(name, controlPlane);
    const [, , worker = ""] = await ward.silence(3);
    await ward.box.run(150);
    const fenced = await ward.fenced();
    expect(fenced).toHaveLength(2);
    expect(fenced).toContain(`${worker} reset`);
  },

  "etcd's budget allows no disruption: a member that serves is not touched, one that does not is": async ward => {
    await ward.check({ unhealthyConditions: [{ type: "Hot", status: "True", duration: "30s" }] });
    const [serving = "", idle = ""] = await ward.nodeNames();
    const labels = { component: "etcd" };
    for (const name of [serving, idle]) {
      await ward.label(name, controlPlane);
      const annotations = name === idle ? { "fettle.dev/simulate": "ready=Never" } : {};
      await ward.box.create(pods, {
        metadata: { name: `etcd-${name}`, labels, annotations },
        spec: { nodeName: name, containers: [{ name: "etcd", image: "etcd" }] },
      });
    }
    await ward.box.create(disruptionBudgets, {
      metadata: { name: "etcd" },
      spec: { maxUnavailable: 0, selector: { matchLabels: labels } },
    });
    await ward.box.run(60);
    await report(ward, serving, "Hot", "True");
    await ward.box.run(60);
    expect(await ward.fences()).toEqual([]);
    expect(ward.codes(serving)).toContain("etcd-quorum");
    await report(ward, idle, "Hot", "True");
    await ward.box.run(60);
    expect(await ward.fenced()).toEqual([`${idle} reset`]);
  },

  "a machine configuration that is being written holds what is new": async ward => {
    await ward.box.create(definitions, definitionOf(clusterVersions));
    await ward.check({ unhealthyConditions: silent });
    const [one = "", two = ""] = await ward.silence(2);
    await ward.annotate(one, {
      "machineconfiguration.openshift.io/currentConfig": "rendered-1",
      "machineconfiguration.openshift.io/desiredConfig": "rendered-2",
    });
    await ward.box.run(150);
    expect(await ward.fences()).toEqual([]);
    expect(ward.codes(two)).toContain("cluster-upgrading");
    expect(await ward.status()).toMatchObject({ observedNodes: 7, healthyNodes: 5 });
    await ward.annotate(one, { "machineconfiguration.openshift.io/currentConfig": "rendered-2" });
    await ward.box.run(10);
    expect(await ward.fences()).toHaveLength(2);
  },

  "a label that the selector names brings a node in, and takes it out": async ward => {
    await ward.check({ unhealthyConditions: silent, selector: { matchLabels: { ward: "a" } } });
    expect(await ward.status()).toMatchObject({ observedNodes: 0 });
    const [one = ""] = await ward.nodeNames();
    await ward.label(one, { ward: "a" });
    await ward.box.run(5);
    expect(await ward.status()).toMatchObject({ observedNodes: 1, healthyNodes: 1 });
    await ward.label(one, { ward: null });
    await ward.box.run(5);
    expect(await ward.status()).toMatchObject({ observedNodes: 0 });
  },

  "a node that leaves the selection while it is remediated is let go whole: object, lease and entry": async ward => {
    const labels = { ward: "a" };
    const names = await ward.nodeNames();
    for (const name of names) await ward.label(name, labels);
    await ward.check({ unhealthyConditions: silent, selector: { matchLabels: labels } });
    const [sick = ""] = await ward.silence();
    await ward.box.run(150);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    await ward.label(sick, { ward: null });
    await ward.box.run(30);
    expect([...(await ward.fences()), ...(await ward.nodeLeases())]).toEqual([]);
    expect((await ward.actions()).map(({ status }) => status?.phase)).toEqual(["Done"]);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", observedNodes: 6, healthyNodes: 6 });
  },

  "a storm: what runs goes on, nothing new until a full cooldown has passed": async ward => {
    await ward.check({ unhealthyConditions: silent, minHealthy: 4, stormCooldownDuration: "5m" });
    const first = await ward.silence(3);
    await ward.box.run(140);
    expect(await ward.fences()).toHaveLength(3);
    const [, , , fourth = ""] = await ward.silence(4);
    await ward.box.run(140);
    expect(await ward.fences()).toHaveLength(3);
    expect(await ward.condition("StormActive")).toMatchObject({ status: "True" });
    await ward.simulate(first[0] ?? "", null);
    await ward.box.run(60);
    expect(await ward.condition("StormCooldownActive")).toMatchObject({ status: "True" });
    expect(ward.codes(fourth)).toContain("storm-cooldown");
    await ward.box.run(300);
    expect(await ward.fenced()).toEqual([first[1], first[2], fourth].map(name => `${name} reset`).sort());
    expect(await ward.condition("StormActive")).toMatchObject({ status: "False" });
  },
};

describe("what medik8s' own suite asks of a health check", () => {
  let ward: Ward;
  beforeEach(async () => {
    ward = new Ward();
    await ward.open(7);
    await ward.unbounded();
  });

  test.each(Object.entries(scenarios))("%s", async (_, played) => {
    await played(ward);
    await ward.box.run(1);
    expect(ward.controller.verify()).toEqual([]);
  });
});
