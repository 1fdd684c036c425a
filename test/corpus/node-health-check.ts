// A health check: what makes a node unhealthy, when the gate closes, which remediation follows.

import { at, bad, type Case, good, needed, type Table } from "./entry.ts";
import { absent } from "./field.ts";
import { least, whole } from "./manifests.ts";
import { conditions, field, item, labelSelector } from "./shapes.ts";
import * as words from "./words.ts";

const check = least.nodeHealthCheck();
const full = whole("node-health-check");
const escalating = whole("node-health-check-other-names");

const template = { apiVersion: "fettle.dev/v1alpha1", kind: "RebootRemediationTemplate", name: "default" };

/** A reference in the spec; the one in the status differs in what it needs. */
const referenceTexts: readonly (readonly [string, Case[]])[] = [
  ["apiVersion", words.name],
  ["name", words.name],
  ["namespace", words.text({ max: 63 })],
  ["uid", words.text({ max: 128 })],
  ["resourceVersion", words.text()],
  ["fieldPath", words.text({ max: 1024 })],
];

const templateReference: Case[] = [
  ...referenceTexts.flatMap(([name, cases]) => field(template, name, cases)),
  ...["apiVersion", "kind", "name"].flatMap(name => field(template, name, needed)),
  ...field(template, "kind", [
    good("of 63 characters", `${"A".repeat(55)}Template`),
    bad("of 64 characters", `${"A".repeat(56)}Template`),
    good("the suffix alone", "Template"),
  ]),
  bad("with an empty kind", { ...template, kind: "" }, "kind", ""),
  bad("that is no template", { ...template, kind: "RebootRemediation" }),
  bad("with the suffix in small letters", { ...template, kind: "Remediationtemplate" }),
];

const unhealthy = { type: "Ready", status: "False", duration: "300s" };

const unhealthyConditions: Case[] = [
  ...words.list({ max: 1000 }, index => ({ ...unhealthy, type: `Type${index}` })),
  good("a type with two statuses", [unhealthy, { ...unhealthy, status: "Unknown" }]),
  bad("a type and status twice", [unhealthy, { ...unhealthy, duration: "10m" }], "[1]"),
  ...item([
    ...["type", "status", "duration"].flatMap(name => field(unhealthy, name, needed)),
    ...field(unhealthy, "type", words.nodeConditionType),
    ...field(unhealthy, "status", words.nodeConditionStatus),
    ...field(unhealthy, "duration", [good("none at all", "0s"), ...words.duration]),
  ]),
];

const spec: Table = {
  title: "spec of a health check",
  entries: [
    ...at(check, "spec.selector", labelSelector),
    ...at(check, "spec.unhealthyConditions", unhealthyConditions),
    ...at(check, "spec.maxUnhealthy", words.amount),
    ...at(check, "spec.minHealthy", words.amount),
    ...at(check, "spec.pauseRequests", [
      ...words.list({ max: 1000 }, index => `Maintenance ${index}`),
      ...item(words.text({ max: 1024 })),
      good("twice the same", ["a", "a"]),
    ]),
    ...at(check, "spec.healthyDelay", words.signedDuration),
    ...at(check, "spec.stormCooldownDuration", words.duration),
    ...at(check, "spec.dryRun", words.flag),
    ...at(check, "spec.remediationTemplate", templateReference),
    ...at(check, "spec", [bad("left out", absent)]),
  ],
};

const deletesMachines = { ...template, kind: "MachineDeletionRemediationTemplate" };
const step = { remediationTemplate: template, order: 1, timeout: "10m" };
const stepBy = (name: string, order: number) => ({ ...step, order, remediationTemplate: { ...template, name } });

const exclusions: Table = {
  title: "what excludes what in a health check",
  entries: at(check, "spec", [
    bad("both sides of the gate", { remediationTemplate: template, minHealthy: 1, maxUnhealthy: 1 }),
    bad("no remediation", { maxUnhealthy: 1 }),
    bad("an empty list of remediations", { escalatingRemediations: [] }),
    good("an empty list beside a template", { remediationTemplate: template, escalatingRemediations: [] }),
    bad("a template and steps", { remediationTemplate: template, escalatingRemediations: [step] }),
    good("deletion of machines without a gate of its own", { remediationTemplate: deletesMachines }),
    good("deletion of machines with minHealthy", { remediationTemplate: deletesMachines, minHealthy: "51%" }),
    bad("deletion of machines with maxUnhealthy", { remediationTemplate: deletesMachines, maxUnhealthy: "49%" }),
    bad("deletion of machines in other letters with maxUnhealthy", {
      remediationTemplate: { ...template, kind: "machinedeletionremediationTemplate" },
      maxUnhealthy: 1,
    }),
    bad("deletion of machines as a later step with maxUnhealthy", {
      escalatingRemediations: [step, { ...step, order: 2, remediationTemplate: deletesMachines }],
      maxUnhealthy: 1,
    }),
  ]),
};

const escalations: Table = {
  title: "steps of remediation",
  entries: [
    ...at(escalating, "spec.escalatingRemediations", [
      good("one", [step]),
      good("out of order", [stepBy("b", 2), step]),
      good(
        "of 100",
        Array.from({ length: 100 }, (_, order) => stepBy(`t${order}`, order)),
      ),
      bad(
        "of 101",
        Array.from({ length: 101 }, (_, order) => stepBy(`t${order}`, order)),
      ),
      bad("an order twice", [step, { ...step, timeout: "5m" }], "[1]"),
      ...item([
        ...["remediationTemplate", "order", "timeout"].flatMap(name => field(step, name, needed)),
        ...field(step, "order", [good("below zero", -1), good("beyond int32", 2147483648), ...words.whole({})]),
        ...field(step, "timeout", [good("a minute", "1m"), bad("a bit less", "59.999s"), ...words.duration]),
        ...field(step, "remediationTemplate", templateReference),
      ]),
    ]),
  ],
};

const remediation = "status.unhealthyNodes[0].remediations[0]";

const status: Table = {
  title: "status of a health check",
  entries: [
    ...["observedGeneration", "observedNodes", "healthyNodes"].flatMap(name =>
      at(full, `status.${name}`, words.whole({ min: 0 })),
    ),
    ...at(full, "status.inFlightRemediations", [
      ...words.map({ max: 2000 }, "2026-01-01T00:00:00Z"),
      bad("a time that is none", { "worker-3": "now" }, "worker-3"),
    ]),
    ...at(full, "status.unhealthyNodes", [
      ...words.list({ max: 2000 }, index => ({ name: `n${index}` })),
      bad("a node twice", [{ name: "a" }, { name: "a" }], "[1]"),
    ]),
    ...at(full, "status.unhealthyNodes[0].name", [...needed, ...words.name]),
    ...at(full, "status.unhealthyNodes[0].conditionsHealthyTimestamp", words.time),
    ...at(full, "status.unhealthyNodes[0].healthyDelayed", words.flag),
    ...at(
      full,
      "status.unhealthyNodes[0].remediations",
      words.list({ max: 100 }, () => ({ resource: {}, started: "2026-01-01T00:00:00Z" })),
    ),
    ...at(full, `${remediation}.resource`, needed),
    ...referenceTexts.flatMap(([name, cases]) => at(full, `${remediation}.resource.${name}`, cases)),
    ...at(full, `${remediation}.resource.kind`, words.kind),
    ...at(full, `${remediation}.started`, [...needed, ...words.time]),
    ...at(full, `${remediation}.timedOut`, words.time),
    ...at(full, `${remediation}.templateName`, words.text()),
    ...at(full, "status.conditions", conditions),
    ...at(full, "status.phase", words.oneOf("Disabled", "Paused", "Remediating", "Enabled")),
    ...at(full, "status.reason", words.text({ max: 4096 })),
    ...at(full, "status.lastUpdateTime", words.time),
  ],
};

export const nodeHealthCheck: readonly Table[] = [spec, exclusions, escalations, status];
