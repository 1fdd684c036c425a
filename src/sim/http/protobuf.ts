// Reads Kubernetes' protobuf, in which kubectl sends what its generators make (kubectl create …) and in which many Go
// controllers write. Reads only: answers are JSON, which all of them accept.

import { parseApiVersion } from "../../api/meta.ts";
import messages from "./protobuf-messages.json" with { type: "json" };

type Json = Record<string, unknown>;

/** Field number → "jsonName:type"; a type is a scalar, a message, "[]" of one or "{}", a map from string to one. */
const messageByName: Readonly<Record<string, Readonly<Record<string, string>>>> = messages;
const magic = Buffer.from("k8s\0");

/** The object inside the envelope, as JSON would have it. Throws Error for what is none or of a kind without a message. */
export function decodeProtobuf(bytes: Buffer): Json {
  if (!bytes.subarray(0, magic.length).equals(magic)) {
    throw new Error(
      `provided data does not appear to be a protobuf message, expected prefix [${[...magic].join(" ")}]`,
    );
  }
  const envelope = fieldsOf(bytes.subarray(magic.length));
  const [apiVersion = "", kind = ""] = fieldsOf(bytesAt(envelope, 1)).map(({ value }) => text(value));
  const name = kind === "DeleteOptions" ? "meta.v1.DeleteOptions" : messageOf(apiVersion, kind);
  if (!Object.hasOwn(messageByName, name))
    throw new Error(`${apiVersion} ${kind} cannot be read from protobuf: send JSON`);
  return { apiVersion, kind, ...message(name, bytesAt(envelope, 2)) };
}

/** "storage.k8s.io/v1", "StorageClass" → "storage.v1.StorageClass". */
function messageOf(apiVersion: string, kind: string): string {
  const { group, version } = parseApiVersion(apiVersion);
  return `${group.split(".", 1)[0] || "core"}.${version}.${kind}`;
}

type Field = { number: number; value: bigint | Buffer };

function* reading(bytes: Buffer): Generator<Field> {
  const cursor = { bytes, at: 0 };
  while (cursor.at < bytes.length) {
    const key = Number(varint(cursor));
    yield { number: key >> 3, value: wireValue(cursor, key & 7) };
  }
}

const fieldsOf = (bytes: Buffer): Field[] => [...reading(bytes)];

function bytesAt(fields: readonly Field[], number: number): Buffer {
  const found = fields.find(field => field.number === number)?.value;
  return Buffer.isBuffer(found) ? found : Buffer.alloc(0);
}

type Cursor = { bytes: Buffer; at: number };

function wireValue(cursor: Cursor, wireType: number): bigint | Buffer {
  switch (wireType) {
    case 0:
      return varint(cursor);
    case 1:
      return take(cursor, 8);
    case 2:
      return take(cursor, Number(varint(cursor)));
    case 5:
      return take(cursor, 4);
    default:
      throw new Error(`protobuf wire type ${wireType} is not known`);
  }
}

function varint(cursor: Cursor): bigint {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = cursor.bytes[cursor.at++];
    if (byte === undefined || shift > 63n) throw new Error("the protobuf message is cut off");
    value |= BigInt(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

function take(cursor: Cursor, length: number): Buffer {
  const end = cursor.at + length;
  if (end > cursor.bytes.length) throw new Error("the protobuf message is cut off");
  const taken = cursor.bytes.subarray(cursor.at, end);
  cursor.at = end;
  return taken;
}

function message(name: string, bytes: Buffer): Json {
  const declared = messageByName[name] ?? {};
  const object: Json = {};
  for (const { number, value } of reading(bytes)) {
    const field = declared[number];
    if (field === undefined) continue; // of a newer release
    const colon = field.indexOf(":");
    assign(object, { name: field.slice(0, colon), type: field.slice(colon + 1) }, value);
  }
  return object;
}

function assign(object: Json, { name, type }: { name: string; type: string }, value: bigint | Buffer): void {
  if (name === "") {
    // Go's embedded structs are messages of their own here, and part of the outer object in JSON.
    Object.assign(object, valueOf(type, value));
  } else if (type.startsWith("[]")) {
    object[name] = [...((object[name] as unknown[] | undefined) ?? []), valueOf(type.slice(2), value)];
  } else if (type.startsWith("{}")) {
    const entry = fieldsOf(value as Buffer);
    const entryValue = entry.find(({ number }) => number === 2)?.value ?? Buffer.alloc(0);
    object[name] = {
      ...(object[name] as Json | undefined),
      [text(bytesAt(entry, 1))]: valueOf(type.slice(2), entryValue),
    };
  } else {
    object[name] = valueOf(type, value);
  }
}

function valueOf(type: string, value: bigint | Buffer): unknown {
  switch (type) {
    case "string":
      return text(value);
    case "bool":
      return value !== 0n;
    case "int32":
    case "int64":
      return integer(value);
    case "float64":
      return (value as Buffer).readDoubleLE();
    case "bytes":
      return (value as Buffer).toString("base64");
    case "meta.v1.Time":
      return time(value as Buffer, 0);
    case "meta.v1.MicroTime":
      return time(value as Buffer, 6);
    case "meta.v1.FieldsV1":
      return JSON.parse(text(bytesAt(fieldsOf(value as Buffer), 1))) as unknown;
    case "api.resource.Quantity":
      return text(bytesAt(fieldsOf(value as Buffer), 1));
    case "util.intstr.IntOrString":
      return intOrString(value as Buffer);
    default:
      return message(type, value as Buffer);
  }
}

const text = (value: bigint | Buffer): string => (Buffer.isBuffer(value) ? value.toString("utf8") : "");

// Negative numbers are written as the 64 bits of their two's complement.
const integer = (value: bigint | Buffer): number => (typeof value === "bigint" ? Number(BigInt.asIntN(64, value)) : 0);

function time(bytes: Buffer, fractionDigits: number): string | null {
  const [seconds, nanos] = [1, 2].map(number =>
    integer(fieldsOf(bytes).find(field => field.number === number)?.value ?? 0n),
  );
  if (!seconds && !nanos) return null;
  const [whole = ""] = new Date((seconds ?? 0) * 1000).toISOString().split(".");
  const fraction = String(nanos ?? 0)
    .padStart(9, "0")
    .slice(0, fractionDigits);
  return `${whole}${fraction && `.${fraction}`}Z`;
}

function intOrString(bytes: Buffer): number | string {
  const fields = fieldsOf(bytes);
  const isString = fields.some(({ number, value }) => number === 1 && value === 1n);
  return isString ? text(bytesAt(fields, 3)) : integer(fields.find(({ number }) => number === 2)?.value ?? 0n);
}
