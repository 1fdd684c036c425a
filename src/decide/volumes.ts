// Waits until the volumes of pods that have left are detached, so that they can be attached elsewhere without a quarrel.
// Volumes of pods that stay (static, tolerating, stuck) are not waited for; nor is any once the node's time is up.

import { formatTime } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { AttachmentView, NodeView } from "../snapshot/views.ts";
import type { Context } from "./decision.ts";
import { isTerminal } from "./drain.ts";
import { type Departing, done, type Step, type StepResult } from "./termination-step.ts";

const type = "VolumesDetached";
const awaiting = "AwaitingVolumeDetachment";
const elapsed = "TerminationGracePeriodElapsed";

export const volumes: Step = { name: "volumes", take: awaitDetachment };

function awaitDetachment(departing: Departing, { picture, now }: Context): StepResult {
  const { drained, terminationAt, isDead, isSilent, isEnding } = departing;
  if (isDead || isEnding || drained.length === 0) return done;
  const held = drained.flatMap(node => attachmentsHeld(node, picture));
  const [first] = held;
  if (first === undefined) return { isDone: true, condition: { type, status: "True", reason: type, message: "" } };
  if (terminationAt !== undefined && terminationAt <= now) {
    const message = `${named(first)} was not detached by ${formatTime(terminationAt)}.`;
    return { isDone: true, condition: { type, status: "False", reason: elapsed, message } };
  }
  // A kubelet that does not answer unmounts nothing: volumes come off with the machine.
  if (isSilent) return done;
  return {
    isDone: false,
    condition: { type, status: "Unknown", reason: awaiting, message: "" },
    waits: held.map(attachment => ({
      code: "volume-attached",
      message: `${named(attachment)} is still attached to node ${attachment.nodeName}.`,
      ...(terminationAt === undefined ? {} : { until: terminationAt }),
      liftedBy: "Its detachment by the attacher; look at the VolumeAttachment and the CSI driver.",
    })),
    notices: drained.map(({ name, uid }) => ({
      about: { kind: "Node", name, uid },
      type: "Normal",
      reason: awaiting,
      message: `${named(first)} is still attached.`,
    })),
    wakeAt: terminationAt,
  };
}

/** At this step whoever is still on the node and not over is one that is not drained. */
function attachmentsHeld(node: NodeView, picture: Picture): AttachmentView[] {
  const attachments = [...picture.attachmentsOn(node.name)];
  if (attachments.length === 0) return attachments;
  const kept = new Set<string>();
  for (const pod of picture.podsOn(node.name)) {
    if (isTerminal(pod)) continue;
    for (const claim of pod.volumeClaims) {
      const volume = picture.volumeOf(pod.namespace, claim);
      if (volume !== undefined) kept.add(volume);
    }
  }
  return attachments.filter(({ volume }) => volume === undefined || !kept.has(volume));
}

function named({ name, volume }: AttachmentView): string {
  return volume === undefined ? `VolumeAttachment ${name}` : `Volume ${volume} (VolumeAttachment ${name})`;
}
