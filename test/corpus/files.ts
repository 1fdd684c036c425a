// The manifests that stand in files of their own: those of the project's founding documents, word for word; those that
// Karpenter and medik8s publish, in our own words; and one object of each kind with every field set.

import { kindOf } from "../../src/api/kinds.ts";
import type { Entry, Table, Verdict } from "./entry.ts";
import { type Document, documents, read } from "./manifests.ts";

const accepted: Verdict = { kind: "accepted" };

function table(title: string, entries: readonly Document[], refusedAt: Record<string, readonly string[]>): Table {
  const verdictOf = (file: string): Verdict => {
    const at = refusedAt[file];
    return at === undefined ? accepted : { kind: "refused", at };
  };
  return {
    title,
    entries: entries.map(({ file, yaml, manifest }) => ({ title: file, yaml, manifest, verdict: verdictOf(file) })),
  };
}

const seeds = documents("seeds");

/** Nodes, and the objects of another operator: nobody here judges them. */
export const ofOtherKinds: readonly Document[] = seeds.filter(({ manifest }) => kindOf(manifest) === undefined);

/** "a || b" in an example stands for two manifests: one with the first of each, one with the second. */
function alternatives({ file, yaml }: Document): Entry[] {
  return ["$1", "$2"].map((chosen, index) => {
    const text = yaml.replaceAll(/(\w+) \|\| (\w+)/g, chosen);
    return { title: `${file}, alternative ${index + 1}`, yaml: text, manifest: read(text), verdict: accepted };
  });
}

const seedManifests = table(
  "the seeds",
  seeds.filter(document => !ofOtherKinds.includes(document)),
  {
    // Another seed says that schedule and duration come together or not at all; this one has no duration.
    "002-budget-by-action.yaml": ["spec.disruption.budgets[0]"],
    // Two manifests in one: as it stands, no value is one of those that the seed lists.
    "004-budgets.yaml": ["spec.consolidationPolicy", "spec.consolidateAfter"],
  },
);

const seedAlternatives: Table = {
  title: "the seeds' alternatives",
  entries: seeds.filter(({ yaml }) => yaml.includes(" || ")).flatMap(alternatives),
};

const samples = table("samples of Karpenter and medik8s", documents("samples"), {
  "refused-karpenter-no-values.yaml": ["spec.template.spec.requirements[0]"],
  "refused-karpenter-own-label.yaml": ["spec.template.metadata.labels"],
  "refused-medik8s-both-gates.yaml": ["spec"],
  "refused-medik8s-machines.yaml": ["spec"],
});

const wholes = table("objects with every field", documents("whole"), {});

export const files: readonly Table[] = [seedManifests, seedAlternatives, samples, wholes];
