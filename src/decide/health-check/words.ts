// The words of health checks: what their rules are told beside the context of all rules, what they may command, and who
// the patient is. Plain values.

import type { Manifest, Resource } from "../../api/meta.ts";
import type { NodeHealthCheckStatus } from "../../api/node-health-check.ts";
import type { Instant } from "../../api/time.ts";
import type { CheckPicture } from "../../snapshot/check-picture.ts";
import type { CheckSubject } from "../../snapshot/check-index.ts";
import type { CheckView, RemediationView } from "../../snapshot/check-views.ts";
import type { ActionView, NodeView } from "../../snapshot/views.ts";
import type { Command, Context, Decision, Notice, Refusal, StatusChange, Target } from "../decision.ts";
import type { Health } from "./node-health.ts";

export type CheckContext = Context & { readonly checks: CheckPicture };

export type ObjectTarget = Target & { readonly resource: Resource };

export type RemediationCommand = { readonly why: string } /**
 * Reads node, lease and action live and judges once more, then creates the object; one of that name that is there
 * already is as good if check and node are the same. Its name says what it is for, so that it is made once.
 */ & (
  | {
      readonly kind: "create-remediation";
      readonly resource: Resource;
      readonly manifest: Manifest & { metadata: { name: string } };
      readonly node: Target;
      readonly action: Target;
    }
  /** With the uid as precondition; null takes an annotation away, an empty text is replaced by the time of writing. */
  | {
      readonly kind: "annotate-remediation";
      readonly remediation: ObjectTarget;
      readonly annotations: Readonly<Record<string, string | null>>;
    }
  /** With the uid as precondition. */
  | { readonly kind: "delete-remediation"; readonly remediation: ObjectTarget }
  /** Taken, taken over once it has run out, or renewed: only over the version that was seen, or where there was none. */
  | {
      readonly kind: "take-node-lease";
      readonly node: Target;
      readonly holder: string;
      readonly durationSeconds: number;
      readonly over?: { readonly uid: string; readonly resourceVersion: string };
    }
  /** With uid and version as preconditions, so that only our own is given back. */
  | {
      readonly kind: "release-node-lease";
      readonly nodeName: string;
      readonly uid: string;
      readonly resourceVersion: string;
    }
  /** Conditions and lastUpdateTime are stamped by the executor. */
  | {
      readonly kind: "update-check";
      readonly check: Target;
      readonly status: StatusChange<Omit<NodeHealthCheckStatus, "lastUpdateTime">>;
    }
  /** Both only where nothing of the name is there; the template first. */
  | { readonly kind: "create-default-check"; readonly check: Manifest; readonly template?: Manifest }
  /** Written where it outlives the check: there was a health check once, and none is made by default again. */
  | { readonly kind: "note-default-check" }
);

export type CheckCommand = Command | RemediationCommand;

export type CheckNotice = Omit<Notice, "about"> & {
  readonly about: { readonly kind: Notice["about"]["kind"] | "NodeHealthCheck" } & Target;
};

export type CheckRefusal = Omit<Refusal, "subject"> & { readonly subject: CheckSubject | Refusal["subject"] };

export type CheckDecision = Pick<Decision, "proposals" | "wakeAt"> & {
  readonly commands: readonly CheckCommand[];
  readonly refusals: readonly CheckRefusal[];
  readonly notices: readonly CheckNotice[];
};

/** One node as it stands to one check. */
export type Patient = {
  readonly node: NodeView;
  readonly check: CheckView;
  /** Not, if its labels or the selector have changed since it was remediated. */
  readonly isSelected: boolean;
  readonly health: Health;
  /** Of this check, the oldest first, those that are being deleted too. */
  readonly remediations: readonly RemediationView[];
  /** The entry in the ledger that was opened for this check, if it is open and real. */
  readonly action: ActionView | undefined;
};

export function together(decisions: readonly CheckDecision[]): CheckDecision {
  const wakes = decisions.flatMap(({ wakeAt }) => wakeAt ?? []);
  return {
    commands: decisions.flatMap(({ commands }) => commands),
    proposals: decisions.flatMap(({ proposals }) => proposals),
    refusals: decisions.flatMap(({ refusals }) => refusals),
    notices: decisions.flatMap(({ notices }) => notices),
    wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes),
  };
}

export function wakesAt(instant: Instant | undefined, now: Instant): Instant | undefined {
  return instant !== undefined && instant > now && Number.isFinite(instant) ? instant : undefined;
}

/** What is said to the owner of the check. */
export function checkNotice(
  { name, uid }: CheckView,
  notice: Pick<Notice, "type" | "reason" | "message">,
): CheckNotice {
  return { about: { kind: "NodeHealthCheck", name, uid }, ...notice };
}
