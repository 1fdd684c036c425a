// What the controller may do in a cluster, each with its reason: the one table from which the roles are made. A test
// holds it against the calls that the shell makes, and the suites on a real control plane run under it.

import { simulatedNamespace } from "../api/simulated-instance.ts";
import { nodeLeaseNamespace } from "../api/node-health-check-contract.ts";
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

/** A Lease that nobody holds: where it is, there was a health check once, and none is made by default any more. */
export const defaultCheckMark = "fettle-default-health-check";

/** Whoever serves a kind of remediations grants us what we need of it, in a ClusterRole with this label. */
export const aggregation = { "rbac.ext-remediation/aggregate-to-ext-remediation": "true" } as const;

export function permissions(provider: ProviderName): Permissions {
  const isSimulated = provider === "simulated";
  const cluster = [...everywhere, ...healthChecks, ...(isSimulated ? [simulatedClasses] : [])];
  const byNamespace = new Map<string, readonly Permission[]>([
    [lease.namespace, ownLease],
    ["kube-node-lease", nodeLeases],
    [nodeLeaseNamespace, remediationLeases],
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
  {
    group: "",
    resource: "pods/status",
    verbs: ["patch"],
    why: "A pod that waits names the node that is made for it (status.nominatedNodeName), so that kube-scheduler puts it there.",
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

const healthChecks: readonly Permission[] = [
  {
    group: "remediation.medik8s.io",
    resource: "nodehealthchecks",
    verbs: ["get", ...watched, "create"],
    why: "When nodes count as failed. The one by default is made where there is none.",
  },
  { group: "remediation.medik8s.io", resource: "nodehealthchecks/status", verbs: ["patch"], why: "What it sees." },
  {
    group: "apiextensions.k8s.io",
    resource: "customresourcedefinitions",
    verbs: watched,
    why: "Where the kinds are served that health checks name.",
  },
  {
    group: "authorization.k8s.io",
    resource: "selfsubjectaccessreviews",
    verbs: ["create"],
    why: "Whether we may do what a health check asks of another's kind is known before a node fails.",
  },
  ...["replaceremediations", "rebootremediations"].flatMap(resource => [
    {
      group: "fettle.dev",
      resource,
      verbs: ["get", ...watched, "create", "patch", "delete"],
      why: "Made by health checks, and carried out by us.",
    },
    { group: "fettle.dev", resource: `${resource}/status`, verbs: ["patch"], why: "How far it is." },
  ]),
  {
    group: "fettle.dev",
    resource: "replaceremediationtemplates",
    verbs: [...watched, "create"],
    why: "What remediations are made from; the check by default has one of its own.",
  },
  {
    group: "fettle.dev",
    resource: "rebootremediationtemplates",
    verbs: watched,
    why: "What remediations are made from.",
  },
  {
    group: "config.openshift.io",
    resource: "clusterversions",
    verbs: watched,
    why: "Nothing new is remediated while OpenShift upgrades the cluster.",
  },
  {
    group: "config.openshift.io",
    resource: "infrastructures",
    verbs: watched,
    why: "Where OpenShift fences the nodes of its control plane itself nothing is remediated.",
  },
  {
    group: "machine.openshift.io",
    resource: "machinehealthchecks",
    verbs: watched,
    why: "Beside OpenShift's own checks nothing is remediated.",
  },
  {
    group: "machine.openshift.io",
    resource: "machines",
    verbs: ["get"],
    why: "A remediation beside the Machine of its node is owned by it, too.",
  },
  { group: "", resource: "namespaces", verbs: ["create"], why: "Where the leases on nodes lie, if it is missing." },
];

const remediationLeases: readonly Permission[] = [
  {
    ...leases,
    verbs: ["get", ...watched, "create", "patch", "delete"],
    why: "Those who remediate a node keep out of one another's way by a lease on it.",
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
  { ...leases, name: defaultCheckMark, verbs: ["get"], why: "Whether there was a health check by default once." },
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
