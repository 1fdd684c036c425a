// The taint that tells Kubernetes that nothing runs on a node any more, so that pods which nobody there can stop are
// given up and their volumes move: put on a node that a reboot has not brought back, once another boot id, or the
// provider's word that the machine is off, says that whatever ran before has ended. Never before that, and only ours is
// taken off again.

import { outOfServiceByKey, outOfServiceTaint } from "../api/well-known.ts";
import { formatTime, type Millis, secondMs } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ActionView, NodeView } from "../snapshot/views.ts";
import { isTrue } from "./conditions.ts";
import { type Command, type Context, type Decision, nothing, type Rule } from "./decision.ts";
import { instantOf, isDryRun, isOpen } from "./ledger.ts";
import { ownClaimOf } from "./own-node.ts";
import { nextOf } from "./termination-step.ts";

const lookEveryMs: Millis = 30 * secondMs;

export const outOfServiceRule: Rule = {
  name: "out-of-service",
  controller: "ledger",
  kind: "node",
  decide: decideOutOfService,
};

function decideOutOfService(name: string, context: Context): Decision {
  const node = context.picture.node(name);
  if (node === undefined || node.deletingSince !== undefined) return nothing;
  const by = node.annotations[outOfServiceByKey];
  return by === undefined ? putOn(node, context) : takeOff(node, by, context);
}

/** Whether the node still bears our word. */
export function isOutOfServiceByUs({ annotations }: NodeView): boolean {
  return annotations[outOfServiceByKey] !== undefined;
}

function putOn(node: NodeView, context: Context): Decision {
  const { picture, now } = context;
  const action = picture.openActionOn(node.uid);
  if (action === undefined || !isRebooting(action, context) || isTrue(node.conditions, "Ready")) return nothing;
  // Whoever put it there before us takes it off.
  if (node.taints.some(({ key }) => key === outOfServiceTaint.key)) return nothing;
  const ends = [...picture.podsOn(node.name)].flatMap(({ deletionAt, isStatic }) =>
    isStatic ? [] : (deletionAt ?? []),
  );
  if (!ends.some(end => end <= now)) return { ...nothing, wakeAt: nextOf(now, ends) };
  const ended = bootedAnew(node, action) ?? switchedOff(node, action, context);
  if (ended === undefined) return look(node, context);
  const why = `${ended}; pods that should have stopped are still bound to it.`;
  return written(node, { why, addTaints: [outOfServiceTaint], by: action.name });
}

/** Begun by this term. */
function isRebooting(action: ActionView, { epoch }: Context): boolean {
  const { spec, status, isProvisional } = action;
  const isOurs = !isProvisional && spec.method === "Reboot" && status.phase === "Running" && spec.epoch === epoch;
  return isOurs && !isDryRun(action);
}

/** What ran before has ended with the boot that its entry names. */
function bootedAnew({ name, bootID }: NodeView, { status }: ActionView): string | undefined {
  const isAnother = bootID !== undefined && status.bootID !== undefined && bootID !== status.bootID;
  return isAnother ? `Node ${name} was rebooted and is not Ready` : undefined;
}

/** Said since the reboot began: nothing that ran there then can still run, whether or not it has power by now. */
function switchedOff(node: NodeView, { status, createdAt }: ActionView, { picture }: Context): string | undefined {
  const seen = picture.instance(providerIDOf(node, picture) ?? "");
  const begunAt = instantOf(status.startedAt) ?? createdAt;
  if (seen?.state !== "off" || seen.seenAt < begunAt) return undefined;
  return `The machine of node ${node.name} was off at ${formatTime(seen.seenAt)}, says its provider`;
}

/** The provider is asked for as long as pods are stuck: a machine that goes down tells nobody else. */
function look(node: NodeView, { picture, now }: Context): Decision {
  const providerID = providerIDOf(node, picture);
  if (providerID === undefined) return nothing;
  const askAt = (picture.instance(providerID)?.seenAt ?? Number.NEGATIVE_INFINITY) + lookEveryMs;
  if (now < askAt) return { ...nothing, wakeAt: askAt };
  const why = `Pods that should have stopped are bound to node ${node.name}: is its machine off?`;
  return { ...nothing, commands: [{ kind: "look-up-instance", providerID, why }] };
}

function providerIDOf(node: NodeView, picture: Picture): string | undefined {
  return ownClaimOf(node, picture)?.providerID ?? node.providerID;
}

function takeOff(node: NodeView, by: string, { picture }: Context): Decision {
  const action = picture.action(by);
  const isRecovered = isTrue(node.conditions, "Ready");
  if (!isRecovered && action !== undefined && isOpen(action)) return nothing;
  const why = isRecovered
    ? `Node ${node.name} is Ready again.`
    : `NodeAction ${by}, which declared node ${node.name} out of service, is over.`;
  const { key, effect } = outOfServiceTaint;
  return written(node, { why, removeTaints: [{ key, effect }], by: null });
}

type Change = Pick<Extract<Command, { kind: "update-node" }>["change"], "addTaints" | "removeTaints"> & {
  readonly why: string;
  readonly by: string | null;
};

function written({ name, uid }: NodeView, { why, by, ...taints }: Change): Decision {
  const change = { ...taints, annotations: { [outOfServiceByKey]: by } };
  return { ...nothing, commands: [{ kind: "update-node", why, node: { name, uid }, change }] };
}
