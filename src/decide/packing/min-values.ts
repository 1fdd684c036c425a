// A pool's demand that so many different values of a label stay possible for each new node: the choice of types must not
// get narrower than that.

import { type OpenNode, typeFits } from "./node-view.ts";
import type { Amounts } from "./resources.ts";
import type { State } from "./template.ts";

/** The key whose values have become too few, if any. */
export function tooFewValues(node: OpenNode, state: State, amounts: Amounts): string | undefined {
  for (const { key, minValues = 0 } of node.template.minValues) {
    const values = new Set<string>();
    for (const [type, set] of node.template.typeSets(key).entries()) {
      if (!Number.isFinite(state.priceByType[type] ?? Number.POSITIVE_INFINITY) || !typeFits(node, type, amounts))
        continue;
      for (const value of set?.values ?? []) values.add(value);
    }
    if (values.size < minValues) return key;
  }
  return undefined;
}
