// Predicates broken on purpose: the world as somebody sees it who overlooks a field. If nobody noticed, the worlds
// would not try that field.

import type { Problem } from "../../src/decide/packing/problem.ts";

export const blindSpots = [
  { field: "initContainers", what: "init containers and sidecars" },
  { field: "restartPolicy", what: "that an init container keeps running" },
  { field: "overhead", what: "what a pod needs beyond its containers" },
  { field: "allocatedResources", what: "what a container being resized has" },
  { field: "example.com/gpu", what: "an extended resource" },
  { field: "unschedulable", what: "a cordon" },
  { field: "taints", what: "taints" },
  { field: "effect", what: "the effect of a toleration" },
  { field: "tolerations", what: "tolerations" },
  { field: "matchFields", what: "terms about a node's name" },
  { field: "nodeSelector", what: "node selectors" },
  { field: "hostIP", what: "the address of a host port" },
  { field: "protocol", what: "the protocol of a host port" },
  { field: "phase", what: "that a pod has ended" },
  { field: "deletionTimestamp", what: "that a pod is on its way out" },
  { field: "namespaces", what: "the namespaces of a term" },
  { field: "namespaceSelector", what: "the selector of namespaces" },
  { field: "matchLabelKeys", what: "matchLabelKeys" },
  { field: "mismatchLabelKeys", what: "mismatchLabelKeys" },
  { field: "minDomains", what: "minDomains" },
  { field: "nodeAffinityPolicy", what: "nodeAffinityPolicy" },
  { field: "nodeTaintsPolicy", what: "nodeTaintsPolicy" },
  { field: "podAffinity", what: "pod affinity" },
  { field: "podAntiAffinity", what: "pod anti-affinity" },
  { field: "accessModes", what: "that a claim is for one pod" },
  { field: "allowedTopologies", what: "where a class makes volumes" },
  { field: "count", what: "attach limits" },
] as const;

/** The same problem with that field taken off every object. */
export function blindTo(field: string, problem: Problem): Problem {
  const overlook = (key: string, value: unknown): unknown => (key === field ? undefined : value);
  const lists = Object.entries(problem).map(([name, objects]) => [name, JSON.parse(JSON.stringify(objects, overlook))]);
  return Object.fromEntries(lists) as Problem;
}
