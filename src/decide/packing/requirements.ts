// Requirements on the labels of one node, by key: all of them must hold. Equal ones are one object, so that what was
// found out about them once need not be found out again.

import type { NodeRequirement, NodeSelectorTerm } from "../../api/node-selector.ts";
import { readyTerms } from "../../api/node-selector.ts";
import type { Labels } from "../../api/selector.ts";
import { intersect, oneOf, setSignature, type ValueSet, valueSet } from "./value-set.ts";

export type SetByKey = ReadonlyMap<string, ValueSet>;

export type Requirements = { readonly id: number; readonly signature: string; readonly sets: SetByKey };

/** The node's name, which field selectors ask for. No label has such a key. */
export const nameField = "metadata.name";

export class RequirementTable {
  readonly #bySignature = new Map<string, Requirements>();
  readonly #setByValue = new Map<string, ValueSet>();
  readonly #setByText = new Map<string, ValueSet>();

  /** No requirements at all. */
  readonly none = this.intern(new Map());

  /** The set of a requirement; equal ones are one object. */
  set(requirement: NodeRequirement): ValueSet {
    const { operator, values } = requirement;
    // One value is what most have, and needs no text of its own.
    const only = operator === "In" && values?.length === 1 ? values[0] : undefined;
    const known = only === undefined ? this.#setByText : this.#setByValue;
    const text = only ?? `${operator} ${JSON.stringify(values ?? [])}`;
    let set = known.get(text);
    if (set === undefined) {
      set = valueSet(requirement);
      known.set(text, set);
    }
    return set;
  }

  intern(sets: SetByKey): Requirements {
    const signature = [...sets]
      .map(([key, set]) => `${key} ${setSignature(set)}`)
      .sort()
      .join("\n");
    let known = this.#bySignature.get(signature);
    if (known === undefined) {
      known = { id: this.#bySignature.size, signature, sets };
      this.#bySignature.set(signature, known);
    }
    return known;
  }
}

export function setsOfLabels(labels: Labels | undefined): Map<string, ValueSet> {
  return new Map(Object.entries(labels ?? {}).map(([key, value]) => [key, oneOf([value])]));
}

export function setsOfRequirements(
  requirements: readonly NodeRequirement[],
  setOf: (requirement: NodeRequirement) => ValueSet = valueSet,
): Map<string, ValueSet> {
  const sets = new Map<string, ValueSet>();
  for (const requirement of requirements) add(sets, requirement.key, setOf(requirement));
  return sets;
}

/** The terms that some node could match: those that cannot be read, and empty ones, match none. */
export function setsOfTerms(terms: readonly NodeSelectorTerm[]): SetByKey[] {
  return terms.flatMap(term => {
    const [ready] = readyTerms({ nodeSelectorTerms: [term] });
    if (ready === undefined || "error" in ready) return [];
    return [setsOfRequirements([...(term.matchExpressions ?? []), ...(term.matchFields ?? [])])];
  });
}

export function joined(a: SetByKey, b: SetByKey): Map<string, ValueSet> {
  const sets = new Map(a);
  for (const [key, set] of b) add(sets, key, set);
  return sets;
}

/** Either of one and either of the other: all pairs. */
export function pairs(left: readonly SetByKey[], right: readonly SetByKey[]): SetByKey[] {
  return left.flatMap(a => right.map(b => joined(a, b)));
}

function add(sets: Map<string, ValueSet>, key: string, set: ValueSet): void {
  const before = sets.get(key);
  sets.set(key, before === undefined ? set : intersect(before, set));
}
