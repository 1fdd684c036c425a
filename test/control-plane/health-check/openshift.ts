// What OpenShift brings to a cluster that health checks must heed, as kinds of the shapes that it has there: the version
// of the cluster, how it is laid out, Machines, and its own checks of them. Nobody serves them here; the test says what they say.

import type { Resource } from "../../../src/api/meta.ts";
import { definitionOf } from "../../definition-of.ts";

export const clusterVersions: Resource = {
  group: "config.openshift.io",
  version: "v1",
  plural: "clusterversions",
  kind: "ClusterVersion",
  namespaced: false,
};
export const infrastructures: Resource = { ...clusterVersions, plural: "infrastructures", kind: "Infrastructure" };
export const machines: Resource = {
  group: "machine.openshift.io",
  version: "v1beta1",
  plural: "machines",
  kind: "Machine",
  namespaced: true,
};
export const machineChecks: Resource = { ...machines, plural: "machinehealthchecks", kind: "MachineHealthCheck" };

type Schema = { readonly type: string; readonly [field: string]: unknown };

const text: Schema = { type: "string" };
const list = (items: Schema): Schema => ({ type: "array", items });
const struct = (properties: Readonly<Record<string, Schema>>, required: readonly string[] = []): Schema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
});
const condition = struct(
  { type: text, status: text, reason: text, message: text, lastTransitionTime: { ...text, format: "date-time" } },
  ["type", "status", "lastTransitionTime"],
);
const anything: Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
const amount = { "x-kubernetes-int-or-string": true, anyOf: [{ type: "integer" }, { type: "string" }] };

const clusterVersion = struct(
  {
    spec: struct({ clusterID: text, channel: text, desiredUpdate: anything }, ["clusterID"]),
    status: struct({ desired: anything, history: list(anything), conditions: list(condition) }),
  },
  ["spec"],
);
const infrastructure = struct(
  {
    spec: struct({ platformSpec: anything }),
    status: struct({ infrastructureName: text, controlPlaneTopology: text, infrastructureTopology: text }),
  },
  ["spec"],
);
const machine = struct({
  spec: struct({ providerID: text, providerSpec: anything }),
  status: struct({ nodeRef: anything, phase: text, conditions: list(condition) }),
});
const unhealthy = struct({ type: { ...text, minLength: 1 }, status: { ...text, minLength: 1 }, timeout: text }, [
  "status",
  "timeout",
  "type",
]);
const machineCheck = struct({
  spec: struct(
    {
      selector: anything,
      unhealthyConditions: { ...list(unhealthy), minItems: 1 },
      maxUnhealthy: amount as unknown as Schema,
      nodeStartupTimeout: text,
      remediationTemplate: anything,
    },
    ["selector", "unhealthyConditions"],
  ),
  status: struct({ currentHealthy: { type: "integer" }, expectedMachines: { type: "integer" } }),
});

export const clusterVersionKind = definitionOf(clusterVersions, clusterVersion);
export const infrastructureKind = definitionOf(infrastructures, infrastructure);
export const machineKinds = [definitionOf(machines, machine), definitionOf(machineChecks, machineCheck)];
