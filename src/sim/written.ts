// The wire form of an object, and where in it the largest of its fields and its annotations lie. Whoever reads the object
// gets those unread: they are parsed when somebody looks into them, and copied as they are where they are handed on into
// another version. So a write to a pod's status neither parses nor writes its spec, nor what others have noted on it.

import type { KubeObject } from "../api/meta.ts";
import { isObject, type JsonObject, setField } from "./json-value.ts";
import { remembered } from "../api/remembered.ts";

/** What is shorter is parsed sooner than it is set apart. */
const apartMin = 256;

const encoder = new TextEncoder();

export class Written {
  readonly bytes: Buffer;
  /** One byte a character, which is read several times as fast. */
  readonly #isAscii: boolean;
  /** The field that lies apart, if any, and where its value is; then the annotations, if they do. */
  readonly #field: string | undefined;
  readonly #from: number;
  readonly #to: number;
  readonly #annotationsFrom: number;
  readonly #annotationsTo: number;

  constructor(object: KubeObject) {
    const { pieces, field, annotations } = cut(object);
    const ascii = joinedAscii(pieces);
    this.#isAscii = ascii !== undefined;
    this.bytes = ascii ?? joined(pieces);
    this.#field = field?.name;
    this.#from = this.#startOf(field?.piece, pieces);
    this.#to = this.#endOf(field?.piece, pieces);
    this.#annotationsFrom = this.#startOf(annotations, pieces);
    this.#annotationsTo = this.#endOf(annotations, pieces);
  }

  whole(): KubeObject {
    return JSON.parse(this.#text(0, this.bytes.length)) as KubeObject;
  }

  /** With the annotations and the largest field unread, unless that is the one wanted. */
  inParts(wanted?: string): KubeObject {
    const field = this.#field === wanted ? undefined : this.#field;
    const hasAnnotations = this.#annotationsTo > 0;
    if (field === undefined && !hasAnnotations) return this.whole();
    // A 0 keeps each one's place among the others.
    const isFieldFirst = field !== undefined && this.#from < this.#annotationsFrom;
    let text = isFieldFirst ? `${this.#text(0, this.#from)}0` : "";
    let at = isFieldFirst ? this.#to : 0;
    if (hasAnnotations) {
      text += `${this.#text(at, this.#annotationsFrom)}0`;
      at = this.#annotationsTo;
    }
    if (field !== undefined && !isFieldFirst) {
      text += `${this.#text(at, this.#from)}0`;
      at = this.#to;
    }
    const object = JSON.parse(text + this.#text(at, this.bytes.length)) as KubeObject;
    if (field !== undefined) setField(object, field, this.#unread(this.#from, this.#to));
    if (hasAnnotations) {
      object.metadata.annotations = this.#unread(this.#annotationsFrom, this.#annotationsTo) as Record<string, string>;
    }
    return object;
  }

  #unread(from: number, to: number): JsonObject {
    return new Proxy({}, new Unread({ bytes: this.bytes, from, to, isAscii: this.#isAscii }));
  }

  #text(from: number, to: number): string {
    return this.bytes.toString(this.#isAscii ? "latin1" : "utf8", from, to);
  }

  #startOf(index = 0, pieces: readonly Json[]): number {
    let at = 0;
    for (let i = 0; i < index; i++) at += this.#bytesOf(pieces[i] as Json); // i < length
    return at;
  }

  #endOf(index: number | undefined, pieces: readonly Json[]): number {
    return index === undefined ? 0 : this.#startOf(index + 1, pieces);
  }

  #bytesOf(json: Json): number {
    return this.#isAscii || typeof json !== "string" ? lengthOf(json) : Buffer.byteLength(json);
  }
}

/** Where the wire bytes of a value are. */
type Slice = { bytes: Buffer; from: number; to: number; isAscii: boolean };
type Json = Slice | string;

/** The wire form in pieces, and which of them lie apart. */
type Cut = { pieces: Json[]; field: { name: string; piece: number } | undefined; annotations: number | undefined };

const quoted = remembered(name => `${JSON.stringify(name)}:`);

function cut(object: KubeObject): Cut {
  const pieces: Json[] = [];
  const made: Cut = { pieces, field: undefined, annotations: undefined };
  let largest = apartMin;
  let opening = "{";
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === undefined) continue;
    pieces.push(opening + quoted(name));
    opening = ",";
    if (name === "metadata") {
      // Everybody reads the metadata, but what is noted in it.
      made.annotations = cutMetadata(value as JsonObject, pieces);
      continue;
    }
    const json = sliceOf(value) ?? JSON.stringify(value);
    if (isObject(value) && lengthOf(json) >= largest) {
      largest = lengthOf(json);
      made.field = { name, piece: pieces.length };
    }
    pieces.push(json);
  }
  pieces.push("}");
  return made;
}

const annotationsMark = '"annotations":0';

/** Returns which piece the annotations are, if they lie apart. */
function cutMetadata(metadata: JsonObject, pieces: Json[]): number | undefined {
  const { annotations } = metadata;
  const slice = sliceOf(annotations);
  if (slice !== undefined || isLarge(annotations)) {
    const text = JSON.stringify({ ...metadata, annotations: 0 });
    const at = text.indexOf(annotationsMark);
    // Quotes inside of texts are escaped: only a field of that name reads so, and somebody may have put one deeper.
    if (at === text.lastIndexOf(annotationsMark)) {
      const to = at + annotationsMark.length;
      pieces.push(text.slice(0, to - 1), slice ?? JSON.stringify(annotations), text.slice(to));
      return pieces.length - 2;
    }
  }
  pieces.push(JSON.stringify(metadata));
  return undefined;
}

function isLarge(texts: unknown): boolean {
  if (!isObject(texts)) return false;
  let length = 0;
  for (const key in texts) length += key.length + String(texts[key]).length;
  return length >= apartMin;
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
function joinedAscii(pieces: readonly Json[]): Buffer | undefined {
  let length = 0;
  for (const piece of pieces) length += lengthOf(piece);
  const bytes = Buffer.allocUnsafeSlow(length);
  let at = 0;
  let text = "";
  for (const piece of pieces) {
    if (typeof piece === "string") {
      text += piece;
      continue;
    }
    if (!piece.isAscii || !isEncodedAt(bytes, at, text)) return undefined;
    piece.bytes.copy(bytes, at + text.length, piece.from, piece.to);
    at += text.length + lengthOf(piece);
    text = "";
  }
  return isEncodedAt(bytes, at, text) ? bytes : undefined;
}

/** False where it does not have as many bytes as characters. */
function isEncodedAt(bytes: Buffer, at: number, text: string): boolean {
  const { read, written } = encoder.encodeInto(text, at === 0 ? bytes : bytes.subarray(at));
  return read === text.length && written === text.length;
}

function joined(pieces: readonly Json[]): Buffer {
  const text = pieces.map(textOf).join("");
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
