// The wire form of an object, and where in it the largest of its fields lies. Whoever reads the object gets that field
// unread: it is parsed when somebody looks into it, and copied as it is where it is handed on into another version. So a
// write to a pod's status neither parses nor writes its spec.

import type { KubeObject } from "../api/meta.ts";
import { isObject, type JsonObject, setField } from "./json-value.ts";

/** What is shorter is parsed sooner than it is set apart. */
const apartMin = 256;

const encoder = new TextEncoder();

export class Written {
  readonly bytes: Buffer;
  /** One byte a character, which is read several times as fast. */
  readonly #isAscii: boolean;
  /** The field that lies apart, if any, and where its value is. */
  readonly #field: string | undefined;
  readonly #from: number;
  readonly #to: number;

  constructor(object: KubeObject) {
    const { head, field, apart, tail } = cut(object);
    const ascii = joinedAscii(head, apart, tail);
    this.#isAscii = ascii !== undefined;
    this.bytes = ascii ?? joined(head + textOf(apart) + tail);
    this.#field = field;
    this.#from = this.#isAscii ? head.length : Buffer.byteLength(head);
    this.#to = this.bytes.length - (this.#isAscii ? tail.length : Buffer.byteLength(tail));
  }

  whole(): KubeObject {
    return JSON.parse(this.#text(0, this.bytes.length)) as KubeObject;
  }

  /** With the largest field unread, unless that is the one wanted. */
  inParts(wanted?: string): KubeObject {
    if (this.#field === undefined || this.#field === wanted) return this.whole();
    // The 0 keeps the field's place among the others.
    const text = `${this.#text(0, this.#from)}0${this.#text(this.#to, this.bytes.length)}`;
    const object = JSON.parse(text) as KubeObject;
    const slice = { bytes: this.bytes, from: this.#from, to: this.#to, isAscii: this.#isAscii };
    setField(object, this.#field, new Proxy({}, new Unread(slice)));
    return object;
  }

  #text(from: number, to: number): string {
    return this.bytes.toString(this.#isAscii ? "latin1" : "utf8", from, to);
  }
}

/** Where the wire bytes of a value are. */
type Slice = { bytes: Buffer; from: number; to: number; isAscii: boolean };
type Json = Slice | string;

/** The largest field, and the text before and behind its value. */
function cut(object: KubeObject): { head: string; field: string | undefined; apart: Json; tail: string } {
  let [head, tail] = ["", ""];
  let field: string | undefined;
  let apart: Json = "";
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    const json = sliceOf(value) ?? JSON.stringify(value);
    const key = `${head === "" ? "{" : ","}${JSON.stringify(name)}:`;
    // Everybody reads the metadata.
    if (name !== "metadata" && isObject(value) && lengthOf(json) >= Math.max(lengthOf(apart), apartMin)) {
      head += textOf(apart) + tail + key;
      [field, apart, tail] = [name, json, ""];
    } else if (field === undefined) {
      head += key + textOf(json);
    } else {
      tail += key + textOf(json);
    }
  }
  return { head, field, apart, tail: `${tail}}` };
}

function lengthOf(json: Json): number {
  return typeof json === "string" ? json.length : json.to - json.from;
}

function textOf(json: Json): string {
  if (typeof json === "string") return json;
  return json.bytes.toString(json.isAscii ? "latin1" : "utf8", json.from, json.to);
}

/**
 * Undefined: there are characters of several bytes. Nearly always there are none, and then nothing need be counted
 * first. Not in Node's pool, where a few kilobytes that live on keep others that do not.
 */
function joinedAscii(head: string, apart: Json, tail: string): Buffer | undefined {
  const to = head.length + lengthOf(apart);
  const bytes = Buffer.allocUnsafeSlow(to + tail.length);
  if (typeof apart === "string") {
    const text = head + apart + tail;
    return encoder.encodeInto(text, bytes).read === text.length ? bytes : undefined;
  }
  if (!apart.isAscii || encoder.encodeInto(head, bytes).written !== head.length) return undefined;
  apart.bytes.copy(bytes, head.length, apart.from, apart.to);
  return encoder.encodeInto(tail, bytes.subarray(to)).read === tail.length ? bytes : undefined;
}

function joined(text: string): Buffer {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  return bytes;
}

const wireBytes = Symbol("wire bytes");

/** Of a value that is unread, or was: what is stored is not changed, so they stay true. */
function sliceOf(value: unknown): Slice | undefined {
  return isObject(value) ? (value as { [wireBytes]?: Slice })[wireBytes] : undefined;
}

/** Stands for an object, and becomes it at the first look. */
class Unread implements ProxyHandler<JsonObject> {
  /** Undefined once somebody has changed the object all the same. */
  #slice: Slice | undefined;
  #isRead = false;

  constructor(slice: Slice) {
    this.#slice = slice;
  }

  get(target: JsonObject, key: string | symbol): unknown {
    return key === wireBytes ? this.#slice : Reflect.get(this.#read(target), key);
  }

  has(target: JsonObject, key: string | symbol): boolean {
    return Reflect.has(this.#read(target), key);
  }

  ownKeys(target: JsonObject): (string | symbol)[] {
    return Reflect.ownKeys(this.#read(target));
  }

  getOwnPropertyDescriptor(target: JsonObject, key: string | symbol): PropertyDescriptor | undefined {
    return Reflect.getOwnPropertyDescriptor(this.#read(target), key);
  }

  preventExtensions(target: JsonObject): boolean {
    return Reflect.preventExtensions(this.#read(target));
  }

  set(target: JsonObject, key: string | symbol, value: unknown): boolean {
    return Reflect.set(this.#changed(target), key, value);
  }

  deleteProperty(target: JsonObject, key: string | symbol): boolean {
    return Reflect.deleteProperty(this.#changed(target), key);
  }

  #changed(target: JsonObject): JsonObject {
    this.#read(target);
    this.#slice = undefined;
    return target;
  }

  #read(target: JsonObject): JsonObject {
    if (this.#isRead || this.#slice === undefined) return target;
    this.#isRead = true;
    const value = JSON.parse(textOf(this.#slice)) as JsonObject;
    for (const key of Object.keys(value)) setField(target, key, value[key]);
    return target;
  }
}
