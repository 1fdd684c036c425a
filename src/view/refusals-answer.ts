// What stands against what is wanted, for whoever asks: each "no" with its object, its sentence, since when and until
// when, and what would lift it.

import { formatTime, type Instant } from "../api/time.ts";
import { type Refusal, sentenceOf } from "../decide/decision.ts";

type RefusalRow = {
  /** Of the object; `Cluster` for what is about all of it, without a name. */
  readonly kind: string;
  readonly name?: string;
  readonly code: string;
  readonly sentence: string;
  readonly since?: string;
  readonly until?: string;
  readonly lifts: string;
};

export type RefusalsAnswer = {
  /** Only the leader judges: of the others nobody is refused anything. */
  readonly leading: boolean;
  /** How many there are; no more than the first so many are told. */
  readonly count: number;
  readonly refusals: readonly RefusalRow[];
};

export type RefusalsQuestion = { readonly kind?: string | undefined; readonly name?: string | undefined };

export type RefusalsAsked = {
  readonly epoch: number | undefined;
  refusals(): readonly Refusal[];
  refusedSince(refusal: Refusal): Instant | undefined;
};

const rowsMax = 1000;
const kinds: Readonly<Record<string, string>> = {
  claim: "NodeClaim",
  node: "Node",
  pool: "NodePool",
  action: "NodeAction",
  check: "NodeHealthCheck",
  pod: "Pod",
  cluster: "Cluster",
};

export function refusalsAnswer(asked: RefusalsAsked, { kind, name }: RefusalsQuestion): RefusalsAnswer {
  const rows = asked
    .refusals()
    .map(refusal => rowOf(refusal, asked.refusedSince(refusal)))
    .filter(row => kind === undefined || row.kind.toLowerCase() === kind.toLowerCase())
    .filter(row => name === undefined || row.name === name)
    .sort((a, b) => compare(a.kind, b.kind) || compare(a.name, b.name) || compare(a.code, b.code));
  return { leading: asked.epoch !== undefined, count: rows.length, refusals: rows.slice(0, rowsMax) };
}

function rowOf(refusal: Refusal, since: Instant | undefined): RefusalRow {
  const { subject, code, until, liftedBy } = refusal;
  const [word = "", ...rest] = subject.split("/");
  const name = rest.join("/");
  return {
    kind: kinds[word] ?? word,
    ...(name === "" ? {} : { name }),
    code,
    sentence: sentenceOf(refusal),
    ...(since === undefined ? {} : { since: formatTime(since) }),
    ...(until === undefined || !Number.isFinite(until) ? {} : { until: formatTime(until) }),
    lifts: liftedBy,
  };
}

function compare(a = "", b = ""): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
