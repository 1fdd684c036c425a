// Instances that carry our cluster's tag and that no claim knows. Each is deleted only when it is old enough for any
// claim to have been seen, no Ready node runs on it, and they are few: after an etcd restore they would be many.

import { formatTime, type Instant, minuteMs } from "../api/time.ts";
import type { ListedInstance } from "../snapshot/instance.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { InstanceListView } from "../snapshot/views.ts";
import { isTrue } from "./conditions.ts";
import { type Command, type Context, type Decision, nothing, type Refusal } from "./decision.ts";
import { standstill } from "./safety.ts";

const ageMinMs = 15 * minuteMs;

export function strayInstances(listed: InstanceListView, context: Context): Decision {
  const { picture, settings } = context;
  const isOurs = ({ cluster }: ListedInstance) => cluster !== "" && cluster === settings.cluster;
  // One that has been answered for since the list was made is waited for: the next list will tell.
  const isOpen = ({ providerID }: ListedInstance) => !isAnswered(providerID, listed, picture);
  const strays = [...picture.unclaimedInstances()].filter(stray => isOurs(stray) && isOpen(stray));
  if (strays.length === 0) return nothing;
  const hold = tooMany(strays.length, listed.instances.filter(isOurs).length) ?? heldBack(strays, context);
  if (hold !== undefined) return { ...nothing, refusals: [hold], wakeAt: hold.until };
  const judged = strays.map(stray => judge(stray, readyNode(stray, picture), context.now));
  const refusals = judged.flatMap(({ refusal }) => refusal ?? []);
  return {
    ...nothing,
    commands: judged.flatMap(({ command }) => command ?? []),
    refusals,
    wakeAt: earliest(refusals.flatMap(({ until }) => until ?? [])),
  };
}

/** More than one and more than 5 %. */
export function isTooMany(count: number, total: number): boolean {
  return count > 1 && count * 20 > total;
}

function tooMany(count: number, total: number): Refusal | undefined {
  if (!isTooMany(count, total)) return undefined;
  return {
    subject: "cluster",
    code: "too-many-unknown",
    message: `${count} of ${total} instances of this cluster have no claim: that looks like lost claims, not like lost instances, so none is deleted.`,
    liftedBy: "their claims coming back, or a person deleting the instances at the provider",
  };
}

function heldBack(strays: readonly ListedInstance[], context: Context): Refusal | undefined {
  const objection = standstill(context);
  if (objection === undefined) return undefined;
  const message = `${strays.length} instances without a claim stay: ${objection.message}`;
  return { ...objection, subject: "cluster", message };
}

function isAnswered(providerID: string, { at }: InstanceListView, picture: Picture): boolean {
  const seen = picture.instance(providerID);
  return seen !== undefined && (seen.state === "terminating" || seen.state === "gone") && seen.seenAt >= at;
}

function readyNode({ providerID }: ListedInstance, picture: Picture): string | undefined {
  return picture.nodesWith(providerID).find(({ conditions }) => isTrue(conditions, "Ready"))?.name;
}

type Judged = { readonly command?: Command; readonly refusal?: Refusal };

function judge({ providerID, createdAt }: ListedInstance, node: string | undefined, now: Instant): Judged {
  if (node !== undefined) {
    const message = `Instance ${providerID} has no claim, but node ${node} runs on it and is Ready.`;
    const liftedBy = `a claim for node ${node}, or the node's end`;
    return { refusal: { subject: "cluster", code: "instance-in-use", message, liftedBy } };
  }
  const until = createdAt + ageMinMs;
  if (now >= until) {
    const why = `Instance ${providerID} has no claim, no Ready node, and was launched at ${formatTime(createdAt)}.`;
    return { command: { kind: "delete-instance", providerID, why } };
  }
  const message = `Instance ${providerID} has no claim; it is left alone until ${formatTime(until)}, in case one comes.`;
  return { refusal: { subject: "cluster", code: "instance-young", message, until, liftedBy: "its claim" } };
}

function earliest(instants: readonly Instant[]): Instant | undefined {
  return instants.length === 0 ? undefined : Math.min(...instants);
}
