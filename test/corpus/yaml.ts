// Texts whose reading is the point: YAML as Kubernetes reads it, with booleans that look like words, numbers that look
// like texts, and merged maps.

import type { Entry, Table, Verdict } from "./entry.ts";
import { read } from "./manifests.ts";

const entry = (title: string, yaml: string, ...at: string[]): Entry => {
  const verdict: Verdict = at.length === 0 ? { kind: "accepted" } : { kind: "refused", at };
  return { title, yaml, manifest: read(yaml), verdict };
};

const pool = (spec: string) => `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: { name: yaml }
spec:
${spec}`;

const check = (condition: string) => `apiVersion: remediation.medik8s.io/v1alpha1
kind: NodeHealthCheck
metadata: { name: yaml }
spec:
  remediationTemplate: { apiVersion: a/v1, kind: ATemplate, name: a }
  unhealthyConditions: [${condition}]
`;

const conditionStatus = "spec.unhealthyConditions[0].status";

const booleans: Table = {
  title: "words that YAML 1.1 takes for booleans",
  entries: [
    entry("yes is true", pool("  dryRun: yes\n")),
    entry("Off is false", pool("  dryRun: Off\n")),
    entry("TRUE is true", pool("  dryRun: TRUE\n")),
    entry("y is true, too", pool("  dryRun: y\n")),
    entry("a quoted true is a word", pool('  dryRun: "true"\n'), "spec.dryRun"),
    entry("an unquoted False is no status", check("{ type: Ready, status: False, duration: 5m }"), conditionStatus),
    entry("a quoted False is one", check('{ type: Ready, status: "False", duration: 5m }')),
    entry("Unknown needs no quotes", check("{ type: Ready, status: Unknown, duration: 5m }")),
    entry(
      "an unquoted true is no label value",
      pool("  template: { metadata: { labels: { gpu: true } } }\n"),
      "spec.template.metadata.labels.gpu",
    ),
    entry(
      "No is no label value either",
      pool("  template: { metadata: { labels: { country: No } } }\n"),
      "spec.template.metadata.labels.country",
    ),
    entry(
      "nor in the object's own labels",
      "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: { name: yaml, labels: { gpu: true } }\nspec: {}\n",
      "metadata",
    ),
  ],
};

const numbers: Table = {
  title: "numbers and texts",
  entries: [
    entry("octal, as of old", pool("  weight: 010\n")),
    entry("octal, as of late", pool("  weight: 0o10\n")),
    entry("hexadecimal", pool("  weight: 0x10\n")),
    entry("an underscore among digits", pool("  weight: 1_0\n")),
    entry("a whole number with a point", pool("  weight: 10.0\n")),
    entry("an exponent", pool("  weight: 1e1\n")),
    entry(
      "a number where a text is wanted",
      check("{ type: Ready, status: Unknown, duration: 300 }"),
      "spec.unhealthyConditions[0].duration",
    ),
    entry("a percentage needs no quotes", pool("  disruption: { budgets: [{ nodes: 10% }] }\n")),
    entry("a quoted count", pool('  disruption: { budgets: [{ nodes: "10" }] }\n')),
    entry("a schedule needs no quotes", pool("  disruption: { windows: [{ schedule: 0 9 * * 1, duration: 1h }] }\n")),
    entry("an hour and minutes are no number", pool("  consolidateAfter: 1:30\n"), "spec.consolidateAfter"),
    entry(
      "a day is no time",
      pool("  template: { spec: { taints: [{ key: a, effect: NoSchedule, timeAdded: 2026-01-01 }] } }\n"),
      "spec.template.spec.taints[0].timeAdded",
    ),
    entry(
      "a time needs no quotes",
      pool("  template: { spec: { taints: [{ key: a, effect: NoSchedule, timeAdded: 2026-01-01T00:00:00Z }] } }\n"),
    ),
    entry("a tilde is null", pool("  weight: ~\n")),
    entry("nothing is null", pool("  weight:\n  repair:\n")),
    entry("a quantity in several lines", pool("  limits:\n    memory: >-\n      16Gi\n")),
  ],
};

const anchors: Table = {
  title: "anchors and merged maps",
  entries: [
    entry(
      "an anchor and its alias",
      pool(
        "  disruption:\n    budgets:\n      - &night { nodes: 5, schedule: '0 22 * * *', duration: 8h }\n      - *night\n",
      ),
    ),
    entry(
      "a map merged into another",
      pool(
        "  disruption:\n    budgets:\n      - &night { nodes: 5, schedule: '0 22 * * *', duration: 8h }\n      - { <<: *night, action: Drift }\n",
      ),
    ),
    entry(
      "a merged map that is wrong",
      pool("  disruption:\n    budgets:\n      - &night { nodes: 5 }\n      - { <<: *night, maxUnavailable: 1 }\n"),
      "spec.disruption.budgets[1]",
    ),
  ],
};

/** Texts that nobody can read. kubectl takes the last of two equal keys; a server and we do not guess. */
export const unreadable: readonly { title: string; yaml: string }[] = [
  { title: "a key twice", yaml: pool("  weight: 1\n  weight: 2\n") },
  { title: "a tab for indentation", yaml: pool("\tweight: 1\n") },
  { title: "a brace that is never closed", yaml: pool("  limits: { cpu: 1\n") },
  { title: "an alias of nothing", yaml: pool("  limits: *nothing\n") },
];

export const yaml: readonly Table[] = [booleans, numbers, anchors];
