// Chance for simulated machines, drawn from words instead of a stream: the same machine with the same seed has the same
// fate, in whatever order things happen and whoever asks, also after a restart.

import type { EffectiveSimulatedNodeClass } from "./effective-simulated-node-class.ts";
import { type Millis, parseDuration } from "./time.ts";

export type SimulatedFault = EffectiveSimulatedNodeClass["faults"][number];
type Spread = EffectiveSimulatedNodeClass["boot"];

/** What a fault can ask of a machine. */
export type FaultTarget = { type: string; zone: string; capacityType: string };

/** A number between 0 and 1, neither of them: FNV-1a over the words, then Murmur's finalizer. */
export function chance(...words: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  for (const char of words.join("\n")) hash = Math.imul(hash ^ (char.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (((hash ^ (hash >>> 16)) >>> 0) + 0.5) / 2 ** 32;
}

// Of a hundred normally distributed values one is larger.
const z99 = 2.326347874040841;

/** How long this one takes: log-normal around the median, whole milliseconds. */
export function spreadMs({ median = "0s", p99 }: Spread, ...words: readonly (string | number)[]): Millis {
  const medianMs = durationMs(median);
  const p99Ms = p99 === undefined ? medianMs : durationMs(p99);
  if (medianMs === 0 || p99Ms <= medianMs) return medianMs;
  const normal = Math.sqrt(-2 * Math.log(chance(...words, 1))) * Math.cos(2 * Math.PI * chance(...words, 2));
  return Math.round(medianMs * Math.exp((normal / z99) * Math.log(p99Ms / medianMs)));
}

/** The faults of a class that strike this machine, each drawn for itself. */
export function faultsStriking(
  { faults }: Pick<EffectiveSimulatedNodeClass, "faults">,
  target: FaultTarget,
  ...words: readonly (string | number)[]
): SimulatedFault[] {
  return faults.filter(
    (fault, index) =>
      (fault.zones?.includes(target.zone) ?? true) &&
      (fault.instanceTypes?.includes(target.type) ?? true) &&
      ((fault.capacityTypes as readonly string[] | undefined)?.includes(target.capacityType) ?? true) &&
      isDrawn(fault.share, ...words, fault.kind, index),
  );
}

/** Whether a share, such as 30%, includes this one. Absent: it includes all. */
export function isDrawn(share = "100%", ...words: readonly (string | number)[]): boolean {
  return chance(...words) * 100 < Number.parseInt(share, 10);
}

/** The definition of the class lets no other text pass; only what is too long to count fails, and that is for ever. */
export function durationMs(text: string): Millis {
  const parsed = parseDuration(text);
  return parsed.ok ? parsed.value : Number.POSITIVE_INFINITY;
}
