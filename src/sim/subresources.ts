// Subresources: which verbs each has, and where they lead. `status` is the object itself, written narrowly.

import type { KubeObject } from "../api/meta.ts";
import type { Status } from "../api/status.ts";
import { type Backend, get, type Target } from "./backend.ts";
import { bind } from "./binding.ts";
import { type Decoded, decodeBody, refuseOtherVersion } from "./decode.ts";
import { evict } from "./eviction.ts";
import { deepCopy } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { refuseVersion } from "./list.ts";
import { requireNamespace } from "./namespaces.ts";
import { dedupeOwners, refuseOtherNamespace, settleNamespace } from "./object-meta.ts";
import { patched } from "./patch.ts";
import { invalid, noSuchResource, notFound, verbNotAllowed } from "./refusal.ts";
import type { ApiRequest, ApiResponse } from "./request.ts";
import { replicasOf, scaleKind, scaleOf, withReplicas, workloadPaths } from "./scale.ts";
import { resourceName } from "./served-kinds.ts";
import { checkName, update } from "./write.ts";

/** A request, and what its sender is to be told beside the answer. */
type Exchange = { request: ApiRequest; warnings: string[] };

export function handleSubresource(backend: Backend, kind: ServedKind, exchange: Exchange): ApiResponse {
  const { request } = exchange;
  const { subresource = "", name = "", namespace } = request;
  if (!(kind.subresources as readonly string[]).includes(subresource)) {
    throw kind.strategic ? noSuchResource() : notFound(resourceName(kind), name);
  }
  const target = { kind, name, namespace: kind.resource.namespaced ? namespace : undefined };
  switch (subresource) {
    case "status":
      return handleStatus(backend, target, exchange);
    case "scale":
      return handleScale(backend, target, exchange);
    case "eviction":
      return created(request, () => evict(backend, target, request));
    case "binding":
      return created(request, () => bind(backend, target, request));
    default:
      throw noSuchResource();
  }
}

function created(request: ApiRequest, act: () => void): ApiResponse {
  if (request.verb !== "create") throw verbNotAllowed();
  const body = request.body as { metadata?: { namespace?: string } | null } | null | undefined;
  refuseOtherNamespace(body?.metadata?.namespace, request.namespace ?? "");
  act();
  const status: Status = { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", code: 201 };
  return { kind: "status", code: 201, status, warnings: [] };
}

function handleStatus(backend: Backend, target: Target, { request, warnings }: Exchange): ApiResponse {
  if (request.verb === "get") {
    refuseVersion(backend.store, request.options);
    return { kind: "object", code: 200, stored: get(backend, target), warnings: [] };
  }
  const read = reader(target, { request, warnings });
  const { stored } = change(backend, target, { request, read });
  return { kind: "object", code: 200, stored, warnings };
}

/** How the object becomes what is asked for. A PUT is read before anybody looks whether there is an object. */
function reader(target: Target, { request, warnings }: Exchange): (existing: KubeObject) => KubeObject {
  const settled = ({ object, warnings: found }: Decoded) => {
    warnings.push(...found);
    refuseOtherVersion(target.kind, object);
    settleNamespace(object, target.kind, target.namespace);
    checkName(object, target.name);
    warnings.push(...dedupeOwners(object, { isPatch: request.verb === "patch" }));
    return object;
  };
  const write = writer(target.kind, request);
  if (write.kind === "whole") return always(settled(write.decoded));
  return existing => settled(write.patched(existing));
}

type Writer = { kind: "whole"; decoded: Decoded } | { kind: "patch"; patched: (existing: KubeObject) => Decoded };

function writer(kind: ServedKind, request: ApiRequest): Writer {
  if (request.verb === "patch") return { kind: "patch", patched: existing => patched(kind, existing, request) };
  if (request.verb !== "update") throw verbNotAllowed();
  const { fieldValidation: validation } = request.options;
  return { kind: "whole", decoded: decodeBody(kind, request.body, { validation }) };
}

const always =
  <T>(value: T) =>
  () =>
    value;

type Change = { request: ApiRequest; read: (existing: KubeObject) => KubeObject };

function change(backend: Backend, target: Target, { request, read }: Change) {
  requireNamespace(backend, target);
  const body = request.body as { metadata?: { uid?: string } } | undefined;
  return update(backend, target, existing => read(existing as KubeObject), {
    dryRun: request.options.dryRun === true,
    subresource: request.subresource as "status" | "scale",
    uid: request.verb === "update" ? body?.metadata?.uid : undefined,
  });
}

function handleScale(backend: Backend, target: Target, { request, warnings }: Exchange): ApiResponse {
  const paths = target.kind.scale ?? workloadPaths;
  const show = (object: KubeObject) => backend.store.unstored(scaleOf(object, paths));
  if (request.verb === "get") {
    refuseVersion(backend.store, request.options);
    return { kind: "object", code: 200, stored: show(get(backend, target).object), warnings: [] };
  }
  const write = writer(scaleKind, request);
  if (write.kind === "whole") checkName(write.decoded.object, target.name);
  const read = (existing: KubeObject) => {
    const { object: scale, warnings: found } =
      write.kind === "whole" ? write.decoded : write.patched(scaleOf(existing, paths));
    checkName(scale, target.name);
    refuseNegative(target, scale);
    warnings.push(...found);
    const object = withReplicas(deepCopy(existing), scale, paths);
    object.metadata.resourceVersion = scale.metadata.resourceVersion || existing.metadata.resourceVersion;
    return object;
  };
  const { stored } = change(backend, target, { request, read });
  return { kind: "object", code: 200, stored: show(stored.object), warnings };
}

/** Custom kinds are judged with the whole object instead. */
function refuseNegative({ kind, name }: Target, scale: KubeObject): void {
  const replicas = replicasOf(scale);
  if (replicas >= 0 || !kind.strategic) return;
  const message = `Invalid value: ${replicas}: must be greater than or equal to 0`;
  throw invalid({ group: "autoscaling", name: "Scale" }, name, [
    { path: "spec.replicas", reason: "FieldValueInvalid", message },
  ]);
}
