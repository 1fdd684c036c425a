// The start of an action: node and lease are read once, live, and the reason is judged again; only then is the claim
// deleted, over the very version that was judged, or the boot id written that a reboot will change. Each step finds out
// whether it was done before, so that whoever is killed in between is followed by somebody who goes on.

import type { KubeObject } from "../api/meta.ts";
import { finalPhases, type NodeActionSpec, type Phase } from "../api/node-action.ts";
import { nodeClaims } from "../api/node-claim.ts";
import { formatTime, type Instant, parseTime } from "../api/time.ts";
import { terminationTimestampKey } from "../api/well-known.ts";
import { stillHolds } from "../decide/actions.ts";
import type { Command, Outcome, Target } from "../decide/decision.ts";
import type { Live as Seen } from "../decide/evidence.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import { reasonsOf } from "../decide/ledger.ts";
import { lookUpInstance } from "./execute-instance.ts";
import { deleteMachine } from "./execute-machine.ts";
import { readAction, writeProgress } from "./execute-action.ts";
import { alreadySo, done, type Execution, sawDeletion } from "./execution.ts";
import { isNotFound, Stale } from "./outcome.ts";
import { patchBound } from "./patch.ts";
import type { GuardedApi } from "./guard.ts";
import { leases } from "./resources.ts";

type Lease = KubeObject & { spec?: { renewTime?: string } };
type Live = { node: NodeView | undefined; claim: ClaimView | undefined; lease: Lease | undefined };

export async function startAction(
  { action: target }: Extract<Command, { kind: "start-action" }>,
  execution: Execution,
): Promise<Outcome> {
  const action = await startable(target, execution);
  const { phase } = action.status;
  // A remediation is begun by the rule that asks for it, with its object (execute-remediation.ts).
  const isNotOurs = action.spec.method === "Remediate";
  if (isNotOurs || isOver(phase) || phase === "DryRun" || action.spec.dryRun) return alreadySo;
  const live = await readLive(action, execution);
  // Its deletion is what we were about to ask for: a start that was cut short, or somebody who was quicker.
  const isDeleting = action.spec.method === "Terminate" && live.claim?.deletingSince !== undefined;
  const asked = isDeleting ? done : await askProvider(action.spec, live, execution);
  if (asked.result !== "done") return asked;
  const why = isDeleting ? undefined : doubt(action, live, execution);
  if (why !== undefined) {
    await writeProgress(action, { phase: "Abandoned", outcome: why, waitingFor: null }, execution);
    return { result: "done", note: `given up: ${why}` };
  }
  if (action.spec.method === "Terminate" && live.claim !== undefined && !isDeleting) {
    await deleteClaim(action.spec, live.claim, execution);
  }
  const { machine, node } = action.spec;
  const unmade = machine && live.claim === undefined ? await deleteMachine({ node, machine }, execution) : undefined;
  if (unmade !== undefined) {
    await writeProgress(action, unmade, execution);
    return done;
  }
  if (phase !== "Running") await writeProgress(action, { phase: "Running", ...bootOf(action.spec, live) }, execution);
  return done;
}

/** One that has waited may have been called off by somebody a moment ago: whether it stands is read once more. */
async function startable(target: Target, execution: Execution): Promise<ActionView> {
  const action = seenAction(target, execution);
  if (action.status.waitingFor === undefined || action.status.startedAt !== undefined) return action;
  await readAction(target, execution);
  return seenAction(target, execution);
}

/**
 * Not read again: it has been seen as it is stored, by the answer or by the watch, and whoever changed it since is met when
 * it is written next.
 */
export function seenAction({ name, uid }: Target, { picture }: Execution): ActionView {
  const action = picture.action(name);
  if (action?.uid !== uid) throw new Stale(`NodeAction ${name} is another one now, or gone.`);
  return action;
}

/** Written before the reboot is asked for: whoever goes on sees by it whether the machine has come back. */
function bootOf({ method }: NodeActionSpec, { node }: Pick<Live, "node">): { bootID?: string } {
  const bootID = method === "Reboot" ? node?.bootID : undefined;
  return bootID === undefined ? {} : { bootID };
}

export function isOver(phase: Phase | undefined): boolean {
  return (finalPhases as readonly (Phase | undefined)[]).includes(phase);
}

/** Why the action must not start after all. */
export function doubt({ spec }: Pick<ActionView, "spec">, live: Live, execution: Execution): string | undefined {
  const { picture, clock, settings, epoch } = execution;
  const unfit = unfitFor(spec, live);
  if (unfit !== undefined) return unfit;
  const verdict = stillHolds(spec, seen(live, execution), { picture, now: clock.now(), settings, epoch });
  return verdict.holds ? undefined : verdict.why;
}

/** As the core judges it. */
export function seen({ node, claim, lease }: Live, { leaseLooks, clock }: Execution): Seen {
  const leaseRenewedAt = instantOf(lease?.spec?.renewTime);
  return {
    ...(node === undefined ? {} : { node }),
    ...(claim === undefined ? {} : { claim }),
    ...(leaseRenewedAt === undefined ? {} : { leaseRenewedAt }),
    ...(leaseRenewedAt === undefined || node === undefined
      ? {}
      : { leaseSeenAt: leaseLooks.seenAt(node.uid, leaseRenewedAt, clock.now()) }),
  };
}

/** Why it cannot be done by the means that the action names. */
function unfitFor(spec: NodeActionSpec, { node, claim }: Omit<Live, "lease">): string | undefined {
  const { name } = spec.node;
  switch (spec.method) {
    case "Terminate":
      if (claim !== undefined || spec.machine !== undefined) return undefined;
      return `Node ${name} has no NodeClaim by which it could be terminated.`;
    case "Reboot":
      if (claim?.deletingSince !== undefined) {
        return `NodeClaim ${claim.name} is being deleted: node ${name} is not worth a reboot.`;
      }
      if (node === undefined || bootOf(spec, { node }).bootID !== undefined) return undefined;
      return `Node ${name} says no boot id, so nobody could tell whether it was rebooted.`;
    case "Remediate":
      return undefined;
  }
}

/** That an instance is gone is asked once more, too. */
async function askProvider(spec: NodeActionSpec, { claim }: Live, execution: Execution): Promise<Outcome> {
  const providerID = claim?.providerID;
  const isAsserted = reasonsOf(spec).some(({ evidence }) => evidence.some(({ kind }) => kind === "InstanceGone"));
  if (!isAsserted || providerID === undefined) return done;
  return lookUpInstance({ providerID }, execution);
}

/** Without the lease where it has no say. */
export async function readLive(
  action: Pick<ActionView, "uid" | "spec">,
  execution: Execution,
  { withLease = true }: { withLease?: boolean } = {},
): Promise<Live> {
  const { picture, startLooks, api } = execution;
  const { spec } = action;
  const [node, lease] = await Promise.all([
    startLooks.node(action, api),
    withLease ? readLease(spec.node.name, api) : undefined,
  ]);
  if (node !== undefined) picture.wrote("node", node, node.resourceVersion);
  // The claim need not be read: what is done to it is done to the version that was judged, or not at all.
  const claim = spec.claim === undefined ? undefined : picture.claim(spec.claim.name);
  // Of the same name, but not the one that the action is about.
  return {
    node: node?.uid === spec.node.uid ? node : undefined,
    claim: claim?.uid === spec.claim?.uid ? claim : undefined,
    lease,
  };
}

async function readLease(nodeName: string, api: GuardedApi): Promise<Lease | undefined> {
  try {
    return await api.get<Lease>(leases, { namespace: "kube-node-lease", name: nodeName });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    return undefined;
  }
}

async function deleteClaim(spec: NodeActionSpec, claim: ClaimView, execution: Execution): Promise<void> {
  const { name, uid } = claim;
  const resourceVersion = await withTerminationTime(spec, claim, execution);
  const preconditions = { uid, resourceVersion };
  const answer = await execution.api.delete(nodeClaims.resource, { name }, { preconditions });
  sawDeletion(execution.picture, { kind: "claim", target: { name, uid }, answer });
}

/**
 * When what is left on the node goes by force is on the claim before its deletion; an earlier time stays. Returns the
 * version that has it.
 */
async function withTerminationTime(spec: NodeActionSpec, claim: ClaimView, execution: Execution): Promise<string> {
  const { api, clock, picture } = execution;
  const { name, uid, resourceVersion, terminationAt } = claim;
  const wanted = spec.termination === "Forceful" ? clock.now() : instantOf(spec.deadline);
  if (wanted === undefined || (terminationAt !== undefined && terminationAt <= wanted)) return resourceVersion;
  const body = { metadata: { annotations: { [terminationTimestampKey]: formatTime(wanted) } } };
  const bound = { name, uid, resourceVersion };
  const patched = await patchBound<KubeObject>(api, nodeClaims.resource, { bound, body });
  picture.answered("claim", patched);
  return patched.metadata.resourceVersion;
}

function instantOf(text: string | undefined): Instant | undefined {
  const parsed = text === undefined ? undefined : parseTime(text);
  return parsed?.ok ? parsed.value : undefined;
}
