import { expect, test } from "vitest";
import type { KubeObject, Manifest } from "../../api/meta.ts";
import { nodeHealthChecks } from "../../api/node-health-check.ts";
import { VirtualClock } from "../clock.ts";
import { clusterInTheBox } from "../cluster-in-the-box.ts";
import { seededRandom } from "../random.ts";
import { forgottenRemediation, remediationViolations } from "./check-invariants.ts";
import { type Action, Ledger } from "./ledger.ts";
import { ClusterObjects } from "./objects.ts";
import { Process } from "./process.ts";
import type { WriteContext } from "./write-context.ts";

const template = { apiVersion: "fettle.dev/v1alpha1", kind: "ReplaceRemediationTemplate", name: "replace" };

type Scene = {
  readonly check?: object;
  readonly labels?: Record<string, string>;
  readonly isWritten?: boolean;
  readonly isStep?: boolean;
  /** How long ago the check was edited. */
  readonly editedMs?: number;
};

/** What is said of a remediation of node n, with its entry in the ledger unless a test says otherwise. */
function said({ check = {}, labels = {}, isWritten = true, isStep = false, editedMs = 3_600_000 }: Scene): string[] {
  const clock = new VirtualClock(0);
  const server = clusterInTheBox({ clock, random: seededRandom(1) });
  const ledger = new Ledger();
  server.store.onChange(({ name }, change) => ledger.changed(name, change));
  const objects = new ClusterObjects(server);
  const { group, version, kind } = nodeHealthChecks.resource;
  const spec = { remediationTemplate: template, ...check };
  objects.apply({ apiVersion: `${group}/${version}`, kind, metadata: { name: "web" }, spec });
  objects.apply({ apiVersion: "v1", kind: "Node", metadata: { name: "n", labels } });
  const [web] = objects.find({ kind: "NodeHealthCheck" }) as [KubeObject];
  const [node] = objects.find({ kind: "Node" }) as [KubeObject];
  if (isWritten) objects.apply(entry({ name: "n", uid: node.metadata.uid }));
  const made = remediation(web);
  if (isStep) objects.apply({ ...made, kind: "RebootRemediation" });
  const changedAt = new Map([["nodehealthchecks.remediation.medik8s.io web", -editedMs]]);
  const context: WriteContext = { ledger, objects, process: new Process(clock, 1), clock, changedAt };
  return remediationViolations(context, made).map(message => message.split(" ")[0] ?? "");
}

function remediation({ apiVersion, kind, metadata: { name, uid } }: KubeObject): Manifest {
  const ownerReferences = [{ apiVersion, kind, name, uid }];
  const annotations = { "remediation.medik8s.io/node-name": "n" };
  const metadata = { name: "n", ownerReferences, annotations };
  return { apiVersion: "fettle.dev/v1alpha1", kind: "ReplaceRemediation", metadata, spec: {} };
}

function entry(node: { name: string; uid: string }): Manifest {
  const askedBy = { kind: "NodeHealthCheck", name: "web" };
  const why = { message: "m", evidence: [], decidedAt: "2026-01-01T00:00:00Z", epoch: 1 };
  const spec = { node, action: "Remediation", method: "Remediate", askedBy, ...why };
  return { apiVersion: "fettle.dev/v1alpha1", kind: "NodeAction", metadata: { name: "remediation-n" }, spec };
}

/** Whatever its name: whoever writes a scenario brings the kinds of his own remediators. */
function strangersKind(): Manifest {
  const names = {
    kind: "SwapRemediation",
    plural: "swapremediations",
    singular: "swapremediation",
    listKind: "SwapList",
  };
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  const versions = [{ name: "v1", served: true, storage: true, schema }];
  const spec = { group: "swap.example.org", scope: "Cluster", names, versions };
  const metadata = { name: "swapremediations.swap.example.org" };
  return { apiVersion: "apiextensions.k8s.io/v1", kind: "CustomResourceDefinition", metadata, spec };
}

const excluded = { "remediation.medik8s.io/exclude-from-remediation": "true" };

const fettle = { apiVersion: "fettle.dev/v1alpha1", kind: "ReplaceRemediation" };
const stranger = { apiVersion: "swap.example.org/v1", kind: "SwapRemediation" };

test.each<[string, object, object | undefined, number]>([
  ["whose remediation is there", { startedAt: "2026-01-01T00:00:00Z" }, fettle, 0],
  ["whose remediation is there, of a stranger's kind", { startedAt: "2026-01-01T00:00:00Z" }, stranger, 0],
  ["whose remediation is gone", { startedAt: "2026-01-01T00:00:00Z" }, undefined, 1],
  ["that has not begun", {}, undefined, 0],
])("an entry %s", (_what, status, kind, count) => {
  const objects = new ClusterObjects(clusterInTheBox({ clock: new VirtualClock(0), random: seededRandom(1) }));
  const check = { apiVersion: "remediation.medik8s.io/v1alpha1", kind: "NodeHealthCheck", metadata: { name: "web" } };
  objects.apply({ ...check, spec: { remediationTemplate: template } });
  objects.apply(strangersKind());
  const [web] = objects.find({ kind: "NodeHealthCheck" }) as [KubeObject];
  if (kind !== undefined) objects.apply({ ...remediation(web), ...kind });
  const written = entry({ name: "n", uid: "n-uid" }) as unknown as Action;
  const askedBy = { kind: "NodeHealthCheck", name: "web", uid: web.metadata.uid } as const;
  const action = { ...written, spec: { ...written.spec, askedBy }, status };
  expect(forgottenRemediation(objects, action)).toHaveLength(count);
});

test.each<[string, Scene, string[]]>([
  ["in order", {}, []],
  ["without an entry in the ledger", { isWritten: false }, ["H1"]],
  ["of a check that is paused", { check: { pauseRequests: ["stop"] } }, ["H2"]],
  [
    "of one that was paused just now, which nobody may have seen",
    { check: { pauseRequests: ["stop"] }, editedMs: 1 },
    [],
  ],
  ["of a check that only shows", { check: { dryRun: true } }, ["H2"]],
  ["of a node that is excluded", { labels: excluded }, ["H2"]],
  ["that follows another, under a pause", { check: { pauseRequests: ["stop"] }, isStep: true }, []],
])("a remediation %s", (_what, scene, expected) => {
  expect(said(scene)).toEqual(expected);
});
