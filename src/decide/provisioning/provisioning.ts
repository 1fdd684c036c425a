// Nodes for pods that wait: when a search for their places is due, which claims of its answer are made, and what is said
// of each pod. The search itself runs beside the turns (control/search.ts); whatever it found and no longer stands is
// not in the picture any more.

import { formatTime, type Instant, type Millis, secondMs } from "../../api/time.ts";
import type { NodeClassRef, Picture } from "../../snapshot/picture.ts";
import type { Pending, PlannedClaim } from "../../snapshot/placement.ts";
import type { PodView, PoolView } from "../../snapshot/views.ts";
import { type Command, type Context, type Decision, type Notice, nothing, type Rule } from "../decision.ts";
import { laneOf } from "../lane.ts";
import { dryRunOfAll } from "../dry-run.ts";
import { type Hold, launchHold, refusalOf } from "../launch.ts";
import { servedClass } from "../node-class.ts";
import { limitsOf, passedBy, usageOf, used } from "./limits.ts";
import { nomination } from "./nomination.ts";

/** As upstream: no pod came for so long, or the first has waited so long. */
const batchIdleMs: Millis = secondMs;
const batchMaxMs: Millis = 10 * secondMs;
/** Pods that can go nowhere are asked about again once in this time at most, however much changes. */
const retryMs: Millis = 10 * secondMs;

export const provisioning: Rule = {
  name: "provisioning",
  controller: "provisioning",
  kind: "cluster",
  decide: (_, context) => decideSearch(context),
};

export const plannedClaims: Rule = {
  name: "planned-claims",
  controller: "provisioning",
  kind: "pool",
  decide(name, context) {
    const pool = context.picture.pool(name);
    const planned = context.picture.plannedClaims(name);
    const nodeClass = pool && servedClass(pool.effective.template.nodeClassRef, context.picture.provider);
    if (pool === undefined || nodeClass === undefined || planned.length === 0) return nothing;
    return makeClaims(pool, { nodeClass, planned }, context);
  },
};

export const pendingPod: Rule = {
  name: "pending-pod",
  controller: "provisioning",
  kind: "pod",
  decide(name, { picture }) {
    const [namespace = "", podName = ""] = name.split("/");
    const pod = picture.pod(namespace, podName);
    return pod === undefined || !picture.wantsNode(pod) ? nothing : tell(pod, picture);
  },
};

function decideSearch({ picture, settings, now }: Context): Decision {
  const { batch, expiresAt } = picture.pending;
  const { batchIdleMs: idle = batchIdleMs, batchMaxMs: max = batchMaxMs } = settings;
  const batchAt = batch && Math.min(batch.lastAt + idle, batch.openedAt + max);
  const dueAt = earliest(batchAt, expiresAt, retryAt(picture.pending));
  if (dueAt === undefined) return nothing;
  if (picture.staleness !== undefined) {
    const message = `No place is searched for pods: ${picture.staleness.message}`;
    return refused({ code: "picture-stale", message, liftedBy: "the watch catching up with the API server" });
  }
  if (dueAt > now) return { ...nothing, wakeAt: dueAt };
  const why = batch
    ? `Pods want a node since ${formatTime(batch.openedAt)}.`
    : "Pods that found no place may find one.";
  const command: Command = { kind: "search", for: "provisioning", askedAt: dueAt, why };
  const failure = picture.failure(laneOf(command));
  if (failure === undefined || failure.retryAt <= now) return { ...nothing, commands: [command] };
  const message = `The search for places failed (${failure.reason || "no answer"}): ${failure.message}; the next is at ${formatTime(failure.retryAt)}.`;
  const refusal = refused({ code: "search-failed", message, until: failure.retryAt, liftedBy: "the next try" });
  return { ...refusal, wakeAt: failure.retryAt };
}

function retryAt({ stuckCount, isSupplyChanged, searchedAt, lookAgainAt }: Pending): Instant | undefined {
  if (stuckCount === 0) return undefined;
  return isSupplyChanged ? searchedAt + retryMs : lookAgainAt && Math.max(lookAgainAt, searchedAt + retryMs);
}

function refused(hold: Parameters<typeof refusalOf>[1]): Decision {
  return { ...nothing, refusals: [refusalOf("cluster", hold)] };
}

type Held = Omit<Hold, "reason">;
type Wish = { readonly nodeClass: NodeClassRef; readonly planned: readonly PlannedClaim[] };

function makeClaims(pool: PoolView, { nodeClass, planned }: Wish, context: Context): Decision {
  const { picture, now } = context;
  const { provider } = picture;
  const hold: Held | undefined = launchHold({ pool, nodeClass, provider }, now) ?? shownOnly(pool, planned, context);
  if (hold !== undefined) {
    return { ...nothing, refusals: [refusalOf(`pool/${pool.name}`, hold)], wakeAt: hold.until };
  }
  const missing = planned.filter(({ name }) => picture.claim(name) === undefined);
  const limits = limitsOf(pool);
  if (limits === undefined) return { ...nothing, commands: missing.map(made) };
  const commands: Command[] = [];
  // Each counts from the next one on: together they stay within the limits, whatever each becomes.
  let usage = usageOf(limits, picture.claimsOfPool(pool.name), provider.instanceTypes(nodeClass));
  for (const claim of missing) {
    const passed = passedBy(claim.capacity, { limits, usage });
    if (passed !== undefined) return { ...nothing, commands, refusals: [limited(pool, claim, passed)] };
    usage = used(usage, claim.capacity);
    commands.push(made(claim));
  }
  return { ...nothing, commands };
}

function made({ manifest, pods, pool }: PlannedClaim): Command {
  const count = pods.length === 1 ? "1 pod wants" : `${pods.length} pods want`;
  return { kind: "create-claim", manifest, why: `${count} a node of pool ${pool}.` };
}

function shownOnly(pool: PoolView, planned: readonly PlannedClaim[], context: Context): Held | undefined {
  const word = dryRunOfAll(context) ?? (pool.effective.dryRun ? `NodePool ${pool.name} has spec.dryRun` : undefined);
  if (word === undefined) return undefined;
  const pods = planned.reduce((sum, claim) => sum + claim.pods.length, 0);
  const message = `Pool ${pool.name} would get ${planned.length} claims for ${pods} pods, but that is only shown, because ${word}.`;
  return { code: "dry-run", message, liftedBy: "ending the dry run" };
}

function limited({ name }: PoolView, { pods }: PlannedClaim, limit: string) {
  return refusalOf(`pool/${name}`, {
    code: "limit-reached",
    message: `Pool ${name} gets no claim for ${pods.length} pods: it would pass limits.${limit}.`,
    liftedBy: `a higher limits.${limit} of pool ${name}, or the end of some of its nodes`,
  });
}

function tell(pod: PodView, picture: Picture): Decision {
  const placement = picture.placementOf(pod.uid);
  if (placement === undefined) return nothing;
  const { namespace, name, nodeName } = pod;
  if (placement.on !== "nothing") {
    const message = `Pod should schedule on: ${placement.on === "claim" ? "nodeclaim" : "node"}/${placement.name}`;
    const commands = nomination(pod, placement, picture);
    return { ...nothing, commands, notices: notices(pod, { type: "Normal", reason: "Nominated", message }) };
  }
  const where = nodeName === undefined ? "can go nowhere" : `can go nowhere else when node ${nodeName} goes`;
  return {
    ...nothing,
    refusals: [
      {
        subject: `pod/${namespace}/${name}`,
        code: "no-place",
        message: `Pod ${namespace}/${name} ${where}: ${placement.short}`,
        liftedBy: "room on a node, or a pool that can launch a node for it",
      },
    ],
    notices: notices(pod, { type: "Warning", reason: "FailedScheduling", message: placement.short }),
  };
}

/** A pod that runs is not told where another in its stead will. */
function notices({ namespace, name, uid, nodeName }: PodView, said: Omit<Notice, "about">): readonly Notice[] {
  return nodeName === undefined ? [{ about: { kind: "Pod", namespace, name, uid }, ...said }] : [];
}

function earliest(...instants: readonly (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter(instant => instant !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
