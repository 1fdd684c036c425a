// Binding a pod to a node, once: what a scheduler posts.

import type { KubeObject } from "../api/meta.ts";
import { type Backend, clusterOf, get, save, type Target } from "./backend.ts";
import { isObject } from "./json-value.ts";
import { admitToNamespace } from "./namespaces.ts";
import { topologyLabels } from "./kinds/pod-admission.ts";
import { setPodCondition } from "./pod-condition.ts";
import { badRequest, conflict, failure } from "./refusal.ts";
import type { ApiRequest } from "./request.ts";

type Binding = {
  metadata: { name?: string; uid?: string; annotations?: Record<string, string>; labels?: Record<string, string> };
  target: { kind?: string; name?: string };
};
type PodStatus = { conditions?: unknown[]; nominatedNodeName?: string };
type PodSpec = { nodeName?: string; schedulingGates?: unknown[] };

export function bind(backend: Backend, target: Target, { body, options }: ApiRequest): void {
  const { metadata, target: to } = bindingOf(body);
  admitToNamespace(backend, target, target.name);
  if (metadata.name !== target.name) throw badRequest("name in URL does not match name in Binding object");
  const nodeName = nodeOf(to);
  const { object } = get(backend, target);
  refuseUid(object, metadata.uid);
  refuseBound(object);
  const pod = withOwnParts(object);
  (pod.spec as PodSpec).nodeName = nodeName;
  if (metadata.annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...metadata.annotations };
  // A target that does not say it is a node is bound all the same, but not labelled.
  const topology = to.kind === "Node" ? topologyLabels(nodeName, clusterOf(backend)) : {};
  const labels = Object.assign({}, pod.metadata.labels, metadata.labels, topology);
  if (Object.keys(labels).length > 0) pod.metadata.labels = labels;
  setPodCondition(pod, { type: "PodScheduled", status: "True" }, backend.clock.now());
  save(backend, target, pod, options.dryRun === true);
}

/** What a binding changes is the copy's own; the rest, all of its containers, is shared with what was stored. */
function withOwnParts(object: KubeObject): KubeObject {
  const status: PodStatus = { ...(object.status as PodStatus | undefined) };
  status.conditions = [...(status.conditions ?? [])];
  // The node that was named for it has been found, or another one.
  if (status.nominatedNodeName !== undefined) delete status.nominatedNodeName;
  const pod = { ...object };
  pod.metadata = { ...object.metadata };
  pod.spec = { ...(object.spec as PodSpec) };
  pod.status = status;
  return pod;
}

function bindingOf(body: unknown): Binding {
  if (!isObject(body) || (body.kind !== undefined && body.kind !== "Binding")) {
    throw badRequest("the object provided is unrecognized (must be of type Binding)");
  }
  const part = (value: unknown) => (isObject(value) ? value : {});
  return { metadata: part(body.metadata), target: part(body.target) };
}

function nodeOf({ kind = "", name = "" }: Binding["target"]): string {
  if (kind !== "" && kind !== "Node") {
    throw failure(`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`);
  }
  if (name === "") throw failure("target.name: Required value");
  return name;
}

function refuseUid({ metadata }: KubeObject, uid: string | undefined): void {
  if (!uid || uid === metadata.uid) return;
  throw conflict(
    { group: "", name: "pods" },
    metadata.name,
    `StorageError: invalid object, Code: 4, Key: /registry/pods/${metadata.namespace}/${metadata.name}, ResourceVersion: 0, ` +
      `AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`,
  );
}

function refuseBound({ metadata, spec }: KubeObject): void {
  const refused = (why: string) => conflict({ group: "", name: "pods/binding" }, metadata.name, why);
  const { nodeName, schedulingGates = [] } = spec as PodSpec;
  if (metadata.deletionTimestamp) throw refused(`pod ${metadata.name} is being deleted, cannot be assigned to a host`);
  if (nodeName) throw refused(`pod ${metadata.name} is already assigned to node "${nodeName}"`);
  if (schedulingGates.length > 0) throw refused(`pod ${metadata.name} has non-empty .spec.schedulingGates`);
}
