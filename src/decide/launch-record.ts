// What became of a pool's latest launches, and how long the next ones are held back. It is kept on the pool, in an
// annotation and in status.launchBackoff, so that neither a restart nor the end of a failed claim forgets it.

import type { NodePoolStatus } from "../api/node-pool.ts";
import { remembered } from "../api/remembered.ts";
import { formatTime, type Instant, type Millis, minuteMs, parseTime, secondMs } from "../api/time.ts";
import { launchRecordKey } from "../api/well-known.ts";
import { compareLaunches, type LaunchResult, launchResultOf } from "../snapshot/launch-result.ts";
import type { ClaimView, PoolView } from "../snapshot/views.ts";
import { awaitingReconciliation, conditionOf } from "./conditions.ts";
import type { ConditionChange } from "./decision.ts";
import { fingerprintOf } from "./fingerprint.ts";

const resultsMax = 4;
/** So many of the latest are enough to be told of: at most four of them are in the record already. */
export const resultsSeenMax = 2 * resultsMax;
const failuresMax = 2;
const goodsEveryMs: Millis = 10 * secondMs;
const backoffMinMs: Millis = minuteMs;
const backoffMaxMs: Millis = 10 * minuteMs;

export type LaunchRecord = {
  /** What was launched, of which class: with another template or class everything starts again (`launchedOf`). */
  readonly of: string;
  /** Results up to this one belong to older ones. */
  readonly after?: LaunchResult;
  /** The last four, oldest first. */
  readonly results: readonly LaunchResult[];
};

type Backoff = NonNullable<NodePoolStatus["launchBackoff"]>;

/** What the pool says of itself. Undefined: nothing, or nothing that can be read. */
export function launchRecordOf(pool: PoolView): LaunchRecord | undefined {
  return recordIn(pool.annotations[launchRecordKey] ?? "");
}

// A pool is asked again and again before it launches anew.
const recordIn = remembered((text): LaunchRecord | undefined => {
  const [of, after, ...results] = text.split("; ");
  const read = results.map(parseResult);
  if (of === undefined || of === "" || after === undefined || read.includes(undefined)) return undefined;
  const known = parseResult(after);
  return { of, ...(known ? { after: known } : {}), results: read as LaunchResult[] };
});

/** What the pool launches now. Its size, its limits and its policies say nothing of how a launch will end. */
export function launchedOf({ effective }: PoolView, classGeneration: number): string {
  return `${fingerprintOf(effective.template)}/${classGeneration}`;
}

/** Of what; who came before the results that count; the results. */
export function formatLaunchRecord({ of, after, results }: LaunchRecord): string {
  return [of, after ? formatResult(after) : "-", ...results.map(formatResult)].join("; ");
}

/** Each result counts once, however often and in whatever order it is seen. */
export function nextLaunchRecord(
  before: LaunchRecord | undefined,
  of: string,
  seen: Iterable<LaunchResult>,
): LaunchRecord {
  const latest = latestOf([...(before?.results ?? []), ...seen]);
  if (before !== undefined && before.of !== of) {
    const after = latestOf([...latest, ...(before.after ? [before.after] : [])]).at(-1);
    return { of, ...(after ? { after } : {}), results: [] };
  }
  const { after } = before ?? {};
  const results = after === undefined ? latest : latest.filter(result => compareLaunches(result, after) > 0);
  return { of, ...(after ? { after } : {}), results };
}

/**
 * Until when the pool need not be told of one more that went well, after nothing else; undefined: it is told at once. Many
 * nodes that come one after the other are so a few writes.
 */
export function recordHeldUntil(before: LaunchRecord | undefined, next: LaunchRecord): Instant | undefined {
  const last = before?.results.at(-1);
  if (before === undefined || last === undefined || before.of !== next.of) return undefined;
  return [...before.results, ...next.results].every(({ isGood }) => isGood) ? last.at + goodsEveryMs : undefined;
}

/**
 * Doubled with each failure after the last backoff has ended; failures within it were under way when it began. Ended by
 * a success that came later, and by a new template or class: `failures: 0`.
 */
export function nextBackoff(before: Backoff | undefined, record: LaunchRecord): Backoff | undefined {
  if (record.results.length === 0) return before && record.after ? ended(before, record.after.at) : before;
  return record.results.reduce<Backoff | undefined>((backoff, { at, isGood }) => {
    if (!isGood) return backoff && isWithin(backoff, at) ? backoff : failedAt(at, (backoff?.failures ?? 0) + 1);
    return backoff && at > lastFailureAt(backoff) ? ended(backoff, at) : backoff;
  }, before);
}

/** Until when no instance of the pool is launched; undefined: nothing is held back. */
export function backoffUntil({ status: { launchBackoff } }: PoolView): Instant | undefined {
  return launchBackoff === undefined || launchBackoff.failures === 0 ? undefined : untilOf(launchBackoff);
}

/** The latest result that the pool knows of, as a text that never comes again; empty: none yet. */
export function lastLaunch(pool: PoolView): string {
  const last = lastResult(pool);
  return last === undefined ? "" : formatResult(last);
}

/** Whether the pool knows how the claim's launch ended: only then may a failed claim go. */
export function isRecorded(claim: ClaimView, pool: PoolView): boolean {
  const result = launchResultOf(claim);
  return result === undefined || knows(pool, result);
}

/** Whether the pool says until when launches are held back after these; annotation and status are written apart. */
export function isBackoffWritten(pool: PoolView, latest: LaunchResult): boolean {
  const { launchBackoff: written } = pool.status;
  const record = launchRecordOf(pool);
  if (!knows(pool, latest)) return false;
  const next = record && nextBackoff(written, record);
  return next?.failures === written?.failures && next?.until === written?.until;
}

function knows(pool: PoolView, result: LaunchResult): boolean {
  const last = lastResult(pool);
  return last !== undefined && compareLaunches(result, last) <= 0;
}

/** `stuck`: a claim that trying again does not help. A single failure says nothing yet; upstream's rule of two in four, kept across restarts. */
export function registrationHealth({ results }: LaunchRecord, stuck?: ClaimView): ConditionChange {
  const type = "NodeRegistrationHealthy";
  const launched = stuck && conditionOf(stuck.conditions, "Launched");
  if (launched !== undefined) {
    const message = `Claim ${stuck?.name} is not launched, and trying again is not enough: ${launched.message}`;
    return { type, status: "False", reason: launched.reason, message };
  }
  const failures = results.filter(({ isGood }) => !isGood).length;
  if (failures >= failuresMax) {
    const message = `${failures} of the last ${results.length} launches brought no node that was Ready.`;
    return { type, status: "False", reason: "RegistrationFailed", message };
  }
  if (failures < results.length) return { type, status: "True", reason: type, message: "" };
  return { type, status: "Unknown", reason: awaitingReconciliation, message: "" };
}

function lastResult(pool: PoolView): LaunchResult | undefined {
  const record = launchRecordOf(pool);
  return record?.results.at(-1) ?? record?.after;
}

function failedAt(at: Instant, failures: number): Backoff {
  return { failures, until: formatTime(at + backoffMs(failures)) };
}

// The second in which a success ended it is within it: which of the two came first cannot be told.
function isWithin(backoff: Backoff, at: Instant): boolean {
  const until = untilOf(backoff);
  return until !== undefined && (backoff.failures === 0 ? at <= until : at < until);
}

function ended({ failures, until }: Backoff, at: Instant): Backoff {
  return failures === 0 ? { failures, until } : { failures: 0, until: formatTime(at) };
}

function backoffMs(failures: number): Millis {
  return Math.min(backoffMinMs * 2 ** (failures - 1), backoffMaxMs);
}

function untilOf(backoff: Backoff | undefined): Instant | undefined {
  const until = parseTime(backoff?.until ?? "");
  return until.ok ? until.value : undefined;
}

function lastFailureAt(backoff: Backoff): Instant {
  return (untilOf(backoff) ?? 0) - (backoff.failures === 0 ? 0 : backoffMs(backoff.failures));
}

function latestOf(results: Iterable<LaunchResult>): readonly LaunchResult[] {
  const latest: LaunchResult[] = [];
  for (const result of results) {
    const [oldest] = latest;
    if (latest.length === resultsMax && oldest && compareLaunches(result, oldest) < 0) continue;
    if (latest.some(known => known.uid === result.uid)) continue;
    latest.push(result);
    latest.sort(compareLaunches);
    if (latest.length > resultsMax) latest.shift();
  }
  return latest;
}

function formatResult({ at, uid, isGood }: LaunchResult): string {
  return `${formatTime(at)} ${isGood ? "good" : "bad"} ${uid}`;
}

function parseResult(text: string): LaunchResult | undefined {
  const [time = "", word, uid] = text.split(" ");
  const at = parseTime(time);
  if (!at.ok || uid === undefined || (word !== "good" && word !== "bad")) return undefined;
  return { at: at.value, uid, isGood: word === "good" };
}
