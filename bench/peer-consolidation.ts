// A model of what Karpenter's consolidation does (v1, reference in docs/performance.md): nodes sorted by price for each pod
// disturbed; first the longest prefix of at most a hundred, found by halving, that goes onto what stays and at most one
// new and cheaper node; else the first single one that does. Each command is carried out before the next look. Its
// scheduling is played by our own solver, which does it no harm.

import type { Answer } from "../src/decide/packing/answer.ts";
import { whatIfGone } from "../src/decide/packing/what-if.ts";
import type { FragmentedCluster, Machine } from "./fragmented-cluster.ts";

const prefixMax = 100;

type Command = { readonly gone: readonly string[]; readonly answer: Answer };
export type Course = { readonly commands: number; readonly podsMoved: number; readonly judged: number };

export function consolidateAsPeer(cluster: FragmentedCluster): Course {
  const course = { commands: 0, podsMoved: 0, judged: 0 };
  const judge = (machines: readonly Machine[]): Command | undefined => {
    course.judged++;
    return commandFor(cluster, machines);
  };
  for (;;) {
    const sorted = candidates(cluster);
    const command = empties(cluster, sorted) ?? longestPrefix(sorted, judge) ?? firstSingle(sorted, judge);
    if (command === undefined) return course;
    course.commands++;
    course.podsMoved += command.gone.reduce((sum, name) => sum + cluster.podCountOn(name), 0);
    const { placements, newNodes } = command.answer;
    const places = placements.flatMap(({ pod, target }): [string, string][] =>
      target.kind === "existing" ? [[`${pod.metadata.namespace ?? "default"}/${pod.metadata.name}`, target.node]] : [],
    );
    cluster.apply(command.gone, newNodes, new Map(places));
  }
}

function candidates(cluster: FragmentedCluster): Machine[] {
  const ratio = ({ name, price }: Machine) => price / (1 + cluster.podCountOn(name));
  return [...cluster.machineByName.values()].sort((a, b) => ratio(b) - ratio(a));
}

function empties(cluster: FragmentedCluster, sorted: readonly Machine[]): Command | undefined {
  const gone = sorted.filter(({ name }) => cluster.podCountOn(name) === 0).map(({ name }) => name);
  return gone.length === 0 ? undefined : { gone, answer: { placements: [], newNodes: [], unplaced: [] } };
}

type Judge = (machines: readonly Machine[]) => Command | undefined;

function longestPrefix(sorted: readonly Machine[], judge: Judge): Command | undefined {
  let best: Command | undefined;
  let [low, high] = [1, Math.min(prefixMax, sorted.length) - 1];
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const found = judge(sorted.slice(0, middle + 1));
    if (found === undefined) high = middle - 1;
    else [best, low] = [found, middle + 1];
  }
  return best;
}

function firstSingle(sorted: readonly Machine[], judge: Judge): Command | undefined {
  for (const machine of sorted) {
    const found = judge([machine]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function commandFor({ picture }: FragmentedCluster, machines: readonly Machine[]): Command | undefined {
  const gone = machines.map(({ name }) => name);
  const answer = whatIfGone(picture, gone);
  const before = machines.reduce((sum, { price }) => sum + price, 0);
  const after = answer.newNodes.reduce((sum, { price }) => sum + price, 0);
  if (answer.unplaced.length > 0 || answer.newNodes.length > 1 || after >= before) return undefined;
  return { gone, answer };
}
