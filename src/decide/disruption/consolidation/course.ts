// How one consolidation is going: what was found so far, and trials that are kept until its end, so that each question is
// asked of what those before it would leave.

import { Trial } from "../../packing/trial.ts";
import type { Candidate, Question, Saving } from "./question.ts";
import type { KnownStays } from "./known-stays.ts";
import type { Replacements } from "./replacement.ts";
import type { Standings } from "./standings.ts";
import type { scoresOf } from "./terms.ts";

export type Course = {
  readonly question: Question;
  readonly standings: Standings;
  readonly replacements: Replacements;
  /** Somebody else needs the picture: what was found so far is the answer. */
  readonly isStopped: () => boolean;
  readonly known: KnownStays;
  /** Of whom something has changed since they were judged, or who never were. */
  readonly fresh: ReadonlySet<Candidate>;
  /** Whom room that has grown may help. The others stay as they did. */
  readonly helped: ReadonlySet<Candidate>;
  readonly judged: Set<Candidate>;
  readonly kept: Trial[];
  readonly savings: Saving[];
  /** Why nodes stay, by name. */
  readonly stays: Map<string, string>;
  /** By name: how its Balanced pool weighed what a node by itself would save, the last time. */
  readonly weighed: Map<string, ReturnType<typeof scoresOf>>;
};

/** What a trial would save, or why it is no use. */
export type Judgement = (trial: Trial) => Generator<void, readonly Saving[] | string>;

/** Takes the nodes away for a look. Where that saves something they stay away, else all is as before. */
export function* attempt(
  { standings, kept, savings }: Course,
  nodes: readonly Candidate[],
  judge: Judgement,
): Generator<void, string | undefined> {
  const trial = new Trial(standings.input);
  let isKept = false;
  try {
    yield* trial.takeAway(nodes.map(node => standings.indexOf(node)));
    const found = yield* judge(trial);
    if (typeof found === "string") {
      yield* trial.undoing();
      return found;
    }
    isKept = true;
    trial.keep();
    for (const saving of found) savings.push(saving);
    standings.took(found);
    return undefined;
  } finally {
    if (isKept) kept.push(trial);
    else trial.undo();
  }
}

/** Who is to be judged by himself, as long as that is of use: room that helps many is taken by the first. */
export function* oneByOne({ standings, question, known, fresh, helped, judged }: Course): Iterable<Candidate> {
  const around = { ...standings.input, question };
  for (const node of standings.inOrder) {
    if (standings.isSettled(node) || !(fresh.has(node) || helped.has(node))) continue;
    if (!fresh.has(node) && !known.isHelped(node, around)) continue;
    judged.add(node);
    yield node;
  }
}

export function priceOf(nodes: readonly Candidate[]): number {
  return nodes.reduce((sum, { price }) => sum + price, 0);
}
