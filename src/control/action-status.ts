// How an action's status looks after some progress: what is new is stamped with the executor's time, what was there
// keeps its own. Pure.

import { finalPhases, type NodeActionSpec, type NodeActionStatus, type Phase } from "../api/node-action.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { ActionProgress } from "../decide/decision.ts";
import { unstamped } from "../decide/ledger.ts";

type Step = NonNullable<NodeActionStatus["steps"]>[number];
type Wait = NonNullable<NodeActionStatus["waitingFor"]>;

/** As a merge patch: null takes a field away. */
export type StatusPatch = Omit<Partial<NodeActionStatus>, "waitingFor"> & { waitingFor?: Wait | null };

// What the kind allows; a longer sentence is cut rather than lost.
const messageMax = 4096;

export function statusAfter(status: NodeActionStatus, progress: ActionProgress, now: Instant): StatusPatch {
  const { steps, waitingFor, bootID, outcome, error } = progress;
  // Where there is more to tell, that it has not begun is told too.
  const phase = progress.phase ?? (status.phase === undefined ? "Pending" : undefined);
  return {
    ...(phase === undefined ? {} : { phase, ...phaseTimes(status, phase, now) }),
    ...(steps === undefined ? {} : { steps: stepsAfter(status.steps ?? [], steps, now) }),
    ...(waitingFor === undefined ? {} : { waitingFor: waitAfter(status.waitingFor, waitingFor, now) }),
    ...(bootID === undefined ? {} : { bootID }),
    ...(outcome === undefined ? {} : { outcome: cut(outcome) }),
    ...(error === undefined ? {} : { error: cut(error) }),
  };
}

function phaseTimes(status: NodeActionStatus, phase: Phase, now: Instant): Partial<NodeActionStatus> {
  const isFinal = (finalPhases as readonly Phase[]).includes(phase);
  return {
    ...(phase === "Running" && status.startedAt === undefined ? { startedAt: formatTime(now) } : {}),
    ...(isFinal && status.finishedAt === undefined ? { finishedAt: formatTime(now) } : {}),
  };
}

function stepsAfter(before: readonly Step[], steps: NonNullable<ActionProgress["steps"]>, now: Instant): Step[] {
  return steps.map(({ name, isFinished, message }) => {
    const known = before.find(step => step.name === name);
    const finishedAt = isFinished ? (known?.finishedAt ?? formatTime(now)) : undefined;
    return {
      name,
      startedAt: known?.startedAt ?? formatTime(now),
      ...(known?.attempts === undefined ? {} : { attempts: known.attempts }),
      ...(finishedAt === undefined ? {} : { finishedAt }),
      ...(message === undefined ? {} : { message: cut(message) }),
    };
  });
}

/** A wait for the same reason goes on, whatever its sentence says by now. */
function waitAfter(before: Wait | undefined, wait: ActionProgress["waitingFor"], now: Instant): Wait | null {
  if (wait === null || wait === undefined) return null;
  const { reason, message, until } = wait;
  const since = before?.reason === reason ? before.since : formatTime(now);
  return { reason, message: cut(message), since, ...(until === undefined ? {} : { until: formatTime(until) }) };
}

/** Every time that the decision left open. */
export function stampedSpec<S extends Partial<NodeActionSpec>>(spec: S, now: Instant): S {
  const time = formatTime(now);
  const seen = (evidence: NodeActionSpec["evidence"]) =>
    evidence.map(one => (one.seenAt === unstamped ? { ...one, seenAt: time } : one));
  return {
    ...spec,
    ...(spec.decidedAt === unstamped ? { decidedAt: time } : {}),
    ...(spec.evidence === undefined ? {} : { evidence: seen(spec.evidence) }),
    ...(spec.joined === undefined
      ? {}
      : {
          joined: spec.joined.map(reason => ({
            ...reason,
            at: reason.at === unstamped ? time : reason.at,
            evidence: seen(reason.evidence),
          })),
        }),
  };
}

function cut(text: string): string {
  return text.length <= messageMax ? text : `${text.slice(0, messageMax - 1)}…`;
}
