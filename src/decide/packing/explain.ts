// Why a pod cannot go anywhere: node by node and pool by pool, asked again after the search with what it left behind.

import { hostTrouble } from "./host-rules.ts";
import { openIn, type PoolTrouble } from "./open.ts";
import type { PodClass } from "./pending.ts";
import type { Reason } from "./reasons.ts";
import type { Search } from "./search.ts";

export function explain(search: Search, one: PodClass): Reason {
  const { trouble } = one.kind.volumes;
  if (trouble !== undefined) return { what: trouble };
  const branches = [ofNodes(search, one), ofUpcoming(search, one), ...ofPools(search, one)].filter(isSome);
  return branches.length === 0
    ? { what: "there are no nodes and no pools" }
    : { what: "no node and no pool can take the pod", branches };
}

function ofNodes(search: Search, { kind, size }: PodClass): Reason | undefined {
  const { picture, around } = search;
  const troubles: string[] = [];
  for (const index of picture.hosts.order) {
    if (search.isGone(index)) continue;
    troubles.push(hostTrouble(kind, size.amounts, { picture, index, around }) ?? "taken by others");
  }
  if (troubles.length === 0) return undefined;
  return { what: `0/${troubles.length} nodes`, count: troubles.length, branches: tallied(troubles) };
}

function ofUpcoming(search: Search, one: PodClass): Reason | undefined {
  const troubles = search.picture.upcoming.map(node => {
    const found = search.fit(one, node);
    return typeof found === "string" ? found : "taken by others";
  });
  if (troubles.length === 0) return undefined;
  return { what: `0/${troubles.length} nodes on their way`, count: troubles.length, branches: tallied(troubles) };
}

function ofPools(search: Search, one: PodClass): Reason[] {
  return search.pools.map(({ pool: { template } }, index) => {
    const found = openIn(search, one, { index, share: one.size.amounts });
    const trouble: PoolTrouble | "taken by others" = typeof found === "string" ? found : "taken by others";
    return { what: `pool ${template.name}`, branches: [ofPool(search, one, { index, trouble })] };
  });
}

// Which of the pool's types each step leaves: requirements first, then resources, then what the trouble itself says.
function ofPool(
  search: Search,
  { kind, size }: PodClass,
  { index, trouble }: { index: number; trouble: string },
): Reason {
  const template = search.pools[index]?.pool.template;
  if (template === undefined || trouble === "taints") return { what: trouble };
  const all = template.types.length;
  const offered = template.typeCount(template.root);
  const states = kind.alternatives.flatMap(one => template.join(template.root, one) ?? []);
  const matching = Math.max(0, ...states.map(state => template.typeCount(state)));
  const large = template.room.filter(room =>
    size.amounts.every((amount, r) => amount === 0 || amount <= (room[r] ?? 0)),
  );
  const steps: Reason[] = [
    { what: "types that the pool's requirements or their offerings rule out", count: all - offered },
    { what: "types that the pod's node affinity rules out", count: offered - matching },
    { what: "types with too few resources", count: all - large.length },
  ].filter(({ count }) => count > 0);
  return steps.length === 0 ? { what: trouble } : { what: trouble, branches: steps };
}

function tallied(troubles: readonly string[]): Reason[] {
  const countByTrouble = new Map<string, number>();
  for (const trouble of troubles) countByTrouble.set(trouble, (countByTrouble.get(trouble) ?? 0) + 1);
  return [...countByTrouble]
    .map(([what, count]) => ({ what, count }))
    .sort((a, b) => b.count - a.count || (a.what < b.what ? -1 : 1));
}

function isSome<T>(value: T | undefined): value is T {
  return value !== undefined;
}
