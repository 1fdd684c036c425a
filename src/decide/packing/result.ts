// From the working state of a search to its answer in the words of the API.

import type { Answer, NewNode } from "./answer.ts";
import { explain } from "./explain.ts";
import { type OpenNode, possibleTypes, sum } from "./node-view.ts";
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

type Content = Omit<NewNode, "pods">;

// Nodes with the same on them can become the same: that is worked out once.
function newNodes(search: Search): NewNode[] {
  const contentByState = new Map<State, Map<string, Content>>();
  return search.opened.map(node => {
    const byUse = contentByState.get(node.state) ?? new Map<string, Content>();
    contentByState.set(node.state, byUse);
    const use = `${node.used.join(",")} ${node.allowed?.join("") ?? ""}`;
    const content = byUse.get(use) ?? contentOf(search, node);
    byUse.set(use, content);
    return { ...content, pods: node.pods.map(({ pod }) => pod) };
  });
}

function contentOf(search: Search, node: OpenNode): Content {
  const types = possibleTypes(node);
  const [cheapest = 0] = types;
  return {
    pool: node.template.name,
    instanceTypes: types.map(type => node.template.types[type]?.name ?? ""),
    requirements: [...node.state.sets].flatMap(([key, set]) => toRequirements(key, set)),
    requests: search.picture.space.list(sum(node.template.daemons[cheapest] ?? node.used.map(() => 0), node.used)),
    price: node.state.priceByType[cheapest] ?? Number.POSITIVE_INFINITY,
  };
}
