// The Machine of Cluster API that an action takes its node away with: read live, held against the node that the action is
// about, and deleted over the very version that was read. Its own controller drains the node and ends the instance.

import type { KubeObject, Resource } from "../api/meta.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import type { ActionProgress } from "../decide/decision.ts";
import type { Execution } from "./execution.ts";
import { isNotFound } from "./outcome.ts";
import { isForbidden } from "./staleness.ts";

type Machine = KubeObject & { status?: { nodeRef?: { name?: string; uid?: string } } };

/** What the action comes to where the Machine cannot be deleted; undefined: it is being deleted. */
export async function deleteMachine(
  { node, machine }: Required<Pick<NodeActionSpec, "node" | "machine">>,
  execution: Execution,
): Promise<ActionProgress | undefined> {
  const { api, picture } = execution;
  const { machines } = picture.checks;
  const who = `Machine ${machine.namespace}/${machine.name}`;
  if (machines === undefined) return failed(`${who} cannot be deleted: this cluster serves no Machines.`);
  try {
    const live = await api.get<Machine>(machines, machine);
    const { name, uid } = live.status?.nodeRef ?? {};
    // Older versions of Cluster API name the node alone.
    if (name !== node.name || (uid !== undefined && uid !== "" && uid !== node.uid)) {
      return failed(`${who} is not deleted for node ${node.name}: it says that its node is ${name ?? "none"}.`);
    }
    if (live.metadata.deletionTimestamp !== undefined) return undefined;
    const { uid: machineUid, resourceVersion } = live.metadata;
    await api.delete(machines, machine, { preconditions: { uid: machineUid, resourceVersion } });
    return undefined;
  } catch (error) {
    if (isNotFound(error)) return failed(`${who} is gone, and node ${node.name} is still there.`);
    if (!(error instanceof Error) || !isForbidden(error)) throw error;
    return failed(`${who} cannot be deleted: ${error.message}. This grants it: ${grantOf(machines)}`);
  }
}

function failed(outcome: string): ActionProgress {
  return { phase: "Failed", waitingFor: null, outcome };
}

/** As one line of YAML, to be applied as it is. */
function grantOf({ group, plural }: Resource): string {
  return [
    "{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, ",
    `metadata: {name: ext-remediation-${plural}, labels: {rbac.ext-remediation/aggregate-to-ext-remediation: "true"}}, `,
    `rules: [{apiGroups: ["${group}"], resources: ["${plural}"], verbs: [get, delete]}]}`,
  ].join("");
}
