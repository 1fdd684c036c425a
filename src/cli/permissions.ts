// What the controller may do in a cluster, each with its reason: the one table from which the roles are made. A test
// holds it against the calls that the shell makes, and the suites on a real control plane run under it.

import { simulatedNamespace } from "../api/simulated-instance.ts";
import { rivalLease } from "./rival.ts";
import type { ProviderName } from "./wire.ts";

export type Permission = {
  readonly group: string;
  /** With its subresource: pods/eviction. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** Only of that name. */
  readonly name?: string;
  readonly why: string;
};

/** By where they hold: in the whole cluster, or in one namespace. */
export type Permissions = {
  readonly cluster: readonly Permission[];
  readonly byNamespace: ReadonlyMap<string, readonly Permission[]>;
};

/** By default: how processes on one cluster find each other, wherever they run. */
export const lease = { name: "fettle", namespace: "kube-system" } as const;

export function permissions(provider: ProviderName): Permissions {
  const isSimulated = provider === "simulated";
  const cluster = isSimulated ? [...everywhere, simulatedClasses] : everywhere;
  const byNamespace = new Map<string, readonly Permission[]>([
    [lease.namespace, ownLease],
    ["kube-node-lease", nodeLeases],
    ...(isSimulated ? [[simulatedNamespace, simulatedInstances] as const] : []),
  ]);
  return { cluster, byNamespace };
}

const watched = ["list", "watch"];
const leases = { group: "coordination.k8s.io", resource: "leases" };

const everywhere: readonly Permission[] = [
  {
    group: "",
    resource: "nodes",
    verbs: ["get", ...watched, "patch", "delete"],
    why: "Registration and termination write labels, taints and finalizers. Conditions are the kubelet's to write.",
  },
  {
    group: "",
    resource: "pods",
    verbs: [...watched, "delete"],
    why: "Deletes are for what an eviction cannot do: the node's deadline has come, or the node is dead.",
  },
  { group: "", resource: "pods/eviction", verbs: ["create"], why: "Drains go by eviction, which budgets can refuse." },
  { group: "", resource: "persistentvolumeclaims", verbs: watched, why: "Which volumes a drained pod leaves behind." },
  ...[
    { group: "apps", resource: "daemonsets" },
    { group: "", resource: "namespaces" },
    { group: "", resource: "persistentvolumes" },
    { group: "storage.k8s.io", resource: "storageclasses" },
    { group: "storage.k8s.io", resource: "csinodes" },
  ].map(kind => ({ ...kind, verbs: watched, why: "Where a pod that waits could run." })),
  {
    group: "storage.k8s.io",
    resource: "volumeattachments",
    verbs: watched,
    why: "An instance ends once its volumes are detached.",
  },
  {
    group: "policy",
    resource: "poddisruptionbudgets",
    verbs: watched,
    why: "Who holds a drain, by name, and no eviction that is sure to be refused.",
  },
  {
    group: "",
    resource: "events",
    verbs: ["create", "patch"],
    why: "What is done, and what is not, is told in Events.",
  },
  {
    group: "karpenter.sh",
    resource: "nodeclaims",
    verbs: ["get", ...watched, "create", "patch", "delete"],
    why: "A node lives and ends with its claim.",
  },
  { group: "karpenter.sh", resource: "nodeclaims/status", verbs: ["patch"], why: "How far its node is." },
  {
    group: "karpenter.sh",
    resource: "nodepools",
    verbs: ["get", ...watched, "patch"],
    why: "What failed launches teach is kept in an annotation.",
  },
  { group: "karpenter.sh", resource: "nodepools/status", verbs: ["patch"], why: "How the pool stands." },
  ...["nodeclaims/finalizers", "nodepools/finalizers"].map(resource => ({
    group: "karpenter.sh",
    resource,
    verbs: ["update"],
    why: "To own what blocks the owner's deletion, where OwnerReferencesPermissionEnforcement is on.",
  })),
  {
    group: "fettle.dev",
    resource: "nodeactions",
    verbs: ["get", ...watched, "create", "patch", "delete"],
    why: "The ledger: written before anything is done, kept for a week.",
  },
  { group: "fettle.dev", resource: "nodeactions/status", verbs: ["patch"], why: "How far the action is." },
  { group: "fettle.dev", resource: "safetypolicies", verbs: ["get", ...watched], why: "The caps over everything." },
  { group: "fettle.dev", resource: "safetypolicies/status", verbs: ["patch"], why: "How much of them is used." },
  {
    ...leases,
    name: rivalLease,
    verbs: ["list"],
    why: "Beside another controller of the karpenter.sh kinds everything is only shown.",
  },
];

const simulatedClasses: Permission = {
  group: "fettle.dev",
  resource: "simulatednodeclasses",
  verbs: watched,
  why: "What machines can be had.",
};

const ownLease: readonly Permission[] = [
  { ...leases, name: lease.name, verbs: ["get", "update"], why: "One of several processes leads." },
  { ...leases, verbs: ["create"], why: "The first process makes the lease; a name cannot bind what is not there yet." },
];

const nodeLeases: readonly Permission[] = [
  { ...leases, verbs: ["get"], why: "A kubelet that renews its lease is alive: read before a node is taken away." },
];

const simulatedInstances: readonly Permission[] = [
  {
    group: "",
    resource: "configmaps",
    verbs: ["get", "list", "create", "patch"],
    why: "An instance of the simulated cloud is a ConfigMap.",
  },
];
