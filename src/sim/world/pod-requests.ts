// How much of a node a pod takes: requests of containers, init containers, sidecars and overhead, as kube-scheduler
// 1.36 adds them up. Cpu in thousandths, everything else in whole units.

import { milliValue, parseQuantity, type Quantity, wholeValue } from "../../api/quantity.ts";
import { remembered } from "../../api/remembered.ts";
import type { Container, PodSpec } from "./objects.ts";

export type Amounts = Map<string, number>;

export function amountsOf(list: Readonly<Record<string, string>> | undefined): Amounts {
  return new Map(Object.entries(list ?? {}).map(([name, text]) => [name, amountOf(name, text)]));
}

/** With `pods`: each pod takes one place. */
export function podRequests({ containers, initContainers = [], overhead, resources }: PodSpec): Amounts {
  const staying: Amounts = new Map();
  const peak: Amounts = new Map();
  for (const container of initContainers) {
    const own = requestsOf(container);
    if (container.restartPolicy === "Always") {
      addTo(staying, own);
      raiseTo(peak, staying);
    } else {
      // It runs beside the sidecars that were started before it.
      const beside = new Map(staying);
      addTo(beside, own);
      raiseTo(peak, beside);
    }
  }
  for (const container of containers) addTo(staying, requestsOf(container));
  raiseTo(peak, staying);
  // Requests of the pod as a whole stand for those of its containers.
  for (const [name, amount] of amountsOf(resources?.requests)) peak.set(name, amount);
  addTo(peak, amountsOf(overhead));
  return peak.set("pods", 1);
}

export function addTo(sum: Amounts, amounts: Amounts, sign: 1 | -1 = 1): void {
  for (const [name, amount] of amounts) sum.set(name, (sum.get(name) ?? 0) + sign * amount);
}

function raiseTo(peak: Amounts, amounts: Amounts): void {
  for (const [name, amount] of amounts) peak.set(name, Math.max(peak.get(name) ?? 0, amount));
}

function requestsOf({ resources }: Container): Amounts {
  return amountsOf(resources?.requests);
}

const cpuOf = remembered(text => amount(text, milliValue));
const wholeOf = remembered(text => amount(text, wholeValue));

function amountOf(name: string, text: string): number {
  return name === "cpu" ? cpuOf(text) : wholeOf(text);
}

/** Something that is no quantity was refused by the server long ago. */
function amount(text: string, valueOf: (quantity: Quantity) => bigint): number {
  const parsed = parseQuantity(text);
  return parsed.ok ? Number(valueOf(parsed.value)) : 0;
}
