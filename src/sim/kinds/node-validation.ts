// What the server refuses in a node: taints that contradict each other, amounts below zero, and a change of what a
// node is given once (its provider id, its pod range).

import { isIP } from "node:net";
import { labelValueErrors } from "../../api/name.ts";
import { forbidden, invalid } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { oneOf, qualifiedName, requiredText } from "./field-rules.ts";
import type { Node, Taint } from "./node-types.ts";
import { quantityErrors } from "./resource-rules.ts";

export function nodeErrors(
  node: Node,
  { old, statusOnly }: { old: Node | undefined; statusOnly: boolean },
): FieldError[] {
  return [...(statusOnly ? [] : writtenErrors(node)), ...(old ? updateErrors(node, old) : [])];
}

function writtenErrors(node: Node): FieldError[] {
  // The path is the server's own slip: taints are in the spec.
  return [...taintErrors(node.spec.taints ?? [], "metadata.taints"), ...amountErrors(node), ...podRangeErrors(node)];
}

export function taintErrors(taints: readonly Taint[], path: string): FieldError[] {
  const seen = new Set<string>();
  return taints.flatMap((taint, i) => {
    const { key, value = "", effect } = taint;
    const at = `${path}[${i}]`;
    const valueErrors = labelValueErrors(value);
    const found = [
      ...qualifiedName(`${at}.key`, key),
      ...(valueErrors.length > 0 ? [invalid(`${at}.value`, value, valueErrors.join(";"))] : []),
      ...(effect
        ? oneOf(`${at}.effect`, effect, ["NoSchedule", "PreferNoSchedule", "NoExecute"])
        : requiredText(`${at}.effect`, effect)),
    ];
    if (seen.has(`${effect}/${key}`)) found.push(duplicateTaint(at, taint));
    seen.add(`${effect}/${key}`);
    return found;
  });
}

/** Shown as the server's own type prints it. */
function duplicateTaint(path: string, { key, value = "", effect, timeAdded }: Taint): FieldError {
  const shown = JSON.stringify({ Key: key, Value: value, Effect: effect, TimeAdded: timeAdded ?? null });
  const message = `Duplicate value: ${shown}: taints must be unique by key and effect pair`;
  return { path, reason: "FieldValueDuplicate", message };
}

function amountErrors({ status }: Node): FieldError[] {
  return (["capacity", "allocatable"] as const).flatMap(side =>
    Object.entries(status[side] ?? {}).flatMap(([name, amount]) =>
      quantityErrors(name, amount, `status.${side}.${name}`),
    ),
  );
}

function podRangeErrors({ spec }: Node): FieldError[] {
  const ranges = spec.podCIDRs ?? [];
  const found = ranges.flatMap((range, i) => {
    const rule = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
    return isRange(range) ? [] : [invalid(`spec.podCIDRs[${i}]`, range, rule)];
  });
  const families = new Set(ranges.map(range => isIP(range.split("/")[0] ?? "")));
  if (ranges.length > 1 && (families.size < 2 || ranges.length > 2)) {
    found.push(invalid("spec.podCIDRs", ranges, "may specify no more than one CIDR for each IP family"));
  }
  return found;
}

function isRange(text: string): boolean {
  const [address = "", bits = "", ...rest] = text.split("/");
  const max = isIP(address) === 4 ? 32 : 128;
  return isIP(address) !== 0 && rest.length === 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= max;
}

function updateErrors(node: Node, old: Node): FieldError[] {
  const found = [...amountErrors(node), ...addressErrors(node)];
  const before = old.spec.podCIDRs ?? [];
  const after = node.spec.podCIDRs ?? [];
  const rule = (field: string) => `node updates may not change ${field} except from "" to valid`;
  if (before.length > 0 && before.length !== after.length) {
    found.push(forbidden("spec.podCIDRs", rule("podCIDR")));
  } else {
    for (const [i, range] of before.entries()) {
      if (range !== after[i]) found.push(forbidden("spec.podCIDRs", rule("podCIDR")));
    }
  }
  if (old.spec.providerID && old.spec.providerID !== node.spec.providerID) {
    found.push(forbidden("spec.providerID", rule("providerID")));
  }
  return [...found, ...taintErrors(node.spec.taints ?? [], "metadata.taints")];
}

function addressErrors({ status }: Node): FieldError[] {
  const seen = new Set<string>();
  return (status.addresses ?? []).flatMap((address, i) => {
    const key = `${address.type}/${address.address}`;
    const shown = JSON.stringify({ Type: address.type, Address: address.address });
    const isRepeated = seen.has(key);
    seen.add(key);
    const path = `status.addresses[${i}]`;
    return isRepeated ? [{ path, reason: "FieldValueDuplicate", message: `Duplicate value: ${shown}` }] : [];
  });
}
