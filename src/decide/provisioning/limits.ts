// What of a pool's limits is used: by every claim of the pool, those on their way and those on their way out included.
// A claim without an instance counts as the largest that it may become, so that limits hold whatever is launched.

import type { InstanceType } from "../../api/instance-type.ts";
import type { ResourceList } from "../../api/pod.ts";
import {
  addQuantities,
  compareQuantities,
  formatQuantity,
  parseQuantity,
  type Quantity,
  zero,
} from "../../api/quantity.ts";
import type { ClaimView, PoolView } from "../../snapshot/views.ts";
import { typesFor } from "./shapes.ts";

const nodes = "nodes";

/** Undefined: the pool has none. One that cannot be read allows nothing. */
export function limitsOf({ effective }: PoolView): ResourceList | undefined {
  const entries = Object.entries(effective.limits);
  if (entries.length === 0) return undefined;
  return Object.fromEntries(
    entries.map(([name, written]) => [name, parseQuantity(String(written)).ok ? String(written) : "0"]),
  );
}

export function usageOf(
  limits: ResourceList,
  claims: Iterable<ClaimView>,
  types: readonly InstanceType[],
): ResourceList {
  const all = [...claims];
  const held = all.map(claim => claim.status.capacity ?? largest(typesFor(claim, types), Object.keys(limits)));
  return Object.fromEntries(Object.keys(limits).map(name => [name, total(name, all.length, held)]));
}

function total(name: string, count: number, held: readonly Readonly<Record<string, string | number>>[]): string {
  if (name === nodes) return String(count);
  return formatQuantity(held.reduce((sum, list) => addQuantities(sum, amount(list[name])), zero));
}

/** The most of each resource that one of the types has. */
export function largest(types: readonly Pick<InstanceType, "capacity">[], names: readonly string[]): ResourceList {
  const found = names.map(name => {
    const most = types.map(({ capacity }) => amount(capacity[name])).reduce(larger, zero);
    return [name, formatQuantity(most)] as const;
  });
  return Object.fromEntries(found);
}

/** The first limit that would be passed by one claim more, with what of it is used. */
export function passedBy(
  capacity: ResourceList,
  { limits, usage }: { limits: ResourceList; usage: ResourceList },
): string | undefined {
  return Object.keys(limits).find(name => {
    const more = name === nodes ? amount("1") : amount(capacity[name]);
    return compareQuantities(addQuantities(amount(usage[name]), more), amount(limits[name])) > 0;
  });
}

/** With one claim more. */
export function used(usage: ResourceList, capacity: ResourceList): ResourceList {
  const sum = (name: string) =>
    addQuantities(amount(usage[name]), name === nodes ? amount("1") : amount(capacity[name]));
  return Object.fromEntries(Object.keys(usage).map(name => [name, formatQuantity(sum(name))]));
}

function amount(text: string | number | undefined): Quantity {
  const parsed = parseQuantity(String(text ?? "0"));
  return parsed.ok ? parsed.value : zero;
}

function larger(a: Quantity, b: Quantity): Quantity {
  return compareQuantities(a, b) < 0 ? b : a;
}
