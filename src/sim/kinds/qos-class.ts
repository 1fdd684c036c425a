// The quality of service class of a pod, from what its containers request and are limited to.

import { addQuantities, compareQuantities, type Quantity } from "../../api/quantity.ts";
import { quantityOf } from "./decode-scalar.ts";
import type { PodSpec, Resources } from "./pod-types.ts";

export type QosClass = "BestEffort" | "Burstable" | "Guaranteed";

const computeResources = ["cpu", "memory"] as const;

/** Guaranteed needs cpu and memory limits in every container and requests equal to them; nothing at all is BestEffort. */
export function qosClass(spec: PodSpec): QosClass {
  const parts = spec.resources ? [spec.resources] : containerResources(spec);
  const requests = computeResources.map(name => total(parts, "requests", name));
  const limits = computeResources.map(name => total(parts, "limits", name));
  if ([...requests, ...limits].every(sum => sum === undefined)) return "BestEffort";
  const limited = parts.every(part => computeResources.every(name => positive(part.limits?.[name]) !== undefined));
  const equal = requests.every((request, i) => {
    const limit = limits[i];
    return request && limit ? compareQuantities(request, limit) === 0 : request === limit;
  });
  return limited && equal ? "Guaranteed" : "Burstable";
}

function containerResources(spec: PodSpec): Resources[] {
  return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(container => container.resources);
}

function total(parts: readonly Resources[], side: "requests" | "limits", name: string): Quantity | undefined {
  let sum: Quantity | undefined;
  for (const part of parts) {
    const quantity = positive(part[side]?.[name]);
    if (quantity) sum = sum === undefined ? quantity : addQuantities(sum, quantity);
  }
  return sum;
}

function positive(text: string | undefined): Quantity | undefined {
  if (text === undefined) return undefined;
  const parsed = quantityOf(text);
  return parsed.ok && parsed.value.digits > 0n ? parsed.value : undefined;
}
