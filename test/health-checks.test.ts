// The life of health checks in the box, on virtual time, with a remediator of another group that the test plays itself.

import { beforeEach, describe, expect, test } from "vitest";
import type { KubeObject, Resource } from "../src/api/meta.ts";
import { type NodeAction, nodeActions } from "../src/api/node-action.ts";
import { type NodeHealthCheck, nodeHealthChecks } from "../src/api/node-health-check.ts";
import { nodePools } from "../src/api/node-pool.ts";
import {
  rebootRemediations,
  rebootRemediationTemplates,
  replaceRemediations,
  replaceRemediationTemplates,
} from "../src/api/remediation.ts";
import { leases, namespaces, nodes } from "../src/control/resources.ts";
import type { Controller } from "../src/control/controller.ts";
import { controllers } from "../src/decide/decision.ts";
import { ControlledBox } from "./controlled-box.ts";

const group = "fence.example.org";
const definitions: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};
const fences: Resource = {
  group,
  version: "v1",
  plural: "fenceremediations",
  kind: "FenceRemediation",
  namespaced: true,
};
const templates: Resource = { ...fences, plural: "fenceremediationtemplates", kind: "FenceRemediationTemplate" };

function definitionOf({ plural, kind, version }: Resource) {
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: {
            openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
        },
      ],
    },
  };
}

type Fence = KubeObject & { spec?: object };

class Ward {
  readonly box = new ControlledBox();
  readonly controller: Controller;

  constructor() {
    this.controller = this.box.start({ controllers: new Set(controllers) });
  }

  /** Six nodes of a pool that does not repair, and whoever fences. */
  async open(): Promise<void> {
    const { box } = this;
    const spec = { replicas: 6, repair: { mode: "Disabled" } };
    await box.create(nodePools.resource, { metadata: { name: "web" }, spec });
    for (const kind of [fences, templates]) await box.create(definitions, definitionOf(kind));
    await box.run(300);
    await this.template("reset");
  }

  async template(name: string, annotations = {}): Promise<void> {
    const spec = { template: { spec: { by: name } } };
    await this.box.create(templates, { metadata: { name, annotations }, spec });
  }

  async check(spec: object = {}): Promise<void> {
    const { remediationTemplate, ...rest } = { ...one("reset"), ...spec } as Record<string, unknown>;
    const first = remediationTemplate === null ? {} : { remediationTemplate };
    await this.box.create(nodeHealthChecks.resource, { metadata: { name: "web" }, spec: { ...first, ...rest } });
    await this.box.run(5);
  }

  async status(): Promise<NonNullable<NodeHealthCheck["status"]>> {
    const [found] = await this.box.list<NodeHealthCheck & KubeObject>(nodeHealthChecks.resource);
    return found?.status ?? {};
  }

  async silence(count = 1): Promise<string[]> {
    const found = (await this.box.list(nodes)).map(({ metadata }) => metadata.name).slice(0, count);
    for (const name of found) await this.simulate(name, "silent");
    return found;
  }

  simulate(name: string, what: string | null): Promise<void> {
    return this.box.patch(nodes, name, { metadata: { annotations: { "fettle.dev/simulate": what } } });
  }

  fences(): Promise<Fence[]> {
    return this.box.list<Fence>(fences);
  }
}

function templateOf(name: string) {
  return { apiVersion: `${group}/v1`, kind: templates.kind, name, namespace: "default" };
}

function one(name: string) {
  return { remediationTemplate: templateOf(name) };
}

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
    const held = (await ward.box.list(leases)).filter(({ metadata }) => metadata.namespace === "medik8s-leases");
    expect(held).toMatchObject([
      { metadata: { name: `node-${sick}` }, spec: { holderIdentity: "NodeHealthCheck-web" } },
    ]);
    expect(await ward.box.list(nodeActions.resource)).toMatchObject([{ status: { phase: "Running" } }]);

    await ward.simulate(sick, null);
    await ward.box.run(120);
    expect(await ward.fences()).toEqual([]);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", healthyNodes: 6 });
    expect(await ward.box.list(nodeActions.resource)).toMatchObject([{ status: { phase: "Done" } }]);
    const left = (await ward.box.list(leases)).filter(({ metadata }) => metadata.namespace === "medik8s-leases");
    expect(left).toEqual([]);
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
    expect(ward.controller.picture.checks.kind({ apiVersion: `${group}/v1`, kind }).state).toBe("Served");
    await ward.box.delete(nodeHealthChecks.resource, "web");
    await ward.box.run(30);
    expect(ward.controller.picture.checks.kind({ apiVersion: `${group}/v1`, kind }).state).toBe("Listing");
    expect(ward.controller.picture.checks.templates({ apiVersion: `${group}/v1`, kind })).toEqual([]);
  });

  test("what a stranger says has failed is told that its time is up, and the next step begins", async () => {
    const several = { "remediation.medik8s.io/multiple-templates-support": "true" };
    await ward.template("soft", several);
    await ward.template("hard", several);
    const step = (order: number, name: string) => ({ order, timeout: "10m", remediationTemplate: templateOf(name) });
    const escalatingRemediations = [step(1, "soft"), step(2, "hard")];
    await ward.check({ remediationTemplate: null, escalatingRemediations });
    const [sick = ""] = await ward.silence();
    await ward.box.run(480);
    const [soft] = await ward.fences();
    expect(soft?.spec).toEqual({ by: "soft" });
    const name = soft?.metadata.name ?? "";
    await ward.box.patch(fences, name, { metadata: { finalizers: ["fence.example.org/undo"] } });
    const conditions = [{ type: "Succeeded", status: "False", reason: "NoPower", message: "The fence has no power." }];
    const body = { type: "merge", body: { status: { conditions } } } as const;
    await ward.box.settle(ward.box.api.patch(fences, { name, namespace: "default" }, body, { subresource: "status" }));
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
    await ward.box.patch(fences, name, { metadata: { finalizers: null } });
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
    const actions = await ward.box.list<NodeAction & KubeObject>(nodeActions.resource);
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
    const actions = await ward.box.list<NodeAction & KubeObject>(nodeActions.resource);
    expect(actions.map(({ spec, status }) => [spec.method, status?.phase])).toEqual([
      ["Remediate", "Done"],
      ["Reboot", "Done"],
    ]);
    expect((await ward.box.list(nodes)).map(({ metadata }) => metadata.name)).toContain(sick);
    expect(await ward.box.list(rebootRemediations.resource)).toEqual([]);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", healthyNodes: 6 });
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
