// How hard it is to find a place for a pod, as one number: those go first that need it most. Who depends on where others run
// can be left with no place however much room there is; who asks for much, once the small ones have taken a little everywhere.

import type { PodSpec } from "../api/pod.ts";
import type { PodNeeds } from "../snapshot/pod-needs.ts";
import type { PodView } from "../snapshot/views.ts";
import { type Amounts, cpu, memory, podAmounts, ResourceSpace } from "./packing/resources.ts";

/** So many bytes count as one CPU: ordinary machines have 4 GiB for each. */
const bytesPerCpu = 4 * 2 ** 30;
/** Of two of a size the one with more memory: pods of a workload are to come one after the other, and not mixed with others. */
const ofMemory = 1e-3;
/** More than any pod asks for. */
const ofRules = 1_000_000;
/** Pods of a workload share what they ask for. */
const hardnessByNeeds = new WeakMap<PodNeeds, number>();

export function podHardness({ name, needs }: Pick<PodView, "name" | "needs">): number {
  if (needs === undefined) return 0;
  const known = hardnessByNeeds.get(needs);
  if (known !== undefined) return known;
  const hardness = hardnessOf(needs.spec, podAmounts({ metadata: { name }, spec: needs.spec }, new ResourceSpace()));
  hardnessByNeeds.set(needs, hardness);
  return hardness;
}

/** In CPUs, and beyond all of them for rules about other pods that must hold. */
export function hardnessOf(spec: Pick<PodSpec, "affinity" | "topologySpreadConstraints">, amounts: Amounts): number {
  const byMemory = (amounts[memory] ?? 0) / bytesPerCpu;
  const size = (amounts[cpu] ?? 0) / 1000 + byMemory * (1 + ofMemory);
  return hasRules(spec) ? ofRules + size : size;
}

function hasRules({ affinity, topologySpreadConstraints = [] }: Parameters<typeof hardnessOf>[0]): boolean {
  if (topologySpreadConstraints.some(({ whenUnsatisfiable }) => whenUnsatisfiable !== "ScheduleAnyway")) return true;
  const rules = [affinity?.podAffinity, affinity?.podAntiAffinity];
  return rules.some(one => (one?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0);
}
