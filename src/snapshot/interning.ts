// One copy of what thousands of pods have in common: names of nodes and namespaces, sets of labels, what they ask
// of a node.

import { isEqual } from "../api/schema/correlate.ts";
import type { Labels } from "../api/selector.ts";
import type { PodNeeds } from "./pod-needs.ts";

// When full it starts anew: what comes then is kept once more, which costs memory and nothing else.
const ENTRIES_MAX = 20_000;

export class Interning {
  readonly #texts = new Map<string, string>();
  readonly #labels = new Map<string, Labels>();
  readonly #needs = new Map<string, PodNeeds>();

  text<T extends string | undefined>(value: T): T {
    return value === undefined ? value : (once(this.#texts, value, value) as T);
  }

  /** `known`: what was kept of the object so far. Nearly always it is the same, and to compare is less than to write out. */
  labels(labels: Labels, known?: Labels): Labels {
    return isEqual(known, labels) ? (known as Labels) : once(this.#labels, JSON.stringify(labels), labels);
  }

  needs(needs: PodNeeds, known?: PodNeeds): PodNeeds {
    return isEqual(known, needs) ? (known as PodNeeds) : once(this.#needs, JSON.stringify(needs), needs);
  }
}

function once<V>(table: Map<string, V>, key: string, value: V): V {
  const found = table.get(key);
  if (found !== undefined) return found;
  if (table.size >= ENTRIES_MAX) table.clear();
  table.set(key, value);
  return value;
}
