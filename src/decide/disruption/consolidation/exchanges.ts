// Nodes that go because something cheaper can take their pods: one by one, and then several together into fewer. None for a
// saving that is not worth its pods; nodes do not become more, unless that saves much for what it disturbs; several go
// together only for a saving worth the wait.

import type { Trial } from "../../packing/trial.ts";
import { attempt, type Course, oneByOne, priceOf } from "./course.ts";
import type { Candidate, Saving } from "./question.ts";
import type { GroupKind } from "./standings.ts";
import { balancedWorth, refusedBy, scoresOf } from "./terms.ts";

/** The least share of their price that makes more nodes of fewer. */
const moreNodesSave = 0.2;
/** The least share of their price for which several go together. */
const togetherSave = 0.15;
/** What an exchange must be worth: moves that disturb five times what they save never pay before the next comes. */
const leastWorth = 0.2;
/** So many groups in a row without a saving, and there is no hope for those that disturb more. */
const failuresMax = 3;

export function* exchanges(course: Course): Generator<void, void> {
  const { standings, stays, question, known } = course;
  const around = { ...standings.input, question };
  for (const node of oneByOne(course)) {
    if (course.isStopped()) return;
    let places: ReadonlyMap<string, string> = new Map();
    const why = yield* exchanged(course, [node], trial => {
      places = trial.places();
    });
    if (why !== undefined) {
      stays.set(node.name, why);
      known.note(node, { why, places }, around);
    }
    yield;
  }
  yield* inGroups(course, "spot");
  yield* inGroups(course, "other");
  yield* inGroups(course, "mixed");
  // Some have taken pods of others meanwhile, and some have gone with others.
  for (const name of stays.keys()) if (standings.isSettled({ name })) stays.delete(name);
}

function* inGroups(course: Course, kind: GroupKind): Generator<void, void> {
  const asked = new Set<string>();
  const { fresh, standings, known } = course;
  const first = known.isCutShort ? new Set(standings.inOrder) : fresh;
  for (let failures = 0; failures < failuresMax; ) {
    const group = standings.group(kind, asked, first);
    if (group.length < 2 || course.isStopped()) return;
    let trouble: string | undefined;
    for (let count = group.length; count > 1; count = fewer(count)) {
      trouble = yield* exchanged(course, group.slice(0, count));
      if (trouble === undefined) break;
    }
    failures = trouble === undefined ? 0 : failures + 1;
    if (trouble !== undefined) for (const { name } of group) asked.add(name);
  }
}

/** Half of them, but two before one. */
function fewer(count: number): number {
  return count === 3 ? 2 : Math.floor(count / 2);
}

function exchanged(
  course: Course,
  nodes: readonly Candidate[],
  look: (trial: Trial) => void = () => undefined,
): Generator<void, string | undefined> {
  const { question, replacements } = course;
  return attempt(course, nodes, function* (trial) {
    const { newNodes, unplaced } = yield* trial.anywhere();
    look(trial);
    const [stuck] = unplaced;
    if (stuck !== undefined) return `pod ${stuck.pod.metadata.name} would have no place`;
    const isForSpot = nodes.every(({ isSpot }) => isSpot);
    const before = priceOf(nodes);
    const cheaper = replacements.withinPrice(newNodes, { most: before, isForSpot, spotToSpot: question.spotToSpot });
    if (typeof cheaper === "string") return cheaper;
    const after = cheaper.reduce((sum, { price }) => sum + price, 0);
    const saving: Saving = {
      nodes: nodes.map(({ name }) => name),
      newNodes: cheaper,
      places: trial.places(),
      podCount: trial.podCount,
      price: { before, after },
    };
    const isMore = newNodes.length > nodes.length;
    const least = Math.max(isMore ? moreNodesSave : 0, nodes.length > 1 ? togetherSave : 0);
    if (before - after < least * before) return "too little would be saved";
    const [node, ...others] = nodes;
    if (node !== undefined && others.length === 0) course.weighed.set(node.name, scoresOf(saving, nodes, question));
    const asked = { termsByPool: question.termsByPool, leastWorth: isMore ? balancedWorth : leastWorth };
    return refusedBy(saving, nodes, asked) ?? [saving];
  });
}
