// The scale subresource: one number of an object, read and written as autoscaling/v1 Scale.

import type { KubeObject } from "../api/meta.ts";
import { goNumber } from "../api/go-text.ts";
import { objectMetaSchema } from "../api/schema/metadata-shape.ts";
import { badRequest } from "./refusal.ts";
import { isObject, type JsonObject } from "./json-value.ts";
import type { ScalePaths, ServedKind } from "./kind.ts";

/** Where the server's own workloads keep them. */
export const workloadPaths: ScalePaths = {
  spec: "spec.replicas",
  status: "status.replicas",
  selector: "spec.selector",
};

export const scaleKind: ServedKind = {
  resource: { group: "autoscaling", version: "v1", plural: "scales", kind: "Scale", namespaced: true },
  singular: "scale",
  shortNames: [],
  categories: [],
  subresources: [],
  schema: {
    type: "object",
    properties: {
      apiVersion: { type: "string" },
      kind: { type: "string" },
      metadata: objectMetaSchema,
      spec: { type: "object", properties: { replicas: { type: "integer" } } },
      status: { type: "object", properties: { replicas: { type: "integer" }, selector: { type: "string" } } },
    },
  },
  strategic: true,
  columns: [],
  rules: { decode: readReplicas },
};

function readReplicas({ spec }: KubeObject): boolean {
  const replicas = isObject(spec) ? (spec.replicas ?? 0) : 0;
  if (typeof replicas === "number" && Number.isInteger(replicas)) return true;
  const found = typeof replicas === "number" ? `number ${goNumber(replicas)}` : jsonType(replicas);
  throw badRequest(`json: cannot unmarshal ${found} into Go struct field ScaleSpec.spec.replicas of type int32`);
}

function jsonType(value: unknown): string {
  if (Array.isArray(value)) return "array";
  return typeof value === "boolean" ? "bool" : typeof value;
}

export function scaleOf(object: KubeObject, { spec, status, selector }: ScalePaths): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selected = selector === undefined ? undefined : selectorText(read(object, selector));
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, creationTimestamp },
    // Go leaves a zero out.
    spec: replicasIn(read(object, spec)),
    status: { replicas: read(object, status) ?? 0, ...(selected && { selector: selected }) },
  };
}

function replicasIn(value: unknown): { replicas?: unknown } {
  return value === undefined || value === 0 ? {} : { replicas: value };
}

/** The object with the number of replicas that the Scale asks for; changes `object`. */
export function withReplicas(object: KubeObject, scale: KubeObject, { spec }: ScalePaths): KubeObject {
  const parts = spec.split(".");
  const last = parts.pop() as string; // a path has at least one part
  let at: JsonObject = object;
  for (const part of parts) {
    if (!isObject(at[part])) at[part] = {};
    at = at[part] as JsonObject; // an object since the line before
  }
  at[last] = replicasOf(scale);
  return object;
}

export function replicasOf(scale: KubeObject): number {
  const replicas = (scale.spec as { replicas?: unknown } | undefined)?.replicas;
  return typeof replicas === "number" ? replicas : 0;
}

/** The same number, read where it is kept: budgets ask for it with every pod that changes. */
export function replicasAt(object: KubeObject, { spec }: ScalePaths): number {
  const replicas = read(object, spec);
  return typeof replicas === "number" ? replicas : 0;
}

function read(object: JsonObject, path: string): unknown {
  let at: unknown = object;
  for (const part of path.split(".")) at = isObject(at) ? at[part] : undefined;
  return at;
}

/** Workloads of the server's own keep a selector object where custom kinds keep its text. */
function selectorText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!isObject(value)) return undefined;
  const labels = isObject(value.matchLabels) ? value.matchLabels : {};
  return Object.keys(labels)
    .sort()
    .map(key => `${key}=${String(labels[key])}`)
    .join(",");
}
