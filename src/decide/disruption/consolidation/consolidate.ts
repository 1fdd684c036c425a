// Which nodes should go to save money, and where their pods would run: first those whose pods fit onto what stays, then
// those that something cheaper can stand in for. Each pod moves once, each saving stands beside those before it, and the
// packing picture is afterwards as it was.

import type { MoveScore } from "../../../snapshot/moves.ts";
import type { Effort } from "../../packing/effort.ts";
import type { Picture } from "../../packing/picture.ts";
import { Trial } from "../../packing/trial.ts";
import type { Course } from "./course.ts";
import { exchanges } from "./exchanges.ts";
import { KnownStays } from "./known-stays.ts";
import type { Candidate, Question, Verdict } from "./question.ts";
import { removals } from "./removals.ts";
import { Replacements } from "./replacement.ts";
import { Standings } from "./standings.ts";
import { balancedWorth, scoresOf } from "./terms.ts";

type Ways = {
  readonly effort: Effort;
  readonly isStopped: Course["isStopped"];
  /** From earlier looks: who need not be judged again. */
  readonly known?: KnownStays;
};

/** In slices. Whoever drops it half-way must `return` it: it takes back what it has tried. */
export function* consolidate(
  picture: Picture,
  question: Question,
  { effort, isStopped, known = new KnownStays() }: Ways,
): Generator<void, Verdict> {
  yield* known.begin(picture, question, effort);
  const standings = yield* Standings.of(picture, question, effort);
  const replacements = new Replacements(picture.pools.map(({ pool }) => pool));
  const found = { kept: [], savings: [], stays: new Map<string, string>(), weighed: new Map() };
  const judged = { fresh: new Set<Candidate>(), helped: new Set<Candidate>(), judged: new Set<Candidate>() };
  const course: Course = { question, standings, replacements, isStopped, known, ...judged, ...found };
  try {
    yield* leavingOut(course, judged);
    yield* waitingFirst(course);
    yield* removals(course);
    yield* exchanges(course);
    const verdict = verdictOf(course);
    const { gone } = standings.input;
    known.end(picture, { gone, isWhole: !isStopped(), goes: node => standings.isSettled(node) });
    for (const trial of course.kept.toReversed()) yield* trial.undoing();
    return verdict;
  } finally {
    for (const trial of course.kept.toReversed()) trial.undo();
    picture.hosts.sort();
  }
}

/** Those of whom nothing has changed stay as they did, unless there is room by now that may help them. */
function* leavingOut(
  { standings, question, known, stays }: Course,
  { fresh, helped }: Record<"fresh" | "helped", Set<Candidate>>,
): Generator<void, void> {
  const around = { ...standings.input, question };
  for (const [place, node] of standings.inOrder.entries()) {
    const why = known.whyBefore(node, around.picture, question);
    if (why === undefined) fresh.add(node);
    else stays.set(node.name, why);
    if (why !== undefined && known.isHelped(node, around)) helped.add(node);
    around.effort.work += 2;
    if (place % 64 === 0) yield;
  }
}

/** Pods that wait for a node anyway take their room before anybody else. */
function* waitingFirst({ standings, question, kept }: Course): Generator<void, void> {
  if (question.waiting.length === 0) return;
  const trial = new Trial(standings.input);
  kept.push(trial);
  trial.add(question.waiting);
  yield* trial.anywhere();
  trial.keep();
}

function verdictOf(course: Course): Verdict {
  const { question, savings, stays, standings, judged } = course;
  const gone = new Set(savings.flatMap(({ nodes }) => nodes));
  const unanswered: string[] = [];
  for (const node of question.candidates) {
    if (gone.has(node.name) || stays.has(node.name)) continue;
    if (standings.isSettled(node)) stays.set(node.name, "it takes pods of other nodes");
    else unanswered.push(node.name);
  }
  return { savings, stays, unanswered, judgedCount: judged.size, scores: [...scores(course)] };
}

/** What goes was approved of; of what stays that was not, where it was too little for what it would disturb. */
function* scores({ question, savings, stays, weighed }: Course): Iterable<MoveScore> {
  const candidateByName = new Map(question.candidates.map(one => [one.name, one]));
  for (const saving of savings) {
    const nodes = saving.nodes.flatMap(name => candidateByName.get(name) ?? []);
    for (const one of scoresOf(saving, nodes, question)) yield { ...one, isApproved: true };
  }
  for (const [name, ofNode] of weighed) {
    if (!stays.has(name)) continue;
    for (const one of ofNode) if (one.score < balancedWorth) yield { ...one, isApproved: false };
  }
}
