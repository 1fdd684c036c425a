// Claims whose instance the provider no longer lists. A list may be wrong: the instance is asked for by name, twice, and
// only when it is gone both times and its node is not Ready does the claim go.

import { formatTime, type Instant, minuteMs } from "../api/time.ts";
import { launchedBeforeMs } from "../snapshot/instance-matches.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ClaimView, InstanceListView, InstanceView, NodeView } from "../snapshot/views.ts";
import { conditionOf, isTrue } from "./conditions.ts";
import { type Command, type Context, type Decision, nothing, type Proposal, type Refusal } from "./decision.ts";
import { claimShownOnly } from "./dry-run.ts";
import { servedClass } from "./node-class.ts";
import { standstill } from "./safety.ts";
import { isTooMany } from "./stray-instances.ts";

/** Between the first and the last word of a provider that an instance is gone. */
const goneForMs = minuteMs;

type Judged = {
  readonly command?: Command;
  readonly proposal?: Proposal;
  readonly refusal?: Refusal;
  readonly wakeAt?: Instant;
};

export function lostInstances(listed: InstanceListView, context: Context): Decision {
  const { picture } = context;
  const lost = [...picture.unlistedClaims()].filter(
    claim => isExpected(claim, listed, picture) && !isSeenSince(claim, listed, picture),
  );
  if (lost.length > 1) {
    const total = [...picture.claims()].filter(claim => isExpected(claim, listed, picture)).length;
    if (isTooMany(lost.length, total)) return { ...nothing, refusals: [tooMany(lost.length, total)] };
  }
  const judged = lost.map(claim => judge(claim, context));
  const wakes = judged.flatMap(({ wakeAt }) => wakeAt ?? []);
  return {
    ...nothing,
    commands: judged.flatMap(({ command }) => command ?? []),
    proposals: judged.flatMap(({ proposal }) => proposal ?? []),
    refusals: judged.flatMap(({ refusal }) => refusal ?? []),
    wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes),
  };
}

/** Ours, staying, and launched early enough to be in the list. */
function isExpected(claim: ClaimView, { at }: InstanceListView, { provider }: Picture): boolean {
  if (claim.providerID === undefined || claim.deletingSince !== undefined) return false;
  const since = conditionOf(claim.conditions, "Launched")?.since ?? claim.createdAt;
  return since + launchedBeforeMs <= at && servedClass(claim.spec.nodeClassRef, provider) !== undefined;
}

function isSeenSince({ providerID = "" }: ClaimView, { at }: InstanceListView, picture: Picture): boolean {
  const seen = picture.instance(providerID);
  return seen !== undefined && seen.state !== "gone" && seen.seenAt >= at;
}

function tooMany(count: number, total: number): Refusal {
  return {
    subject: "cluster",
    code: "too-many-missing",
    message: `The provider's list lacks ${count} of ${total} launched instances: that looks like a wrong list, so no claim goes.`,
    liftedBy: "a list that has them, or a person deleting the claims",
  };
}

function judge(claim: ClaimView, context: Context): Judged {
  const { providerID = "" } = claim;
  const { picture, now } = context;
  const seen = picture.instance(providerID);
  const goneSince = seen?.state === "gone" ? (seen.goneSince ?? seen.seenAt) : undefined;
  if (seen !== undefined && goneSince !== undefined && seen.seenAt >= goneSince + goneForMs) {
    return end(claim, { seen, goneSince }, context);
  }
  const askAt = goneSince === undefined ? Number.NEGATIVE_INFINITY : goneSince + goneForMs;
  if (now < askAt) return { refusal: unsure(claim, askAt), wakeAt: askAt };
  const why = `Instance ${providerID} of claim ${claim.name} is missing from the provider's list.`;
  return { command: { kind: "look-up-instance", providerID, why } };
}

function unsure({ name, providerID }: ClaimView, until: Instant): Refusal {
  const message = `Instance ${providerID} of claim ${name} is gone, says the provider; it is asked again at ${formatTime(until)}.`;
  return { subject: `claim/${name}`, code: "instance-missing", message, until, liftedBy: "the provider finding it" };
}

type Gone = { readonly seen: InstanceView; readonly goneSince: Instant };

function end(claim: ClaimView, gone: Gone, context: Context): Judged {
  const [node, ...others] = context.picture.nodesOf(claim);
  const doubt = node && doubtOf(claim, node, others);
  if (doubt !== undefined) return { refusal: doubt };
  if (node !== undefined) return { proposal: proposal(claim, node, gone) };
  const objection = standstill(context) ?? claimShownOnly(claim, sentence(claim, gone), context);
  if (objection !== undefined) {
    const { until } = objection;
    return {
      refusal: { ...objection, subject: `claim/${claim.name}` },
      ...(until === undefined ? {} : { wakeAt: until }),
    };
  }
  const { name, uid, resourceVersion } = claim;
  return { command: { kind: "delete-claim", claim: { name, uid }, resourceVersion, why: sentence(claim, gone) } };
}

function doubtOf(claim: ClaimView, node: NodeView, others: readonly NodeView[]): Refusal | undefined {
  const ready = [node, ...others].find(({ conditions }) => isTrue(conditions, "Ready"));
  const subject = `claim/${claim.name}` as const;
  if (ready !== undefined) {
    const message = `Instance ${claim.providerID} is gone, says the provider, but node ${ready.name} is Ready.`;
    return { subject, code: "node-still-ready", message, liftedBy: `node ${ready.name} being Ready no more` };
  }
  if (others.length === 0) return undefined;
  const names = [node, ...others].map(({ name }) => name).join(", ");
  const message = `Instance ${claim.providerID} is gone, says the provider, but several nodes have its providerID: ${names}.`;
  return { subject, code: "multiple-nodes-found", message, liftedBy: "deleting those that are not the instance's" };
}

/** By force: what ran there has ended already. */
function proposal(claim: ClaimView, node: NodeView, gone: Gone): Proposal {
  const message = sentence(claim, gone);
  const dueAt = gone.goneSince + goneForMs;
  return {
    node: { name: node.name, uid: node.uid },
    claim: { name: claim.name, uid: claim.uid },
    action: "GarbageCollection",
    method: "Terminate",
    termination: "Forceful",
    askedBy: { kind: "Controller", name: "garbage" },
    message,
    evidence: [{ kind: "InstanceGone", message, since: formatTime(gone.goneSince), clock: "Observer" }],
    dueAt,
  };
}

function sentence({ providerID }: ClaimView, { goneSince, seen }: Gone): string {
  return `The provider says that instance ${providerID} is gone, at ${formatTime(goneSince)} and again at ${formatTime(seen.seenAt)}.`;
}
