// What the controller may do in a cluster, each line with its reason: the one table from which the roles are made. A test
// holds it against the calls that the shell makes, and the suites on a real control plane run under it.

export type Rule = {
  readonly apiGroups: readonly [string];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
};

/** By where they hold: in the whole cluster, or in one namespace. */
export type Permissions = {
  readonly cluster: readonly Rule[];
  readonly byNamespace: ReadonlyMap<string, readonly Rule[]>;
};

type Options = {
  readonly provider: "simulated" | "none";
  readonly lease: { readonly name: string; readonly namespace: string };
  readonly rivalLease: string;
  readonly simulatedNamespace: string;
};

const watched = ["list", "watch"];

export function permissions({ provider, lease, rivalLease, simulatedNamespace }: Options): Permissions {
  const isSimulated = provider === "simulated";
  const byNamespace = new Map([
    // Our own term as leader. A name cannot bind `create`: the object is not there yet.
    [lease.namespace, [rule("coordination.k8s.io", ["leases"], ["create"]), named(lease.name, ["get", "update"])]],
    // A kubelet that still renews its lease is alive: read once before a node is taken away.
    ["kube-node-lease", [rule("coordination.k8s.io", ["leases"], ["get"])]],
    // The simulated cloud: an instance is a ConfigMap.
    ...(isSimulated
      ? [[simulatedNamespace, [rule("", ["configmaps"], ["get", "list", "create", "patch"])]] as const]
      : []),
  ]);
  const simulated = isSimulated ? [rule("fettle.dev", ["simulatednodeclasses"], watched)] : [];
  return { cluster: [...everywhere, ...simulated, named(rivalLease, ["get"])], byNamespace };
}

const everywhere: readonly Rule[] = [
  // Registration and termination write labels, taints and finalizers; conditions are the kubelet's to write.
  rule("", ["nodes"], ["get", ...watched, "patch", "delete"]),
  // Drains evict. `delete` is for what an eviction cannot do: a deadline has come, or the node is dead.
  rule("", ["pods"], [...watched, "delete"]),
  rule("", ["pods/eviction"], ["create"]),
  // Which volumes a drained pod leaves behind.
  rule("", ["persistentvolumeclaims"], watched),
  rule("storage.k8s.io", ["volumeattachments"], watched),
  rule("policy", ["poddisruptionbudgets"], watched),
  rule("", ["events"], ["create", "patch"]),
  rule("karpenter.sh", ["nodeclaims"], ["get", ...watched, "create", "patch", "delete"]),
  rule("karpenter.sh", ["nodeclaims/status"], ["patch"]),
  rule("karpenter.sh", ["nodepools"], ["get", ...watched, "patch"]),
  rule("karpenter.sh", ["nodepools/status"], ["patch"]),
  // Where OwnerReferencesPermissionEnforcement is on, an owner that blocks its own deletion needs this.
  rule("karpenter.sh", ["nodeclaims/finalizers", "nodepools/finalizers"], ["update"]),
  rule("fettle.dev", ["nodeactions"], ["get", ...watched, "create", "patch", "delete"]),
  rule("fettle.dev", ["nodeactions/status"], ["patch"]),
  rule("fettle.dev", ["safetypolicies"], watched),
  rule("fettle.dev", ["safetypolicies/status"], ["patch"]),
];

function rule(group: string, resources: readonly string[], verbs: readonly string[]): Rule {
  return { apiGroups: [group], resources, verbs };
}

function named(name: string, verbs: readonly string[]): Rule {
  return { ...rule("coordination.k8s.io", ["leases"], verbs), resourceNames: [name] };
}
