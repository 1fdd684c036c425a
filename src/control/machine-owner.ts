// The Machine of OpenShift that a remediation is for: where both lie in one namespace it owns the remediation beside the
// check, for whoever acts on machines finds his by that. What a node says of itself is not enough: the Machine must name
// the node, too, or another's would be acted on.

import { apiVersionOf, type KubeObject, type OwnerReference, type Resource } from "../api/meta.ts";
import type { NodeView } from "../snapshot/views.ts";
import type { Execution } from "./execution.ts";
import { isNotFound } from "./outcome.ts";
import { isForbidden } from "./staleness.ts";

/** On a node: namespace/name of its Machine. */
const machineKey = "machine.openshift.io/machine";

const machines: Resource = {
  group: "machine.openshift.io",
  version: "v1beta1",
  kind: "Machine",
  plural: "machines",
  namespaced: true,
};

type Named = Pick<NodeView, "name" | "uid" | "annotations">;
type Machine = KubeObject & { status?: { nodeRef?: { name?: string; uid?: string } } };

/** None where there is no such Machine, it lies elsewhere, is another node's, or we may not read it. */
export async function machineOwner(
  node: Named | undefined,
  namespace: string | undefined,
  { api }: Execution,
): Promise<readonly OwnerReference[]> {
  const [place, name] = node?.annotations[machineKey]?.split("/") ?? [];
  if (name === undefined || namespace === undefined || place !== namespace) return [];
  try {
    const { metadata, status } = await api.get<Machine>(machines, { name, namespace });
    if (node === undefined || !isOf(node, status?.nodeRef)) return [];
    return [{ apiVersion: apiVersionOf(machines), kind: machines.kind, name, uid: metadata.uid }];
  } catch (error) {
    if (isNotFound(error) || (error instanceof Error && isForbidden(error))) return [];
    throw error;
  }
}

/** Not every version writes the uid. */
function isOf({ name, uid }: Named, named: { name?: string; uid?: string } = {}): boolean {
  return named.name === name && (named.uid === undefined || named.uid === "" || named.uid === uid);
}
