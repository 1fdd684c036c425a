// Requests of a pod as a whole: where it has limits of its own and leaves requests out, they are what its containers
// request together, else its limits.

import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  type Quantity,
  zero,
} from "../../api/quantity.ts";
import type { PodSpec } from "./pod-types.ts";

export function defaultPodRequests(spec: PodSpec): void {
  const { resources } = spec;
  if (resources?.limits === undefined) return;
  const requests: Record<string, string> = { ...resources.requests };
  for (const name of ["cpu", "memory"]) {
    const needed = neededByContainers(spec, name);
    if (needed) requests[name] ??= canonicalQuantity(needed);
  }
  for (const [name, limit] of Object.entries(resources.limits)) {
    if (name === "cpu" || name === "memory" || name.startsWith("hugepages-")) requests[name] ??= limit;
  }
  if (Object.keys(requests).length > 0) resources.requests = requests;
}

/** The most that runs at once: each init container beside the sidecars started before it, or all that stay. */
function neededByContainers(spec: PodSpec, name: string): Quantity | undefined {
  let isRequested = false;
  const request = (container: { resources: { requests?: Record<string, string> } }) => {
    const text = container.resources.requests?.[name];
    isRequested ||= text !== undefined;
    const parsed = parseQuantity(text ?? "0");
    return parsed.ok ? parsed.value : zero;
  };
  let staying = zero;
  let peak = zero;
  for (const container of spec.initContainers ?? []) {
    const sum = addQuantities(staying, request(container));
    if (container.restartPolicy === "Always") staying = sum;
    peak = larger(peak, sum);
  }
  for (const container of spec.containers ?? []) staying = addQuantities(staying, request(container));
  return isRequested ? larger(peak, staying) : undefined;
}

function larger(a: Quantity, b: Quantity): Quantity {
  return compareQuantities(a, b) >= 0 ? a : b;
}
