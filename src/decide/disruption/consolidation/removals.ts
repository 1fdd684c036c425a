// Nodes that can go because their pods fit onto what stays: as many together as there may be room for, less those whose
// pods find none, and then one by one into what is left. Each goes by itself afterwards.

import { needsPlace } from "../../packing/what-if.ts";
import { attempt, type Course } from "./course.ts";
import type { Candidate, Saving } from "./question.ts";
import { refusedBy } from "./terms.ts";

const noRoom = "its pods do not fit onto other nodes";

export function* removals(course: Course): Generator<void, void> {
  const { standings, question } = course;
  const worthwhile = standings.inOrder.filter(
    node =>
      refusedBy(removalOf(node, new Map()), [node], question.termsByPool, standings.podCountOf(node)) === undefined,
  );
  yield* together(course, worthwhile);
  for (const node of worthwhile) {
    if (course.isStopped()) return;
    standings.input.effort.work += 0.5;
    if (standings.isSettled(node) || !standings.mayBeEmptied(node)) continue;
    yield* attempt(course, [node], function* (trial) {
      const left = yield* trial.ontoHosts(count => count > 0);
      return left.length > 0 ? noRoom : [removalOf(node, trial.places())];
    });
    yield;
  }
}

/** Placed as one, the large pods of all of them come before the small: more fit than one node after the other. */
function* together(course: Course, worthwhile: readonly Candidate[]): Generator<void, void> {
  const { standings, isStopped } = course;
  for (let some = standings.mayGoTogether(worthwhile); some.length > 1 && !isStopped(); ) {
    let blocked: ReadonlySet<string | undefined> = new Set();
    const tried = some;
    const trouble = yield* attempt(course, tried, function* (trial) {
      const left = yield* trial.ontoHosts(isStopped);
      blocked = new Set(left.map(pod => pod.spec.nodeName));
      return left.length > 0 || isStopped() ? noRoom : apart(course, tried, trial.places());
    });
    if (trouble === undefined) return;
    // Half of those that were in the way, from the last on: with their room the others may fit.
    const inTheWay = tried.filter(({ name }) => blocked.has(name));
    const out = new Set(inTheWay.slice(Math.floor(inTheWay.length / 2)));
    some = tried.filter(node => !out.has(node));
    yield;
  }
}

/** What was placed as one, node by node. */
function apart({ standings }: Course, nodes: readonly Candidate[], places: ReadonlyMap<string, string>): Saving[] {
  const { residents } = standings.input.picture;
  return nodes.map(node => {
    const own = new Map<string, string>();
    for (const [key, resident] of residents[standings.indexOf(node)] ?? []) {
      const place = places.get(key);
      if (place !== undefined && needsPlace(resident)) own.set(key, place);
    }
    return removalOf(node, own);
  });
}

function removalOf({ name, price }: Candidate, places: ReadonlyMap<string, string>): Saving {
  return { nodes: [name], newNodes: [], places, podCount: places.size, price: { before: price, after: 0 } };
}
