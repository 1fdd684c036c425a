// From the working state of a search to its answer in the words of the API.

import { type Pod, podKey } from "../../api/pod.ts";
import type { Answer, NewNode, Placement, Unplaced } from "./answer.ts";
import { explain } from "./explain.ts";
import { type OpenNode, possibleTypes, sum } from "./node-view.ts";
import type { PodClass } from "./pending.ts";
import type { Effort } from "./effort.ts";
import type { Placed, Search } from "./search.ts";
import type { State } from "./template.ts";
import { toRequirements } from "./value-set.ts";

/** So many are written down before anybody is asked whether to go on. */
const placementsAtOnce = 1024;

export function* answerOf(search: Search, stuck: readonly PodClass[], effort: Effort): Generator<void, Answer> {
  const placements: Placement[] = [];
  let told = 0;
  for (let index = 0; index < search.placed.length; index++) {
    // Within bounds.
    const { pods, kind, target } = search.placed[index] as Placed;
    const { relaxed } = kind.wishes;
    for (let at = 0; at < pods.length; at++) placements.push({ pod: pods[at] as Pod, target, relaxed });
    if (placements.length - told < placementsAtOnce) continue;
    effort.work += 0.2 * (placements.length - told);
    told = placements.length;
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
    const pods = podsOn(node);
    found.push({ ...content, pods });
    effort.work += 2 + 0.1 * pods.length;
    if (pods.length > 20 || found.length % 64 === 0) yield;
  }
  return found;
}

function podsOn({ seated }: OpenNode): Pod[] {
  const found: Pod[] = [];
  for (let index = 0; index < seated.length; index++) {
    const pods = seated[index]?.pods ?? [];
    // Within bounds.
    for (let at = 0; at < pods.length; at++) found.push(pods[at] as Pod);
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
