// Everything that a node to be made may still become: each instance type, each offering of it that can be had, each
// combination of labels that the requirements leave open. Only keys that somebody asks about are told apart.

import type { InstanceType } from "../../../src/api/instance-type.ts";
import {
  capacityTypeKey,
  hostnameKey,
  instanceTypeKey,
  nodePoolKey,
  regionKey,
  zoneKey,
} from "../../../src/api/node.ts";
import type { NodeRequirement, NodeSelectorTerm } from "../../../src/api/node-selector.ts";
import type { Pod } from "../../../src/api/pod.ts";
import type { Labels } from "../../../src/api/selector.ts";
import type { Taint } from "../../../src/api/taint.ts";
import type { Problem } from "../../../src/decide/packing/problem.ts";
import { daemonsOn, type Shape } from "./cluster.ts";
import { allows } from "./matching.ts";
import { amountsOf } from "./requests.ts";

export type Blueprint = {
  name: string;
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

export function shapesOf(blueprint: Blueprint, type: InstanceType, problem: Problem): Shape[] {
  const { name, pool, labels, taints, requirements, narrowed } = blueprint;
  const fixed = { ...labels, [nodePoolKey]: pool, [instanceTypeKey]: type.name, [hostnameKey]: name };
  const certain = Object.entries(fixed).map(
    ([key, value]): NodeRequirement => ({ key, operator: "In", values: [value] }),
  );
  const allocatable = amountsOf(type.allocatable);
  const byLabels = new Map<string, Shape>();
  for (const offering of type.offerings) {
    if (!offering.available) continue;
    const own = [...certain, ...requirements, ...type.requirements, ...offering.requirements];
    const known = new Set([...wellKnown, ...own.map(({ key }) => key)]);
    const all = [...own, ...narrowed.filter(({ key }) => known.has(key))];
    for (const found of labelsThatHold(all, keysAskedFor(problem))) {
      if (!narrowed.every(one => allows(one, found[one.key]))) continue;
      const text = JSON.stringify(found);
      const price = Math.min(offering.price, byLabels.get(text)?.price ?? Number.POSITIVE_INFINITY);
      const daemons = daemonsOn({ name, labels: found, taints }, problem);
      byLabels.set(text, { instanceType: type.name, labels: found, allocatable, daemons, price });
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
  const keys = new Set([...pods.flatMap(keysOfPod), ...ofVolumes, ...ofClasses]);
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
