// A pool apart from its budgets: template, places and exclusions under disruption, repair, limits, replicas.

import { at, bad, type Case, change, good, needed, type Table } from "./entry.ts";
import { absent } from "./field.ts";
import { least, whole } from "./manifests.ts";
import { nodeTemplate } from "./node-template.ts";
import { conditions, item, resources } from "./shapes.ts";
import * as words from "./words.ts";

const pool = least.nodePool();
const full = whole("node-pool");
const policies = words.oneOf("WhenEmpty", "WhenUnderutilized", "WhenEmptyOrUnderutilized", "Balanced");

const disruption: Table = {
  title: "disruption of a pool",
  entries: [
    ...at(pool, "spec.disruption.consolidationPolicy", policies),
    ...at(pool, "spec.consolidationPolicy", policies),
    ...at(pool, "spec.disruption.consolidateAfter", words.durationOrNever),
    ...at(pool, "spec.consolidateAfter", words.durationOrNever),
    ...at(pool, "spec.disruption.expireAfter", words.durationOrNever),
    ...at(pool, "spec.disruption.budgetPrecedence", words.oneOf("MostRestrictive", "ActionOverridesAll")),
    ...at(pool, "spec.disruption.minSavings", words.percent),
    ...at(pool, "spec.disruption.maxDoNotDisrupt", words.wholeDuration),
    ...at(pool, "spec", [
      good("consolidation under spec and the rest under disruption", {
        consolidationPolicy: "WhenEmpty",
        disruption: { consolidateAfter: "1m" },
      }),
      bad("the policy in both places", {
        consolidationPolicy: "WhenEmpty",
        disruption: { consolidationPolicy: "WhenEmpty" },
      }),
      bad("the time in both places", { consolidateAfter: "1m", disruption: { consolidateAfter: "1m" } }),
      bad("expiry in both places", { disruption: { expireAfter: "1h" }, template: { spec: { expireAfter: "1h" } } }),
      good("expiry as v1beta1 has it beside a template", { disruption: { expireAfter: "1h" }, template: { spec: {} } }),
      bad("two faults at once", { consolidateAfter: "soon", weight: 101 }, "consolidateAfter", "weight"),
    ]),
  ],
};

const amounts: Table = {
  title: "size and order of a pool",
  entries: [
    ...at(pool, "spec.limits", resources),
    ...at(pool, "spec.weight", words.whole({ min: 1, max: 100, format: "int32" })),
    ...at(pool, "spec.replicas", words.whole({ min: 0, max: 2147483647 })),
    ...at(pool, "spec.podPlacement", words.oneOf("Scheduler", "Planned")),
    ...at(pool, "spec.dryRun", words.flag),
    ...at(pool, "spec", [
      good("replicas with a limit on nodes", { replicas: 3, limits: { nodes: 5 } }),
      bad("replicas with a limit on anything else", { replicas: 3, limits: { nodes: 5, cpu: 100 } }),
      bad("replicas with a weight", { replicas: 3, weight: 1 }),
    ]),
  ],
};

const repairPolicy = "spec.repair.policies[0]";
const modes = words.oneOf("Disabled", "DryRun", "Enabled");
const terminations = words.oneOf("Forceful", "Graceful");
const actions = words.oneOf("Replace", "Reboot");
const attempts = words.whole({ min: 1, max: 10, format: "int32" });

const reasons: Case[] = [
  ...words.list({ max: 50 }, index => `Reason${index}`),
  ...item(words.text({ min: 1, max: 256 })),
  good("with a star", ["Nvidia*Error"]),
  bad("a reason twice", ["A", "A"], "[1]"),
];

const repair: Table = {
  title: "repair of a pool",
  entries: [
    ...at(pool, "spec.repair", [good("by the defaults", {}), bad("switched off by a word", "Disabled")]),
    ...at(pool, "spec.repair.mode", modes),
    ...at(pool, "spec.repair.defaultTolerationDuration", words.duration),
    ...at(pool, "spec.repair.maxUnhealthy", words.amount),
    ...at(pool, "spec.repair.termination", terminations),
    ...at(pool, "spec.repair.action", actions),
    ...at(pool, "spec.repair.escalateAfter", words.duration),
    ...at(pool, "spec.repair.attempts", attempts),
    ...at(pool, "spec.repair.flappingWindow", words.duration),
    ...at(
      pool,
      "spec.repair.policies",
      words.list({ max: 50 }, () => ({ conditionType: "Ready", toleration: "0s" })),
    ),
    ...at(full, `${repairPolicy}.conditionType`, [...needed, ...words.conditionType]),
    ...at(full, `${repairPolicy}.conditionStatus`, words.conditionStatus),
    ...at(full, `${repairPolicy}.conditionReasons`, reasons),
    ...at(full, `${repairPolicy}.toleration`, [...needed, good("none at all", "0s"), ...words.duration]),
    ...at(full, `${repairPolicy}.priority`, words.whole({ min: 0, max: 100, format: "int32" })),
    ...at(full, `${repairPolicy}.mode`, modes),
    ...at(full, `${repairPolicy}.maxUnhealthy`, words.amount),
    ...at(full, `${repairPolicy}.termination`, terminations),
    ...at(full, `${repairPolicy}.action`, actions),
    ...at(full, `${repairPolicy}.escalateAfter`, words.duration),
    ...at(full, `${repairPolicy}.attempts`, attempts),
  ],
};

const status: Table = {
  title: "status of a pool",
  entries: [
    ...at(full, "status.resources", resources),
    ...at(full, "status.nodes", words.whole({ min: 0 })),
    ...at(full, "status.unhealthyNodes", words.whole({ min: 0 })),
    ...at(full, "status.nodeClassObservedGeneration", words.whole({})),
    ...at(full, "status.launchBackoff.failures", [...needed, ...words.whole({ min: 0 })]),
    ...at(full, "status.launchBackoff.until", [...needed, ...words.time]),
    ...at(full, "status.conditions", conditions),
  ],
};

const classRef = (ref: object) => least.nodePool({ template: { spec: { nodeClassRef: ref } } });
const ours = { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" };
const classPath = "spec.template.spec.nodeClassRef";

const changes: Table = {
  title: "changes to a pool",
  entries: [
    change("another class of the same kind", [classRef(ours), classRef({ ...ours, name: "other" })]),
    change("a class of another kind", [classRef(ours), classRef({ ...ours, kind: "Other" })], classPath),
    change("a class of another group", [classRef(ours), classRef({ ...ours, group: "example.com" })], classPath),
    change("the group written as apiVersion", [
      classRef(ours),
      classRef({ apiVersion: "fettle.dev/v1alpha1", kind: ours.kind, name: "default" }),
    ]),
    change("a class where there was none", [pool, classRef(ours)]),
    change("no class where there was one", [classRef(ours), pool], "spec"),
    change("more replicas", [least.nodePool({ replicas: 1 }), least.nodePool({ replicas: 2 })]),
    change("replicas where there were none", [pool, least.nodePool({ replicas: 2 })], "spec"),
    change("no replicas where there were some", [least.nodePool({ replicas: 2 }), pool], "spec"),
    change("another readiness time: no drift, no rule", [
      least.nodePool({ template: { spec: { readinessTTL: "15m" } } }),
      least.nodePool({ template: { spec: { readinessTTL: "30m" } } }),
    ]),
    change("a value out of bounds", [pool, least.nodePool({ weight: 101 })], "spec.weight"),
    change("from v1 to v1beta1", [pool, { ...pool, apiVersion: "karpenter.sh/v1beta1" }]),
  ],
};

const template: Table = {
  title: "template of a pool",
  entries: [
    ...at(pool, "spec.template", [good("empty", {}), good("with empty parts", { metadata: {}, spec: {} })]),
    ...at(pool, "spec.template.metadata.labels", [
      ...words.map({ max: 100 }, "v"),
      good("a key with a domain", { "example.com/team": "a" }),
      good("a name of 63 characters", { [`example.com/${"a".repeat(63)}`]: "a" }),
      bad("a name of 64 characters", { [`example.com/${"a".repeat(64)}`]: "a" }),
      bad("a key of 317 characters", { [`${"a".repeat(253)}/${"a".repeat(63)}`]: "a" }),
      bad("an empty key", { "": "a" }),
      good("the capacity type", { "karpenter.sh/capacity-type": "spot" }),
      bad("another key of karpenter.sh", { "karpenter.sh/initialized": "true" }),
      bad("a key of a subdomain of karpenter.sh", { "compatibility.karpenter.sh/a": "b" }),
      bad("the pool's own key", { "karpenter.sh/nodepool": "least" }),
      bad("the host name", { "kubernetes.io/hostname": "a" }),
      good("a value of 63 characters", { team: "a".repeat(63) }),
      bad("a value of 64 characters", { team: "a".repeat(64) }, "team"),
      bad("a value with a space", { team: "a b" }, "team"),
    ]),
    ...at(pool, "spec.template.metadata.annotations", [
      ...words.map({ max: 10000 }, "v"),
      good("any text", { "example.com/owner": "Payments, 3rd floor" }),
      good("a value of 262144 characters", { note: "a".repeat(262144) }),
      bad("a value of 262145 characters", { note: "a".repeat(262145) }, "note"),
      bad("a number", { note: 5 }, "note"),
    ]),
    ...at(pool, "spec.template.metadata", [bad("a name, which each node gets by itself", { name: "a" }, "name")]),
    ...at(pool, "spec.template.spec.expireAfter", words.durationOrNever),
    ...nodeTemplate(pool, "spec.template.spec", { mayNameItsPool: false }),
  ],
};

const names: Table = {
  title: "name of a pool, which becomes a label value",
  entries: [
    ...at(pool, "metadata.name", [
      good("of 63 characters", "a".repeat(63)),
      bad("of 64 characters", "a".repeat(64)),
      bad("of 254 characters", "a".repeat(254)),
    ]),
    ...at(pool, "spec", [bad("left out", absent)]),
  ],
};

export const nodePool: readonly Table[] = [names, template, disruption, amounts, repair, status, changes];
