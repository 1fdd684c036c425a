// Makes a scenario that fails smaller for as long as it still fails in the same way: fewer acts, workloads, objects and
// nodes. Greedy, and bounded by the number of runs.

import type { Scenario } from "./scenario.ts";

/** The first word of the first problem: which rule it breaks. Undefined: it does not fail. */
export type Fails = (scenario: Scenario) => Promise<string | undefined>;

type List = { readonly length: number; without(from: number, count: number): Scenario };

export async function shrink(scenario: Scenario, fails: Fails, runsMax: number): Promise<Scenario> {
  const wanted = await fails(scenario);
  if (wanted === undefined) return scenario;
  let smallest = scenario;
  const runs = { left: runsMax };
  const isAsBad = async (candidate: Scenario) => runs.left-- > 0 && (await fails(candidate)) === wanted;
  for (;;) {
    const before = smallest;
    for (const list of [timeline, workloads, manifests, nodes]) smallest = await shorten(smallest, list, isAsBad);
    if (smallest === before || runs.left <= 0) return smallest;
  }
}

/** Halves first, single entries last; from the end, since what comes first is more often needed. */
async function shorten(
  scenario: Scenario,
  listOf: (scenario: Scenario) => List,
  isAsBad: (candidate: Scenario) => Promise<boolean>,
): Promise<Scenario> {
  let smallest = scenario;
  for (let size = Math.ceil(listOf(smallest).length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = listOf(smallest).length - size; from >= 0; from -= size) {
      const candidate = listOf(smallest).without(from, size);
      if (await isAsBad(candidate)) smallest = candidate;
    }
  }
  return smallest;
}

const cut = <T>(items: readonly T[], from: number, count: number) => [
  ...items.slice(0, from),
  ...items.slice(from + count),
];

function timeline(scenario: Scenario): List {
  const items = scenario.timeline ?? [];
  return { length: items.length, without: (from, count) => ({ ...scenario, timeline: cut(items, from, count) }) };
}

function workloads(scenario: Scenario): List {
  const items = scenario.workloads ?? [];
  return { length: items.length, without: (from, count) => ({ ...scenario, workloads: cut(items, from, count) }) };
}

function manifests(scenario: Scenario): List {
  const { cluster = {} } = scenario;
  const items = cluster.manifests ?? [];
  return {
    length: items.length,
    without: (from, count) => ({ ...scenario, cluster: { ...cluster, manifests: cut(items, from, count) } }),
  };
}

function nodes(scenario: Scenario): List {
  const { cluster = {} } = scenario;
  const items = cluster.nodes ?? [];
  return {
    length: items.length,
    without: (from, count) => ({ ...scenario, cluster: { ...cluster, nodes: cut(items, from, count) } }),
  };
}
