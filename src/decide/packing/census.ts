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
};

export class Census {
  readonly groups = new Map<string, LabelGroup>();
  readonly #countBySignature = new Map<string, Count>();
  readonly #repellerBySignature = new Map<string, Count>();

  group(namespace: string, labels: Labels): LabelGroup {
    const signature = `${namespace}\n${JSON.stringify(labels)}`;
    let group = this.groups.get(signature);
    if (group === undefined) {
      group = { namespace, labels, counted: [], repelled: [] };
      for (const count of this.#countBySignature.values()) if (isCounted(count, group)) enter(group.counted, count);
      for (const count of this.#repellerBySignature.values()) if (isCounted(count, group)) enter(group.repelled, count);
      this.groups.set(signature, group);
    }
    return group;
  }

  /** `made` is called for a new one, to count those who are there already. */
  count(key: string, pods: readonly PodSet[], filter: NodeFilter | undefined, made: (count: Count) => void): Count {
    const signature = [key, ...pods.map(set => set.signature), filter ? filterSignature(filter) : ""].join("\n");
    let count = this.#countBySignature.get(signature);
    if (count === undefined) {
      count = { counter: new Counter(key, signature), pods, filter, isHost: key === hostnameKey };
      this.#countBySignature.set(signature, count);
      for (const group of this.groups.values()) if (isCounted(count, group)) enter(group.counted, count);
      made(count);
    }
    return count;
  }

  /** The pods that bear this term. They are many or few, but all of them are entered from the start. */
  repeller({ key, pods }: AffinityTerm): Count {
    const signature = `${key}\n${pods.signature}`;
    let count = this.#repellerBySignature.get(signature);
    if (count === undefined) {
      count = { counter: new Counter(key, signature), pods: [pods], filter: undefined, isHost: key === hostnameKey };
      this.#repellerBySignature.set(signature, count);
      for (const group of this.groups.values()) if (isCounted(count, group)) enter(group.repelled, count);
    }
    return count;
  }

  /** Of who repels whom nothing is forgotten; the other counts are made anew when a rule asks for them. */
  forgetCounts(): void {
    this.#countBySignature.clear();
    for (const group of this.groups.values()) group.counted.length = 0;
  }

  counts(): Iterable<Count> {
    return this.#countBySignature.values();
  }
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
