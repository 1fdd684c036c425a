// What a claim says of its own candidacy, in the peer's words: Drifted with its reason, Consolidatable once no pod has
// come or gone for long enough, and when one last did; and since when it asks not to be disrupted. Written when it becomes
// otherwise, not with every pod; Consolidatable, which is only a record, later.

import type { NodeClaimStatus } from "../../api/node-claim.ts";
import { formatTime, type Instant, minuteMs } from "../../api/time.ts";
import type { NodeClassRef } from "../../snapshot/picture.ts";
import type { ActionView, ClaimView, PoolView } from "../../snapshot/views.ts";
import { waitsForReplacement } from "../../snapshot/waiting-action.ts";
import { isTrue, sameConditions, withCondition } from "../conditions.ts";
import {
  type Command,
  type ConditionChange,
  type Context,
  type Decision,
  type MetadataChange,
  nothing,
  type Rule,
  type StatusChange,
} from "../decision.ts";
import { disruptionReason, disruptionReasonType } from "../disruption-reason.ts";
import { heldCondition, longestHold, nodeHold } from "../do-not-disrupt.ts";
import { isDryRun } from "../ledger.ts";
import { servedClass } from "../node-class.ts";
import { isOwnNode } from "../own-node.ts";
import { nextOf } from "../termination-step.ts";
import { eventEveryMs, idleAt, knownEvent, quietSince } from "./clock.ts";
import { type DriftJudgement, judgeDrift } from "./drift.ts";
import { hashAnnotations, hashOf } from "./drift-hash.ts";

export const candidacy: Rule = {
  name: "candidacy",
  controller: "disruption",
  kind: "claim",
  decide(name, context) {
    const claim = context.picture.claim(name);
    if (claim === undefined || claim.isProvisional || claim.deletingSince !== undefined) return nothing;
    const pool = claim.pool === undefined ? undefined : context.picture.pool(claim.pool);
    const nodeClass = pool && servedClass(pool.effective.template.nodeClassRef, context.picture.provider);
    const isOurs = servedClass(claim.spec.nodeClassRef, context.picture.provider) !== undefined;
    // What a pool means that goes or cannot be understood nobody knows: the claim says what it said before.
    if (pool === undefined || nodeClass === undefined || !isOurs) return nothing;
    return pool.invalid === undefined && pool.deletingSince === undefined
      ? judge({ claim, pool, nodeClass }, context)
      : nothing;
  },
};

type Made = { readonly claim: ClaimView; readonly pool: PoolView; readonly nodeClass: NodeClassRef };

function judge(made: Made, context: Context): Decision {
  const { claim } = made;
  const metadata = restamp(made);
  const drift = judgeDrift(made, context);
  const changes = [driftedAs(claim, drift, metadata !== undefined), heldAs(made, context), waitingAs(claim, context)];
  const others = changes.reduce((list, change) => change(list), claim.conditions as readonly ConditionChange[]);
  const idle = idleness(made, context, !sameConditions(claim.conditions, others));
  const conditions = idle.condition(others);
  const status = {
    ...idle.fields,
    ...(sameConditions(claim.conditions, conditions) ? {} : { conditions }),
  };
  return {
    ...nothing,
    commands: update(claim, { ...(metadata ? { metadata } : {}), status }),
    wakeAt: nextOf(context.now, [drift.lookAt, idle.changesAt]),
  };
}

/**
 * A claim of another version of the hash, or of none, is taken as made from the template as it is now. One that has
 * drifted already keeps what it has: it would be forgiven by the change of versions alone.
 */
function restamp({ claim, pool, nodeClass }: Made): MetadataChange | undefined {
  if (hashOf(claim) !== undefined || isTrue(claim.conditions, "Drifted")) return undefined;
  return { annotations: hashAnnotations(pool, nodeClass) };
}

type Change = (list: readonly ConditionChange[]) => readonly ConditionChange[];

function driftedAs(claim: ClaimView, { drift }: DriftJudgement, isStamped: boolean): Change {
  const type = "Drifted";
  if (drift !== undefined) return list => withCondition(list, { type, status: "True", ...drift });
  // Without a hash of ours nothing says that it is healed.
  const isKept = hashOf(claim) === undefined && !isStamped && claim.providerID !== undefined;
  return list => (isKept ? list : list.filter(one => one.type !== type));
}

/** Since when node or claim ask not to be disrupted, where the pool bears that for a time only. */
function heldAs({ claim, pool }: Made, { picture }: Context): Change {
  const node = picture.nodesOf(claim).find(one => isOwnNode(one, claim));
  const hold = node && nodeHold({ node, claim, pool });
  const isCounted = hold !== undefined && Number.isFinite(longestHold(pool));
  if (!isCounted) return list => list.filter(({ type }) => type !== heldCondition);
  const message = `${hold.who} asks for it; NodePool ${pool.name} bears it for ${pool.effective.disruption.maxDoNotDisrupt}.`;
  return list => withCondition(list, { type: heldCondition, status: "True", reason: "Annotated", message });
}

/** While its replacements come. Afterwards the termination says so, and given up it says so no more. */
function waitingAs(claim: ClaimView, { picture }: Context): Change {
  const waits = (action: ActionView | undefined) =>
    action !== undefined && !action.isProvisional && !isDryRun(action) && waitsForReplacement(action);
  const nodes = picture.nodesOf(claim).filter(node => isOwnNode(node, claim));
  const action = nodes.map(({ uid }) => picture.openActionOn(uid)).find(waits);
  const without: Change = list => list.filter(({ type }) => type !== disruptionReasonType);
  const condition = action && disruptionReason(action.spec);
  return condition === undefined ? without : list => withCondition(list, condition);
}

type Idleness = {
  readonly condition: Change;
  readonly fields: Pick<NodeClaimStatus, "lastPodEventTime">;
  readonly changesAt?: Instant;
};

const consolidatable: Change = list =>
  withCondition(list, { type: "Consolidatable", status: "True", reason: "Consolidatable", message: "" });
const notConsolidatable: Change = list => list.filter(({ type }) => type !== "Consolidatable");

/**
 * Nothing of ours waits for Consolidatable to be written: it is for people, and for whoever comes after us. A node that is
 * in use again by then, or gone, needs no write, and a wave of pods not several of each.
 */
const writtenLateMs = 2 * minuteMs;

function idleness({ claim, pool }: Made, { picture, now }: Context, isOtherwiseWritten: boolean): Idleness {
  const node = picture.nodesOf(claim).find(one => isOwnNode(one, claim));
  const [known, since] = [knownEvent(claim), node && quietSince(claim, node.name, picture)];
  const at = node && idleAt({ claim, node, pool }, picture);
  if (known === undefined || since === undefined) return { condition: notConsolidatable, fields: {} };
  const was = isTrue(claim.conditions, "Consolidatable");
  // Only what was seen is written as such: what is assumed after a restart would be assumed anew from there.
  const seen = Math.max(known, picture.podEvents.on(node?.name ?? "") ?? known);
  const isWritten = isOtherwiseWritten || seen >= known + eventEveryMs;
  if (at === undefined) {
    // The pool may change its mind, and whoever comes after us counts from there.
    const isCounted = isWritten && pool.effective.replicas === undefined;
    return { condition: notConsolidatable, fields: isCounted ? eventToWrite(claim, known, seen) : {} };
  }
  const writeAt = was || isWritten ? at : at + writtenLateMs;
  // It ends at once: whoever comes after us takes it at its word.
  const is = writeAt <= now;
  const fields = is !== was || isWritten ? eventToWrite(claim, known, is ? since : seen) : {};
  return is ? { condition: consolidatable, fields } : { condition: notConsolidatable, fields, changesAt: writeAt };
}

/** With each end of the condition, along with whatever is written, and in between now and then. */
function eventToWrite({ status }: ClaimView, known: Instant, since: Instant): Idleness["fields"] {
  const lastPodEventTime = formatTime(since);
  return since <= known || lastPodEventTime === status.lastPodEventTime ? {} : { lastPodEventTime };
}

type ClaimChange = { readonly metadata?: MetadataChange; readonly status: StatusChange<NodeClaimStatus> };

function update(claim: ClaimView, { metadata, status }: ClaimChange): readonly Command[] {
  const { name, uid, resourceVersion } = claim;
  const change = {
    ...(metadata === undefined ? {} : { metadata }),
    ...(Object.keys(status).length === 0 ? {} : { status }),
  };
  if (Object.keys(change).length === 0) return [];
  const why = `Claim ${name} says whether its node could go.`;
  return [{ kind: "update-claim", claim: { name, uid }, resourceVersion, ...change, why }];
}
