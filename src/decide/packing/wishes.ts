// What a pod asks for beside resources, and in which order it gives up what it only prefers: pod affinity, then pod
// anti-affinity, then node affinity, the heaviest of each first, then spreading that may be left undone, then taints
// that only prefer to keep pods away. The order is Karpenter's; what is required is never given up.

import type { NodeSelectorTerm } from "../../api/node-selector.ts";
import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from "../../api/pod.ts";

type Weighted<T> = readonly { weight: number; wish: T }[];

export type Wishes = {
  affinity: readonly PodAffinityTerm[];
  antiAffinity: readonly PodAffinityTerm[];
  spread: readonly TopologySpreadConstraint[];
  /** Heaviest first; treated as required until given up. Of the node terms only the heaviest counts at a time. */
  preferredAffinity: Weighted<PodAffinityTerm>;
  preferredAntiAffinity: Weighted<PodAffinityTerm>;
  preferredNodes: Weighted<NodeSelectorTerm>;
  preferredSpread: readonly TopologySpreadConstraint[];
  avoidsPreferNoSchedule: boolean;
  /** What was given up so far, in words. */
  relaxed: readonly string[];
};

export function wishesOf({ spec }: Pod): Wishes {
  const { nodeAffinity, podAffinity, podAntiAffinity } = spec.affinity ?? {};
  const spread = spec.topologySpreadConstraints ?? [];
  return {
    affinity: podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
    antiAffinity: podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [],
    spread: spread.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "DoNotSchedule"),
    preferredAffinity: heaviestFirst(podTerms(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution)),
    preferredAntiAffinity: heaviestFirst(podTerms(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution)),
    preferredNodes: heaviestFirst(
      (nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ weight, preference }) => ({
        weight,
        wish: preference,
      })),
    ),
    preferredSpread: spread.filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway"),
    avoidsPreferNoSchedule: true,
    relaxed: [],
  };
}

/** One wish less; undefined: nothing is left to give up. */
export function relax(wishes: Wishes): Wishes | undefined {
  const [affinity, ...otherAffinity] = wishes.preferredAffinity;
  if (affinity)
    return without(wishes, { preferredAffinity: otherAffinity }, `pod affinity on ${affinity.wish.topologyKey}`);
  const [anti, ...otherAnti] = wishes.preferredAntiAffinity;
  if (anti)
    return without(wishes, { preferredAntiAffinity: otherAnti }, `pod anti-affinity on ${anti.wish.topologyKey}`);
  const [nodes, ...otherNodes] = wishes.preferredNodes;
  if (nodes) return without(wishes, { preferredNodes: otherNodes }, `node affinity ${keysOf(nodes.wish)}`);
  const [spread, ...otherSpread] = wishes.preferredSpread;
  if (spread) return without(wishes, { preferredSpread: otherSpread }, `spread over ${spread.topologyKey}`);
  if (wishes.avoidsPreferNoSchedule) {
    return without(wishes, { avoidsPreferNoSchedule: false }, "to avoid PreferNoSchedule taints");
  }
  return undefined;
}

/** Nothing but what is required: what the scheduler itself insists on. */
export function required(wishes: Wishes): Wishes {
  const next = relax(wishes);
  return next === undefined ? wishes : required(next);
}

function without(wishes: Wishes, change: Partial<Wishes>, what: string): Wishes {
  return { ...wishes, ...change, relaxed: [...wishes.relaxed, what] };
}

function podTerms(
  terms: readonly { weight: number; podAffinityTerm: PodAffinityTerm }[] = [],
): Weighted<PodAffinityTerm> {
  return terms.map(({ weight, podAffinityTerm }) => ({ weight, wish: podAffinityTerm }));
}

function heaviestFirst<T>(terms: Weighted<T>): Weighted<T> {
  return [...terms].sort((a, b) => b.weight - a.weight);
}

function keysOf(term: NodeSelectorTerm): string {
  return `on ${(term.matchExpressions ?? []).map(({ key }) => key).join(", ")}`;
}
