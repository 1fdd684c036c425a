// The limits over all pools and health checks: one object, named default.

import { at, bad, type Entry, good, needed, type Table } from "./entry.ts";
import { least, whole } from "./manifests.ts";
import { conditions, labelSelector } from "./shapes.ts";
import * as words from "./words.ts";

const policy = least.safetyPolicy();
const full = whole("safety-policy");

const singleton: Table = {
  title: "the one safety policy",
  entries: [
    ...at(policy, "metadata.name", [bad("of another name", "strict"), bad("of 254 characters", "a".repeat(254))]),
    ...at(policy, "", [
      good("without a spec", { apiVersion: policy.apiVersion, kind: policy.kind, metadata: { name: "default" } }),
    ]),
  ],
};

const freeze: Table = {
  title: "freeze, dry run and what is never touched",
  entries: [
    ...at(policy, "spec.dryRun", words.flag),
    ...at(policy, "spec.freeze", [good("with a reason", { reason: "holidays" }), bad("without one", {}, "reason")]),
    ...at(full, "spec.freeze.reason", [...needed, ...words.text({ min: 1, max: 1024 })]),
    ...at(full, "spec.freeze.scope", words.oneOf("Everything", "Disruption")),
    ...at(full, "spec.freeze.until", words.time),
    ...at(policy, "spec.untouchable", [bad("everything", {}), ...notEverything()]),
  ],
};

// An empty selector would mean every node, however it is written; the rest is as everywhere.
function notEverything() {
  return labelSelector.map(({ title, value, verdict }) => {
    const { matchLabels = {}, matchExpressions = [] } = value as { matchLabels?: object; matchExpressions?: unknown[] };
    const empty = Object.keys(matchLabels).length + matchExpressions.length === 0;
    return empty ? bad(title, value) : { title, value, verdict };
  });
}

const cap = (name: string): Entry[] => [
  ...at(policy, `spec.caps.${name}`, [good("with nothing to say", {})]),
  ...at(policy, `spec.caps.${name}.cluster`, words.amount),
  ...at(policy, `spec.caps.${name}.zone`, words.amount),
  ...at(policy, `spec.caps.${name}.perWindow`, [good("with nothing to say", {})]),
  ...at(policy, `spec.caps.${name}.perWindow.nodes`, words.amount),
  ...at(policy, `spec.caps.${name}.perWindow.duration`, [
    good("a minute", "1m"),
    bad("a bit less than a minute", "59.9s"),
    good("a week", "168h"),
    bad("a bit more than a week", "168h0m0.1s"),
    ...words.duration,
  ]),
];

const caps: Table = { title: "caps over all pools", entries: ["repair", "disruption", "all"].flatMap(cap) };

const breadth = (where: string): Entry[] => [
  ...at(policy, `spec.correlatedFailure.${where}.nodes`, words.whole({ min: 1, format: "int32" })),
  ...at(policy, `spec.correlatedFailure.${where}.share`, words.percent),
];

const failures: Table = {
  title: "failures with one cause, and failures that still spread",
  entries: [
    ...at(policy, "spec.correlatedFailure.mode", words.oneOf("Disabled", "Enabled")),
    ...at(policy, "spec.correlatedFailure.within", words.duration),
    ...breadth("cluster"),
    ...breadth("zone"),
    ...at(policy, "spec.correlatedFailure.clearAfter", words.duration),
    ...at(policy, "spec.settle.quiet", [good("switched off", "0s"), ...words.duration]),
    ...at(policy, "spec.settle.max", words.duration),
  ],
};

const count = words.whole({ min: 0 });
const zones = "status.zones[0]";
const failure = "status.correlatedFailures[0]";
const failed = { conditionType: "Ready", conditionStatus: "Unknown", nodes: 1, since: "2026-01-01T00:00:00Z" };

const status: Table = {
  title: "status of the safety policy",
  entries: [
    ...["observedGeneration", "nodes", "goingAway", "goneInWindow"].flatMap(name => at(full, `status.${name}`, count)),
    ...at(full, "status.zones", [
      ...words.list({ max: 1000 }, index => ({ name: `zone-${index}`, nodes: 1, goingAway: 0 })),
      bad(
        "a zone twice",
        [0, 1].map(() => ({ name: "a", nodes: 1, goingAway: 0 })),
        "[1]",
      ),
    ]),
    ...at(full, `${zones}.name`, [...needed, ...words.name]),
    ...at(full, `${zones}.nodes`, [...needed, ...count]),
    ...at(full, `${zones}.goingAway`, [...needed, ...count]),
    ...at(
      full,
      "status.correlatedFailures",
      words.list({ max: 1000 }, () => failed),
    ),
    ...at(full, `${failure}.conditionType`, [...needed, ...words.nodeConditionType]),
    ...at(full, `${failure}.conditionStatus`, [...needed, ...words.nodeConditionStatus]),
    ...at(full, `${failure}.zone`, words.text()),
    ...at(full, `${failure}.nodes`, [...needed, ...count]),
    ...at(full, `${failure}.since`, [...needed, ...words.time]),
    ...at(full, "status.conditions", conditions),
  ],
};

export const safetyPolicy: readonly Table[] = [singleton, freeze, caps, failures, status];
