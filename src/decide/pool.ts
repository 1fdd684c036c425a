// What a pool says of itself: how much it has, whether its spec and its class are good, how its latest launches went and
// until when the next are held back. It starts and ends nothing.

import type { NodePoolStatus } from "../api/node-pool.ts";
import { addQuantities, formatQuantity, parseQuantity, zero } from "../api/quantity.ts";
import type { Instant } from "../api/time.ts";
import { launchRecordKey } from "../api/well-known.ts";
import type { NodeClassRef, PoolTotals } from "../snapshot/picture.ts";
import type { PoolView } from "../snapshot/views.ts";
import { repairBlocked } from "./brake.ts";
import { conditionOf, poolParts, reasonOf, sameConditions, withCondition, withReady } from "./conditions.ts";
import {
  type Command,
  type ConditionChange,
  type Context,
  type Decision,
  nothing,
  type Refusal,
  type Rule,
  type StatusChange,
} from "./decision.ts";
import { classHold, type Hold, launchHold, refusalOf, stuckLaunch } from "./launch.ts";
import {
  formatLaunchRecord,
  launchedOf,
  launchRecordOf,
  nextBackoff,
  nextLaunchRecord,
  recordHeldUntil,
  registrationHealth,
  resultsSeenMax,
} from "./launch-record.ts";
import { servedClass } from "./node-class.ts";
import { policiesWithoutEffect, rulesOf } from "./repair-policy.ts";
import { scalingHold } from "./replicas.ts";

export const pool: Rule = {
  name: "pool",
  controller: "lifecycle",
  kind: "pool",
  decide(name, context) {
    const view = context.picture.pool(name);
    if (view === undefined || view.deletingSince !== undefined) return nothing;
    const ref = view.effective.template.nodeClassRef;
    const nodeClass = servedClass(ref, context.picture.provider);
    if (nodeClass === undefined) return ref === undefined ? withoutClass(view, context) : nothing;
    return decidePool(view, nodeClass, context);
  },
};

function withoutClass({ name }: PoolView, { picture }: Context): Decision {
  const message = `Pool ${name} names no node class, and the provider ${picture.provider.name} has no default.`;
  const liftedBy = "a nodeClassRef in the pool's template";
  return { ...nothing, refusals: [{ subject: `pool/${name}`, code: "no-node-class", message, liftedBy }] };
}

function decidePool(view: PoolView, nodeClass: NodeClassRef, context: Context): Decision {
  const { picture, now, remembered } = context;
  const { provider } = picture;
  const totals = picture.totalsOfPool(view.name);
  const generation = generationOf(nodeClass, provider);
  const of = launchedOf(view, generation ?? observed(view));
  const written = launchRecordOf(view);
  const record = nextLaunchRecord(written, of, totals.launches.slice(-resultsSeenMax));
  const backoff = nextBackoff(view.status.launchBackoff, record);
  const told = formatLaunchRecord(record);
  const tellAt = told === view.annotations[launchRecordKey] ? undefined : recordHeldUntil(written, record);
  const isHeld = tellAt !== undefined && now < tellAt && backoff?.failures === view.status.launchBackoff?.failures;
  const scaling = scalingHold(view, context);
  const status: StatusChange<NodePoolStatus> = {
    ...sizeOf(totals),
    ...(generation === undefined ? {} : { nodeClassObservedGeneration: generation }),
    ...(backoff ? { launchBackoff: backoff } : {}),
    ...(remembered ? { unhealthyNodes: remembered.health.count(view.name).unhealthy } : {}),
    conditions: [...scalingCondition(view, scaling), ...repairConditions(view, context)].reduce(
      withCondition,
      conditionsOf(view, registrationHealth(record, stuckLaunch(view, picture)), classHold(nodeClass, provider)),
    ),
  };
  const hold = launchHold({ pool: view, nodeClass, provider }, now);
  return {
    ...nothing,
    commands: update(view, status, isHeld ? undefined : told),
    refusals: hold ? [refusalOf(`pool/${view.name}`, hold)] : [],
    wakeAt: earliest(earliest(hold?.until, scaling?.until), isHeld ? tellAt : undefined),
  };
}

function generationOf(nodeClass: NodeClassRef, provider: Context["picture"]["provider"]): number | undefined {
  const found = provider.nodeClass(nodeClass);
  return found.state === "Ready" ? found.generation : undefined;
}

// A class that is away for a while has not changed by that.
function observed({ status }: PoolView): number {
  return status.nodeClassObservedGeneration ?? 0;
}

function conditionsOf(
  { conditions, invalid }: PoolView,
  health: ConditionChange,
  hold: Hold | undefined,
): readonly ConditionChange[] {
  const validation =
    invalid === undefined
      ? { type: "ValidationSucceeded", status: "True", reason: "ValidationSucceeded", message: "" }
      : { type: "ValidationSucceeded", status: "False", reason: "NodePoolValidationFailed", message: invalid };
  const classReady =
    hold === undefined
      ? { type: "NodeClassReady", status: "True", reason: "NodeClassReady", message: "" }
      : { type: "NodeClassReady", status: "False", reason: hold.reason, message: hold.message };
  const list = [validation, classReady, health].reduce<readonly ConditionChange[]>(withCondition, conditions);
  return withReady(list, poolParts);
}

/** What keeps it from its replicas; nothing is said of it where it never was so. */
function scalingCondition({ conditions }: PoolView, hold: Refusal | undefined): readonly ConditionChange[] {
  const type = "ScalingHeld";
  if (hold !== undefined) return [{ type, status: "True", reason: reasonOf(hold.code), message: hold.message }];
  return conditionOf(conditions, type) ? [{ type, status: "False", reason: "NotHeld", message: "" }] : [];
}

function earliest(a: Instant | undefined, b: Instant | undefined): Instant | undefined {
  return a === undefined ? b : Math.min(a, b ?? a);
}

/** Whether the brake holds, and policies that can never match; of these nothing is said where there never were any. */
function repairConditions(view: PoolView, context: Context): readonly ConditionChange[] {
  const { remembered, picture } = context;
  const blocked = remembered ? [repairBlocked(view, remembered.health, context)] : [];
  const idle = policiesWithoutEffect(rulesOf(view, picture.provider));
  const type = "RepairPolicyWithoutEffect";
  if (idle.length === 0) {
    const said = conditionOf(view.conditions, type);
    return said ? [...blocked, { type, status: "False", reason: "AllHaveEffect", message: "" }] : blocked;
  }
  const which = idle.map(({ path, conditionType }) => `${path} (${conditionType})`).join(", ");
  const message = `Nobody says in which status the condition is bad: ${which}. Give it a conditionStatus.`;
  return [...blocked, { type, status: "True", reason: "NoStatement", message }];
}

/** Of the claims that were launched and are to stay, as upstream counts them; the claim's word, not the node's. */
function sizeOf({ launched, capacity }: PoolTotals): Pick<NodePoolStatus, "nodes" | "resources"> {
  const resources = [...capacity.keys()]
    .sort()
    .map(resource => [resource, sumOf(capacity.get(resource) ?? [])] as const);
  return { nodes: launched, resources: { ...Object.fromEntries(resources), nodes: String(launched) } };
}

// Most nodes of a pool say the same: each text is read once, however many say it. In one order, since the sum is written
// in the manner of its first part.
function sumOf(counts: Iterable<readonly [string, number]>): string {
  const sum = [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .reduce((total, [text, count]) => {
      const { ok, value } = { value: zero, ...parseQuantity(text) };
      return ok ? addQuantities(total, { ...value, digits: value.digits * BigInt(count) }) : total;
    }, zero);
  return formatQuantity(sum);
}

/** `record`: undefined if it is to stay as it is written. */
function update(view: PoolView, status: StatusChange<NodePoolStatus>, record: string | undefined): readonly Command[] {
  const isTold = record === undefined || view.annotations[launchRecordKey] === record;
  const change = {
    ...(isTold ? {} : { metadata: { annotations: { [launchRecordKey]: record } } }),
    ...(isWritten(view, status) ? {} : { status }),
  };
  if (Object.keys(change).length === 0) return [];
  const why = `Pool ${view.name} says how it stands.`;
  return [{ kind: "update-pool", pool: { name: view.name, uid: view.uid }, ...change, why }];
}

function isWritten({ status, conditions }: PoolView, next: StatusChange<NodePoolStatus>): boolean {
  return (
    sameConditions(conditions, next.conditions ?? []) &&
    status.nodes === next.nodes &&
    (next.unhealthyNodes ?? status.unhealthyNodes) === status.unhealthyNodes &&
    isSameMap(status.resources ?? {}, next.resources ?? {}) &&
    (next.nodeClassObservedGeneration ?? status.nodeClassObservedGeneration) === status.nodeClassObservedGeneration &&
    next.launchBackoff?.failures === status.launchBackoff?.failures &&
    next.launchBackoff?.until === status.launchBackoff?.until
  );
}

function isSameMap(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every(key => String(a[key]) === String(b[key]));
}
