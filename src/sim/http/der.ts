// Distinguished Encoding Rules (X.690), as much as an X.509 certificate needs. Knows nothing of certificates.

const constructed = 0x20;

export function tagged(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

function length(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.from([bytes]);
  const digits: number[] = [];
  for (let rest = bytes; rest > 0; rest = Math.floor(rest / 256)) digits.unshift(rest % 256);
  return Buffer.from([0x80 | digits.length, ...digits]);
}

export const sequence = (...items: readonly Uint8Array[]): Buffer => tagged(0x10 | constructed, ...items);
export const set = (...items: readonly Uint8Array[]): Buffer => tagged(0x11 | constructed, ...items);
export const octetString = (content: Uint8Array): Buffer => tagged(0x04, content);
export const utf8String = (text: string): Buffer => tagged(0x0c, Buffer.from(text));
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]));
export const explicit = (tag: number, content: Uint8Array): Buffer => tagged(0x80 | constructed | tag, content);
export const implicit = (tag: number, content: Uint8Array): Buffer => tagged(0x80 | tag, content);

/** A positive integer from its big-endian bytes. */
export function integer(magnitude: Uint8Array): Buffer {
  const first = magnitude.findIndex(byte => byte !== 0);
  const digits = first < 0 ? Buffer.from([0]) : Buffer.from(magnitude.subarray(first));
  // A set top bit would make it negative.
  return tagged(0x02, ...(digits[0]! >= 0x80 ? [Buffer.from([0])] : []), digits);
}

/** `unusedBits` is how many of the last byte's low bits do not belong to the string. */
export const bitString = (content: Uint8Array, unusedBits = 0): Buffer =>
  tagged(0x03, Buffer.from([unusedBits]), content);

export function objectIdentifier(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split(".").map(Number);
  if (first === undefined || second === undefined) throw new Error(`an object identifier has two arcs: ${dotted}`);
  return tagged(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(arc: number): number[] {
  const digits = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) | 0x80);
  return digits;
}

/** UTCTime up to 2049, GeneralizedTime after it, as RFC 5280 asks. */
export function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/[-:T]/g, "").slice(0, 14);
  return Number(digits.slice(0, 4)) < 2050
    ? tagged(0x17, Buffer.from(`${digits.slice(2)}Z`))
    : tagged(0x18, Buffer.from(`${digits}Z`));
}
