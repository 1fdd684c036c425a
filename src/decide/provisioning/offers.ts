// What could be launched and what is on its way, when a search begins: pools that may launch now, less what had no
// capacity a short while ago, and claims without a node. Pools with `replicas` launch nothing for pods.

import type { InstanceType, Offering } from "../../api/instance-type.ts";
import { instanceTypeKey } from "../../api/node.ts";
import type { ResourceList } from "../../api/pod.ts";
import type { Instant } from "../../api/time.ts";
import { nodeClassKey } from "../../api/well-known.ts";
import type { ClusterPicture } from "../../snapshot/cluster-picture.ts";
import type { NodeClassRef } from "../../snapshot/picture.ts";
import type { Shortage } from "../../snapshot/shortages.ts";
import type { ClaimView, PoolView } from "../../snapshot/views.ts";
import { hasFailedToLaunch, launchHold } from "../launch.ts";
import { servedClass } from "../node-class.ts";
import type { Pool, UpcomingNode } from "../packing/problem.ts";
import { type SetByKey, setsOfRequirements } from "../packing/requirements.ts";
import { allows, overlaps } from "../packing/value-set.ts";
import { limitsOf, usageOf } from "./limits.ts";
import { upcomingShape } from "./shapes.ts";

/** A pool as it was asked about. */
export type OfferedPool = {
  readonly view: PoolView;
  readonly nodeClass: NodeClassRef;
  readonly types: readonly InstanceType[];
  readonly limits: ResourceList | undefined;
};

export type Held = { readonly pool: string; readonly code: string; readonly until?: Instant };

export type Offers = {
  readonly pools: readonly Pool[];
  readonly upcoming: readonly UpcomingNode[];
  readonly offeredByName: ReadonlyMap<string, OfferedPool>;
  /** Pools that would serve pods and may not launch now, and why. */
  readonly held: readonly Held[];
  /** When a pool may launch again, or something may have capacity again. */
  readonly lookAgainAt: Instant | undefined;
};

export function offersAt(picture: ClusterPicture, now: Instant): Offers {
  const shortages = picture.shortages(now);
  const avoid = avoiding(shortages);
  const held: Held[] = [];
  const offered = new Map<string, OfferedPool>();
  for (const view of picture.pools()) {
    const nodeClass = servedClass(view.effective.template.nodeClassRef, picture.provider);
    if (nodeClass === undefined || view.effective.replicas !== undefined) continue;
    const hold = launchHold({ pool: view, nodeClass, provider: picture.provider }, now);
    if (hold !== undefined) {
      const { code, until } = hold;
      held.push({ pool: view.name, code, ...(until === undefined ? {} : { until }) });
      continue;
    }
    const types = picture.provider.instanceTypes(nodeClass).map(avoid);
    offered.set(view.name, { view, nodeClass, types, limits: limitsOf(view) });
  }
  return {
    pools: [...offered.values()].map(one => poolShape(one, picture)),
    upcoming: upcomingOf(picture),
    offeredByName: offered,
    held,
    lookAgainAt: earliest([...shortages, ...held].map(({ until }) => until)),
  };
}

function earliest(instants: readonly (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter(instant => instant !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

function poolShape({ view, nodeClass, types, limits }: OfferedPool, picture: ClusterPicture): Pool {
  const { labels, taints, startupTaints, requirements } = view.effective.template;
  return {
    name: view.name,
    weight: view.effective.weight,
    labels: { ...labels, [nodeClassKey(nodeClass)]: nodeClass.name },
    taints,
    startupTaints,
    requirements,
    instanceTypes: types,
    ...(limits === undefined ? {} : { limits, usage: usageOf(limits, picture.claimsOfPool(view.name), types) }),
  };
}

function upcomingOf(picture: ClusterPicture): UpcomingNode[] {
  const typesOf = (ref: NodeClassRef | undefined) => {
    const nodeClass = servedClass(ref, picture.provider);
    return nodeClass === undefined ? [] : picture.provider.instanceTypes(nodeClass);
  };
  const isUpcoming = (claim: ClaimView) =>
    claim.deletingSince === undefined && !hasFailedToLaunch(claim) && picture.nodesOf(claim).length === 0;
  return picture
    .claims()
    .filter(isUpcoming)
    .map(claim => upcomingShape(claim, typesOf, picture.expectedOn(claim.name)));
}

// Whatever a claim could have become when nothing could be launched for it had no capacity.
function avoiding(shortages: readonly Shortage[]): (type: InstanceType) => InstanceType {
  const short = shortages.map(({ requirements }) => setsOfRequirements(requirements));
  return type => {
    const own = setsOfRequirements(type.requirements);
    const concerned = short.filter(sets => {
      const named = sets.get(instanceTypeKey);
      return named !== undefined && allows(named, type.name) && isPossible(own, sets);
    });
    if (concerned.length === 0) return type;
    const isShort = ({ requirements }: Offering) =>
      concerned.some(sets => isPossible(setsOfRequirements(requirements), sets));
    return {
      ...type,
      offerings: type.offerings.map(offering => (isShort(offering) ? { ...offering, available: false } : offering)),
    };
  };
}

function isPossible(offered: SetByKey, wanted: SetByKey): boolean {
  for (const [key, set] of offered) {
    const asked = wanted.get(key);
    if (asked !== undefined && !overlaps(set, asked)) return false;
  }
  return true;
}
