// What befalls the whole of a world by chance, beside the troubles of its day: all nodes fall silent at once, or those of
// a zone; somebody takes a right away from the controller; the provider tells of machines as they were. And what comes
// between the controller and its server: the past told again, answers that nobody can read, the loss of its own node.

import { type Dice, diceOf, times } from "./dice.ts";
import type { Act, Entry } from "./scenario.ts";

/** Chance of its own: the rest of a world is the same with outages or without. */
const purpose = 0xdead;
const untruthPurpose = 0xfa15e;
const troubleMinutes = 20 * 60;

export function randomOutages(seed: number): readonly Entry[] {
  return [...drawn(diceOf(seed ^ purpose), outages), ...drawn(diceOf(seed ^ untruthPurpose), untruths)];
}

type Maker = (dice: Dice, minute: number) => readonly Entry[];

function drawn(dice: Dice, makers: readonly Maker[]): readonly Entry[] {
  if (!dice.isLucky(30)) return [];
  return times(dice.whole(1, 2), () => dice.one(makers)(dice, dice.whole(10, troubleMinutes))).flat();
}

const resources = ["nodeactions", "nodeactions/status", "nodeclaims", "nodes", "pods/eviction", "configmaps", "leases"];

const outages: readonly Maker[] = [
  (dice, minute) => silence(dice, minute, ""),
  (dice, minute) => silence(dice, minute, "topology.kubernetes.io/zone=test-zone-a"),
  (dice, minute) => {
    const lasts = { for: `${dice.one([1, 10, 60])}m`, resources: [dice.one(resources)] };
    return [{ at: `${minute}m`, do: { api: { fault: "Forbidden", ...lasts } } }];
  },
  (dice, minute) => [{ at: `${minute}m`, do: { provider: { fault: "OldList", for: `${dice.one([10, 60])}m` } } }],
];

const watched = ["nodes", "nodeclaims", "nodeactions", "pods", "nodepools", "poddisruptionbudgets"];

const untruths: readonly Maker[] = [
  (dice, minute) => {
    const past = { fault: "Past", for: `${dice.one([1, 10, 60])}m`, delay: `${dice.one([10, 60])}m` } as const;
    return [{ at: `${minute}m`, do: { watch: { ...past, ...someOf(dice) } } }];
  },
  (dice, minute) => [{ at: `${minute}m`, do: { watch: { fault: "Garbled", ...someOf(dice) } } }],
  (dice, minute) => {
    const disorder = { fault: "Disorder", for: `${dice.one([10, 60])}m` } as const;
    return [{ at: `${minute}m`, do: { watch: { ...disorder, ...someOf(dice) } } }];
  },
  (dice, minute) => {
    const garbled = { fault: "Garbled", for: `${dice.one([1, 10])}m`, share: dice.one(["100%", "20%"]) } as const;
    return [{ at: `${minute}m`, do: { api: garbled } }];
  },
  ownNode,
];

function someOf(dice: Dice): { resources?: string[] } {
  return dice.isLucky(50) ? { resources: [dice.one(watched)] } : {};
}

/** The only replica comes back once its pod is evicted; of several one is cut off and another leads in its place. */
function ownNode(dice: Dice, minute: number): readonly Entry[] {
  const annotations = { "fettle.dev/simulate": dice.one(["silent", "stuck"]) };
  const lost: Act = { annotate: { kind: "Node", selector: "karpenter.sh/nodepool", count: 1, annotations } };
  const gone: Act = dice.isLucky(50) ? { crash: { downFor: "6m" } } : { pause: { for: "40m" } };
  return [lost, gone].map(act => ({ at: `${minute}m`, do: act }));
}

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
