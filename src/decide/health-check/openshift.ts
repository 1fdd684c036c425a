// What keeps every check of an OpenShift cluster from remediating: checks of its own, and a control plane whose nodes it
// fences itself.

import type { Context } from "../decision.ts";
import { type Disabling, pending } from "./disabling.ts";

/** Undefined: nothing does, or it is no OpenShift. */
export function unfitOpenShift(context: Context): Disabling | undefined {
  return unsupportedTopology(context) ?? machineCheckConflict(context);
}

/** As medik8s has it: of two nodes, say, each is fenced by the other, and a remediation would come in between. */
const supportedTopologies = ["HighlyAvailable", "HighlyAvailableArbiter", "SingleReplica", "External"];

function unsupportedTopology({ picture: { checks } }: Context): Disabling | undefined {
  const { controlPlane, isPending, failure } = checks.topology;
  const reason = "UnsupportedControlPlaneTopology";
  if (isPending) return pending("OpenShift's Infrastructure has not been listed yet.");
  if (failure !== undefined) {
    const message = `How OpenShift's control plane is laid out cannot be told: ${failure}`;
    return { reason, message, liftedBy: "leave to read Infrastructures" };
  }
  if (controlPlane === undefined || supportedTopologies.includes(controlPlane)) return undefined;
  const message = `OpenShift's Infrastructure cluster has the control plane topology ${controlPlane}, under which nodes are not remediated by health checks.`;
  return { reason, message, liftedBy: `one of the topologies ${supportedTopologies.join(", ")}` };
}

/** Two that look after the same machines would each take what the other has just brought back. */
function machineCheckConflict({ picture: { checks } }: Context): Disabling | undefined {
  const { conflicting, isPending, failure } = checks.machineChecks;
  const reason = "ConflictingMachineHealthCheckDetected";
  if (isPending) return pending("MachineHealthChecks of OpenShift have not been listed yet.");
  if (failure !== undefined) {
    const message = `Whether OpenShift checks the health of machines cannot be told: ${failure}`;
    return { reason, message, liftedBy: "leave to read MachineHealthChecks" };
  }
  const [first, ...more] = conflicting;
  if (first === undefined) return undefined;
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  const message = `OpenShift's MachineHealthCheck ${first}${others} looks after machines, too.`;
  return { reason, message, liftedBy: `deleting MachineHealthCheck ${first}${others}` };
}
