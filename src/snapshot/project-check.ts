// From objects as the API serves them to what is kept of health checks, remediations, templates and leases. What anybody
// may have written is read with care: nothing here throws.

import { effectiveNodeHealthCheck } from "../api/effective-node-health-check.ts";
import type { KubeObject } from "../api/meta.ts";
import { type NodeHealthCheckSpec, nodeHealthChecks } from "../api/node-health-check.ts";
import {
  controlPlaneRemediationKey,
  healthySinceKey,
  madeUnderKey,
  multipleTemplatesKey,
  nodeNameKey,
  nodeOfLease,
  templateNameKey,
  timedOutKey,
} from "../api/node-health-check-contract.ts";
import { selectorOf } from "../api/selector.ts";
import { type Millis, parseNanoseconds, parseTime, secondMs } from "../api/time.ts";
import { ownRemediationKinds } from "../api/remediation.ts";
import {
  type CheckView,
  keyOfKind,
  type KindName,
  type NodeLeaseView,
  type OwnRemediation,
  type RemediationView,
  type TemplateView,
} from "./check-views.ts";
import { looksLike } from "./looks-like.ts";
import { conditionsOf, metaOf, ownersOf } from "./project-meta.ts";
import { judge } from "./project-policy.ts";
import { fields, present, time, word } from "./raw.ts";
import type { ConditionView } from "./views.ts";

export function projectCheck(raw: KubeObject, previous: CheckView | undefined): CheckView {
  const meta = metaOf(raw);
  const generation = raw.metadata.generation ?? 0;
  const { conditions, ...status } = fields(raw["status"]);
  const isKnown = previous?.generation === generation && previous.uid === meta.uid;
  const view: CheckView = {
    ...meta,
    generation,
    ...(isKnown ? meaningOf(previous) : readMeaning(raw)),
    status,
    toldKinds: kindsIn(status),
    conditions: conditionsOf(conditions),
  };
  return previous !== undefined && looksLike(previous, view) ? previous : view;
}

function kindsIn({ unhealthyNodes = [] }: CheckView["status"]): readonly KindName[] {
  const kinds = new Map<string, KindName>();
  for (const { resource } of unhealthyNodes.flatMap(({ remediations = [] }) => remediations)) {
    const { apiVersion, kind } = resource;
    if (apiVersion && kind) kinds.set(keyOfKind({ apiVersion, kind }), { apiVersion, kind });
  }
  return [...kinds.values()];
}

type Meaning = Pick<
  CheckView,
  "effective" | "selector" | "pairs" | "steps" | "healthyDelayMs" | "stormCooldownMs" | "madeUnder" | "invalid"
>;

function meaningOf(view: CheckView): Meaning {
  const { effective, selector, pairs, steps, healthyDelayMs, stormCooldownMs, madeUnder, invalid } = view;
  return {
    effective,
    selector,
    pairs,
    steps,
    healthyDelayMs,
    stormCooldownMs,
    madeUnder,
    ...present({ invalid }),
  };
}

function readMeaning(raw: KubeObject): Meaning {
  const { isReadable, invalid } = judge(nodeHealthChecks.resource, raw, metaOf(raw));
  const written = (isReadable ? fields(raw["spec"]) : {}) as NodeHealthCheckSpec;
  const effective = effectiveNodeHealthCheck(written);
  const selector = isReadable ? selectorOf(effective.selector ?? {}) : undefined;
  return {
    effective,
    selector: selector?.ok ? selector.value : undefined,
    pairs: effective.unhealthyConditions.map(({ type, status, duration }, index) => ({
      type,
      status,
      durationMs: millisOf(duration) ?? Number.POSITIVE_INFINITY,
      path: `spec.unhealthyConditions[${index}]`,
    })),
    steps: effective.remediations.map(({ template, timeout }) => ({
      template,
      ...present({ timeoutMs: timeout === undefined ? undefined : millisOf(timeout) }),
    })),
    healthyDelayMs: millisOf(effective.healthyDelay) ?? -1,
    stormCooldownMs: millisOf(effective.stormCooldownDuration) ?? 0,
    madeUnder: digestOf(JSON.stringify([effective.selector ?? {}, effective.remediations])),
    ...present({ invalid: invalid ?? (selector?.ok === false ? `spec.selector: ${selector.error}` : undefined) }),
  };
}

function millisOf(text: string): Millis | undefined {
  const nanos = parseNanoseconds(text);
  return nanos.ok ? Number(nanos.value) / 1e6 : undefined;
}

/** FNV-1a of 32 bits, twice with different seeds: to tell edits apart, not to keep anything secret. */
export function digestOf(text: string): string {
  const half = (seed: number) => {
    let hash = seed;
    for (let index = 0; index < text.length; index++) {
      hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    }
    return (hash >>> 0).toString(16).padStart(8, "0");
  };
  return `${half(0x811c9dc5)}${half(0x9747b28c)}`;
}

export function projectRemediation(raw: KubeObject, previous: RemediationView | undefined): RemediationView {
  const { name, uid, resourceVersion, createdAt, deletingSince, labels, annotations, finalizers } = metaOf(raw);
  const owners = ownersOf(raw);
  const check = owners.find(
    ({ kind, apiVersion }) => kind === "NodeHealthCheck" && apiVersion.startsWith("remediation.medik8s.io/"),
  );
  const conditions = conditionsOf(fields(raw["status"])["conditions"]);
  const permanent = conditions.find(({ type }) => type === "PermanentNodeDeletionExpected");
  const view: RemediationView = {
    apiVersion: raw.apiVersion,
    kind: raw.kind,
    namespace: raw.metadata.namespace ?? "",
    name,
    uid,
    resourceVersion,
    createdAt,
    finalizers,
    nodeName: word(annotations[nodeNameKey]) ?? name,
    isOfControlPlane: labels[controlPlaneRemediationKey] !== undefined,
    takesNodeAway: permanent?.status === "True",
    ...present({
      deletingSince,
      checkUid: check?.uid,
      owner: owners[0] && `${owners[0].kind} ${owners[0].name}`,
      templateName: word(annotations[templateNameKey]),
      madeUnder: word(annotations[madeUnderKey]),
      timedOut: annotations[timedOutKey],
      healthySince: time(annotations[healthySinceKey]),
      succeeded: conditions.find(({ type }) => type === "Succeeded"),
      own: isOurs(raw) ? ownOf(raw, conditions) : undefined,
    }),
  };
  return previous !== undefined && looksLike(previous, view) ? previous : view;
}

function isOurs({ apiVersion, kind }: KubeObject): boolean {
  return ownRemediationKinds.some(one => one.apiVersion === apiVersion && one.kind === kind);
}

function ownOf(raw: KubeObject, conditions: readonly ConditionView[]): OwnRemediation {
  const { conditions: _told, ...status } = fields(raw["status"]);
  return { spec: fields(raw["spec"]), status, conditions };
}

const defaultTemplateKey = "remediation.medik8s.io/default-template";

export function projectTemplate(raw: KubeObject, previous: TemplateView | undefined): TemplateView {
  const { name, uid, deletingSince, labels, annotations } = metaOf(raw);
  const template = fields(raw["spec"])["template"];
  const isTemplate = typeof template === "object" && template !== null;
  const view: TemplateView = {
    apiVersion: raw.apiVersion,
    kind: raw.kind,
    namespace: raw.metadata.namespace ?? "",
    name,
    uid,
    body: isTemplate ? fields(fields(template)["spec"]) : undefined,
    supportsMultiple: annotations[multipleTemplatesKey] !== undefined,
    isDefault: labels[defaultTemplateKey] === "true",
    ...present({ deletingSince }),
  };
  return previous !== undefined && looksLike(previous, view) ? previous : view;
}

/** Undefined: no lease of a node. One whose times cannot be read is held for ever: whoever holds it must give it back. */
export function projectNodeLease(raw: KubeObject, previous: NodeLeaseView | undefined): NodeLeaseView | undefined {
  const nodeName = nodeOfLease(raw.metadata.name);
  if (nodeName === undefined) return undefined;
  const spec = fields(raw["spec"]);
  const seconds = spec["leaseDurationSeconds"];
  const renewed = word(spec["renewTime"]) ?? word(spec["acquireTime"]);
  const renewedAt = renewed === undefined ? undefined : parseTime(renewed);
  const view: NodeLeaseView = {
    nodeName,
    uid: raw.metadata.uid,
    resourceVersion: raw.metadata.resourceVersion,
    holder: word(spec["holderIdentity"]) ?? "",
    durationMs: typeof seconds === "number" && renewedAt?.ok ? seconds * secondMs : Number.POSITIVE_INFINITY,
    renewedAt: renewedAt?.ok ? renewedAt.value : 0,
  };
  return previous !== undefined && previous.resourceVersion === view.resourceVersion ? previous : view;
}
