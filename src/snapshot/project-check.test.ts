import { describe, expect, test } from "vitest";
import type { KubeObject } from "../api/meta.ts";
import type { NodeHealthCheckSpec } from "../api/node-health-check.ts";
import { parseTime } from "../api/time.ts";
import { projectCheck, projectNodeLease, projectRemediation, projectTemplate } from "./project-check.ts";
import { machineChecksOf, topologyOf, upgradeOf } from "./project-openshift.ts";

const made = "2026-01-01T00:00:00Z";
const metadata = { name: "x", uid: "u", resourceVersion: "1", creationTimestamp: made, generation: 1 };

function check(spec: unknown, more: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return {
    apiVersion: "remediation.medik8s.io/v1alpha1",
    kind: "NodeHealthCheck",
    metadata: { ...metadata, ...more },
    spec,
  };
}

const template = {
  apiVersion: "test.example.org/v1",
  kind: "FenceRemediationTemplate",
  name: "fence",
  namespace: "fencing",
};

describe("of a health check is kept", () => {
  test("what it means, with its defaults and durations as numbers", () => {
    const view = projectCheck(check({ remediationTemplate: template }), undefined);
    expect(view.pairs).toEqual([
      { type: "Ready", status: "False", durationMs: 300_000, path: "spec.unhealthyConditions[0]" },
      { type: "Ready", status: "Unknown", durationMs: 300_000, path: "spec.unhealthyConditions[1]" },
    ]);
    expect(view).toMatchObject({ selector: [], steps: [{ template }], healthyDelayMs: 0, stormCooldownMs: 0 });
    expect(view.effective.limit).toEqual({ maxUnhealthy: "49%" });
    expect(view.invalid).toBeUndefined();
  });

  test("its steps in their order, each with its time", () => {
    const step = (name: string, order: number) => ({
      remediationTemplate: { ...template, name },
      order,
      timeout: "1m30s",
    });
    const view = projectCheck(check({ escalatingRemediations: [step("b", 2), step("a", 1)] }), undefined);
    expect(view.steps.map(one => [one.template.name, one.timeoutMs])).toEqual([
      ["a", 90_000],
      ["b", 90_000],
    ]);
  });

  test("a negative healthyDelay as such", () => {
    const spec = { remediationTemplate: template, healthyDelay: "-1s" };
    expect(projectCheck(check(spec), undefined).healthyDelayMs).toBe(-1_000);
  });

  test("another mark for another selector or template, and the same for anything else", () => {
    const mark = (spec: NodeHealthCheckSpec) =>
      projectCheck(check({ remediationTemplate: template, ...spec }), undefined).madeUnder;
    expect(mark({ pauseRequests: ["me"], maxUnhealthy: 3 })).toBe(mark({}));
    expect(mark({ selector: { matchLabels: { a: "b" } } })).not.toBe(mark({}));
    expect(mark({ remediationTemplate: { ...template, name: "other" } })).not.toBe(mark({}));
  });

  test("that it cannot be understood: then it selects no node", () => {
    const view = projectCheck(check({ remediationTemplate: { ...template, kind: "Nonsense" } }), undefined);
    expect(view.selector).toBeUndefined();
    expect(view.invalid).toContain("remediationTemplate");
    expect(projectCheck(check("nonsense"), undefined).selector).toBeUndefined();
  });

  test("the same view where nothing has changed, and the same meaning where only the status has", () => {
    const before = projectCheck(check({ remediationTemplate: template }), undefined);
    expect(projectCheck(check({ remediationTemplate: template }, { resourceVersion: "2" }), before)).toBe(before);
    const after = projectCheck({ ...check({ remediationTemplate: template }), status: { phase: "Enabled" } }, before);
    expect(after).not.toBe(before);
    expect(after.pairs).toBe(before.pairs);
  });
});

describe("of a remediation is kept", () => {
  const remediation = (more: object, status: object = {}): KubeObject => ({
    apiVersion: "test.example.org/v1",
    kind: "FenceRemediation",
    metadata: { ...metadata, namespace: "fencing", ...more },
    status,
  });
  const owner = {
    apiVersion: "remediation.medik8s.io/v1alpha1",
    kind: "NodeHealthCheck",
    name: "web",
    uid: "check-uid",
  };

  test("the node: by its annotation, else by its name", () => {
    expect(projectRemediation(remediation({}), undefined).nodeName).toBe("x");
    const annotations = { "remediation.medik8s.io/node-name": "n0" };
    expect(projectRemediation(remediation({ annotations }), undefined).nodeName).toBe("n0");
  });

  test("whose it is", () => {
    expect(projectRemediation(remediation({ ownerReferences: [owner] }), undefined)).toMatchObject({
      checkUid: "check-uid",
      owner: "NodeHealthCheck web",
    });
    const other = { ...owner, apiVersion: "other.example.org/v1" };
    expect(projectRemediation(remediation({ ownerReferences: [other] }), undefined).checkUid).toBeUndefined();
  });

  test("what the contract's annotations and conditions say", () => {
    const annotations = {
      "remediation.medik8s.io/template-name": "fence",
      "remediation.medik8s.io/nhc-timed-out": "2026-01-01T01:00:00Z",
      "remediation.medik8s.io/healthy-delay": "2026-01-01T02:00:00Z",
    };
    const labels = { "remediation.medik8s.io/isControlPlaneNode": "" };
    const conditions = [
      { type: "Succeeded", status: "False", reason: "NoPower", message: "no power" },
      { type: "PermanentNodeDeletionExpected", status: "True" },
    ];
    expect(projectRemediation(remediation({ annotations, labels }, { conditions }), undefined)).toMatchObject({
      templateName: "fence",
      timedOut: "2026-01-01T01:00:00Z",
      healthySince: Date.parse("2026-01-01T02:00:00Z"),
      isOfControlPlane: true,
      takesNodeAway: true,
      succeeded: { status: "False", message: "no power" },
    });
  });

  test("nothing new where only its version has changed", () => {
    const before = projectRemediation(remediation({}), undefined);
    expect(projectRemediation(remediation({ resourceVersion: "9" }), before)).toBe(before);
  });
});

test("of a template is kept what is copied, also nothing; without spec.template it is none", () => {
  const raw = (spec: unknown, more: object = {}): KubeObject => ({
    apiVersion: "test.example.org/v1",
    kind: "FenceRemediationTemplate",
    metadata: { ...metadata, ...more },
    spec,
  });
  expect(projectTemplate(raw({ template: { spec: { a: 1 } } }), undefined).body).toEqual({ a: 1 });
  expect(projectTemplate(raw({ template: {} }), undefined).body).toEqual({});
  expect(projectTemplate(raw({}), undefined).body).toBeUndefined();
  expect(projectTemplate(raw("x"), undefined).body).toBeUndefined();
  const annotations = { "remediation.medik8s.io/multiple-templates-support": "" };
  expect(projectTemplate(raw({}, { annotations }), undefined).supportsMultiple).toBe(true);
});

describe("of a lease", () => {
  const lease = (name: string, spec: object): KubeObject => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { ...metadata, name },
    spec,
  });
  const renewTime = "2026-01-01T00:00:00.500000Z";

  test("are kept its node, its holder and how long it lasts", () => {
    const raw = lease("node-n0", { holderIdentity: "nmo", leaseDurationSeconds: 3600, renewTime });
    const renewed = parseTime(renewTime);
    expect(projectNodeLease(raw, undefined)).toMatchObject({
      nodeName: "n0",
      holder: "nmo",
      durationMs: 3_600_000,
      renewedAt: renewed.ok && renewed.value,
    });
  });

  test("whose times cannot be read it is held for ever", () => {
    expect(projectNodeLease(lease("node-n0", { holderIdentity: "nmo" }), undefined)?.durationMs).toBe(
      Number.POSITIVE_INFINITY,
    );
  });

  test("that is of no node nothing is kept", () => {
    expect(projectNodeLease(lease("other", {}), undefined)).toBeUndefined();
  });
});

test("a cluster is being upgraded where a ClusterVersion progresses", () => {
  const version = (status: string): KubeObject => ({
    apiVersion: "config.openshift.io/v1",
    kind: "ClusterVersion",
    metadata: { ...metadata, name: "version" },
    status: { conditions: [{ type: "Progressing", status, message: "towards 4.20" }] },
  });
  expect(upgradeOf([version("True")]).progressing).toEqual([{ name: "version", message: "towards 4.20" }]);
  expect(upgradeOf([version("False")])).toEqual({ isOpenShift: true, progressing: [] });
});

test("of OpenShift's Infrastructures the one of the cluster says how its control plane is laid out", () => {
  const infrastructure = (name: string, controlPlaneTopology?: string): KubeObject => ({
    apiVersion: "config.openshift.io/v1",
    kind: "Infrastructure",
    metadata: { ...metadata, name },
    status: { controlPlaneTopology },
  });
  const found = [infrastructure("another", "External"), infrastructure("cluster", "DualReplica")];
  expect(topologyOf(found)).toEqual({ controlPlane: "DualReplica" });
  expect(topologyOf([infrastructure("cluster"), infrastructure("another", "DualReplica")])).toEqual({});
});

test("of OpenShift's MachineHealthChecks those conflict that mind more than machines which their cloud takes back", () => {
  const check = (name: string, ...types: readonly string[]) => ({
    apiVersion: "machine.openshift.io/v1beta1",
    kind: "MachineHealthCheck",
    metadata: { name, namespace: "m", uid: name, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" },
    spec: { unhealthyConditions: types.map(type => ({ type, status: "True", timeout: "0s" })) },
  });
  const terminating = check("terminating", "Terminating");
  expect(machineChecksOf([terminating])).toEqual({ conflicting: [], mindsTerminating: true });
  expect(machineChecksOf([check("b", "Ready"), check("a", "Terminating", "Ready"), check("c")])).toEqual({
    conflicting: ["m/a", "m/b", "m/c"],
    mindsTerminating: false,
  });
});
