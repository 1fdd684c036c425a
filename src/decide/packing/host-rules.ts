// Whether a pod of some kind may go on a node that exists: the rules about the node alone, remembered, and those about
// the other pods there and elsewhere.

import { leastOf, type Surroundings, type Trouble } from "./admit.ts";
import type { Count } from "./census.ts";
import type { Kind } from "./kind.ts";
import type { Picture } from "./picture.ts";
import type { Amounts } from "./resources.ts";

export type HostTrouble = Trouble | "cordoned" | "volume limit" | "volume in use";

/** Where to ask: a host of a picture, in the light of what is around. */
export type Place = { picture: Picture; index: number; around: Surroundings };

export function hostTrouble(kind: Kind, amounts: Amounts, place: Place): HostTrouble | undefined {
  const { picture, index } = place;
  if (!isAdmitted(kind, place)) return nodeTrouble(kind, place);
  if (!picture.hosts.fits(index, amounts)) return "resources";
  if (!picture.hosts.portsFree(index, kind.ports)) return "host ports";
  if (!picture.hosts.canAttach(index, kind.volumes.attachments)) return "volume limit";
  if (kind.volumes.exclusive.some(claim => (picture.exclusiveUsers.get(claim) ?? 0) > 0)) return "volume in use";
  return othersTrouble(kind, place);
}

/** By the rules about the node alone. */
export function isAdmitted(kind: Kind, place: Place): boolean {
  const { picture, index } = place;
  if (index >= kind.admitted.length) {
    const wider = new Uint8Array(Math.max(picture.hosts.length, index + 1));
    wider.set(kind.admitted);
    kind.admitted = wider;
  }
  if (kind.admitted[index] === 0) kind.admitted[index] = nodeTrouble(kind, place) === undefined ? 1 : 2;
  return kind.admitted[index] === 1;
}

const hard = ["NoSchedule", "NoExecute"];
const hardAndSoft = [...hard, "PreferNoSchedule"];

function nodeTrouble(kind: Kind, { picture: { hosts }, index }: Place): HostTrouble | undefined {
  if (hosts.isCordonedFor(index, kind.tolerations)) return "cordoned";
  const effects = kind.wishes.avoidsPreferNoSchedule ? hardAndSoft : hard;
  if (!hosts.tolerated(index, kind.tolerations, effects)) return "taints";
  return hosts.matches(index, kind.alternatives) ? undefined : "node affinity";
}

function othersTrouble(kind: Kind, { picture, index, around }: Place): HostTrouble | undefined {
  const domain = (count: Count) => picture.hosts.column(count.counter.key)[index] ?? 0;
  const isFree = (count: Count) => domain(count) === 0 || count.counter.count(domain(count)) === 0;
  for (const count of kind.antis) if (!isFree(count)) return "pod anti-affinity";
  for (const count of kind.group.repelled) if (!isFree(count)) return "anti-affinity of other pods";
  for (const { counts, self } of kind.affinities) {
    const isFirst = self && counts.every(({ counter }) => counter.total === 0);
    for (const count of counts) {
      const there = domain(count);
      if (there === 0 || (!isFirst && count.counter.count(there) === 0)) return "pod affinity";
    }
  }
  for (const rule of kind.spreads) {
    const there = domain(rule.count);
    if (there === 0) return "topology spread";
    // A node that the constraint does not count has none of its pods.
    const pods = picture.isCountedAt(rule.count, index) ? rule.count.counter.count(there) : 0;
    if (pods + rule.self - leastOf(rule, kind, around) > rule.maxSkew) return "topology spread";
  }
  return undefined;
}
