// Commands on remediations of whatever kind. One is made only after its node was read live and judged once more, with the
// kubelet's lease where silence is the reason, and under the lease of those who remediate; its name says what it is for, so
// that it is made once however often it is asked for.

import { apiVersionOf, type KubeObject, type Resource } from "../api/meta.ts";
import { nodeNameKey } from "../api/node-health-check-contract.ts";
import { formatTime, type Instant } from "../api/time.ts";
import type { Command, Context, LeaseTaking, ObjectTarget, Outcome } from "../decide/decision.ts";
import { excluded } from "../decide/health-check/ask.ts";
import { isUnderWay, remediationVeto } from "../decide/health-check/holds.ts";
import { healthOf, isUnhealthy } from "../decide/health-check/node-health.ts";
import { unstamped } from "../decide/ledger.ts";
import { isToldByLease } from "../decide/silence.ts";
import { startHold } from "../decide/start-hold.ts";
import type { ActionView } from "../snapshot/views.ts";
import { updateAction } from "./execute-action.ts";
import { doubt, isOver, readLive, seenAction } from "./execute-start.ts";
import { alreadySo, done, type Execution, overLive } from "./execution.ts";
import { takeNodeLease } from "./execute-node-lease.ts";
import { machineOwner } from "./machine-owner.ts";
import { isAlreadyExists, isNotFound, outcomeOf } from "./outcome.ts";
import { keyOf, metadataBody, patchBound, statusBody } from "./patch.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;
type Live = Awaited<ReturnType<typeof readLive>>;

/** What is read live may be newer than the picture, and the kubelet's lease is in none: it is not asked again at once. */
const doubtedMs = 10_000;

export async function createRemediation(command: Of<"create-remediation">, execution: Execution): Promise<Outcome> {
  const action = seenAction(command.action, execution);
  const { phase } = action.status;
  if (isOver(phase) || phase === "DryRun" || action.spec.dryRun) return alreadySo;
  const live = await readLive(action, execution, { withLease: isToldByLease(action.spec) });
  if (action.status.startedAt !== undefined || isStepOn(action, execution)) {
    const why = recovered(action, live, execution);
    if (why !== undefined) return { result: "retry", reason: "Doubtful", message: why, afterMs: doubtedMs };
    return create(command, live, execution);
  }
  const why = doubt(action, live, execution);
  if (why !== undefined) {
    const { name, uid, resourceVersion } = action;
    const progress = { phase: "Abandoned", outcome: why, waitingFor: null } as const;
    await updateAction({ kind: "update-action", why, action: { name, uid }, resourceVersion, progress }, execution);
    return { result: "stale", note: `NodeAction ${name} is given up` };
  }
  const held = heldNow(action, execution);
  // The rule judges by the same picture: it says so itself, and asks again as soon as nothing holds any more.
  if (held !== undefined) return { result: "stale", note: held };
  return create(command, live, execution);
}

/** A step before it runs: only the entry in the ledger is new. */
function isStepOn({ spec }: ActionView, execution: Execution): boolean {
  const check = execution.picture.checks.check(spec.askedBy.name);
  return check !== undefined && check.uid === spec.askedBy.uid && isUnderWay(check, spec.node, execution);
}

/** The next step of what has begun: the node need not be sick as it was at first, but it must still be, and ours to treat. */
function recovered({ spec }: ActionView, { node }: Live, execution: Execution): string | undefined {
  const { picture, clock } = execution;
  if (node === undefined) return `Node ${spec.node.name} (${spec.node.uid}) is gone.`;
  const check = picture.checks.check(spec.askedBy.name);
  if (check === undefined || check.uid !== spec.askedBy.uid) return `NodeHealthCheck ${spec.askedBy.name} is gone.`;
  const now = clock.now();
  const health = healthOf(node, check, contextOf(execution, now));
  if (!isUnhealthy(health, now)) return `Node ${spec.node.name} is not unhealthy as it is read now.`;
  return excluded({ node })?.message;
}

/** What may have come between the entry in the ledger and now. */
function heldNow(action: ActionView, execution: Execution): string | undefined {
  const { picture, clock } = execution;
  const { spec } = action;
  const check = picture.checks.check(spec.askedBy.name);
  if (check === undefined || check.uid !== spec.askedBy.uid) return `NodeHealthCheck ${spec.askedBy.name} is gone.`;
  return startHold(action, contextOf(execution, clock.now()))?.message;
}

/** As a turn would judge now: with what is remembered, and all that objects to starts. */
function contextOf({ picture, settings, epoch, remembering }: Execution, now: Instant): Context {
  const context: Context = { picture, now, settings, epoch };
  return remembering?.(context) ?? { ...context, vetoes: [remediationVeto(context)] };
}

async function create(command: Of<"create-remediation">, live: Live, execution: Execution): Promise<Outcome> {
  const { resource, manifest, node, takes } = command;
  const { api } = execution;
  // Nothing is made before the lease is ours.
  const taken = takes === undefined ? done : await taking(takes, execution);
  if (taken.result !== "done") return taken;
  const { name, namespace, ownerReferences = [] } = manifest.metadata;
  const owners = [...ownerReferences, ...(await machineOwner(live.node, namespace, execution))];
  const made = { ...manifest, metadata: { ...manifest.metadata, ownerReferences: owners } };
  const key = namespace === undefined ? {} : { namespace };
  try {
    answered(resource, await api.create(resource, key, made), execution);
    return done;
  } catch (error) {
    if (!isAlreadyExists(error)) throw noKind(error, `${resource.kind} ${name}`);
  }
  const found = await api.get(resource, { name, ...key });
  answered(resource, found, execution);
  if (isSame(found, manifest.metadata, node.name)) return alreadySo;
  const message = `${resource.kind} ${name} is there already and is somebody else's.`;
  return { result: "refused", reason: "AlreadyExists", message };
}

async function taking(takes: LeaseTaking, execution: Execution): Promise<Outcome> {
  try {
    return await takeNodeLease(takes, execution);
  } catch (error) {
    const outcome = outcomeOf(error);
    const { namespace, name } = takes.lease;
    // It has gone since: the rule looks again.
    if (outcome.result === "already-so") return { result: "stale" };
    return "message" in outcome
      ? { ...outcome, message: `Lease ${namespace}/${name} could not be taken: ${outcome.message}` }
      : outcome;
  }
}

/** A 404 to a create says that the kind or the namespace is not there, not that all is as it should be. */
function noKind(error: unknown, what: string): unknown {
  return isNotFound(error) ? new Error(`${what} could not be created: ${(error as Error).message}`) : error;
}

function isSame(
  found: KubeObject,
  { ownerReferences = [] }: Partial<KubeObject["metadata"]>,
  nodeName: string,
): boolean {
  const { annotations = {}, name, ownerReferences: owners = [], deletionTimestamp } = found.metadata;
  const isOwned = ownerReferences.every(({ uid }) => owners.some(owner => owner.uid === uid));
  return isOwned && deletionTimestamp === undefined && (annotations[nodeNameKey] ?? name) === nodeName;
}

export async function deleteRemediation(command: Of<"delete-remediation">, execution: Execution): Promise<Outcome> {
  const { resource, ...target } = command.remediation;
  const { uid } = target;
  try {
    const answer = await execution.api.delete(resource, keyOf(target), { preconditions: { uid } });
    if ("uid" in answer.metadata) answered(resource, answer as KubeObject, execution);
    else gone(command.remediation, execution);
    return done;
  } catch (error) {
    if (isNotFound(error)) gone(command.remediation, execution);
    throw error;
  }
}

export async function annotateRemediation(
  { remediation, annotations }: Of<"annotate-remediation">,
  execution: Execution,
): Promise<Outcome> {
  const { api, clock } = execution;
  const { resource, ...bound } = remediation;
  const written = Object.entries(annotations).map(([key, value]) => [
    key,
    value === unstamped ? formatTime(clock.now()) : value,
  ]);
  const body = { metadata: { annotations: Object.fromEntries(written) } };
  try {
    answered(resource, await patchBound(api, resource, { bound, body }), execution);
    return done;
  } catch (error) {
    if (isNotFound(error)) gone(remediation, execution);
    throw error;
  }
}

export async function updateRemediation(
  { remediation, metadata, status }: Of<"update-remediation">,
  execution: Execution,
): Promise<Outcome> {
  const { api, clock } = execution;
  const { resource, ...target } = remediation;
  try {
    return await overLive(execution, { resource, target }, async live => {
      let bound = live;
      const change = metadata && metadataBody(metadata, live.metadata.finalizers ?? []);
      if (change !== undefined) {
        bound = await patchBound(api, resource, { bound: live.metadata, body: { metadata: change } });
        answered(resource, bound, execution);
      }
      if (status === undefined) return done;
      const body = { status: statusBody(live.status ?? {}, status, clock.now()) };
      const written = await patchBound(api, resource, { bound: bound.metadata, body, subresource: "status" });
      answered(resource, written, execution);
      return done;
    });
  } catch (error) {
    if (isNotFound(error)) gone(remediation, execution);
    throw error;
  }
}

function answered(resource: Resource, raw: KubeObject, { picture }: Execution): void {
  picture.checkFeeds.kind(nameOf(resource)).answered(raw);
}

function gone({ resource, name, uid, namespace = "" }: ObjectTarget, { picture }: Execution): void {
  picture.checkFeeds.kind(nameOf(resource)).wroteGone({ name, uid, namespace });
}

function nameOf(resource: Resource) {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind };
}
