// What of an end state both worlds must agree on: times, uids, generated names, hashes and counts of writes are each
// world's own.

import type { KubeObject, Resource } from "../../../src/api/meta.ts";
import type { Condition, Node, Pod, ReplicaSet } from "../../../src/sim/world/objects.ts";
import { nodeResource, podResource, replicaSetResource } from "../../../src/sim/world/resources.ts";
import type { Stage } from "./side.ts";

export async function shown(stage: Stage, resources: readonly Resource[]): Promise<Record<string, unknown[]>> {
  const result: Record<string, unknown[]> = {};
  for (const resource of resources) {
    const objects = await stage.list(resource);
    const rows = objects.map(object => showOne(resource, object));
    result[resource.plural] = rows
      .map(row => JSON.parse(withoutNames(JSON.stringify(row), objects)) as unknown)
      .sort(byText);
  }
  return result;
}

function showOne(resource: Resource, object: KubeObject): unknown {
  switch (resource) {
    case podResource:
      return showPod(object as Pod);
    case nodeResource:
      return showNode(object as Node);
    case replicaSetResource:
      return showReplicaSet(object as ReplicaSet);
    default:
      return { name: object.metadata.name, status: showStatus(object.status as Record<string, unknown>) };
  }
}

function showPod({ metadata, spec, status }: Pod) {
  return {
    owner: metadata.ownerReferences?.map(({ kind }) => kind),
    labels: Object.keys(metadata.labels ?? {}).sort(),
    finalizers: metadata.finalizers ?? [],
    isDeleting: metadata.deletionTimestamp !== undefined,
    isBound: Boolean(spec.nodeName),
    tolerations: [...(spec.tolerations ?? [])].sort(byText),
    phase: status.phase,
    conditions: conditions(status.conditions),
  };
}

function showNode({ metadata, spec, status }: Node) {
  return {
    name: metadata.name,
    taints: (spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`).sort(),
    conditions: conditions(status.conditions),
  };
}

function showReplicaSet({ metadata, spec, status }: ReplicaSet) {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => key.startsWith("deployment."));
  return { annotations: Object.fromEntries(annotations), replicas: spec.replicas, status: showStatus(status) };
}

/** How often something was written differs; so does when. */
const ownOfAWorld = new Set(["observedGeneration", "startTime", "completionTime"]);

function showStatus(status: Record<string, unknown>) {
  const kept = Object.entries(status).filter(([field]) => !ownOfAWorld.has(field));
  const times = ["startTime", "completionTime"].filter(field => status[field] !== undefined);
  return { ...Object.fromEntries(kept), times, conditions: conditions(status.conditions as Condition[] | undefined) };
}

function conditions(list: readonly Condition[] = []): unknown[] {
  // kube-scheduler adds what it thinks of preemption, which the box does not know.
  // It also counts the nodes of other scenarios.
  const sentence = (message = "") =>
    message.replace(/^0\/\d+ nodes are available: .*$/, "no node is available").split(". ")[0];
  return list.map(({ type, status, reason = "", message }) => [type, status, reason, sentence(message)]).sort(byText);
}

/** A replica set's name ends in a hash over a text that only Go writes. */
function withoutNames(text: string, objects: readonly KubeObject[]): string {
  const hashes = objects.flatMap(({ metadata, status }) => {
    const { currentRevision, updateRevision } = (status ?? {}) as { currentRevision?: string; updateRevision?: string };
    return [metadata.labels?.["pod-template-hash"], currentRevision, updateRevision];
  });
  const known = hashes.filter(hash => hash !== undefined).reduce((all, hash) => all.replaceAll(hash, "HASH"), text);
  return known.replace(/(ReplicaSet \\"[a-z-]+?)-[a-z0-9]+\\"/g, '$1-HASH\\"');
}

function byText(a: unknown, b: unknown): number {
  const [left, right] = [JSON.stringify(a), JSON.stringify(b)];
  return left < right ? -1 : left > right ? 1 : 0;
}
