// JSON patch, RFC 6902, as the API server's library applies it: replace creates a missing field, an array index may
// count from the end, copies are limited. What does not apply throws a JsonPatchError and changes nothing.

import { deepCopy, deepEqual, isObject, type JsonObject, setField } from "./json-value.ts";

export class JsonPatchError extends Error {}

type Operation = { op?: unknown; path?: unknown; from?: unknown; value?: unknown };
type Container = JsonObject | unknown[];
type Place = { container: Container; key: string };
type Copied = { bytes: number };

// The API server's limit for one patch (JSONPatchMaxCopyBytes). Without one, copying a field into itself doubles it
// with every operation.
const copiedMax = 3 * 1024 * 1024;

/** A new document. */
export function jsonPatch(document: unknown, operations: readonly unknown[]): unknown {
  // One more level, so that the document itself is a place like any other.
  const root: JsonObject = { document: deepCopy(document) };
  const copied: Copied = { bytes: 0 };
  for (const operation of operations) apply(root, isObject(operation) ? operation : {}, copied);
  return root.document;
}

function apply(root: JsonObject, { op, path, from, value = null }: Operation, copied: Copied): void {
  const place = placeOf(root, path);
  switch (op) {
    case "add":
      return add(place, deepCopy(value));
    case "replace":
      if (Array.isArray(place.container)) place.container[indexOf(place.container, place.key)] = deepCopy(value);
      else setField(place.container, place.key, deepCopy(value));
      return;
    case "remove":
      remove(place);
      return;
    case "test":
      if (!deepEqual(read(place) ?? null, value)) throw new JsonPatchError(`the value at ${String(path)} is another`);
      return;
    case "move":
      return add(place, remove(placeOf(root, from)));
    case "copy":
      return add(place, counted(read(placeOf(root, from)) ?? null, copied));
    default:
      throw new JsonPatchError(`unknown operation ${JSON.stringify(op)}; use add, remove, replace, move, copy or test`);
  }
}

function counted(value: unknown, copied: Copied): unknown {
  copied.bytes += Buffer.byteLength(JSON.stringify(value));
  if (copied.bytes > copiedMax) throw new JsonPatchError(`the patch copies more than ${copiedMax} bytes`);
  return deepCopy(value);
}

function placeOf(root: JsonObject, pointer: unknown): Place {
  if (pointer === "") return { container: root, key: "document" };
  if (typeof pointer !== "string" || !pointer.includes("/"))
    throw new JsonPatchError(`not a pointer: ${String(pointer)}`);
  const parts = pointer
    .split("/")
    .slice(1)
    .map(part => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const key = parts.pop() as string; // a pointer with "/" has at least one part
  let container: unknown = root.document;
  for (const part of parts) container = isContainer(container) ? read({ container, key: part }) : undefined;
  if (!isContainer(container)) throw new JsonPatchError(`nothing at ${pointer} to look into`);
  return { container, key };
}

function isContainer(value: unknown): value is Container {
  return typeof value === "object" && value !== null;
}

function read({ container, key }: Place): unknown {
  if (Array.isArray(container)) return container[indexOf(container, key)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function add({ container, key }: Place, value: unknown): void {
  if (!Array.isArray(container)) setField(container, key, value);
  else if (key === "-") container.push(value);
  else container.splice(index(key, container.length, container.length), 0, value);
}

function remove(place: Place): unknown {
  const { container, key } = place;
  if (Array.isArray(container)) return container.splice(indexOf(container, key), 1)[0];
  if (!Object.hasOwn(container, key)) throw new JsonPatchError(`no field ${key} to remove`);
  const value = container[key];
  delete container[key];
  return value;
}

function indexOf(list: readonly unknown[], key: string): number {
  return index(key, list.length, list.length - 1);
}

function index(key: string, length: number, max: number): number {
  const number = /^-?\d+$/.test(key) ? Number(key) : Number.NaN;
  const found = number < 0 ? number + length : number;
  if (!(found >= 0 && found <= max)) throw new JsonPatchError(`no index ${key} in a list of ${length}`);
  return found;
}
