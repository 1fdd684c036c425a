// The whole cluster, and who is where in it: pods that no rule about other pods can tell apart are a crowd, which is
// asked once instead of each of them. Pods are only ever added.

import type { Pod } from "../../../src/api/pod.ts";
import type { Problem } from "../../../src/decide/packing/problem.ts";
import { type Machine, namespaceOf, valuesOf } from "./cluster.ts";

/** How many pods may be where a label has some value, and how many are sure to be. */
export type Presence = { may: number; surely: number };

export class Crowd {
  /** Any one of them: the others have its namespace, labels and rules. */
  readonly sample: Pod;
  readonly countByMachine = new Map<Machine, number>();
  readonly #presenceByKey = new Map<string, Map<string | undefined, Presence>>();

  constructor(sample: Pod) {
    this.sample = sample;
  }

  add(machine: Machine): void {
    this.countByMachine.set(machine, (this.countByMachine.get(machine) ?? 0) + 1);
    for (const [key, presence] of this.#presenceByKey) enter(presence, valuesOf(machine, key), 1);
  }

  /** By value of a label; undefined for nodes without it. */
  presence(key: string): ReadonlyMap<string | undefined, Presence> {
    let presence = this.#presenceByKey.get(key);
    if (presence === undefined) {
      presence = new Map();
      for (const [machine, count] of this.countByMachine) enter(presence, valuesOf(machine, key), count);
      this.#presenceByKey.set(key, presence);
    }
    return presence;
  }
}

/** What is counted for one spread constraint, as pods come. */
export type Tally = { countByPlace: ReadonlyMap<string, Count>; add(pod: Pod, machine: Machine): void };

/** Of one place: the pods that are sure to be there, and those that may be. */
export type Count = { least: number; most: number };

export class Cluster {
  readonly problem: Problem;
  readonly machines: readonly Machine[];
  /** By the text of the constraint and all that it depends on. */
  readonly tallies = new Map<string, Tally>();
  readonly #crowdBySignature = new Map<string, Crowd>();

  constructor(problem: Problem, machines: readonly Machine[]) {
    this.problem = problem;
    this.machines = machines;
    for (const machine of machines) for (const pod of machine.pods) this.#enter(pod, machine);
  }

  put(pod: Pod, machine: Machine): void {
    machine.pods.push(pod);
    this.#enter(pod, machine);
    for (const tally of this.tallies.values()) tally.add(pod, machine);
  }

  #enter(pod: Pod, machine: Machine): void {
    const { metadata, spec } = pod;
    const isEnding = metadata.deletionTimestamp !== undefined;
    const signature = JSON.stringify([namespaceOf(pod), metadata.labels, isEnding, spec.affinity?.podAntiAffinity]);
    const crowd = this.#crowdBySignature.get(signature) ?? new Crowd(pod);
    this.#crowdBySignature.set(signature, crowd);
    crowd.add(machine);
  }

  crowds(): Crowd[] {
    return [...this.#crowdBySignature.values()];
  }
}

function enter(
  presence: Map<string | undefined, Presence>,
  values: ReadonlySet<string | undefined>,
  count: number,
): void {
  for (const value of values) {
    const { may, surely } = presence.get(value) ?? { may: 0, surely: 0 };
    presence.set(value, { may: may + count, surely: surely + (values.size === 1 ? count : 0) });
  }
}
