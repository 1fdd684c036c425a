// What the admission plugins that are on by default do to a pod: how long it stays on a node that fails, its priority,
// and where it runs. There are no service accounts' tokens in the box, so that plugin has no part here.

import type { KubeObject } from "../../api/meta.ts";
import type { Cluster } from "../kind.ts";
import { forbidden } from "../refusal.ts";
import type { Pod, Toleration } from "./pod-types.ts";

const failureTaints = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

/** A pod stays 300 s on a node that is not ready or not reachable, unless it says otherwise. */
export function tolerateFailures({ spec }: Pod): void {
  for (const key of failureTaints) {
    const tolerated = spec.tolerations?.some(toleration => matches(toleration, key));
    if (tolerated) continue;
    spec.tolerations ??= [];
    spec.tolerations.push({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 });
  }
}

function matches(toleration: Toleration, key: string): boolean {
  const isKey = toleration.key === undefined || toleration.key === key;
  return isKey && (toleration.effect === undefined || toleration.effect === "NoExecute");
}

const topologyKeys = ["topology.kubernetes.io/zone", "topology.kubernetes.io/region"];

/** Zone and region of a node, which every pod that is bound to it is labelled with; none for a node that is not there. */
export function topologyLabels(nodeName: string, cluster: Cluster): Record<string, string> {
  const labels = cluster.labels("nodes", nodeName) ?? {};
  const found: Record<string, string> = {};
  for (const key of topologyKeys) if (labels[key] !== undefined) found[key] = labels[key];
  return found;
}

/** For a pod that is written with its node. */
export function labelWithTopology({ metadata, spec }: Pod, cluster: Cluster): void {
  if (!spec.nodeName) return;
  const labels = topologyLabels(spec.nodeName, cluster);
  if (Object.keys(labels).length > 0) metadata.labels = { ...metadata.labels, ...labels };
}

type PriorityClass = KubeObject & { value: number; globalDefault?: boolean; preemptionPolicy?: string };

/** On create: priority and preemption policy by the class that the pod names, else by the default class. */
export function setPriority({ metadata, spec }: Pod, cluster: Cluster): void {
  // Admission comes before a name is made up.
  const refuse = (why: string) =>
    forbidden({ group: "", name: "pods" }, metadata.name || metadata.generateName || "Unknown", why);
  const priorityClass = priorityClassOf(spec.priorityClassName, cluster);
  if (priorityClass === undefined && spec.priorityClassName !== undefined) {
    throw refuse(`no PriorityClass with name ${spec.priorityClassName} was found`);
  }
  const priority = priorityClass?.value ?? 0;
  if (spec.priority !== undefined && spec.priority !== priority) {
    throw refuse(
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${priority} from the given PriorityClass name`,
    );
  }
  const policy = priorityClass === undefined ? "PreemptLowerPriority" : priorityClass.preemptionPolicy;
  if (policy !== undefined && spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy) {
    throw refuse(
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    );
  }
  if (priorityClass) spec.priorityClassName = priorityClass.metadata.name;
  spec.priority = priority;
  if (policy !== undefined) spec.preemptionPolicy = policy;
}

function priorityClassOf(name: string | undefined, cluster: Cluster): PriorityClass | undefined {
  let found: PriorityClass | undefined;
  for (const object of cluster.list("priorityclasses")) {
    const candidate = object as PriorityClass;
    if (name !== undefined && candidate.metadata.name === name) return candidate;
    // Should there be several defaults, the lowest counts.
    const isDefault = name === undefined && candidate.globalDefault === true;
    if (isDefault && (found === undefined || candidate.value < found.value)) found = candidate;
  }
  return found;
}
