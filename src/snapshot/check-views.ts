// What is kept of health checks and of what they work with: remediations and templates of any kind, the leases on nodes,
// and the signs of a cluster's upgrade.

import type { EffectiveNodeHealthCheck } from "../api/effective-node-health-check.ts";
import type { Resource } from "../api/meta.ts";
import type { NodeHealthCheckStatus, TemplateReference } from "../api/node-health-check.ts";
import type { RebootRemediationStatus } from "../api/remediation.ts";
import type { Selector } from "../api/selector.ts";
import type { Instant, Millis } from "../api/time.ts";
import type { ConditionView, MetaView } from "./views.ts";

/** One of spec.unhealthyConditions. */
export type UnhealthyPair = {
  readonly type: string;
  readonly status: string;
  readonly durationMs: Millis;
  readonly path: string;
};

/** One remediation of the check, in the order in which they are tried. */
export type StepView = {
  readonly template: TemplateReference;
  /** Absent: none is written, since it is the only one. */
  readonly timeoutMs?: Millis;
};

export type CheckView = MetaView & {
  readonly generation: number;
  readonly effective: EffectiveNodeHealthCheck;
  /** Undefined: it cannot be read, and so selects no node. */
  readonly selector: Selector | undefined;
  readonly pairs: readonly UnhealthyPair[];
  readonly steps: readonly StepView[];
  /** Negative: until somebody confirms it. */
  readonly healthyDelayMs: Millis;
  readonly stormCooldownMs: Millis;
  /** Another text when selector or remediations are others: what must not change while something is remediated. */
  readonly madeUnder: string;
  /** It cannot be understood: nothing starts until it is mended. */
  readonly invalid?: string;
  readonly status: Omit<NodeHealthCheckStatus, "conditions">;
  /** The kinds of the remediations that its status names, each once. */
  readonly toldKinds: readonly KindName[];
  readonly conditions: readonly ConditionView[];
};

export type KindName = { readonly apiVersion: string; readonly kind: string };

/** Of a remediation that is ours to carry out: what is asked for, and what we have said so far. */
export type OwnRemediation = {
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: Omit<RebootRemediationStatus, "conditions">;
  readonly conditions: readonly ConditionView[];
};

export type RemediationView = KindName & {
  /** Empty for kinds that have none. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly createdAt: Instant;
  readonly deletingSince?: Instant;
  readonly finalizers: readonly string[];
  readonly nodeName: string;
  /** Of the NodeHealthCheck that owns it. Absent: it is somebody else's. */
  readonly checkUid?: string;
  /** "Kind name" of its first owner. */
  readonly owner?: string;
  readonly templateName?: string;
  readonly madeUnder?: string;
  /** When its time was up, as written. */
  readonly timedOut?: string;
  readonly healthySince?: Instant;
  readonly isOfControlPlane: boolean;
  readonly succeeded?: ConditionView;
  /** PermanentNodeDeletionExpected: the node will not come back under its name. */
  readonly takesNodeAway: boolean;
  /** Of our own kinds. */
  readonly own?: OwnRemediation;
};

export type TemplateView = KindName & {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly deletingSince?: Instant;
  /** spec.template.spec, to be copied. Undefined: there is no spec.template, so that it is no template. */
  readonly body: Readonly<Record<string, unknown>> | undefined;
  readonly supportsMultiple: boolean;
  readonly isDefault: boolean;
};

/** The lease of the medik8s contract: whoever holds it works on the node. */
export type NodeLeaseView = {
  readonly nodeName: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly holder: string;
  readonly durationMs: Millis;
  readonly renewedAt: Instant;
};

/** Whether a kind can be read. Served: all of it is in the picture; `lacking`: a verb that we may not do to it. */
export type KindState =
  | { readonly state: "Served"; readonly resource: Resource; readonly lacking?: string }
  | { readonly state: "Listing" | "NotFound" }
  | { readonly state: "Forbidden"; readonly verb: string; readonly resource: Resource };

/** What OpenShift says of an upgrade; `failure`: it cannot be read, and why. */
export type UpgradeView = {
  readonly isOpenShift: boolean;
  readonly progressing: readonly { readonly name: string; readonly message: string }[];
  readonly failure?: string;
};

/** OpenShift's own MachineHealthChecks; `failure`: they cannot be read, and why. */
export type MachineChecksView = {
  /** Those that may do the same as a NodeHealthCheck, as namespace/name. */
  readonly conflicting: readonly string[];
  /** One minds nodes with the condition Terminating. */
  readonly mindsTerminating: boolean;
  /** They have not been listed yet. */
  readonly isPending?: true;
  readonly failure?: string;
};

/** How OpenShift's control plane is laid out, where it says so; `failure`: that cannot be read, and why. */
export type TopologyView = {
  readonly controlPlane?: string;
  /** It has not been listed yet. */
  readonly isPending?: true;
  readonly failure?: string;
};

/** Kind, namespace and name: what tells one remediation or template from all others. */
export function keyOfKind({ apiVersion, kind }: KindName): string {
  return `${apiVersion} ${kind}`;
}

export function keyOfObject(object: KindName & { readonly namespace?: string; readonly name: string }): string {
  return `${keyOfKind(object)} ${object.namespace ?? ""}/${object.name}`;
}
