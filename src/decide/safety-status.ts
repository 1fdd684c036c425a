// What the SafetyPolicy says of the cluster: how many nodes there are and go, what is held to be one failure, whether the
// policy is in force. Written when it has changed, and not more often than every ten seconds.

import type { SafetyPolicyStatus } from "../api/safety-policy.ts";
import { formatTime, type Instant, secondMs } from "../api/time.ts";
import { goneInRepairWindow } from "./caps.ts";
import { sameConditions, withCondition } from "./conditions.ts";
import { nextClearing } from "./correlated.ts";
import { type Context, type Decision, nothing, type StatusChange } from "./decision.ts";
import type { SafetyMemory } from "./safety-memory.ts";

const writtenEveryMs = 10 * secondMs;
const zonesMax = 1_000;

type Status = Omit<SafetyPolicyStatus, "conditions">;
export type StatusMemory = Pick<SafetyMemory, "outbreaks" | "statusAt">;

/** After the arbiter has looked: the memory knows the outbreaks, and notes when the status was written. */
export function safetyStatus(memory: StatusMemory, context: Context): Decision {
  const { meta, status, conditions = [] } = context.picture.safety;
  if (meta === undefined) return nothing;
  const nextAt = memory.statusAt === undefined ? undefined : memory.statusAt + writtenEveryMs;
  if (nextAt !== undefined && context.now < nextAt) return { ...nothing, wakeAt: nextAt };
  const seen = statusOf(memory, context, meta.generation);
  const shall = withCondition(conditions, readiness(context));
  const wakeAt = changesAt(memory, context);
  if (isSame(status, seen) && sameConditions(conditions, shall)) return { ...nothing, wakeAt };
  memory.statusAt = context.now;
  const command = {
    kind: "update-safety-policy",
    why: "What the SafetyPolicy says of the cluster has changed.",
    policy: { name: meta.name, uid: meta.uid },
    status: { ...seen, conditions: shall } satisfies StatusChange<SafetyPolicyStatus>,
  } as const;
  return { ...nothing, commands: [command], wakeAt };
}

function statusOf({ outbreaks }: StatusMemory, context: Context, observedGeneration: number): Required<Status> {
  const { picture } = context;
  return {
    observedGeneration,
    nodes: picture.nodeCount,
    goingAway: picture.departureCount,
    goneInWindow: goneInRepairWindow(context).length,
    zones: zonesOf(context),
    correlatedFailures: [...outbreaks.values()]
      .map(({ conditionType, conditionStatus, zone, nodes, since }) => ({
        conditionType,
        conditionStatus,
        ...(zone === undefined ? {} : { zone }),
        nodes,
        since: formatTime(since),
      }))
      .sort((a, b) => order(failureKey(a), failureKey(b))),
  };
}

function zonesOf({ picture }: Context): Required<Status>["zones"] {
  const going = new Map<string, number>();
  for (const { zone } of picture.departures()) if (zone !== undefined) going.set(zone, (going.get(zone) ?? 0) + 1);
  return [...picture.zones()]
    .filter(name => name !== "")
    .slice(0, zonesMax)
    .map(name => ({ name, nodes: picture.nodeCountIn(name), goingAway: going.get(name) ?? 0 }));
}

function readiness({ picture: { safety } }: Context) {
  return safety.invalid === undefined
    ? { type: "Ready", status: "True", reason: "InForce", message: "" }
    : { type: "Ready", status: "False", reason: "Invalid", message: safety.invalid };
}

/** When it changes by time alone: an outbreak is over, a node drops out of the window. */
function changesAt({ outbreaks }: StatusMemory, context: Context): Instant | undefined {
  const [dropsOutAt] = goneInRepairWindow(context);
  const clearsAt = nextClearing(outbreaks, context.picture.safety);
  return dropsOutAt === undefined || (clearsAt !== undefined && clearsAt < dropsOutAt) ? clearsAt : dropsOutAt;
}

function isSame(written: Status | undefined, seen: Required<Status>): boolean {
  return written !== undefined && asText(written) === asText(seen);
}

function asText({ observedGeneration, nodes, goingAway, goneInWindow, zones, correlatedFailures }: Status): string {
  const zoneTexts = zones?.map(zone => `${zone.name} ${zone.nodes} ${zone.goingAway}`);
  const failures = correlatedFailures?.map(one =>
    [one.conditionType, one.conditionStatus, one.zone, one.nodes, one.since].join(" "),
  );
  return JSON.stringify([observedGeneration, nodes, goingAway, goneInWindow, zoneTexts, failures ?? []]);
}

function failureKey({
  conditionType,
  conditionStatus,
  zone = "",
}: { [key in "conditionType" | "conditionStatus"]: string } & { zone?: string }): string {
  return `${conditionType} ${conditionStatus} ${zone}`;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
