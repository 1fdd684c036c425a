// The least that new nodes for all pods of a problem could cost if pods could be cut to pieces: a floor under every
// answer that uses no node that exists, to measure answers by.

import { pictureOf } from "./build.ts";
import { atOnce } from "./effort.ts";
import { pendingOf } from "./pending.ts";
import type { Problem } from "./problem.ts";
import { dot, worth } from "./worth.ts";

export function floorOf(problem: Problem): number {
  const picture = pictureOf({ ...problem, nodes: [], upcoming: [], bound: [], daemons: [] });
  const { demand } = pendingOf(picture, problem.pods);
  const machines = picture.pools.flatMap(({ template }) =>
    template.room.map((room, type) => ({ room, price: template.root.priceByType[type] ?? Number.POSITIVE_INFINITY })),
  );
  const priced = machines.filter(({ price }) => Number.isFinite(price));
  const prices = atOnce(worth(priced, demand));
  return dot(prices, demand);
}
