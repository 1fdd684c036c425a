// How much of a node a pod asks for, as one number: who asks for more is harder to place.

import type { PodNeeds } from "../snapshot/pod-needs.ts";
import type { PodView } from "../snapshot/views.ts";
import { cpu, memory, podAmounts, ResourceSpace } from "./packing/resources.ts";

/** So many bytes count as one CPU: ordinary machines have 4 GiB for each. */
const bytesPerCpu = 4 * 2 ** 30;
/** Pods of a workload share what they ask for. */
const sizeByNeeds = new WeakMap<PodNeeds, number>();

/** In CPUs. */
export function podSize({ name, needs }: Pick<PodView, "name" | "needs">): number {
  if (needs === undefined) return 0;
  const known = sizeByNeeds.get(needs);
  if (known !== undefined) return known;
  const amounts = podAmounts({ metadata: { name }, spec: needs.spec }, new ResourceSpace());
  const size = (amounts[cpu] ?? 0) / 1000 + (amounts[memory] ?? 0) / bytesPerCpu;
  sizeByNeeds.set(needs, size);
  return size;
}
