// The fate of a simulated machine, drawn from its name and the seed: when it joins, is ready, falls ill, vanishes and
// ends. Pure: the same instance, class and seed have the same life whenever one looks.

import type { EffectiveSimulatedNodeClass } from "../api/effective-simulated-node-class.ts";
import { durationMs, faultsStriking, isDrawn, type SimulatedFault, spreadMs } from "../api/simulated-chance.ts";
import type { SimulatedInstance } from "../api/simulated-instance.ts";
import { dayMs, type Instant, secondMs } from "../api/time.ts";
import { type Ailment, isOwn } from "./world/node-template.ts";

/** Instants; Infinity is never. */
export type Life = {
  joinsAt: Instant;
  readyAt: Instant;
  vanishesAt: Instant;
  /** When it is gone, once somebody wants it gone. */
  endsAt: Instant;
  /** When the reboot that is asked for is over, and whether it heals. */
  rebootedAt: Instant;
  isHealed: boolean;
  /** Faults that show in the node's conditions. */
  illnesses: readonly Illness[];
};

/** A fault that strikes this machine, from when on. */
export type Illness = { fault: SimulatedFault; beginsAt: Instant };

const never = Number.POSITIVE_INFINITY;
/** How far back a lie goes: before the machine was there. */
const lieMs = dayMs;

export function lifeOf(instance: SimulatedInstance, nodeClass: EffectiveSimulatedNodeClass, seed: number): Life {
  const { name, launchedAt, terminatingSince = never, rebootingSince = never } = instance;
  const illnesses = faultsStriking(nodeClass, instance, seed, name).map(fault => ({
    fault,
    beginsAt: launchedAt + durationMs(fault.after ?? "0s"),
  }));
  /** The fault has begun by then. */
  const holdsAt = (kind: SimulatedFault["kind"], at: Instant) =>
    illnesses.some(({ fault, beginsAt }) => fault.kind === kind && beginsAt <= at);
  const bootedAt = launchedAt + spreadMs(nodeClass.boot, seed, name, "boot");
  const readyAt = bootedAt + spreadMs(nodeClass.join, seed, name, "join");
  const stopMs = holdsAt("HangsOnDelete", terminatingSince) ? never : spreadMs(nodeClass.stop, seed, name, "stop");
  const { time, heals } = nodeClass.reboot;
  return {
    joinsAt: holdsAt("NeverJoins", bootedAt) ? never : bootedAt,
    readyAt,
    vanishesAt: Math.min(never, ...illnesses.flatMap(({ fault, beginsAt }) => (isVanishing(fault) ? [beginsAt] : []))),
    endsAt: terminatingSince + stopMs,
    rebootedAt: rebootingSince + spreadMs(time, seed, name, "reboot", rebootingSince),
    isHealed: isDrawn(heals, seed, name, "heals", rebootingSince),
    illnesses: illnesses.filter(({ fault, beginsAt }) => shows(fault, beginsAt, readyAt)),
  };
}

/** What the node reports at this instant because of them, and when that changes. */
export function ailmentsAt(
  illnesses: readonly Illness[],
  { launchedAt, healedAt = -never }: SimulatedInstance,
  now: Instant,
): { ailments: Ailment[]; changesAt: Instant } {
  const ailments: Ailment[] = [];
  let changesAt = never;
  for (const { fault, beginsAt } of illnesses) {
    const isHealed = healedAt >= beginsAt;
    if (now < beginsAt) changesAt = Math.min(changesAt, beginsAt);
    else if (fault.kind !== "Flaps") ailments.push(...(isHealed ? well(fault) : [ill(fault, launchedAt)]));
    else {
      const { isBad, turnsAt } = phaseOf(fault, beginsAt, now);
      ailments.push(...(isBad && !isHealed ? [ill(fault, launchedAt)] : well(fault)));
      if (!isHealed) changesAt = Math.min(changesAt, turnsAt);
    }
  }
  return { ailments, changesAt };
}

/** Bad for a period, then good for one. */
function phaseOf({ period = "20s" }: SimulatedFault, beginsAt: Instant, now: Instant) {
  const periodMs = Math.max(secondMs, durationMs(period));
  const count = Math.floor((now - beginsAt) / periodMs);
  return { isBad: count % 2 === 0, turnsAt: beginsAt + (count + 1) * periodMs };
}

function ill(
  { kind, conditionType = "Ready", conditionStatus = "False" }: SimulatedFault,
  launchedAt: Instant,
): Ailment {
  if (kind === "NeverReady") {
    const message = "The container runtime does not start.";
    return { type: "Ready", status: "False", reason: "KubeletNotReady", message };
  }
  const reason = conditionType === "Ready" ? "KubeletNotReady" : "Simulated";
  const ailment = { type: conditionType, status: conditionStatus, reason, message: `The class has the fault ${kind}.` };
  return kind === "Lies" ? { ...ailment, since: launchedAt - lieMs } : ailment;
}

/** A kubelet's own conditions are well by themselves; of others somebody has to say so. */
function well({ kind, conditionType = "Ready", conditionStatus = "False" }: SimulatedFault): Ailment[] {
  if (kind === "NeverReady" || isOwn(conditionType) || conditionStatus === "Unknown") return [];
  const status = conditionStatus === "True" ? "False" : "True";
  return [{ type: conditionType, status, reason: "Simulated", message: "It is well." }];
}

function isVanishing({ kind }: SimulatedFault): boolean {
  return kind === "Vanishes";
}

/** One that has become ready before the fault begins is spared by NeverReady. */
function shows({ kind }: SimulatedFault, beginsAt: Instant, readyAt: Instant): boolean {
  return kind === "Flaps" || kind === "Lies" || (kind === "NeverReady" && beginsAt <= readyAt);
}
