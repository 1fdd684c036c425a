// Moves the pods off a node: by eviction, tier after tier, and by force only when the node's time runs out, each pod as
// late as its own grace allows. Never touches static, tolerating or finished pods, and waits for none that is stuck.

import { formatTime, type Instant, minuteMs, secondMs } from "../api/time.ts";
import type { PodTier, PodView } from "../snapshot/views.ts";
import { conditionOf } from "./conditions.ts";
import type { Command, Context, Notice } from "./decision.ts";
import { evictionHold, type Spent } from "./eviction.ts";
import { longestHold } from "./do-not-disrupt.ts";
import { podHardness } from "./pod-hardness.ts";
import { type Departing, done, nextOf, type Step, type StepResult, type Wait } from "./termination-step.ts";

const type = "Drained";
const tiers: readonly PodTier[] = ["workload", "daemon", "critical", "critical-daemon"];
/** A pod that was bound before the scheduler saw the taint shows itself within this time. */
const minDrainMs = 5 * secondMs;
/** How long beyond its grace a stopping pod is waited for. */
const stuckMs = minuteMs;
/** The shortest grace there is: with none at all the API server forgets the pod while it may still run. */
const leastGraceMs = secondMs;

export const drain: Step = { name: "drain", take: drainNodes };

/** What is said of one pod that is waited for. */
type Verdict = {
  /** What is asked of it now. */
  readonly command?: Command;
  /** It stays until this is lifted. */
  readonly hold?: Wait;
  /** It has been told to stop, and is waited for until then. */
  readonly leftAt?: Instant;
  readonly notices?: readonly Notice[];
  readonly looks: readonly (Instant | undefined)[];
};

type Judged = { readonly pod: PodView; readonly verdict: Verdict };

function drainNodes(departing: Departing, context: Context): StepResult {
  if (departing.isDead || departing.isEnding || departing.drained.length === 0) return done;
  const pods = departing.drained.flatMap(({ name }) => [...context.picture.podsOn(name)]);
  const waited = pods.filter(pod => isWaitedFor(pod, departing.terminationAt, context.now));
  if (waited.length === 0) return lateOnes(departing, context.now);
  return moved(waited, departing, context);
}

function moved(waited: readonly PodView[], departing: Departing, context: Context): StepResult {
  const tier = tiers.find(one => waited.some(pod => pod.tier === one));
  const spent: Spent = { tier, byBudget: new Map(), maxHoldMs: longestHold(poolOf(departing, context)) };
  const judged = waited.map(pod => ({ pod, verdict: judge(pod, spent, { departing, context }) }));
  const verdicts = judged.map(({ verdict }) => verdict);
  return {
    isDone: false,
    commands: verdicts.flatMap(({ command }) => command ?? []),
    waits: waitsOf(judged),
    notices: [
      ...expiring(departing),
      ...failing(judged, departing),
      ...verdicts.flatMap(({ notices }) => notices ?? []),
    ],
    condition: { type, status: "Unknown", reason: "Draining", message: "" },
    wakeAt: nextOf(
      context.now,
      verdicts.flatMap(({ looks }) => looks),
    ),
  };
}

function judge(
  pod: PodView,
  spent: Spent,
  { departing, context }: { departing: Departing; context: Context },
): Verdict {
  const { terminationAt } = departing;
  const { now } = context;
  if (pod.deletionAt !== undefined) return stopping(pod, pod.deletionAt, { departing, now });
  const forceAt = terminationAt === undefined ? undefined : terminationAt - pod.graceMs;
  // Across all tiers: who is past this instant has not the time to wait for the others.
  if (terminationAt !== undefined && forceAt !== undefined && forceAt <= now) {
    return { command: deletion(pod, terminationAt, departing), notices: [byForce(pod, terminationAt)], looks: [] };
  }
  if (departing.isSilent) {
    const { deletingSince = 0 } = departing.claim;
    return { command: deletion(pod, deletingSince, departing), notices: [ofSilentNode(pod)], looks: [] };
  }
  if (pod.tier !== spent.tier) return { looks: [forceAt] };
  const { hold, isAskedAgain, invalid, lookAt } = evictionHold(pod, spent, context);
  const notices = invalid === undefined ? [] : [podNotice(pod, "InvalidDoNotDisruptAnnotation", invalid)];
  const looks = [forceAt, lookAt];
  const held = hold === undefined ? {} : { hold: bounded(hold, forceAt) };
  if (hold !== undefined && !isAskedAgain) return { ...held, notices, looks };
  // Asked again it is still said who refused: one word for as long as it is refused, not two with each try.
  return { ...held, command: eviction(pod, departing), notices: [...notices, evicted(pod, departing)], looks };
}

/** Told to stop. One whose grace reaches beyond the node's time is told again, with less. */
function stopping(
  pod: PodView,
  deletionAt: Instant,
  { departing, now }: { departing: Departing; now: Instant },
): Verdict {
  const { terminationAt } = departing;
  const leftAt = leftBehindAt(deletionAt, terminationAt);
  if (terminationAt === undefined || deletionAt <= Math.max(terminationAt, now + leastGraceMs)) {
    return { leftAt, looks: [leftAt] };
  }
  const command = deletion(pod, terminationAt, departing);
  return { command, leftAt, notices: [byForce(pod, terminationAt)], looks: [leftAt, deletionAt - leastGraceMs] };
}

/** From here on a stopping pod is waited for no longer. Past the node's own time its grace is enough. */
function leftBehindAt(deletionAt: Instant, terminationAt = Number.POSITIVE_INFINITY): Instant {
  return Math.min(deletionAt + stuckMs, Math.max(deletionAt, terminationAt));
}

function isWaitedFor(pod: PodView, terminationAt: Instant | undefined, now: Instant): boolean {
  if (pod.isStatic || pod.toleratesDisruption || isTerminal(pod)) return false;
  return pod.deletionAt === undefined || now < leftBehindAt(pod.deletionAt, terminationAt);
}

export function isTerminal({ phase }: PodView): boolean {
  return phase === "Succeeded" || phase === "Failed";
}

/**
 * The machine is gone and its pods with it, whether they had been told to stop or not: their owners are told, a StatefulSet
 * too, which waits for the very object to go. Otherwise garbage collection would, a minute later. Nothing waits for them.
 */
export function withTheMachine(departing: Departing, { picture }: Context): Command[] {
  const { deletingSince = 0 } = departing.claim;
  return departing.drained
    .flatMap(({ name }) => [...picture.podsOn(name)])
    .filter(pod => !pod.isStatic && !isTerminal(pod))
    .map(pod => ({ ...deletion(pod, deletingSince, departing), isMachineGone: true }));
}

/** Nobody is left. Not done before pods that were on their way had the time to show themselves. */
function lateOnes({ claim, terminationAt, drained }: Departing, now: Instant): StepResult {
  const condition = conditionOf(claim.conditions, type);
  const { deletingSince = 0 } = claim;
  const since = condition?.status === "Unknown" ? (condition.since ?? deletingSince) : undefined;
  const until = Math.min(
    since === undefined ? Number.POSITIVE_INFINITY : since + minDrainMs,
    terminationAt ?? Number.POSITIVE_INFINITY,
  );
  if (condition?.status === "True" || until <= now) {
    return { isDone: true, condition: { type, status: "True", reason: type, message: "" } };
  }
  const end = Number.isFinite(until) ? { until } : {};
  const nodes = drained.map(({ name }) => name).join(", ");
  const message = `No pod is left on ${nodes}; pods that were bound before the taint was seen are waited for.`;
  return {
    isDone: false,
    condition: { type, status: "Unknown", reason: "Draining", message: "" },
    waits: [{ code: "late-pods", message, ...end, liftedBy: "Its time." }],
    wakeAt: end.until,
  };
}

/** Those that somebody holds, each by name; then the one that stops last; then that others have been asked. */
function waitsOf(judged: readonly Judged[]): Wait[] {
  const waits = judged.flatMap(({ verdict }) => verdict.hold ?? []);
  const stopping = judged.filter(({ verdict }) => verdict.leftAt !== undefined).sort(lastFirst)[0];
  if (stopping !== undefined) {
    const { pod, verdict } = stopping;
    waits.push({
      code: "pod-stopping",
      message: `Pod ${keyOf(pod)} is stopping; its grace ends at ${formatTime(pod.deletionAt ?? 0)}.`,
      ...(verdict.leftAt === undefined ? {} : { until: verdict.leftAt }),
      liftedBy: "Its end; look at the pod's finalizers and at the kubelet.",
    });
  }
  const asked = judged.find(
    ({ verdict: { command, leftAt, hold } }) => command !== undefined && leftAt === undefined && hold === undefined,
  );
  if (asked !== undefined) {
    const message = `Pods of the tier ${asked.pod.tier} on node ${asked.pod.nodeName} are asked to leave.`;
    waits.push({ code: "pods-asked", message, liftedBy: "Their leaving." });
  }
  return waits;
}

function lastFirst(a: Judged, b: Judged): number {
  return (b.verdict.leftAt ?? 0) - (a.verdict.leftAt ?? 0) || (keyOf(a.pod) < keyOf(b.pod) ? -1 : 1);
}

function bounded(hold: Wait, forceAt: Instant | undefined): Wait {
  if (forceAt === undefined) return hold;
  return { ...hold, until: Math.min(hold.until ?? Number.POSITIVE_INFINITY, forceAt) };
}

function poolOf({ claim }: Departing, { picture }: Context) {
  return claim.pool === undefined ? undefined : picture.pool(claim.pool);
}

function keyOf({ namespace, name }: PodView): string {
  return `${namespace}/${name}`;
}

function target({ namespace, name, uid }: PodView) {
  return { namespace, name, uid };
}

function eviction(pod: PodView, { why }: Departing): Command {
  const hardness = podHardness(pod);
  return { kind: "evict-pod", pod: target(pod), ...(hardness > 0 ? { hardness } : {}), why };
}

function deletion(pod: PodView, deadline: Instant, { why }: Departing): Extract<Command, { kind: "delete-pod" }> {
  return { kind: "delete-pod", pod: target(pod), deadline, why };
}

function podNotice(pod: PodView, reason: string, message: string): Notice {
  return { about: { kind: "Pod", ...target(pod) }, type: "Warning", reason, message };
}

function evicted(pod: PodView, { why }: Departing): Notice {
  const message = `Asked to leave node ${pod.nodeName}: ${why}`;
  return { about: { kind: "Pod", ...target(pod) }, type: "Normal", reason: "Evicted", message };
}

function byForce(pod: PodView, terminationAt: Instant): Notice {
  const message = `Deleted by force: node ${pod.nodeName} ends at ${formatTime(terminationAt)}, whatever holds the pod.`;
  return podNotice(pod, "Disrupted", message);
}

function ofSilentNode(pod: PodView): Notice {
  const message = `Deleted at once, so that it runs elsewhere: the kubelet of node ${pod.nodeName} is silent.`;
  return podNotice(pod, "Disrupted", message);
}

function expiring({ drained, terminationAt }: Departing): Notice[] {
  if (terminationAt === undefined) return [];
  const message = `Pods that are left are deleted by force, each with as much of its grace as ${formatTime(terminationAt)} allows.`;
  return drained.map(({ name, uid }) => ({
    about: { kind: "Node", name, uid },
    type: "Warning",
    reason: "TerminationGracePeriodExpiring",
    message,
  }));
}

function failing(judged: readonly Judged[], { drained }: Departing): Notice[] {
  return drained.flatMap(({ name, uid }) => {
    const held = judged.find(({ pod, verdict }) => pod.nodeName === name && verdict.hold !== undefined);
    if (held?.verdict.hold === undefined) return [];
    const { message } = held.verdict.hold;
    return [{ about: { kind: "Node", name, uid }, type: "Warning", reason: "FailedDraining", message }];
  });
}
