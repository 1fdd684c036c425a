// The one table of what `fettle validate` refuses and an API server does not: what neither pattern nor rule can judge.
// At run time the same finding is a condition, and nothing is done on doubt.

import { at, type Case, offline, type Table } from "./entry.ts";
import { least, whole } from "./manifests.ts";
import { field } from "./shapes.ts";

const pool = least.nodePool();

const budgets = [
  "spec.disruption.budgets[0]",
  ...["actionControls", "genericPerActionControls"].flatMap(name =>
    ["All", "Consolidation", "Emptiness", "Expiration", "Drift"].map(
      action => `spec.disruption.${name}.${action}.budgets[0]`,
    ),
  ),
];

const schedules: Case[] = [
  offline("a minute past the hour's end", "60 9 * * *"),
  offline("an hour past the day's end", "0 24 * * *"),
  offline("a day before the first", "0 9 0 * *"),
  offline("a month past the last", "0 9 * 13 *"),
  offline("a seventh weekday: Sunday is 0", "0 9 * * 7"),
  offline("a range that runs backwards", "0 9 * * fri-mon"),
  offline("a step of nothing", "*/0 9 * * *"),
  offline("a day by a wrong name", "0 9 * * frid"),
  offline("a gap in a list", "1,,2 9 * * *"),
  offline("a last day, which cron has not", "0 9 L * *"),
  offline("a day that never comes", "0 9 30 2 *"),
];

const zones: Case[] = [
  offline("that nobody lives in", "Europe/Atlantis"),
  offline("of one character", "Z"),
  offline("of 64 characters", "A".repeat(64)),
];

const nightly = { schedule: "0 22 * * *", duration: "8h" };
const tooLong: Case[] = [offline("beyond what Go can hold", "2562048h")];
const domain = `${`${"a".repeat(61)}.`.repeat(5)}io`;

const texts = [
  ...budgets.flatMap(path => [
    ...at(pool, path, field({ duration: "8h" }, "schedule", schedules)),
    ...at(pool, path, field({ duration: "8h" }, "crontab", schedules)),
    ...at(pool, path, field(nightly, "timeZone", zones)),
  ]),
  ...at(pool, "spec.disruption.windows[0]", field(nightly, "schedule", schedules)),
  ...at(pool, "spec.disruption.windows[0]", field(nightly, "timeZone", zones)),
  ...["spec.consolidateAfter", "spec.disruption.expireAfter", "spec.template.spec.terminationGracePeriod"].flatMap(
    path => at(pool, path, tooLong),
  ),
  ...at(pool, "spec.repair.defaultTolerationDuration", tooLong),
  ...at(least.nodeHealthCheck(), "spec.stormCooldownDuration", tooLong),
  ...at(least.rebootRemediation(), "spec.timeout", tooLong),
  ...at(pool, "spec.limits.cpu", [offline("an exponent with a point", "1e1.5"), offline("no exponent", "1e.5")]),
];

const taint = { key: "a", effect: "NoSchedule" };

const replace = { apiVersion: "fettle.dev/v1alpha1", kind: "ReplaceRemediationTemplate", name: "default" };

const objects = [
  ...at(pool, "spec.template.spec.taints", [
    offline("a key and effect twice", [taint, { ...taint, value: "b" }], "[1]"),
    offline("a key with a domain that is too long", [{ ...taint, key: `${domain}/a` }], "[0].key"),
  ]),
  ...at(whole("node-claim"), "spec.startupTaints", [
    offline("a key and effect of taints", [{ key: "example.com/dedicated", effect: "NoSchedule" }], "[0]"),
  ]),
  ...at(pool, "spec.template.spec.requirements", [
    offline(
      "capacity types that there are not",
      [{ key: "karpenter.sh/capacity-type", operator: "In", values: ["on_demand"] }],
      "[0].values",
    ),
    offline("a key with a domain that is too long", [{ key: `${domain}/a`, operator: "Exists" }], "[0].key"),
  ]),
  ...at(pool, "spec.template.metadata", [
    offline("a label with a domain that is too long", { labels: { [`${domain}/a`]: "" } }, `labels.${domain}/a`),
    offline("an annotation that is no key", { annotations: { "a b": "" } }, "annotations.a b"),
  ]),
  ...at(least.nodeHealthCheck(), "spec.selector", [offline("a label that cannot be", { matchLabels: { "a b": "c" } })]),
  ...at(whole("node-health-check-other-names"), "spec.escalatingRemediations", [
    offline(
      "a template twice",
      [1, 2].map(order => ({ remediationTemplate: replace, order, timeout: "10m" })),
      "[1].remediationTemplate",
    ),
  ]),
  ...at(least.safetyPolicy(), "spec.untouchable", [
    offline("a label that cannot be", { matchLabels: { "a/b/c": "" } }),
  ]),
  ...at(least.safetyPolicy(), "metadata", [
    offline(
      "an upgrade until no time in particular",
      { name: "default", annotations: { "fettle.dev/cluster-upgrade": "tomorrow" } },
      "annotations.fettle.dev/cluster-upgrade",
    ),
  ]),
];

export const refusedOffline: Table = { title: "refused offline", entries: [...texts, ...objects] };
