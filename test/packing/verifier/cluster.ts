// Machines as the verifier sees them: every node, real or to be made, with all that it may still turn out to be, and
// the pods on it.

import { type Pod, podKey } from "../../../src/api/pod.ts";
import type { Labels } from "../../../src/api/selector.ts";
import { isSameTaint, type Taint } from "../../../src/api/taint.ts";
import type { ExistingNode, Problem } from "../../../src/decide/packing/problem.ts";
import { isWanted, repellingTaint } from "./matching.ts";
import { type Amounts, added, amountsOf, requestsOf } from "./requests.ts";

/** One thing that a node is or may become. */
export type Shape = {
  instanceType?: string;
  labels: Labels;
  allocatable: Amounts;
  /** Pods of DaemonSets that are going to run there and do not yet. */
  daemons: readonly Pod[];
  price?: number;
};

export type Machine = {
  name: string;
  /** A real node has one; a node to be made must be right whichever it becomes. Nodes that are alike share them. */
  shapes: readonly Shape[];
  /** Labels that it has beside those of its shapes: its own name. */
  own: Labels;
  taints: readonly Taint[];
  isCordoned: boolean;
  pods: Pod[];
  /** What is set aside beside its pods. */
  reserved: Amounts;
};

/** A machine taken as one of its shapes. */
export type Spot = { machine: Machine; shape: Shape };

export function namespaceOf({ metadata }: Pod): string {
  return metadata.namespace ?? "default";
}

export function hasEnded({ status }: Pod): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function existingMachine(existing: ExistingNode, problem: Problem): Machine {
  const { metadata, spec, status } = existing.node;
  const pods = problem.bound.filter(pod => pod.spec.nodeName === metadata.name && !hasEnded(pod));
  const labels = metadata.labels ?? {};
  const passing = existing.passingTaints ?? [];
  const taints = (spec?.taints ?? []).filter(taint => !passing.some(one => isSameTaint(one, taint)));
  const shape = { labels, allocatable: amountsOf(status?.allocatable), daemons: [] };
  const due = existing.initialized === false ? daemonsOn({ name: metadata.name, labels, taints }, problem) : [];
  return {
    name: metadata.name,
    shapes: [shape],
    own: {},
    taints,
    isCordoned: spec?.unschedulable === true,
    pods,
    reserved: stillDue(due, pods),
  };
}

/** Those of the daemons that a node with these labels and taints would get. */
export function daemonsOn(node: { name: string; labels: Labels; taints: readonly Taint[] }, problem: Problem): Pod[] {
  return problem.daemons.filter(daemon => isWanted(daemon, node) && repellingTaint(daemon, node.taints) === undefined);
}

// Which daemon a pod came from cannot be seen, so that the two sums are compared.
function stillDue(due: readonly Pod[], pods: readonly Pod[]): Amounts {
  const there = pods.filter(({ metadata }) => metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet"));
  const got = added(...there.map(requestsOf));
  return new Map(
    [...added(...due.map(requestsOf))].map(([name, value]) => {
      const rest = value - (got.get(name) ?? 0n);
      return [name, rest > 0n ? rest : 0n];
    }),
  );
}

export function isOn(machine: Machine, pod: Pod): boolean {
  return machine.pods.some(one => podKey(one) === podKey(pod));
}

type Alike = { places: readonly Shape[]; rooms: readonly Shape[] };

const alikeOf = new WeakMap<readonly Shape[], Alike>();
const placesByMachine = new WeakMap<Machine, readonly Shape[]>();
const valuesByMachine = new WeakMap<Machine, Map<string, Set<string | undefined>>>();

// Shapes never change, and a large answer asks about them again and again.
function alike(shapes: readonly Shape[]): Alike {
  const found = alikeOf.get(shapes) ?? {
    places: distinct(shapes, ({ labels }) => JSON.stringify(labels)),
    rooms: distinct(shapes, ({ instanceType, daemons }) => `${instanceType} ${daemons.map(podKey).join()}`),
  };
  alikeOf.set(shapes, found);
  return found;
}

function distinct(shapes: readonly Shape[], text: (shape: Shape) => string): Shape[] {
  return shapes.length < 2 ? [...shapes] : [...new Map(shapes.map(shape => [text(shape), shape])).values()];
}

/** One shape for each set of labels. */
export function placesOf(machine: Machine): readonly Shape[] {
  const { shapes, own } = machine;
  const found =
    placesByMachine.get(machine) ??
    alike(shapes).places.map(shape => ({ ...shape, labels: { ...shape.labels, ...own } }));
  placesByMachine.set(machine, found);
  return found;
}

/** One shape for each amount of room. */
export function roomsOf({ shapes }: Machine): readonly Shape[] {
  return alike(shapes).rooms;
}

/** The values that a label has, or may have, there. */
export function valuesOf(machine: Machine, key: string): Set<string | undefined> {
  const values = valuesByMachine.get(machine) ?? new Map<string, Set<string | undefined>>();
  valuesByMachine.set(machine, values);
  const found = values.get(key) ?? new Set(placesOf(machine).map(({ labels }) => labels[key]));
  values.set(key, found);
  return found;
}
