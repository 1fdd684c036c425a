// Makes a kind of a pod: its rules resolved against the census and the labels that nodes can have.

import { hostnameKey } from "../../api/node.ts";
import type { Pod } from "../../api/pod.ts";
import type { Count, NodeFilter } from "./census.ts";
import type { AffinityRule, Footprint, Kind, SpreadRule } from "./kind.ts";
import type { PictureParts } from "./picture-parts.ts";
import { type AffinityTerm, affinityTerm, selects, spreadPods } from "./pod-terms.ts";
import { pairs, type Requirements, type SetByKey, setsOfLabels, setsOfTerms } from "./requirements.ts";
import { isSure, type State } from "./template.ts";
import { wantsDevices } from "./volumes.ts";
import type { Wishes } from "./wishes.ts";

type Input = { pod: Pod; signature: string; wishes: Wishes; footprint: Footprint };

export function makeKind(picture: PictureParts, { pod, signature, wishes, footprint }: Input): Kind {
  const { group } = footprint;
  const own = requiredPlaces(pod);
  const intern = (places: readonly SetByKey[]) => places.map(sets => picture.table.intern(sets));
  const ownRequirements = intern(own);
  const term = (one: Parameters<typeof affinityTerm>[0]) => affinityTerm(one, group, picture.ground.namespaces);
  const count = (terms: readonly AffinityTerm[], key: string) =>
    picture.census.count(
      key,
      terms.map(({ pods }) => pods),
      undefined,
      made => picture.begin(made),
    );
  const affinity = (terms: readonly AffinityTerm[]): AffinityRule => ({
    counts: [...new Set(terms.map(({ key }) => key))].map(key => count(terms, key)),
    self: terms.every(({ pods }) => selects(pods, group)),
  });
  const antis = [...wishes.antiAffinity, ...wishes.preferredAntiAffinity.map(({ wish }) => wish)].map(term);
  const affinities = [
    ...(wishes.affinity.length > 0 ? [affinity(wishes.affinity.map(term))] : []),
    ...wishes.preferredAffinity.map(({ wish }) => affinity([term(wish)])),
  ];
  const spreads = spreadRules(picture, pod, { wishes, footprint, own: ownRequirements });
  const antiCounts = antis.map(one => count([one], one.key));
  return {
    ...footprint,
    id: picture.kinds.length,
    signature,
    wishes,
    tolerations: pod.spec.tolerations ?? [],
    // Whose volumes cannot be had anywhere can go nowhere. Devices keep a pod from being placed, but no daemon from its room.
    alternatives:
      footprint.volumes.trouble !== undefined && !wantsDevices(pod)
        ? []
        : intern(withPreferred(pairs(own, footprint.volumes.places ?? [new Map()]), wishes)),
    spreads,
    affinities,
    antis: antiCounts,
    asks: [
      ...new Set([...antiCounts, ...affinities.flatMap(({ counts }) => counts), ...spreads.map(one => one.count)]),
    ],
    hostLimits: [
      ...antiCounts.filter(one => one.isHost && group.counted.includes(one)).map(one => ({ count: one, perHost: 1 })),
      ...spreads
        .filter(one => one.count.isHost && one.self === 1)
        .map(one => ({ count: one.count, perHost: one.maxSkew })),
    ],
    isShifting: [...affinities.flatMap(({ counts }) => counts), ...spreads.map(one => one.count)].some(
      one => !one.isHost,
    ),
    admitted: new Uint8Array(picture.hosts.length),
    tolerated: new Uint8Array(picture.pools.length),
  };
}

/** Node selector and required node affinity, as alternatives. */
function requiredPlaces({ spec }: Pod): SetByKey[] {
  const selector = setsOfLabels(spec.nodeSelector);
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  return terms === undefined ? [selector] : pairs([selector], setsOfTerms(terms));
}

function withPreferred(places: readonly SetByKey[], { preferredNodes }: Wishes): readonly SetByKey[] {
  const [heaviest] = preferredNodes;
  return heaviest === undefined ? places : pairs(places, setsOfTerms([heaviest.wish]));
}

type SpreadInput = { wishes: Wishes; footprint: Footprint; own: readonly Requirements[] };

function spreadRules(picture: PictureParts, pod: Pod, { wishes, footprint, own }: SpreadInput): SpreadRule[] {
  const keys = [...new Set(wishes.spread.map(({ topologyKey }) => topologyKey))].sort();
  const isFree = own.every(({ sets }) => sets.size === 0);
  return [...wishes.spread, ...wishes.preferredSpread].map(constraint => {
    const { nodeAffinityPolicy = "Honor", nodeTaintsPolicy = "Ignore", topologyKey, whenUnsatisfiable } = constraint;
    const filter: NodeFilter = {
      // Of hard constraints every key must be on a node for it to count; a soft one cares for its own.
      keys: whenUnsatisfiable === "DoNotSchedule" ? keys : [topologyKey],
      alternatives: nodeAffinityPolicy === "Honor" && !isFree ? own : undefined,
      tolerations: nodeTaintsPolicy === "Honor" ? (pod.spec.tolerations ?? []) : undefined,
    };
    const pods = spreadPods(constraint, footprint.group);
    const count = picture.census.count(topologyKey, [pods], filter, made => {
      picture.begin(made);
      addPoolDomains(picture, pod, made);
    });
    return {
      count,
      maxSkew: constraint.maxSkew,
      minDomains: constraint.minDomains ?? 1,
      self: selects(pods, footprint.group) ? 1 : 0,
    };
  });
}

// A zone without nodes is a domain as soon as a pool can launch one there for the pod; a host is not, for hosts are made
// one by one.
function addPoolDomains(picture: PictureParts, pod: Pod, count: Count): void {
  if (count.isHost) return;
  const domains = new Set<string>();
  for (const { template, limitedNodes } of picture.pools) {
    if (limitedNodes < 1 || !template.toleratedBy(pod.spec.tolerations ?? [], false)) continue;
    const places = count.filter?.alternatives ?? [picture.table.none];
    for (const place of places) {
      const state = withAllKeys(template.join(template.root, place), count.filter?.keys ?? []);
      for (const value of state === undefined ? [] : template.values(state, count.counter.key)) domains.add(value);
    }
  }
  for (const value of domains) count.counter.offerDomain(picture.texts.id(value));
}

// A node without one of the keys is none that the constraint looks at.
function withAllKeys(state: State | undefined, keys: readonly string[]): State | undefined {
  let result = state;
  for (const key of keys) {
    if (result === undefined || key === hostnameKey || isSure(result, key)) continue;
    const values = result.template.values(result, key);
    result = values.length === 0 ? undefined : result.template.pin(result, key, values);
  }
  return result;
}
