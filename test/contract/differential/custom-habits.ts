// What sequences do with custom kinds: ours, and two that exist for these suites and use what ours do not.

import fc from "fast-check";
import type { Habits } from "./generate.ts";
import type { Json, JsonObject } from "./operation.ts";

const oneOf = (...values: JsonObject[]) => fc.constantFrom<JsonObject>(...values);

/** Namespaced; status and scale; defaults, enums, keyed lists, unknown fields, rules on old and new values. */
export const widgetDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.test.fettle.dev" },
  spec: {
    group: "test.fettle.dev",
    names: { kind: "Widget", listKind: "WidgetList", plural: "widgets", singular: "widget" },
    scope: "Namespaced",
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        selectableFields: [{ jsonPath: ".spec.colour" }],
        subresources: {
          status: {},
          scale: {
            specReplicasPath: ".spec.replicas",
            statusReplicasPath: ".status.replicas",
            labelSelectorPath: ".status.selector",
          },
        },
        schema: {
          openAPIV3Schema: {
            type: "object",
            required: ["spec"],
            properties: {
              spec: {
                type: "object",
                properties: {
                  replicas: { type: "integer", format: "int32", minimum: 0, maximum: 100, default: 1 },
                  colour: { type: "string", enum: ["red", "green"], default: "red" },
                  size: { "x-kubernetes-int-or-string": true },
                  name: { type: "string", maxLength: 5, pattern: "^[a-z]+$" },
                  fixed: {
                    type: "string",
                    "x-kubernetes-validations": [{ rule: "self == oldSelf", message: "fixed cannot change" }],
                  },
                  since: { type: "string", format: "date-time" },
                  maybe: { type: "string", nullable: true },
                  ports: {
                    type: "array",
                    maxItems: 3,
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port"],
                    items: {
                      type: "object",
                      required: ["port"],
                      properties: {
                        port: { type: "integer" },
                        protocol: { type: "string", default: "TCP" },
                      },
                    },
                  },
                  tags: {
                    type: "array",
                    maxItems: 5,
                    "x-kubernetes-list-type": "set",
                    items: { type: "string", maxLength: 9 },
                  },
                  extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                  limits: { type: "object", additionalProperties: { type: "integer" } },
                },
                "x-kubernetes-validations": [
                  {
                    rule: "self.replicas <= 4 || self.colour == 'green'",
                    message: "five need green",
                    fieldPath: ".replicas",
                  },
                ],
              },
              status: {
                type: "object",
                properties: {
                  replicas: { type: "integer" },
                  selector: { type: "string" },
                  phase: { type: "string", enum: ["On", "Off"] },
                },
              },
            },
          },
        },
      },
    ],
  },
} as const;

/** Cluster-scoped, two versions of one shape, no subresources. */
export const gadgetDefinition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "gadgets.test.fettle.dev" },
  spec: {
    group: "test.fettle.dev",
    names: { kind: "Gadget", listKind: "GadgetList", plural: "gadgets", singular: "gadget", shortNames: ["gd"] },
    scope: "Cluster",
    versions: ["v1", "v1beta1"].map(name => ({
      name,
      served: true,
      storage: name === "v1",
      schema: {
        openAPIV3Schema: {
          type: "object",
          properties: {
            on: { type: "boolean" },
            status: { type: "object", properties: { seen: { type: "integer" } } },
            deep: {
              type: "object",
              default: {},
              properties: {
                inner: { type: "object", default: { level: 3 }, properties: { level: { type: "integer" } } },
              },
            },
          },
        },
      },
    })),
  },
};

export const widgets: Habits = {
  subject: {
    resource: { group: "test.fettle.dev", version: "v1", plural: "widgets", kind: "Widget", namespaced: true },
    plain: { spec: {} },
  },
  weight: 4,
  // Always another number: for the same one the real server writes anew who owns it.
  scales: oneOf(
    { spec: { replicas: "@next" } },
    { spec: { replicas: "@next" } },
    { spec: { replicas: -1 } },
    { spec: { replicas: "2" } },
    { spec: { replicas: 101 } },
  ),
  bodies: oneOf(
    { spec: {} },
    { spec: { replicas: 2, colour: "green", size: 3, name: "abc", fixed: "one" } },
    { spec: { size: "10%", ports: [{ port: 80 }, { port: 81, protocol: "UDP" }], tags: ["a", "b"] } },
    { spec: { extra: { any: { thing: [1, 2] } }, limits: { a: 1 }, unknown: true } },
    { spec: { maybe: null, colour: null, since: "2020-01-01T00:00:00Z" } },
    { spec: { replicas: 101, colour: "blue", name: "TOO-LONG", tags: ["a", "a"] } },
    { spec: { replicas: 5 } },
    { spec: { replicas: "2", ports: [{ port: 80 }, { port: 80 }] } },
    { spec: { since: "yesterday", limits: { a: "b" } } },
    { spec: { size: true } },
    { spec: {}, status: { phase: "On" } },
    { spec: null },
    {},
  ),
  changes: oneOf(
    { spec: { replicas: 3 } },
    { spec: { replicas: 5 } },
    { spec: { replicas: 5, colour: "green" } },
    { spec: { fixed: "two" } },
    { spec: { fixed: null } },
    { spec: { colour: null } },
    { spec: { colour: "blue" } },
    { spec: { ports: [{ port: 82 }] } },
    { spec: { extra: { more: 1 } } },
    { spec: { unknown: 1, extra: null } },
    { spec: { tags: ["x", "x"] } },
    { status: { phase: "Off" } },
    { spec: null },
    {},
  ),
  statuses: oneOf(
    { status: { replicas: 2, selector: "app=x" } },
    { status: { phase: "On" } },
    { status: { phase: "Blown" } },
    { status: { unknown: 1 } },
    { status: null },
    { spec: { replicas: 4 }, status: { replicas: 4 } },
  ),
  jsonPatches: fc.constantFrom<Json[]>(
    [{ op: "add", path: "/spec/ports", value: [{ port: 1 }] }],
    [{ op: "add", path: "/spec/ports/0", value: { port: 2 } }],
    [{ op: "remove", path: "/spec/colour" }],
    [{ op: "replace", path: "/spec/replicas", value: 1.5 }],
    [{ op: "add", path: "/status", value: { phase: "On" } }],
  ),
  fieldSelectors: ["spec.colour=red"],
};

export const gadgets: Habits = {
  subject: {
    resource: { group: "test.fettle.dev", version: "v1beta1", plural: "gadgets", kind: "Gadget", namespaced: false },
    plain: {},
  },
  weight: 2,
  bodies: oneOf(
    {},
    { on: true, deep: {} },
    { deep: { inner: {} } },
    { on: "yes" },
    { status: { seen: 1 } },
    { extra: { x: 1 }, deep: { y: 2 } },
    { apiVersion: "test.fettle.dev/v1" },
  ),
  changes: oneOf(
    { on: false },
    { on: null },
    { deep: null },
    { deep: { inner: { level: 4 } } },
    { status: { seen: 2 } },
    { on: 5 },
  ),
};

const requirement = { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] };

export const nodePools: Habits = {
  subject: {
    resource: { group: "karpenter.sh", version: "v1", plural: "nodepools", kind: "NodePool", namespaced: false },
    plain: { spec: {} },
  },
  weight: 3,
  bodies: oneOf(
    { spec: {} },
    { spec: { template: { spec: { requirements: [requirement], readinessTTL: "10m" } } } },
    { spec: { disruption: { budgets: [{ nodes: "10%" }, { nodes: 2, schedule: "@daily", duration: "1h" }] } } },
    { spec: { disruption: { budgets: [{ nodes: "101%" }] } } },
    { spec: { disruption: { budgets: [{ schedule: "@daily", nodes: "1" }] } } },
    { spec: { repair: { mode: "DryRun", maxUnhealthy: "30%" } } },
    { spec: { repair: { mode: "Sometimes" } } },
    { spec: { weight: 0 } },
    { spec: { weight: 101, limits: { cpu: "100", memory: "lots" } } },
    { spec: { disruption: { consolidationPolicy: "WhenEmpty", consolidateAfter: "Never" } } },
    { spec: { disruption: { consolidateAfter: "soon" } } },
    { spec: { template: { spec: { requirements: [{ key: "a", operator: "Gt", values: ["1", "2"] }] } } } },
    { spec: { template: { spec: { taints: [{ key: "t", effect: "Never" }] } } } },
    { spec: { nonsense: true } },
    {},
  ),
  changes: oneOf(
    { spec: { weight: 10 } },
    { spec: { limits: { cpu: "10" } } },
    { spec: { disruption: { budgets: [{ nodes: "0" }] } } },
    { spec: { disruption: { budgets: [] } } },
    { spec: { template: { metadata: { labels: { team: "x" } } } } },
    { spec: { template: { metadata: { labels: { "karpenter.sh/nodepool": "x" } } } } },
    { status: { resources: { cpu: "1" } } },
  ),
  statuses: oneOf({ status: { resources: { cpu: "4", nodes: "2" } } }, { status: { resources: { cpu: true } } }),
};

export const nodeClaims: Habits = {
  subject: {
    resource: { group: "karpenter.sh", version: "v1", plural: "nodeclaims", kind: "NodeClaim", namespaced: false },
    plain: { spec: {} },
  },
  weight: 2,
  bodies: oneOf(
    { spec: {} },
    { spec: { requirements: [requirement], terminationGracePeriod: "1h", expireAfter: "720h" } },
    { spec: { requirements: [{ key: "a", operator: "Near" }] } },
    { spec: { expireAfter: "soon" } },
  ),
  changes: oneOf(
    { spec: { expireAfter: "1h" } },
    { metadata: { labels: { "karpenter.sh/nodepool": "p" } } },
    { status: { nodeName: "n" } },
  ),
  statuses: oneOf(
    { status: { nodeName: "n1", providerID: "sim://1" } },
    {
      status: {
        conditions: [
          {
            type: "Launched",
            status: "True",
            reason: "Launched",
            message: "",
            lastTransitionTime: "2020-01-01T00:00:00Z",
          },
        ],
      },
    },
    { status: { conditions: [{ type: "Launched", status: "Perhaps" }] } },
  ),
};

const remediationTemplate = {
  apiVersion: "fettle.dev/v1alpha1",
  kind: "ReplaceRemediationTemplate",
  name: "default",
};

export const nodeHealthChecks: Habits = {
  subject: {
    resource: {
      group: "remediation.medik8s.io",
      version: "v1alpha1",
      plural: "nodehealthchecks",
      kind: "NodeHealthCheck",
      namespaced: false,
    },
    plain: { spec: { remediationTemplate } },
  },
  weight: 2,
  bodies: oneOf(
    { spec: { selector: {}, remediationTemplate } },
    { spec: { remediationTemplate } },
    {
      spec: {
        selector: { matchLabels: { role: "worker" } },
        maxUnhealthy: "40%",
        unhealthyConditions: [{ type: "Ready", status: "False", duration: "300s" }],
        remediationTemplate,
      },
    },
    { spec: { selector: {} } },
    { spec: { maxUnhealthy: "140%", remediationTemplate } },
    { spec: { minHealthy: 1, maxUnhealthy: 1, remediationTemplate } },
    { spec: { unhealthyConditions: [{ type: "", status: "x", duration: "long" }] } },
    {},
  ),
  changes: oneOf(
    { spec: { pauseRequests: ["upgrade"] } },
    { spec: { maxUnhealthy: 2 } },
    { spec: { maxUnhealthy: "x" } },
    { spec: null },
  ),
  statuses: oneOf({ status: { healthyNodes: 3, observedNodes: 4 } }, { status: { healthyNodes: "three" } }),
};
