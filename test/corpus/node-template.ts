// What a pool's template and a claim say about a node in the same words.

import type { Manifest } from "../../src/api/meta.ts";
import { at, bad, type Entry, good } from "./entry.ts";
import { nodeClassRef, requirements, taints } from "./shapes.ts";
import * as words from "./words.ts";

export function nodeTemplate(base: Manifest, path: string, who: { mayNameItsPool: boolean }): Entry[] {
  return [
    ...at(base, `${path}.taints`, taints),
    ...at(base, `${path}.startupTaints`, taints),
    ...at(base, `${path}.nodeClassRef`, nodeClassRef),
    ...at(base, `${path}.requirements`, requirements(who)),
    ...at(base, `${path}.terminationGracePeriod`, words.wholeDuration),
    ...at(base, `${path}.readinessTTL`, [
      ...words.duration,
      good("the least there is", "1ns"),
      bad("none at all", "0s"),
      bad("none at all, in other words", "0h0m"),
    ]),
  ];
}
