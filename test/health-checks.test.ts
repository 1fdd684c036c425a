// The life of health checks in the box, on virtual time, with a remediator of another group that the test plays itself.

import { beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../src/api/meta.ts";
import { nodeHealthChecks } from "../src/api/node-health-check.ts";
import {
  rebootRemediations,
  rebootRemediationTemplates,
  replaceRemediations,
  replaceRemediationTemplates,
} from "../src/api/remediation.ts";
import { definitions } from "../src/control/definitions.ts";
import { namespaces, nodes } from "../src/control/resources.ts";
import { definitionOf } from "./definition-of.ts";
import { escalating, fenceGroup, fences, several, templateOf, Ward } from "./ward.ts";

describe("a check in a living cluster", () => {
  let ward: Ward;
  beforeEach(async () => {
    ward = new Ward();
    await ward.open();
  });

  test("a node falls silent, a remediation is made from the template, and goes when the node is well again", async () => {
    await ward.check();
    expect(await ward.status()).toMatchObject({ phase: "Enabled", observedNodes: 6, healthyNodes: 6 });
    const [sick = ""] = await ward.silence();
    await ward.box.run(300);
    expect(await ward.fences()).toEqual([]);
    await ward.box.run(180);
    const [made, ...others] = await ward.fences();
    expect(others).toEqual([]);
    expect(made).toMatchObject({ metadata: { name: sick, namespace: "default" }, spec: { by: "reset" } });
    expect(await ward.status()).toMatchObject({ phase: "Remediating", observedNodes: 6, healthyNodes: 5 });
    expect(await ward.nodeLeases()).toMatchObject([
      { metadata: { name: `node-${sick}` }, spec: { holderIdentity: "NodeHealthCheck-web" } },
    ]);
    expect(await ward.actions()).toMatchObject([{ status: { phase: "Running" } }]);

    await ward.simulate(sick, null);
    await ward.box.run(120);
    expect(await ward.fences()).toEqual([]);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", healthyNodes: 6 });
    expect(await ward.actions()).toMatchObject([{ status: { phase: "Done" } }]);
    expect(await ward.nodeLeases()).toEqual([]);
    expect(ward.controller.verify()).toEqual([]);
    expect((await ward.box.list(namespaces)).map(({ metadata }) => metadata.name)).toContain("medik8s-leases");
  });

  test("a kind that is not there disables the check that names it, until it is there", async () => {
    const kind = "WipeRemediationTemplate";
    await ward.check({ remediationTemplate: { ...templateOf("wipe"), kind } });
    expect(await ward.status()).toMatchObject({
      phase: "Disabled",
      reason: expect.stringContaining("RemediationTemplateNotFound: No API serves WipeRemediationTemplate"),
    });
    const wipes = { ...fences, plural: "wiperemediations", kind: "WipeRemediation" };
    const wipeTemplates = { ...fences, plural: "wiperemediationtemplates", kind };
    for (const each of [wipes, wipeTemplates]) await ward.box.create(definitions, definitionOf(each));
    await ward.box.run(60);
    await ward.box.create(wipeTemplates, { metadata: { name: "wipe" }, spec: { template: { spec: {} } } });
    await ward.box.run(60);
    expect(await ward.status()).toMatchObject({ phase: "Enabled" });
    // Its watch goes with the last check that names the kind.
    expect(ward.controller.picture.checks.kind({ apiVersion: `${fenceGroup}/v1`, kind }).state).toBe("Served");
    await ward.box.delete(nodeHealthChecks.resource, "web");
    await ward.box.run(30);
    expect(ward.controller.picture.checks.kind({ apiVersion: `${fenceGroup}/v1`, kind }).state).toBe("Listing");
    expect(ward.controller.picture.checks.templates({ apiVersion: `${fenceGroup}/v1`, kind })).toEqual([]);
  });

  test("what a stranger says has failed is told that its time is up, and the next step begins", async () => {
    await ward.template("soft", several);
    await ward.template("hard", several);
    await ward.check(escalating("10m", "soft", "hard"));
    const [sick = ""] = await ward.silence();
    await ward.box.run(480);
    const [soft] = await ward.fences();
    expect(soft?.spec).toEqual({ by: "soft" });
    const name = soft?.metadata.name ?? "";
    await ward.hold(name, ["fence.example.org/undo"]);
    await ward.say(name, { type: "Succeeded", status: "False" });
    await ward.box.run(30);
    const made = await ward.fences();
    expect(new Set(made.map(({ spec }) => spec))).toEqual(new Set([{ by: "soft" }, { by: "hard" }]));
    const first = made.find(({ metadata }) => metadata.name === name);
    expect(first?.metadata.annotations).toHaveProperty(["remediation.medik8s.io/nhc-timed-out"]);

    await ward.simulate(sick, null);
    await ward.box.run(120);
    // Held by the stranger's finalizer: the node counts as not healthy until it is gone.
    expect((await ward.fences()).map(({ metadata }) => metadata.name)).toEqual([name]);
    expect(await ward.status()).toMatchObject({ phase: "Remediating", healthyNodes: 5 });
    // It fails again under a pause: a new failure, to which the step after that one does not belong.
    await ward.edit({ pauseRequests: ["maintenance"] });
    await ward.simulate(sick, "silent");
    await ward.box.run(480);
    expect((await ward.fences()).map(({ metadata }) => metadata.name)).toEqual([name]);
    expect(ward.codes(sick)).toContain("still-being-removed");
    await ward.simulate(sick, null);
    await ward.box.run(60);
    await ward.edit({ pauseRequests: null });
    await ward.hold(name, null);
    await ward.box.run(30);
    expect(await ward.fences()).toEqual([]);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", healthyNodes: 6 });
    expect(ward.controller.verify()).toEqual([]);
  });

  test("Replace takes the node away with its claim, once, and the check forgets it when its successor is there", async () => {
    await ward.box.create(replaceRemediationTemplates.resource, own("replace"));
    await ward.check({ remediationTemplate: ownTemplate("ReplaceRemediationTemplate", "replace") });
    const [sick = ""] = await ward.silence();
    await ward.box.run(900);
    const actions = await ward.actions();
    expect(actions.map(({ spec, status }) => [spec.method, status?.phase])).toEqual([
      ["Remediate", "Done"],
      ["Terminate", "Done"],
    ]);
    const names = (await ward.box.list(nodes)).map(({ metadata }) => metadata.name);
    expect(names).toHaveLength(6);
    expect(names).not.toContain(sick);
    expect(await ward.box.list(replaceRemediations.resource)).toEqual([]);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", healthyNodes: 6 });
    expect(ward.controller.verify()).toEqual([]);
  });

  test("Reboot has the provider reboot the node, and leaves it as it was", async () => {
    await ward.box.create(rebootRemediationTemplates.resource, own("reboot"));
    await ward.check({ remediationTemplate: ownTemplate("RebootRemediationTemplate", "reboot") });
    const [sick = ""] = await ward.silence();
    await ward.box.run(1200);
    const actions = await ward.actions();
    expect(actions.map(({ spec, status }) => [spec.method, status?.phase])).toEqual([
      ["Remediate", "Done"],
      ["Reboot", "Done"],
    ]);
    expect((await ward.box.list(nodes)).map(({ metadata }) => metadata.name)).toContain(sick);
    expect(await ward.box.list(rebootRemediations.resource)).toEqual([]);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", healthyNodes: 6 });
    expect(ward.controller.verify()).toEqual([]);
  });

  test("a node that a person wants rebooted is, though it is well: one of the control plane at a time", async () => {
    const [one = "", two = ""] = await ward.nodeNames();
    const bootIDs = async () => {
      const found = await ward.box.list<KubeObject & { status?: { nodeInfo?: { bootID?: string } } }>(nodes);
      return [one, two].map(name => found.find(({ metadata }) => metadata.name === name)?.status?.nodeInfo?.bootID);
    };
    const before = await bootIDs();
    for (const name of [one, two]) {
      await ward.label(name, { "node-role.kubernetes.io/control-plane": "" });
      await ward.box.create(rebootRemediations.resource, { metadata: { name }, spec: {} });
    }
    await ward.box.run(5);
    const waiting = ward.codes(one).includes("cap-spent") ? one : two;
    expect(ward.codes(waiting)).toContain("cap-spent");
    await ward.box.run(900);
    const after = await bootIDs();
    expect(after.filter(id => before.includes(id))).toEqual([]);
    const said = (await ward.box.list(rebootRemediations.resource)).map(({ status }) => JSON.stringify(status));
    expect(said.every(text => text.includes("was rebooted and has recovered"))).toBe(true);
    expect(ward.controller.verify()).toEqual([]);
  });

  test("of the control plane the next one waits until a Ready one has followed what was replaced", async () => {
    const controlPlane = { "node-role.kubernetes.io/control-plane": "" };
    await ward.unbounded();
    await ward.box.create(replaceRemediationTemplates.resource, own("replace"));
    const before = await ward.nodeNames();
    const [one = "", two = ""] = before;
    for (const name of [one, two]) await ward.label(name, controlPlane);
    const by = { remediationTemplate: ownTemplate("ReplaceRemediationTemplate", "replace") };
    await ward.check({ ...by, maxUnhealthy: "100%" });
    await ward.simulate(one, "silent");
    await ward.box.run(240);
    await ward.simulate(two, "silent");
    await ward.box.run(600);
    const names = await ward.nodeNames();
    expect(names).not.toContain(one);
    expect(names).toContain(two);
    const [held] = ward.controller.refusals(`node/${two}`).filter(({ code }) => code === "cap-spent");
    expect(held?.message).toContain(`gone without a Ready successor (${one})`);
    const successor = names.find(name => !before.includes(name)) ?? "";
    await ward.label(successor, controlPlane);
    await ward.box.run(300);
    expect(await ward.nodeNames()).not.toContain(two);
    expect(ward.controller.verify()).toEqual([]);
  });

  test("a remediation of ours that a person makes is carried out too", async () => {
    const [first] = await ward.box.list(nodes);
    const { name = "" } = first?.metadata ?? {};
    await ward.box.create(replaceRemediations.resource, { metadata: { name }, spec: {} });
    await ward.box.run(300);
    expect((await ward.box.list(nodes)).map(({ metadata }) => metadata.name)).not.toContain(name);
    const [made] = await ward.box.list(replaceRemediations.resource);
    expect(made?.["status"]).toMatchObject({
      conditions: [
        { type: "Processing", status: "False" },
        { type: "Succeeded", status: "True" },
        { type: "PermanentNodeDeletionExpected", status: "True" },
      ],
    });
    await ward.box.delete(replaceRemediations.resource, name);
    await ward.box.run(10);
    expect(await ward.box.list(replaceRemediations.resource)).toEqual([]);
  });
});

function own(name: string) {
  return { metadata: { name }, spec: { template: { spec: {} } } };
}

function ownTemplate(kind: string, name: string) {
  return { apiVersion: "fettle.dev/v1alpha1", kind, name };
}
