// Nodes that can go because their pods fit onto what stays: as many together as there may be room for, less those whose
// pods find none, and then one by one into what is left. Each goes by itself afterwards.

import { needsPlace } from "../../packing/what-if.ts";
import { attempt, type Course, oneByOne } from "./course.ts";
import { choose } from "./choice.ts";
import { optionsOf } from "./options.ts";
import type { Candidate, Saving } from "./question.ts";
import { refusedBy, scoresOf } from "./terms.ts";

/** Where pods had better go, by their names. */
type Hosts = ReadonlyMap<string, number>;

const noRoom = "its pods do not fit onto other nodes";

export function* removals(course: Course): Generator<void, void> {
  const { standings, question } = course;
  const { termsByPool } = question;
  const isWorthwhile = (node: Candidate) =>
    refusedBy(removalOf(node, new Map()), [node], { termsByPool }) === undefined;
  const worthwhile: Candidate[] = [];
  for (const [place, node] of [...course.fresh].entries()) {
    if (isWorthwhile(node)) worthwhile.push(node);
    else course.weighed.set(node.name, scoresOf(removalOf(node, new Map()), [node], { termsByPool }));
    standings.input.effort.work += 3;
    if (place % 128 === 0) yield;
  }
  yield* together(course, worthwhile);
  for (const node of oneByOne(course)) {
    if (course.isStopped()) return;
    standings.input.effort.work += 3;
    if (!isWorthwhile(node) || !standings.mayBeEmptied(node)) continue;
    yield* attempt(course, [node], function* (trial) {
      const left = yield* trial.ontoHosts(count => count > 0);
      return left.length > 0 ? noRoom : [removalOf(node, trial.places())];
    });
    yield;
  }
}

/** Placed as one, the large pods of all of them come before the small: more fit than one node after the other. */
function* together(course: Course, worthwhile: readonly Candidate[]): Generator<void, void> {
  if (worthwhile.length < 2 || course.isStopped()) return;
  const { effort, picture } = course.standings.input;
  const { stride, indexByName } = picture.hosts;
  const options = yield* optionsOf(course, worthwhile);
  const choice = yield* choose(options, { stride, effort, isStopped: course.isStopped });
  const hosts = new Map([...choice.places].map(([key, name]) => [key, indexByName.get(name) ?? -1]));
  const goes = new Set(choice.goes);
  const chosen = worthwhile.filter(({ name }) => goes.has(name));
  const fitting = yield* shrunk(course, chosen, hosts);
  const most = fitting.length === chosen.length ? fitting : yield* grown(course, fitting, { worthwhile, hosts });
  if (most.length < 2 || course.isStopped()) return;
  yield* attempt(course, most, function* (trial) {
    const left = yield* trial.ontoHosts(course.isStopped, hosts);
    return left.length > 0 || course.isStopped() ? noRoom : apart(course, most, trial.places());
  });
}

/** As many from the first on as fit: half of those in the way stay, from the last on, for with their room others may fit. */
function* shrunk(course: Course, chosen: readonly Candidate[], hosts: Hosts): Generator<void, readonly Candidate[]> {
  let some = chosen;
  while (some.length > 1 && !course.isStopped()) {
    const blocked = yield* blockedAmong(course, some, hosts);
    const inTheWay = some.filter(({ name }) => blocked.has(name));
    if (inTheWay.length === 0) break;
    const out = new Set(inTheWay.slice(Math.floor(inTheWay.length / 2)));
    some = some.filter(node => !out.has(node));
    yield;
  }
  return some;
}

/** So often more are tried beside those that fit. */
const triesMax = 24;

/** And of the others those that fit beside them: all pods find their place anew, and none has to move again for it. */
function* grown(
  course: Course,
  fitting: readonly Candidate[],
  { worthwhile, hosts }: { readonly worthwhile: readonly Candidate[]; readonly hosts: Hosts },
): Generator<void, readonly Candidate[]> {
  const isIn = new Set(fitting);
  let others = worthwhile.filter(node => !isIn.has(node));
  let most = fitting;
  let count = Math.ceil(others.length / 4);
  for (let tries = 0; tries < triesMax && others.length > 0 && !course.isStopped(); ) {
    const more = [...most, ...others.slice(0, count)];
    const mayFit = course.standings.mayGoTogether(more).length === more.length;
    if (mayFit) tries++;
    const fits = mayFit && (yield* blockedAmong(course, more, hosts)).size === 0;
    if (fits) most = more;
    if (fits || count === 1) others = others.slice(count);
    else count = Math.ceil(count / 2);
    yield;
  }
  return most;
}

/** Those whose pods find no place if all of them go, by name. */
function* blockedAmong(
  course: Course,
  nodes: readonly Candidate[],
  hosts: Hosts,
): Generator<void, ReadonlySet<string | undefined>> {
  let blocked: ReadonlySet<string | undefined> = new Set();
  yield* attempt(course, nodes, function* (trial) {
    const left = yield* trial.ontoHosts(course.isStopped, hosts);
    blocked = new Set(left.map(pod => pod.spec.nodeName));
    return noRoom;
  });
  return blocked;
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
