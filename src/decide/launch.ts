// Whether an instance may be launched now, and what its claim says once the provider has answered. It never launches:
// that is a command, sent again until there is an answer, and the provider finds what an earlier one has launched.

import type { NodeClaimStatus } from "../api/node-claim.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { Instance, ProviderError } from "../snapshot/instance.ts";
import type { NodeClassRef, Picture, ProviderView, Subject } from "../snapshot/picture.ts";
import { shortageReasons } from "../snapshot/shortages.ts";
import type { ClaimView, PoolView } from "../snapshot/views.ts";
import { claimParts, conditionOf, withAwaiting, withCondition, withReady } from "./conditions.ts";
import type { ConditionChange, MetadataChange, Refusal, StatusChange } from "./decision.ts";
import { backoffUntil } from "./launch-record.ts";
import { setsOfRequirements } from "./packing/requirements.ts";
import { awaitingNode } from "./registration.ts";

/** A refusal that has no subject yet, and its reason in the words of conditions. */
export type Hold = Omit<Refusal, "subject"> & { readonly reason: string };

export function refusalOf(subject: Subject, { code, message, until, liftedBy }: Omit<Hold, "reason">): Refusal {
  return { subject, code, message, liftedBy, ...(until === undefined ? {} : { until }) };
}

const messageMax = 300;

/** After these nothing was launched, and trying the same claim again would not help. */
const finalErrors: readonly string[] = [...shortageReasons, "NodeClassNotReady"];

/** Why nothing is launched for the pool or with the class, now. */
export function launchHold(
  { pool, nodeClass, provider }: { pool: PoolView | undefined; nodeClass: NodeClassRef; provider: ProviderView },
  now: Instant,
): Hold | undefined {
  return (pool && poolHold(pool, now)) ?? classHold(nodeClass, provider);
}

function poolHold(pool: PoolView, now: Instant): Hold | undefined {
  const { name, invalid, deletingSince, status } = pool;
  if (deletingSince !== undefined) {
    const message = `Pool ${name} is being deleted.`;
    return {
      code: "pool-deleting",
      reason: "NodePoolTerminating",
      message,
      liftedBy: "nothing: its claims go with it",
    };
  }
  if (invalid !== undefined) {
    const message = `Pool ${name} cannot be understood: ${invalid}`;
    return { code: "pool-invalid", reason: "NodePoolValidationFailed", message, liftedBy: `mending pool ${name}` };
  }
  const until = backoffUntil(pool);
  if (until === undefined || until <= now) return undefined;
  const failures = status.launchBackoff?.failures ?? 0;
  const message = `Launches for pool ${name} are held back until ${formatTime(until)} after ${failures} that failed in a row.`;
  return {
    code: "pool-backing-off",
    reason: "LaunchBackoff",
    message,
    until,
    liftedBy: `a node of pool ${name} that becomes Ready, or a change of its template`,
  };
}

export function classHold(nodeClass: NodeClassRef, provider: ProviderView): Hold | undefined {
  const found = provider.nodeClass(nodeClass);
  if (found.state === "Ready") return undefined;
  const name = `${nodeClass.kind} ${nodeClass.name}`;
  const reason = { NotFound: "NodeClassNotFound", Terminating: "NodeClassTerminating", NotReady: "NodeClassNotReady" };
  return {
    code: "node-class-not-ready",
    reason: reason[found.state],
    message: `${name} is not ready: ${found.message}`,
    liftedBy: `${name} becoming ready`,
  };
}

/** Whether the claim's launch has failed for good. */
export function hasFailedToLaunch({ conditions }: ClaimView): boolean {
  const launched = conditionOf(conditions, "Launched");
  return launched?.status === "False" && finalErrors.includes(launched.reason);
}

/** Tried again, since what is asked for may change; but it is a person that has to change it. */
const askingErrors: readonly string[] = ["Invalid", "NotSupported"];

/** The first claim of the pool that is not launched before a person has mended something. */
export function stuckLaunch({ name }: PoolView, picture: Picture): ClaimView | undefined {
  const { staying, launched } = picture.totalsOfPool(name);
  if (staying === launched) return undefined;
  for (const claim of picture.claimsOfPool(name)) {
    const { status, reason = "" } = conditionOf(claim.conditions, "Launched") ?? {};
    if (claim.deletingSince === undefined && status === "Unknown" && askingErrors.includes(reason)) return claim;
  }
  return undefined;
}

/** What is written into the claim after the provider's answer. */
export function afterLaunch(
  claim: ClaimView,
  answer: Instance | ProviderError,
): { metadata?: MetadataChange; status: StatusChange<NodeClaimStatus> } {
  if ("error" in answer) return { status: { conditions: conditionsWith(claim, failed(answer)) } };
  const { providerID, imageID, capacity, allocatable } = answer;
  const launched = { type: "Launched", status: "True", reason: "Launched", message: "" };
  return {
    ...labelled(claim, answer),
    status: {
      providerID,
      ...(imageID === undefined ? {} : { imageID }),
      capacity,
      allocatable,
      conditions: withReady(
        [launched, ...awaitingNode(providerID)].reduce(withCondition, claim.conditions),
        claimParts,
      ),
    },
  };
}

function failed({ error, message }: ProviderError): ConditionChange {
  const status = finalErrors.includes(error) ? "False" : "Unknown";
  const reason = error === "Unknown" ? "LaunchFailed" : error;
  return { type: "Launched", status, reason, message: message.slice(0, messageMax) };
}

function conditionsWith({ conditions }: ClaimView, launched: ConditionChange): readonly ConditionChange[] {
  return withReady(withAwaiting(withCondition(conditions, launched), claimParts), claimParts);
}

// What somebody wrote on the claim comes before what its requirements leave, and that before the provider's word.
function labelled(claim: ClaimView, instance: Instance): { metadata?: MetadataChange } {
  const wanted = { ...instance.labels, ...singleValues(claim) };
  const missing = Object.entries(wanted).filter(([key]) => claim.labels[key] === undefined);
  return missing.length === 0 ? {} : { metadata: { labels: Object.fromEntries(missing) } };
}

function singleValues({ spec }: ClaimView): Record<string, string> {
  const single = [...setsOfRequirements(spec.requirements)].flatMap(([key, { complement, values }]) => {
    const [value, ...others] = values;
    return complement || value === undefined || others.length > 0 ? [] : [[key, value] as const];
  });
  return Object.fromEntries(single);
}
