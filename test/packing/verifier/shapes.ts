// Everything that a node to be made may still become: each instance type, each offering of it that can be had, each
// combination of labels that the requirements leave open. Only keys that somebody asks about are told apart.

import type { InstanceType } from "../../../src/api/instance-type.ts";
import { capacityTypeKey, instanceTypeKey, nodePoolKey, regionKey, zoneKey } from "../../../src/api/node.ts";
import type { NodeRequirement, NodeSelectorTerm } from "../../../src/api/node-selector.ts";
import type { Pod } from "../../../src/api/pod.ts";
import type { Labels } from "../../../src/api/selector.ts";
import type { Taint } from "../../../src/api/taint.ts";
import type { Problem } from "../../../src/decide/packing/problem.ts";
import { daemonsOn, type Shape } from "./cluster.ts";
import { allows } from "./matching.ts";
import { amountsOf } from "./requests.ts";

export type Blueprint = {
  pool: string;
  labels: Labels;
  taints: readonly Taint[];
  /** Of the pool, or of the claim. */
  requirements: readonly NodeRequirement[];
  /** Those that the pods put on it have added. */
  narrowed: readonly NodeRequirement[];
};

/** A provider gives a node these whether or not a pool mentions them. */
const wellKnown = [
  zoneKey,
  regionKey,
  instanceTypeKey,
  capacityTypeKey,
  "kubernetes.io/arch",
  "kubernetes.io/os",
  "node.kubernetes.io/windows-build",
];

/** Without the host's own name, so that nodes that are alike share them. */
export function shapesOf(blueprint: Blueprint, type: InstanceType, problem: Problem): Shape[] {
  const { pool, labels, taints, requirements, narrowed } = blueprint;
  const signature = JSON.stringify([pool, labels, taints, requirements, narrowed]);
  const bySignature = shapesByType.get(type) ?? new Map<string, { problem: Problem; shapes: Shape[] }>();
  shapesByType.set(type, bySignature);
  const known = bySignature.get(signature);
  const shapes = known?.problem === problem ? known.shapes : makeShapes(blueprint, type, problem);
  bySignature.set(signature, { problem, shapes });
  return shapes;
}

/**
 * The same where room is kept for each daemon that a node of the pool might get, before its pods narrow it down: what a
 * packing that does not look so far ahead may do.
 */
export function roomyShapesOf(blueprint: Blueprint, type: InstanceType, problem: Problem): Shape[] {
  const possible = shapesOf({ ...blueprint, narrowed: [] }, type, problem);
  const daemons = [...new Set(possible.flatMap(shape => shape.daemons))];
  return shapesOf(blueprint, type, problem).map(shape => ({ ...shape, daemons }));
}

// Nodes of one pool differ in their names and little else.
const shapesByType = new WeakMap<InstanceType, Map<string, { problem: Problem; shapes: Shape[] }>>();

/** Without the host's own name; nobody who knows one would ask a new node for it. */
function makeShapes(
  { pool, labels, taints, requirements, narrowed }: Blueprint,
  type: InstanceType,
  problem: Problem,
): Shape[] {
  const fixed = { ...labels, [nodePoolKey]: pool, [instanceTypeKey]: type.name };
  const certain = Object.entries(fixed).map(([key, value]) => ({ key, operator: "In" as const, values: [value] }));
  const allocatable = amountsOf(type.allocatable);
  const asked = keysAskedFor(problem);
  const byLabels = new Map<string, Shape>();
  for (const offering of type.offerings) {
    if (!offering.available) continue;
    const own = [...certain, ...requirements, ...type.requirements, ...offering.requirements];
    const known = new Set([...wellKnown, ...own.map(({ key }) => key)]);
    const all = [...own, ...narrowed.filter(({ key }) => known.has(key))];
    for (const found of labelsThatHold(all, asked)) {
      if (!narrowed.every(one => allows(one, found[one.key]))) continue;
      const told = Object.fromEntries(Object.entries(found).filter(([key]) => asked.has(key)));
      const text = JSON.stringify(told);
      const price = Math.min(offering.price, byLabels.get(text)?.price ?? Number.POSITIVE_INFINITY);
      const daemons = daemonsOn({ name: "", labels: told, taints }, problem);
      byLabels.set(text, { instanceType: type.name, labels: told, allocatable, daemons, price });
    }
  }
  return [...byLabels.values()];
}

/** All ways to fill in the labels. A key of which only is known what it is not has no label. */
function labelsThatHold(requirements: readonly NodeRequirement[], asked: ReadonlySet<string>): Labels[] {
  let found: Labels[] = [{}];
  for (const key of new Set(requirements.map(one => one.key))) {
    const own = requirements.filter(one => one.key === key);
    const lists = own.flatMap(({ operator, values }) => (operator === "In" ? [values ?? []] : []));
    const [first] = lists;
    if (first === undefined) continue;
    const values = [...new Set(first)].filter(value => own.every(one => allows(one, value)));
    const chosen = asked.has(key) ? values : values.slice(0, 1);
    found = found.flatMap(labels => chosen.map(value => ({ ...labels, [key]: value })));
  }
  return found;
}

const askedFor = new WeakMap<Problem, ReadonlySet<string>>();

function keysAskedFor(problem: Problem): ReadonlySet<string> {
  const known = askedFor.get(problem);
  if (known !== undefined) return known;
  const pods = [...problem.pods, ...problem.bound, ...problem.daemons, ...problem.upcoming.flatMap(one => one.pods)];
  const ofVolumes = problem.volumes.flatMap(({ metadata, spec }) => [
    ...Object.keys(metadata.labels ?? {}),
    ...(spec.nodeAffinity?.required?.nodeSelectorTerms ?? []).flatMap(keysOfTerm),
  ]);
  const ofClasses = problem.storageClasses
    .flatMap(({ allowedTopologies = [] }) => allowedTopologies)
    .flatMap(({ matchLabelExpressions = [] }) => matchLabelExpressions.map(({ key }) => key));
  const keys = new Set([zoneKey, regionKey, ...pods.flatMap(keysOfPod), ...ofVolumes, ...ofClasses]);
  askedFor.set(problem, keys);
  return keys;
}

function keysOfPod({ spec }: Pod): string[] {
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const terms = nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const podTerms = [podAffinity, podAntiAffinity].flatMap(
    one => one?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
  );
  const places = [...podTerms, ...(spec.topologySpreadConstraints ?? [])].map(({ topologyKey }) => topologyKey);
  return [...Object.keys(spec.nodeSelector ?? {}), ...terms.flatMap(keysOfTerm), ...places];
}

function keysOfTerm({ matchExpressions = [] }: NodeSelectorTerm): string[] {
  return matchExpressions.map(({ key }) => key);
}
