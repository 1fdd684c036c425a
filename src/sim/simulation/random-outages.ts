// What befalls the whole of a world by chance, beside the troubles of its day: all nodes fall silent at once, or those of
// a zone; somebody takes a right away from the controller; the provider tells of machines as they were.

import { type Dice, diceOf, times } from "./dice.ts";
import type { Act, Entry } from "./scenario.ts";

/** Chance of its own: the rest of a world is the same with outages or without. */
const purpose = 0xdead;
const troubleMinutes = 20 * 60;

export function randomOutages(seed: number): readonly Entry[] {
  const dice = diceOf(seed ^ purpose);
  if (!dice.isLucky(30)) return [];
  return times(dice.whole(1, 2), () => dice.one(outages)(dice, dice.whole(10, troubleMinutes))).flat();
}

const resources = ["nodeactions", "nodeactions/status", "nodeclaims", "nodes", "pods/eviction", "configmaps", "leases"];

const outages: readonly ((dice: Dice, minute: number) => readonly Entry[])[] = [
  (dice, minute) => silence(dice, minute, ""),
  (dice, minute) => silence(dice, minute, "topology.kubernetes.io/zone=test-zone-a"),
  (dice, minute) => {
    const lasts = { for: `${dice.one([1, 10, 60])}m`, resources: [dice.one(resources)] };
    return [{ at: `${minute}m`, do: { api: { fault: "Forbidden", ...lasts } } }];
  },
  (dice, minute) => [{ at: `${minute}m`, do: { provider: { fault: "OldList", for: `${dice.one([10, 60])}m` } } }],
];

/** Shorter than what repair bears, and longer. */
function silence(dice: Dice, minute: number, selector: string): readonly Entry[] {
  const told = (sickness: string): Act => ({
    annotate: { kind: "Node", selector, annotations: { "fettle.dev/simulate": sickness } },
  });
  return [
    { at: `${minute}m`, do: told("silent") },
    { at: `${minute + dice.one([2, 10, 45])}m`, do: told("") },
  ];
}
