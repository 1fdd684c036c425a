// What is kept of NodePools and of the SafetyPolicy: what they mean, or why they cannot be understood. What cannot be
// understood is read as if it said nothing, and whoever reads it starts nothing.

import { checkManifest } from "../api/check.ts";
import { effectiveNodePool } from "../api/effective-node-pool.ts";
import { effectiveSafetyPolicy } from "../api/effective-safety-policy.ts";
import { apiVersionOf, type KubeObject, type Resource } from "../api/meta.ts";
import { type NodePoolSpec, nodePools } from "../api/node-pool.ts";
import { safetyPolicies } from "../api/safety-policy.ts";
import { isEqual } from "../api/schema/correlate.ts";
import { looksLike } from "./looks-like.ts";
import { conditionsOf, metaOf } from "./project-meta.ts";
import { fields, present } from "./raw.ts";
import type { MetaView, PoolView, SafetyView } from "./views.ts";

export type PoolOptions = { repairUnset?: "on" | "off" };

export function projectPool(raw: KubeObject, previous: PoolView | undefined, options: PoolOptions = {}): PoolView {
  const view = poolView(raw, previous, options);
  return previous !== undefined && looksLike(previous, view) ? previous : view;
}

function poolView(raw: KubeObject, previous: PoolView | undefined, options: PoolOptions): PoolView {
  const meta = metaOf(raw);
  const generation = raw.metadata.generation ?? 0;
  const status = fields(raw["status"]);
  const isKnown = previous?.generation === generation && previous.uid === meta.uid;
  return {
    ...meta,
    generation,
    ...(isKnown ? meaningOf(previous) : poolMeaning(raw, meta, options)),
    status,
    conditions: conditionsOf(status["conditions"]),
  };
}

type Meaning = Pick<PoolView, "written" | "effective" | "invalid">;

function meaningOf({ written, effective, invalid }: PoolView): Meaning {
  return { written, effective, ...present({ invalid }) };
}

function poolMeaning(raw: KubeObject, meta: MetaView, options: PoolOptions): Meaning {
  const { isReadable, invalid } = judge(nodePools.resource, raw, meta);
  const written: NodePoolSpec = isReadable ? fields(raw["spec"]) : {};
  return { written, effective: effectiveNodePool(written, options), ...present({ invalid }) };
}

export function projectSafetyPolicy(raw: KubeObject, previous: SafetyView | undefined): SafetyView {
  const meta = { ...metaOf(raw), generation: raw.metadata.generation ?? 0 };
  const { isReadable, invalid } = judge(safetyPolicies.resource, raw, meta);
  const policy = effectiveSafetyPolicy(isReadable ? fields(raw["spec"]) : {});
  const { conditions, ...status } = fields(raw["status"]);
  const view = { meta, policy, status, conditions: conditionsOf(conditions) };
  const isSame = previous?.meta !== undefined && looksLike(previous.meta, meta) && isSameStatus(previous, view);
  return isSame ? previous : { ...view, ...present({ invalid }) };
}

function isSameStatus(a: SafetyView, b: SafetyView): boolean {
  return isEqual(a.status, b.status) && isEqual(a.conditions, b.conditions);
}

// What the server's schema refuses can still be met: under an older or another project's definition of the kind.
export function judge(resource: Resource, raw: KubeObject, { name, annotations }: MetaView) {
  const { findings } = checkManifest({
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: { name, annotations },
    spec: raw["spec"] ?? {},
  });
  const errors = findings.filter(({ severity }) => severity === "error");
  const sentences = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return {
    isReadable: errors.every(({ offline }) => offline),
    invalid: sentences.length === 0 ? undefined : sentences.join("; "),
  };
}
