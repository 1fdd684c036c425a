// What Cluster API writes on a node and where it keeps its Machines, as far as we need it: to find the Machine that owns
// a node, where both live in one cluster.

export const machineKind = {
  group: "cluster.x-k8s.io",
  kind: "Machine",
  /** The one we take first. */
  versions: ["v1beta2", "v1beta1"],
} as const;

const machineKey = "cluster.x-k8s.io/machine";
const clusterNamespaceKey = "cluster.x-k8s.io/cluster-namespace";

export type MachineName = { readonly namespace: string; readonly name: string };

/** Undefined: no Machine owns the node, as far as it says. */
export function machineOf({
  annotations,
}: {
  readonly annotations: Readonly<Record<string, string>>;
}): MachineName | undefined {
  const { [machineKey]: name, [clusterNamespaceKey]: namespace } = annotations;
  return name && namespace ? { namespace, name } : undefined;
}
