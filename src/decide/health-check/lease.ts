// The lease on a node by which those who work on it keep out of one another's way: taken right before a remediation is
// made, renewed while it runs, given back when it is over. Held by another, it stops a start.

import { leaseHolder, nodeLeaseName, nodeLeaseNamespace } from "../../api/node-health-check-contract.ts";
import { formatTime, type Instant, type Millis, minuteMs, secondMs } from "../../api/time.ts";
import type { NodeLeaseView, StepView } from "../../snapshot/check-views.ts";
import type { Context, LeaseTaking, RemediationCommand } from "../decision.ts";
import type { Objection } from "../safety.ts";
import type { Patient } from "./words.ts";

/** For a step without a time of its own. */
const usualMs: Millis = 10 * minuteMs;
const bufferMs: Millis = minuteMs;

type Case = Pick<Patient, "node" | "check">;

/** Another holds it, and it has not run out. */
export function heldByAnother({ node, check }: Case, { picture: { checks }, now }: Context): Objection | undefined {
  const lease = checks.lease(node.name);
  if (lease === undefined || isOurs(lease, check.name) || !isValid(lease, now)) return undefined;
  const until = endOf(lease);
  const isKnown = Number.isFinite(until);
  return {
    code: "lease-held",
    message: `${lease.holder} works on node ${node.name}: its lease lasts ${isKnown ? `until ${formatTime(until)}` : "without an end that can be read"}.`,
    ...(isKnown ? { until } : {}),
    liftedBy: `${lease.holder} giving the lease back`,
  };
}

/** To hold it for this step. Undefined: it is held, and not so long that half its time is over. */
export function takeLease(
  { node, check }: Case,
  step: Pick<StepView, "timeoutMs">,
  { picture: { checks }, now }: Context,
): { readonly takes?: LeaseTaking; readonly renewAt?: Instant } {
  const lease = checks.lease(node.name);
  const durationMs = (step.timeoutMs ?? usualMs) + bufferMs;
  const isHeld = lease !== undefined && isOurs(lease, check.name) && isValid(lease, now);
  const renewAt = lease && lease.renewedAt + lease.durationMs / 2;
  if (isHeld && lease.durationMs >= durationMs && renewAt !== undefined && renewAt > now) return { renewAt };
  return {
    takes: {
      lease: keyOf(node.name),
      node: { name: node.name, uid: node.uid },
      holder: leaseHolder(check.name),
      durationSeconds: Math.ceil(durationMs / secondMs),
      ...(lease === undefined ? {} : { over: { uid: lease.uid, resourceVersion: lease.resourceVersion } }),
    },
  };
}

/** While a remediation runs. */
export function renewal({ node, check }: Case, takes: LeaseTaking): RemediationCommand {
  return { kind: "take-node-lease", why: `NodeHealthCheck ${check.name} works on node ${node.name}.`, ...takes };
}

/** Ours, and nothing is left to be done under it. */
export function giveBack(
  nodeName: string,
  checkName: string,
  { picture: { checks } }: Pick<Context, "picture">,
): readonly RemediationCommand[] {
  const lease = checks.lease(nodeName);
  if (lease === undefined || !isOurs(lease, checkName)) return [];
  const { uid, resourceVersion } = lease;
  const why = `NodeHealthCheck ${checkName} is done with node ${nodeName}.`;
  return [{ kind: "release-node-lease", why, lease: { ...keyOf(nodeName), uid }, resourceVersion }];
}

function keyOf(nodeName: string): { readonly name: string; readonly namespace: string } {
  return { name: nodeLeaseName(nodeName), namespace: nodeLeaseNamespace };
}

function isOurs({ holder }: NodeLeaseView, checkName: string): boolean {
  return holder === leaseHolder(checkName);
}

function isValid(lease: NodeLeaseView, now: Instant): boolean {
  return lease.holder !== "" && endOf(lease) > now;
}

function endOf({ renewedAt, durationMs }: NodeLeaseView): Instant {
  return renewedAt + durationMs;
}
