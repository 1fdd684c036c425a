// Ends the instance: the provider is asked, and asked again, until it says that the instance is gone. Not while a node of
// somebody else runs on it. And looks, while a node that is not Ready is drained, whether there is an instance at all.

import { type Instant, type Millis, minuteMs, secondMs } from "../api/time.ts";
import type { FailureView } from "../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf, isTrue } from "./conditions.ts";
import type { Command, Context } from "./decision.ts";
import { laneOf } from "./lane.ts";
import { type Departing, done, saidOf, type Step, type StepResult, type Wait } from "./termination-step.ts";

const type = "InstanceTerminating";
/** Soon at first, and the longer it has taken the more rarely: a machine that hangs for days costs no call a second. */
const askAgainMs = { least: 5 * secondMs, most: minuteMs, part: 0.1 };
const lookAgainMs = minuteMs;

export const instanceEnd: Step = { name: "instance", take: endInstance };

function endInstance(departing: Departing, { picture, now }: Context): StepResult {
  const { claim, isEnding, why } = departing;
  const { providerID } = claim;
  // Never launched. Should an answer have been lost, the instance carries the claim's tag and garbage collection finds it.
  if (providerID === undefined) return done;
  const seen = picture.instance(providerID);
  if (seen?.state === "gone") return done;
  const stranger = inUse(departing, now);
  if (stranger !== undefined) return leftRunning(stranger, departing);
  const command: Command = {
    kind: "delete-instance",
    providerID,
    claim: { name: claim.name, uid: claim.uid },
    why,
  };
  const failure = picture.failure(laneOf(command));
  const askAt = Math.max(
    seen?.state === "terminating" ? seen.seenAt + pauseMs(claim, seen.seenAt) : Number.NEGATIVE_INFINITY,
    failure?.retryAt ?? Number.NEGATIVE_INFINITY,
  );
  return {
    isDone: false,
    // First it is written that there is no way back, over the version of the claim that we know to be deleting.
    commands: isEnding && askAt <= now ? [command] : [],
    condition: { type, status: "True", reason: type, message: "" },
    waits: [failure === undefined ? asked(providerID) : unanswered(providerID, failure)],
    wakeAt: askAt,
  };
}

/** Somebody's node runs there. It holds the instance as long as the claim has time; its pods are not ours to move. */
function inUse({ strangers, terminationAt, isEnding }: Departing, now: Instant): NodeView | undefined {
  const isForced = isEnding || (terminationAt !== undefined && terminationAt <= now);
  return isForced ? undefined : strangers.find(({ conditions }) => isTrue(conditions, "Ready"));
}

function leftRunning({ name }: NodeView, { claim, terminationAt }: Departing): StepResult {
  const end = terminationAt === undefined ? {} : { until: terminationAt };
  const wait = {
    code: "node-not-ours",
    message: `Node ${name} has the providerID of claim ${claim.name}, is Ready and was not registered for it: neither it nor the instance is touched.`,
    ...end,
    liftedBy: `Deleting node ${name}, or taking the finalizer off claim ${claim.name}.`,
  };
  const condition = { type, status: "Unknown", reason: "NodeNotOurs", message: "" };
  return { isDone: false, condition, waits: [wait], wakeAt: end.until };
}

function pauseMs({ conditions }: ClaimView, askedAt: Instant): Millis {
  const { least, most, part } = askAgainMs;
  const takenMs = askedAt - (conditionOf(conditions, type)?.since ?? askedAt);
  return Math.min(most, Math.max(least, Math.ceil(takenMs * part)));
}

/** Only a question: its answer decides whether the drain is worth while. */
export function lookUp({ claim, drained, isDead, isEnding }: Departing, { picture, now }: Context): StepResult {
  const { providerID } = claim;
  const isDown = drained.length > 0 && drained.every(node => !isTrue(node.conditions, "Ready"));
  if (providerID === undefined || !isDown || isDead || isEnding) return done;
  const why = "The node is not Ready: is there an instance?";
  const command: Command = { kind: "look-up-instance", providerID, why };
  const lookAt = Math.max(
    (picture.instance(providerID)?.seenAt ?? Number.NEGATIVE_INFINITY) + lookAgainMs,
    picture.failure(laneOf(command))?.retryAt ?? Number.NEGATIVE_INFINITY,
  );
  return { isDone: true, commands: lookAt <= now ? [command] : [], wakeAt: lookAt };
}

function asked(providerID: string): Wait {
  return {
    code: "instance-terminating",
    message: `Instance ${providerID} is being ended; the provider has not said yet that it is gone.`,
    liftedBy: "The provider; it is asked again.",
  };
}

function unanswered(providerID: string, failure: FailureView): Wait {
  return {
    code: "instance-not-ended",
    message: `The provider did not end instance ${providerID}: ${saidOf(failure)}`,
    retryAt: failure.retryAt,
    liftedBy: "The provider; it is asked again.",
  };
}
