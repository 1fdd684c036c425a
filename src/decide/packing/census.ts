// Who is where: groups of pods with equal labels, and counters of the pods that some rule looks at. A counter is made
// when the first rule asks for it, from those who are there, and kept up to date from then on.

import { hostnameKey } from "../../api/node.ts";
import type { Labels } from "../../api/selector.ts";
import type { Toleration } from "../../api/taint.ts";
import { Counter } from "./counter.ts";
import { type AffinityTerm, type PodLabels, type PodSet, selects } from "./pod-terms.ts";
import type { Requirements } from "./requirements.ts";

/** Which nodes a spread constraint counts: those with all its keys that the pod's own rules admit. */
export type NodeFilter = {
  keys: readonly string[];
  /** Undefined: nodes are counted whatever the pod's node affinity says. */
  alternatives: readonly Requirements[] | undefined;
  /** Undefined: taints do not matter. */
  tolerations: readonly Toleration[] | undefined;
};

export type Count = {
  counter: Counter;
  /** Pods must be in all of these sets. */
  pods: readonly PodSet[];
  filter: NodeFilter | undefined;
  isHost: boolean;
};

export type LabelGroup = PodLabels & {
  /** Counts that this group's pods are part of. */
  readonly counted: Count[];
  /** Anti-affinity of other pods that is directed at this group. */
  readonly repelled: Count[];
  /** How many of its pods are on which hosts, by the hosts' numbers: those that stay, and those on their way out. */
  readonly staying: Map<number, number>;
  readonly leaving: Map<number, number>;
};

/** Counts by a label that their pods must have, so that a group of pods is held against few of them. */
class CountTable {
  readonly bySignature = new Map<string, Count>();
  readonly #byAnchor = new Map<string | undefined, Count[]>();

  add(signature: string, count: Count): void {
    this.bySignature.set(signature, count);
    append(this.#byAnchor, anchorOf(count), count);
  }

  /** Those that count the group's pods. */
  of(group: PodLabels): Count[] {
    const anchors = [undefined, ...anchorsOf(group)];
    return anchors.flatMap(anchor => (this.#byAnchor.get(anchor) ?? []).filter(count => isCounted(count, group)));
  }

  clear(): void {
    this.bySignature.clear();
    this.#byAnchor.clear();
  }
}

export class Census {
  readonly #groups = new Map<string, LabelGroup>();
  readonly #groupsByAnchor = new Map<string, LabelGroup[]>();
  readonly #counts = new CountTable();
  readonly #repellers = new CountTable();

  group(namespace: string, labels: Labels): LabelGroup {
    const signature = `${namespace}\n${JSON.stringify(labels)}`;
    let group = this.#groups.get(signature);
    if (group === undefined) {
      group = { namespace, labels, counted: [], repelled: [], staying: new Map(), leaving: new Map() };
      for (const count of this.#counts.of(group)) enter(group.counted, count);
      for (const count of this.#repellers.of(group)) enter(group.repelled, count);
      this.#groups.set(signature, group);
      for (const anchor of anchorsOf(group)) append(this.#groupsByAnchor, anchor, group);
    }
    return group;
  }

  /** `made` is called for a new one, to count those who are there already. */
  count(key: string, pods: readonly PodSet[], filter: NodeFilter | undefined, made: (count: Count) => void): Count {
    const signature = [key, ...pods.map(set => set.signature), filter ? filterSignature(filter) : ""].join("\n");
    let count = this.#counts.bySignature.get(signature);
    if (count === undefined) {
      count = { counter: new Counter(key, signature), pods, filter, isHost: key === hostnameKey };
      this.#counts.add(signature, count);
      for (const group of this.members(count)) enter(group.counted, count);
      made(count);
    }
    return count;
  }

  /** The pods that bear this term. They are many or few, but all of them are entered from the start. */
  repeller({ key, pods }: AffinityTerm): Count {
    const signature = `${key}\n${pods.signature}`;
    let count = this.#repellers.bySignature.get(signature);
    if (count === undefined) {
      count = { counter: new Counter(key, signature), pods: [pods], filter: undefined, isHost: key === hostnameKey };
      this.#repellers.add(signature, count);
      for (const group of this.members(count)) enter(group.repelled, count);
    }
    return count;
  }

  /** The groups that a count looks at. */
  members(count: Count): LabelGroup[] {
    const anchor = anchorOf(count);
    const candidates = anchor === undefined ? [...this.#groups.values()] : (this.#groupsByAnchor.get(anchor) ?? []);
    return candidates.filter(group => isCounted(count, group));
  }

  /** Who came to a host, or went from it. */
  seat(
    { staying, leaving }: LabelGroup,
    host: number,
    { by, terminating }: { by: number; terminating: boolean },
  ): void {
    const seats = terminating ? leaving : staying;
    const count = (seats.get(host) ?? 0) + by;
    if (count === 0) seats.delete(host);
    else seats.set(host, count);
  }

  /** Of who repels whom nothing is forgotten; the other counts are made anew when a rule asks for them. */
  forgetCounts(): void {
    this.#counts.clear();
    for (const group of this.#groups.values()) group.counted.length = 0;
  }

  counts(): Iterable<Count> {
    return this.#counts.bySignature.values();
  }
}

// A label that every pod of the count has; undefined: none that can be named.
function anchorOf({ pods }: Count): string | undefined {
  for (const { selector = [] } of pods) {
    for (const { key, operator, values } of selector) {
      if (values.length === 1 && (operator === "=" || operator === "in")) return `${key}=${values[0]}`;
    }
  }
  return undefined;
}

function anchorsOf({ labels }: PodLabels): string[] {
  return Object.entries(labels).map(([key, value]) => `${key}=${value}`);
}

function append<K, T>(lists: Map<K, T[]>, key: K, item: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

export function isCounted({ pods, filter }: Count, group: PodLabels): boolean {
  // Kubernetes counts nobody for a spread constraint whose selector is empty.
  if (filter !== undefined && pods.some(({ selector }) => selector?.length === 0)) return false;
  return pods.every(set => selects(set, group));
}

// In an order that does not depend on who was met first.
function enter(counts: Count[], count: Count): void {
  const at = counts.findIndex(other => other.counter.signature > count.counter.signature);
  counts.splice(at < 0 ? counts.length : at, 0, count);
}

function filterSignature({ keys, alternatives, tolerations }: NodeFilter): string {
  const places = alternatives?.map(({ signature }) => signature).join(" or ") ?? "*";
  return `spread ${keys.join(",")} ${places} ${tolerations ? JSON.stringify(tolerations) : "*"}`;
}
