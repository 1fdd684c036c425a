// What a command does to the picture while it is under way: of those whose effect others must count at once.

import type { Manifest } from "../api/meta.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import type { NodeClaimStatus } from "../api/node-claim.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { Effect } from "./in-flight.ts";
import { projectClaim } from "./project-claim.ts";
import { conditionsOf } from "./project-meta.ts";
import type { ActionView, ClaimView } from "./views.ts";

type Target = { readonly name: string; readonly uid: string };

/** A command as the picture sees it (decide/decision.ts `Command`). A new kind of command has to be named here. */
export type Sent =
  | { readonly kind: "create-claim"; readonly manifest: Manifest & { metadata: { name: string } } }
  | { readonly kind: "delete-claim"; readonly claim: Target }
  /** Not a command but what one has brought: written with what comes next. */
  | { readonly kind: "launched"; readonly claim: Target; readonly status: NodeClaimStatus }
  | {
      readonly kind: "open-action";
      readonly name: string;
      readonly spec: NodeActionSpec;
      readonly phase: "Pending" | "DryRun";
    }
  | { readonly kind: "start-action"; readonly action: Target }
  | {
      readonly kind:
        | "update-claim"
        | "launch-instance"
        | "delete-instance"
        | "reboot-instance"
        | "look-up-instance"
        | "list-instances"
        | "search"
        | "update-node"
        | "delete-node"
        | "nominate-pod"
        | "evict-pod"
        | "delete-pod"
        | "update-action"
        | "delete-action"
        | "update-pool"
        | "update-safety-policy"
        | "create-remediation"
        | "delete-remediation"
        | "annotate-remediation"
        | "update-remediation"
        | "take-node-lease"
        | "release-node-lease"
        | "update-check"
        | "create-default-check"
        | "note-default-check";
    };

/** `by`: the command that it comes from. */
type Expectation = { readonly by: string; readonly name: string } & (
  | { readonly kind: "claim"; readonly effect: Effect<ClaimView> }
  | { readonly kind: "action"; readonly effect: Effect<ActionView> }
);

/** `actionOf`: by name, as the picture has it. Undefined: nobody needs to see this one before the watch shows it. */
export function expectationOf(
  sent: Sent,
  now: Instant,
  actionOf: (name: string) => ActionView | undefined,
): Expectation | undefined {
  const by = nameOf(sent);
  if (by === undefined) return undefined;
  switch (sent.kind) {
    case "create-claim": {
      const provisional = provisionalClaim(sent.manifest, now);
      return { by, kind: "claim", name: provisional.name, effect: claim => claim ?? provisional };
    }
    case "open-action": {
      const provisional = provisionalAction(sent, now);
      return { by, kind: "action", name: sent.name, effect: action => action ?? provisional };
    }
    case "delete-claim":
      return { by, kind: "claim", name: sent.claim.name, effect: deleting(sent.claim, now) };
    case "launched":
      return { by, kind: "claim", name: sent.claim.name, effect: launched(sent, now) };
    case "start-action": {
      const { method, claim } = actionOf(sent.action.name)?.spec ?? {};
      if (method !== "Terminate" || claim === undefined) return undefined;
      return { by, kind: "claim", name: claim.name, effect: deleting(claim, now) };
    }
    default:
      return undefined;
  }
}

/** One command of a kind is under way for an object at a time. */
export function nameOf(sent: Sent): string | undefined {
  switch (sent.kind) {
    case "create-claim":
      return `create-claim ${sent.manifest.metadata.name}`;
    case "delete-claim":
      return `delete-claim ${sent.claim.name}`;
    case "launched":
      return `launched ${sent.claim.name}`;
    case "open-action":
      return `open-action ${sent.name}`;
    case "start-action":
      return `start-action ${sent.action.name}`;
    default:
      return undefined;
  }
}

function deleting({ uid }: Target, now: Instant): Effect<ClaimView> {
  return claim => (claim?.uid === uid && claim.deletingSince === undefined ? { ...claim, deletingSince: now } : claim);
}

/** Until the claim itself names an instance. */
function launched({ claim: { uid }, status }: Sent & { kind: "launched" }, now: Instant): Effect<ClaimView> {
  const { conditions, ...fields } = status;
  const { providerID } = fields;
  const found = conditionsOf(conditions);
  return claim => {
    if (claim?.uid !== uid || claim.providerID !== undefined || providerID === undefined) return claim;
    // What others have said of it since then stands.
    const others = claim.conditions.filter(({ type }) => !found.some(one => one.type === type));
    return {
      providerID,
      ...claim,
      status: { ...claim.status, ...status },
      conditions: [...found, ...others],
      unwritten: { since: now, status: fields },
    };
  };
}

function provisionalClaim(manifest: Manifest & { metadata: { name: string } }, now: Instant): ClaimView {
  const metadata = { ...manifest.metadata, uid: "", resourceVersion: "", creationTimestamp: formatTime(now) };
  return { isProvisional: true, ...projectClaim({ ...manifest, metadata }, undefined) };
}

function provisionalAction({ name, spec, phase }: Sent & { kind: "open-action" }, now: Instant): ActionView {
  const identity = { name, uid: "", resourceVersion: "", createdAt: now };
  const status = { phase };
  return { ...identity, labels: {}, annotations: {}, finalizers: [], spec, status, isProvisional: true };
}
