// Strategic merge patch: lists of the server's own kinds are merged by key, with the directives $patch, $retainKeys,
// $setElementOrder and $deleteFromPrimitiveList. Which lists have a key is in the kind's schema.

import { goText } from "../api/go-text.ts";
import type { Schema } from "../api/schema/schema.ts";
import { deepEqual, isObject, type JsonObject } from "./json-value.ts";
import type { BuiltInSchema } from "./kind.ts";
import { badRequest, failure } from "./refusal.ts";

const orderPrefix = "$setElementOrder/";
const deletePrefix = "$deleteFromPrimitiveList/";

/**
 * A new object that shares with its arguments what neither of them changes; both stay as they are. Throws ApiError for a
 * patch that says nothing sensible.
 */
export function strategicPatch(original: JsonObject, patch: JsonObject, schema: Schema): JsonObject {
  return mergeMap(original, patch, schema);
}

function mergeMap(existing: JsonObject, asked: JsonObject, schema: Schema | undefined): JsonObject {
  if (Object.hasOwn(asked, "$patch")) return directed(asked);
  // This level of both is ours to change from here on.
  const original = { ...existing };
  const patch = { ...asked };
  retainKeys(original, patch);
  applyOrders(original, patch, schema);
  for (const key in patch) mergeField(original, { key, value: patch[key], schema });
  return original;
}

function directed(patch: JsonObject): JsonObject {
  const { $patch: directive, ...rest } = patch;
  if (directive === "replace") return rest;
  if (directive === "delete") return {};
  throw failure(`unknown patch type: ${String(directive)} in map: ${goText(patch)}`);
}

function mergeField(
  original: JsonObject,
  { key, value, schema }: { key: string; value: unknown; schema: Schema | undefined },
): void {
  if (key.startsWith(deletePrefix)) {
    const list = key.slice(deletePrefix.length);
    const current = original[list];
    if (Array.isArray(current) && Array.isArray(value)) original[list] = current.filter(item => !value.includes(item));
    return;
  }
  const current = original[key];
  const meta = fieldSchema(schema, key);
  if (value === null) delete original[key];
  else if (isObject(current) && isObject(value))
    original[key] = strategyOf(meta) === "replace" ? value : mergeMap(current, value, meta);
  else if (Array.isArray(current) && Array.isArray(value)) original[key] = mergeList(current, value, meta);
  else setClean(original, key, value);
}

/** A value that meets nothing of its kind is taken as it is, without its nulls and directives. */
function setClean(original: JsonObject, key: string, value: unknown): void {
  const clean = withoutDirectives(value);
  if (clean === undefined) delete original[key];
  else original[key] = clean;
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter(item => item !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, "$patch")) return undefined;
  const clean: JsonObject = {};
  for (const key in value) {
    const kept = value[key] === null ? undefined : withoutDirectives(value[key]);
    if (kept !== undefined) clean[key] = kept;
  }
  return clean;
}

function mergeList(original: unknown[], patch: unknown[], schema: BuiltInSchema | undefined): unknown[] {
  if (strategyOf(schema) !== "merge") return patch;
  if (original.length === 0 && patch.length === 0) return original;
  const isOfObjects = isObject(original[0] ?? patch[0]);
  if (!isOfObjects) return ordered([...new Set([...original, ...patch])], patch, { server: original, key: undefined });
  const key = schema?.["x-kubernetes-patch-merge-key"];
  if (key === undefined) throw failure("cannot merge lists without merge key");
  const { kept, added, replaced } = withDirectives(original, patch, key);
  if (replaced) return added;
  const merged = [...kept];
  for (const item of added) {
    const at = merged.findIndex(other => isObject(other) && deepEqual(other[key], keyOf(item, key)));
    if (at < 0) merged.push(item);
    else merged[at] = mergeMap(merged[at] as JsonObject, item, schema?.items);
  }
  return ordered(merged, added, { server: kept, key });
}

/** Carries out `$patch: delete` and `$patch: replace` among the items of a patch. */
function withDirectives(original: unknown[], patch: unknown[], key: string) {
  let kept = original;
  let replaced = false;
  const added: JsonObject[] = [];
  for (const item of patch) {
    if (!isObject(item)) throw failure(`expected a map[string]interface {}, but received a ${typeof item}`);
    if (item.$patch === undefined) added.push(item);
    else if (item.$patch === "replace") replaced = true;
    else if (item.$patch === "delete") {
      const value = keyOf(item, key);
      kept = kept.filter(other => !(isObject(other) && deepEqual(other[key], value)));
    } else if (item.$patch === "merge") throw failure("merging lists cannot yet be specified in the patch");
    else throw failure(`unknown patch type: ${String(item.$patch)} in map: ${goText(item)}`);
  }
  return { kept, added, replaced };
}

function keyOf(item: JsonObject, key: string): unknown {
  if (!Object.hasOwn(item, key)) {
    throw failure(`map: ${goText(item)} does not contain declared merge key: ${key}`);
  }
  return item[key];
}

type Order = { server: readonly unknown[]; key: string | undefined };

/** Items named by `order` come in that order, the server's own between them where they stood. */
function ordered(items: unknown[], order: readonly unknown[], { server, key }: Order): unknown[] {
  const valueOf = (item: unknown) => (key !== undefined && isObject(item) ? item[key] : item);
  const orderValues = order.map(valueOf);
  const serverValues = server.map(valueOf);
  const named: Positioned[] = [];
  const others: Positioned[] = [];
  for (const item of items) {
    const value = valueOf(item);
    const ordered = positionOf(value, orderValues);
    (ordered < 0 ? others : named).push({ item, ordered, stood: positionOf(value, serverValues) });
  }
  named.sort((a, b) => a.ordered - b.ordered);
  const result: unknown[] = [];
  let [nextNamed, nextOther] = [0, 0];
  while (nextNamed < named.length || nextOther < others.length) {
    const [one, other] = [named[nextNamed], others[nextOther]];
    const takesOther =
      one === undefined || (other !== undefined && other.stood >= 0 && one.stood >= 0 && other.stood < one.stood);
    result.push((takesOther ? others[nextOther++] : named[nextNamed++])?.item);
  }
  return result;
}

/** Where an item is asked to be, and where it was; negative: nowhere. */
type Positioned = { item: unknown; ordered: number; stood: number };

function positionOf(value: unknown, values: readonly unknown[]): number {
  for (let i = 0; i < values.length; i++) if (deepEqual(values[i], value)) return i;
  return -1;
}

function applyOrders(original: JsonObject, patch: JsonObject, schema: Schema | undefined): void {
  for (const directive of Object.keys(patch)) {
    if (!directive.startsWith(orderPrefix)) continue;
    const order = patch[directive];
    delete patch[directive];
    const field = directive.slice(orderPrefix.length);
    if (!Array.isArray(order) || field === "") throw badRequest("invalid patch format of setElementOrder list");
    const meta: BuiltInSchema | undefined = fieldSchema(schema, field);
    const server = Array.isArray(original[field]) ? original[field] : [];
    if (Object.hasOwn(patch, field)) {
      refuseOtherOrder(patch[field], order, meta?.["x-kubernetes-patch-merge-key"]);
      mergeField(original, { key: field, value: patch[field], schema });
      delete patch[field];
    }
    const list = original[field];
    if (!Array.isArray(list)) continue;
    original[field] = ordered(list, order, { server, key: meta?.["x-kubernetes-patch-merge-key"] });
  }
}

/** The items of a patch must stand in the order that the patch itself asks for. */
function refuseOtherOrder(list: unknown, order: readonly unknown[], key: string | undefined): void {
  if (!Array.isArray(list)) throw badRequest("invalid patch format of setElementOrder list");
  if (order.length === 0) return;
  const valueOf = (item: unknown) => (key !== undefined && isObject(item) ? item[key] : item);
  let next = 0;
  for (const item of list) {
    if (isObject(item) && item.$patch !== undefined) continue;
    while (next < order.length && !deepEqual(valueOf(order[next]), valueOf(item))) next++;
    if (next++ >= order.length) throw failure("The order in patch list doesn't match $setElementOrder list");
  }
}

function retainKeys(original: JsonObject, patch: JsonObject): void {
  const keys = patch.$retainKeys;
  if (keys === undefined) return;
  delete patch.$retainKeys;
  const named = (key: string) => Array.isArray(keys) && keys.includes(key);
  const unnamed = Object.entries(patch).some(([key, value]) => value !== null && !key.startsWith("$") && !named(key));
  if (!Array.isArray(keys) || unnamed) throw badRequest("invalid patch format of retainKeys");
  for (const key of Object.keys(original)) if (!named(key)) delete original[key];
}

function fieldSchema(schema: Schema | undefined, key: string): Schema | undefined {
  const known = schema?.properties?.[key] ?? schema?.additionalProperties;
  return typeof known === "object" ? known : undefined;
}

/** "merge,retainKeys" is a merge: retainKeys is the patch's own directive. */
function strategyOf(schema: BuiltInSchema | undefined): "merge" | "replace" | undefined {
  const strategies = schema?.["x-kubernetes-patch-strategy"]?.split(",") ?? [];
  return strategies.includes("merge") ? "merge" : strategies.includes("replace") ? "replace" : undefined;
}
