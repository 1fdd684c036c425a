// The Machine of OpenShift that a remediation is for: where both lie in one namespace it owns the remediation beside the
// check, for whoever acts on machines finds his by that.

import { apiVersionOf, type KubeObject, type OwnerReference, type Resource } from "../api/meta.ts";
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

/** None where there is no such Machine, it lies elsewhere, or we may not read it. */
export async function machineOwner(
  node: KubeObject | undefined,
  namespace: string | undefined,
  { api }: Execution,
): Promise<readonly OwnerReference[]> {
  const [place, name] = node?.metadata.annotations?.[machineKey]?.split("/") ?? [];
  if (name === undefined || namespace === undefined || place !== namespace) return [];
  try {
    const { metadata } = await api.get(machines, { name, namespace });
    return [{ apiVersion: apiVersionOf(machines), kind: machines.kind, name, uid: metadata.uid }];
  } catch (error) {
    if (isNotFound(error) || (error instanceof Error && isForbidden(error))) return [];
    throw error;
  }
}
