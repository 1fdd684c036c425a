// From the working state of a search to its answer in the words of the API.

import { podKey } from "../../api/pod.ts";
import type { Answer, NewNode, Placement, Unplaced } from "./answer.ts";
import { explain } from "./explain.ts";
import { type OpenNode, possibleTypes, sum } from "./node-view.ts";
import type { PodClass } from "./pending.ts";
import type { Effort } from "./effort.ts";
import type { Placed, Search } from "./search.ts";
import type { State } from "./template.ts";
import { toRequirements } from "./value-set.ts";

export function* answerOf(search: Search, stuck: readonly PodClass[], effort: Effort): Generator<void, Answer> {
  const placements: Placement[] = [];
  for (let index = 0; index < search.placed.length; index++) {
    // Within bounds.
    const { pod, kind, target } = search.placed[index] as Placed;
    placements.push({ pod, target, relaxed: kind.wishes.relaxed });
    if (index % 1024 !== 1023) continue;
    effort.work += 200;
    yield;
  }
  const newNodes = yield* described(search, effort);
  const unplaced: Unplaced[] = [];
  for (const one of stuck) {
    const reason = explain(search, one);
    for (const pod of [...one.pods].reverse()) unplaced.push({ pod, reason });
    effort.work += search.picture.hosts.length;
    yield;
  }
  // Listed in an order that does not depend on which class was given up first.
  unplaced.sort((a, b) => (podKey(a.pod) < podKey(b.pod) ? -1 : 1));
  return { placements, newNodes, unplaced };
}

type Content = Omit<NewNode, "pods">;

// Nodes with the same on them can become the same: that is worked out once.
function* described(search: Search, effort: Effort): Generator<void, NewNode[]> {
  const contentByState = new Map<State, Map<string, Content>>();
  const found: NewNode[] = [];
  for (const node of search.opened) {
    const byUse = contentByState.get(node.state) ?? new Map<string, Content>();
    contentByState.set(node.state, byUse);
    const use = `${node.used.join(",")} ${node.allowed?.join("") ?? ""}`;
    let content = byUse.get(use);
    if (content === undefined) {
      content = contentOf(search, node);
      byUse.set(use, content);
      effort.work += 20;
    }
    found.push({ ...content, pods: node.pods.map(({ pod }) => pod) });
    effort.work += 2 + 0.1 * node.pods.length;
    if (node.pods.length > 20 || found.length % 64 === 0) yield;
  }
  return found;
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
