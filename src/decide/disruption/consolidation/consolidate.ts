// Which nodes should go to save money, and where their pods would run: first those whose pods fit onto what stays, then
// those that something cheaper can stand in for. Each pod moves once, each saving stands beside those before it, and the
// packing picture is afterwards as it was.

import type { Effort } from "../../packing/effort.ts";
import type { Picture } from "../../packing/picture.ts";
import { Trial } from "../../packing/trial.ts";
import type { Course } from "./course.ts";
import { exchanges } from "./exchanges.ts";
import type { Question, Verdict } from "./question.ts";
import { removals } from "./removals.ts";
import { Replacements } from "./replacement.ts";
import { Standings } from "./standings.ts";

type Ways = { readonly effort: Effort; readonly isStopped: Course["isStopped"] };

/** In slices. Whoever drops it half-way must `return` it: it takes back what it has tried. */
export function* consolidate(
  picture: Picture,
  question: Question,
  { effort, isStopped }: Ways,
): Generator<void, Verdict> {
  const standings = yield* Standings.of(picture, question, effort);
  const replacements = new Replacements(picture.pools.map(({ pool }) => pool));
  const found = { kept: [], savings: [], stays: new Map<string, string>() };
  const course: Course = { question, standings, replacements, isStopped, ...found };
  try {
    yield* waitingFirst(course);
    yield* removals(course);
    yield* exchanges(course);
    const verdict = verdictOf(course);
    for (const trial of course.kept.toReversed()) yield* trial.undoing();
    return verdict;
  } finally {
    for (const trial of course.kept.toReversed()) trial.undo();
    picture.hosts.sort();
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

function verdictOf({ question, savings, stays, standings }: Course): Verdict {
  const gone = new Set(savings.flatMap(({ nodes }) => nodes));
  const unanswered: string[] = [];
  for (const node of question.candidates) {
    if (gone.has(node.name) || stays.has(node.name)) continue;
    if (standings.isSettled(node)) stays.set(node.name, "it takes pods of other nodes");
    else unanswered.push(node.name);
  }
  return { savings, stays, unanswered };
}
