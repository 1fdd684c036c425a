// From the working state of a search to its answer in the words of the API.

import type { Answer, NewNode } from "./answer.ts";
import { explain } from "./explain.ts";
import { cheapestType, type OpenNode, possibleTypes } from "./node-view.ts";
import type { PodClass } from "./pending.ts";
import type { Search } from "./search.ts";
import type { State } from "./template.ts";
import { toRequirements } from "./value-set.ts";

export function answerOf(search: Search, stuck: readonly PodClass[]): Answer {
  return {
    placements: search.placed.map(({ pod, kind, target }) => ({ pod, target, relaxed: kind.wishes.relaxed })),
    newNodes: newNodes(search),
    unplaced: stuck.flatMap(one => {
      const reason = explain(search, one);
      return [...one.pods].reverse().map(pod => ({ pod, reason }));
    }),
  };
}

// Nodes with the same on them can become the same: their types are named once.
function newNodes(search: Search): NewNode[] {
  const namesByContent = new Map<State, Map<string, string[]>>();
  return search.opened.map(node => {
    const byUsed = namesByContent.get(node.state) ?? new Map<string, string[]>();
    namesByContent.set(node.state, byUsed);
    const content = `${node.used.join(",")} ${node.allowed?.join("") ?? ""}`;
    let names = byUsed.get(content);
    if (names === undefined) {
      names = possibleTypes(node).map(type => node.template.types[type]?.name ?? "");
      byUsed.set(content, names);
    }
    return newNode(search, node, names);
  });
}

function newNode(search: Search, node: OpenNode, names: readonly string[]): NewNode {
  const cheapest = cheapestType(node, node.state, node.used);
  return {
    pool: node.template.name,
    instanceTypes: names,
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
