// The last resort of pods that spreading keeps waiting. While others are placed, every domain that a pool could open
// counts as empty, so that pods spread over it. The scheduler knows only domains that have nodes: where nobody is going to
// open another one, those that there are must do. From then on no node may make one more, for pods were placed without it.

import type { Count } from "./census.ts";
import { possibleDomains } from "./node-view.ts";
import type { PodClass } from "./pending.ts";
import type { Search } from "./search.ts";

/** Tries `place` with the domains of the class as they are; if it places nothing, they stay open. */
export function* withDomainsAsTheyAre(
  search: Search,
  { kind }: PodClass,
  place: () => Generator<void, void>,
): Generator<void, void> {
  const counts = kind.spreads
    .slice(0, kind.wishes.spread.length)
    .map(({ count }) => count)
    .filter(count => !search.settled.has(count));
  const added = counts.filter(count => settle(search, count));
  if (added.length === 0) return;
  const before = search.placedCount;
  yield* place();
  if (search.placedCount === before) for (const count of added) search.settled.delete(count);
}

/** Says whether that leaves out any domain that a pool could open. */
function settle({ picture, opened, settled }: Search, count: Count): boolean {
  const nodes = [...opened, ...picture.upcoming];
  const domains = new Set(count.counter.realDomains());
  for (const node of nodes) for (const domain of possibleDomains(node, count, picture.texts)) domains.add(domain);
  const isAll = !count.isHost && domains.size >= count.counter.domainCount;
  if (domains.size === 0 || isAll) return false;
  settled.set(count, domains);
  return true;
}
