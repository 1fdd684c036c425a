// Amounts of resources: which names are resources, which amounts are whole, and requests that fit their limits.

import { compareQuantities, milliValue, type Quantity, zero } from "../../api/quantity.ts";
import { invalid, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { quantityOf } from "./decode-scalar.ts";
import { qualifiedName } from "./field-rules.ts";
import type { Resources } from "./pod-types.ts";

const hugePages = "hugepages-";
const standard = new Set(["cpu", "memory", "ephemeral-storage"]);

/** An amount of a named resource: not below zero, and whole unless it can be shared out. */
export function quantityErrors(name: string, amount: string, path: string): FieldError[] {
  const parsed = quantityOf(amount);
  if (!parsed.ok) return [];
  if (parsed.value.digits < 0n) return [invalid(path, amount, "must be greater than or equal to 0")];
  return isWholeOnly(name) && milliValue(parsed.value) % 1000n !== 0n
    ? [invalid(path, amount, "must be an integer")]
    : [];
}

/** More than zero. */
export function positiveErrors(amount: string, path: string): FieldError[] {
  const parsed = quantityOf(amount);
  const isPositive = parsed.ok && parsed.value.digits > 0n;
  return isPositive ? [] : [invalid(path, amount, "must be greater than zero")];
}

function isWholeOnly(name: string): boolean {
  return isExtended(name) || name === "pods" || name.startsWith("count/");
}

/** Resources that a device plugin or an operator brings: all with a prefix of their own. */
function isExtended(name: string): boolean {
  if (!name.includes("/") || name.includes("kubernetes.io/")) return false;
  return !name.startsWith("requests.");
}

/** Requests and limits of a container. */
export function resourcesErrors({ requests = {}, limits = {} }: Resources, path: string): FieldError[] {
  const found: FieldError[] = [];
  for (const [name, amount] of Object.entries(limits)) {
    if (!isPlain(name, amount)) found.push(...entryErrors(name, amount, `${path}.limits`));
  }
  for (const [name, amount] of Object.entries(requests)) {
    if (!isPlain(name, amount)) found.push(...entryErrors(name, amount, `${path}.requests`));
    found.push(...requestErrors(name, amount, { limit: limits[name], path }));
  }
  return found;
}

/** Nearly all of them, in every pod: no path is spelled out for what is fine. */
function isPlain(name: string, amount: string): boolean {
  return standard.has(name) && amountOf(amount).digits >= 0n;
}

function entryErrors(name: string, amount: string, path: string): FieldError[] {
  const at = `${path}[${name}]`;
  return [...nameErrors(name, at), ...quantityErrors(name, amount, at)];
}

function nameErrors(name: string, path: string): FieldError[] {
  const found = qualifiedName(path, name);
  if (found.length > 0 || name.includes("/")) return found;
  const known = standard.has(name) || name.startsWith(hugePages);
  return known
    ? []
    : [
        invalid(path, name, "must be a standard resource type or fully qualified"),
        invalid(path, name, "must be a standard resource for containers"),
      ];
}

function requestErrors(
  name: string,
  amount: string,
  { limit, path }: { limit: string | undefined; path: string },
): FieldError[] {
  const canOvercommit = !isExtended(name) && !name.startsWith(hugePages);
  if (limit === undefined) {
    const rule = "Limit must be set for non overcommitable resources";
    return canOvercommit ? [] : [required(`${path}.limits`, rule)];
  }
  const order = compare(amount, limit);
  if (!canOvercommit && order !== 0)
    return [invalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`)];
  return order > 0
    ? [invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`)]
    : [];
}

function compare(a: string, b: string): number {
  return compareQuantities(amountOf(a), amountOf(b));
}

function amountOf(text: string): Quantity {
  const parsed = quantityOf(text);
  return parsed.ok ? parsed.value : zero;
}
