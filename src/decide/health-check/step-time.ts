// How long a remediation may take: by its step's time-out, or, of one that nobody would ever end, half an hour. It says
// when its time is up, and does nothing about it.

import { type Instant, minuteMs } from "../../api/time.ts";
import type { CheckView, RemediationView, StepView } from "../../snapshot/check-views.ts";
import type { Context } from "../decision.ts";
import { instantOf } from "../ledger.ts";
import { patientOf } from "../remediators/patient.ts";
import { isMadeBy } from "./manifest.ts";

/**
 * For the only step of a check, by somebody who says nothing: as long as medik8s' controller holds the node for it. Else
 * it would keep its place in the caps from those who could be helped.
 */
const aloneMs = 30 * minuteMs;

export type StepTime = Pick<StepView, "timeoutMs">;

/**
 * The step that made it. Where the check names its template no longer, one without a time-out: what was written is not
 * known any more. Undefined: the check cannot be understood.
 */
export function stepOf(made: RemediationView, { steps }: Pick<CheckView, "steps">): StepView | StepTime | undefined {
  return steps.length === 0 ? undefined : (steps.find(step => isMadeBy(step, made)) ?? {});
}

/** By its own word, by ours, or by its time. */
export function isOver(made: RemediationView, step: StepTime, context: Context): boolean {
  if (made.timedOut !== undefined || made.succeeded?.status === "False") return true;
  return (endsAt(made, step, context) ?? Number.POSITIVE_INFINITY) <= context.now;
}

/** When a step has had its time; undefined: it has all it wants, or has not begun. */
export function endsAt(made: RemediationView, { timeoutMs }: StepTime, context: Context): Instant | undefined {
  // What we carry out ourselves comes to an end by itself. One that has succeeded does nothing more for a node that has
  // failed again before it was removed.
  const isIdle = !isCarriedOut(made, context) || made.succeeded?.status === "True";
  const lastsMs = timeoutMs ?? (isIdle ? aloneMs : undefined);
  const begunAt = lastsMs === undefined ? undefined : beginOf(made, context);
  return begunAt === undefined || lastsMs === undefined ? undefined : begunAt + lastsMs;
}

/** By us. One of ours that was made before remediators were taken out of --controllers is nobody's: it has its time. */
function isCarriedOut({ own }: RemediationView, { settings }: Context): boolean {
  return own !== undefined && settings.remediates !== false;
}

/** Ours wait for the arbiter's leave after the object is made: what a freeze holds back has not been tried. */
function beginOf(made: RemediationView, context: Context): Instant | undefined {
  const ours = isCarriedOut(made, context) ? patientOf(made, context) : undefined;
  if (ours === undefined) return made.createdAt;
  const starts = ours.actions.flatMap(({ status }) => instantOf(status.startedAt) ?? []);
  if (starts.length > 0) return Math.min(...starts);
  const { nodeAction } = ours.remediation.own.status;
  // An entry that is no longer kept is long over, and nothing has to begin any more for what has succeeded without one.
  const isForgotten = nodeAction !== undefined && context.picture.action(nodeAction) === undefined;
  return isForgotten || made.succeeded?.status === "True" ? made.createdAt : undefined;
}

/** When it was over, by whichever of these. Undefined: it is not. */
export function endedAt(made: RemediationView, check: CheckView, context: Context): Instant | undefined {
  const { timedOut, succeeded, createdAt } = made;
  if (timedOut !== undefined) return instantOf(timedOut) ?? createdAt;
  if (succeeded?.status === "False") return succeeded.since ?? createdAt;
  const step = stepOf(made, check);
  const end = step && endsAt(made, step, context);
  return end !== undefined && end <= context.now ? end : undefined;
}
