// Nodes of a scenario that nobody provisioned through us: a kubelet each, and no claim.

import type { World } from "../world/world.ts";
import type { UnmanagedNode } from "./scenario.ts";

export function joinUnmanaged(
  { kubelets }: Pick<World, "kubelets">,
  { name, count, zone, cpu = "4", memory = "16Gi", labels = {} }: UnmanagedNode,
): void {
  const names = count === undefined ? [name] : Array.from({ length: count }, (_, index) => `${name}-${index + 1}`);
  const zoneLabel = zone === undefined ? {} : { "topology.kubernetes.io/zone": zone };
  for (const each of names) {
    kubelets.join({ name: each, capacity: { cpu, memory, pods: "110" }, labels: { ...labels, ...zoneLabel } });
  }
}
