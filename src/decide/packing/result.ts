// From the working state of a search to its answer in the words of the API.

import type { Answer, NewNode } from "./answer.ts";
import { explain } from "./explain.ts";
import { type OpenNode, typeFits } from "./node-view.ts";
import type { PodClass } from "./pending.ts";
import type { Search } from "./search.ts";
import { toRequirements } from "./value-set.ts";

export function answerOf(search: Search, stuck: readonly PodClass[]): Answer {
  return {
    placements: search.placed.map(({ pod, kind, target }) => ({ pod, target, relaxed: kind.wishes.relaxed })),
    newNodes: search.opened.map(node => newNode(search, node)),
    unplaced: stuck.flatMap(one => {
      const reason = explain(search, one);
      return [...one.pods].reverse().map(pod => ({ pod, reason }));
    }),
  };
}

/** Types that everything on the node fits on, the cheapest first. */
export function possibleTypes(node: OpenNode): number[] {
  const { priceByType } = node.state;
  const price = (type: number) => priceByType[type] ?? Number.POSITIVE_INFINITY;
  const found: number[] = [];
  for (let type = 0; type < priceByType.length; type++) {
    if (Number.isFinite(price(type)) && typeFits(node, type, node.used)) found.push(type);
  }
  // Types stand in the order of their names.
  return found.sort((a, b) => price(a) - price(b) || a - b);
}

function newNode(search: Search, node: OpenNode): NewNode {
  const types = possibleTypes(node);
  const [cheapest = 0] = types;
  return {
    pool: node.template.name,
    instanceTypes: types.map(type => node.template.types[type]?.name ?? ""),
    requirements: [...node.state.sets].flatMap(([key, set]) => toRequirements(key, set)),
    requests: search.picture.space.list(withDaemons(node, cheapest)),
    price: node.state.priceByType[cheapest] ?? Number.POSITIVE_INFINITY,
    pods: node.pods.map(({ pod }) => pod),
  };
}

function withDaemons({ template, used }: OpenNode, type: number): Float64Array {
  const daemons = template.daemons[type] ?? new Float64Array(0);
  const total = new Float64Array(Math.max(daemons.length, used.length));
  for (let r = 0; r < total.length; r++) total[r] = (daemons[r] ?? 0) + (used[r] ?? 0);
  return total;
}
