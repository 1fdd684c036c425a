// The string functions that CEL rules of a CRD may call (extension version 2 and find/findAll). Places and lengths
// count code points, as Go's runes do.

import { runes } from "../go-text.ts";
import { compilePattern, PatternError } from "../pattern.ts";
import { CelError } from "./error.ts";
import { formatted } from "./format.ts";
import { method, type Overload, overload } from "./function.ts";
import { dynType, intType, listOf, stringType } from "./types.ts";
import { List } from "./values.ts";

const texts = listOf(stringType);

function place(index: bigint, max: number): number {
  if (index < 0n || index > BigInt(max)) throw new CelError(`index out of range: ${index}`);
  return Number(index);
}

function charAt(text: string, index: bigint): string {
  const points = runes(text);
  return points[place(index, points.length)] ?? "";
}

function indexOf(text: string, wanted: string, from = 0n): bigint {
  if (wanted === "") return from;
  if (from < 0n) throw new CelError(`index out of range: ${from}`);
  const rest = runes(text).slice(Number(from)).join("");
  const found = rest.indexOf(wanted);
  return found < 0 ? -1n : from + BigInt(runes(rest.slice(0, found)).length);
}

function lastIndexOf(text: string, wanted: string, from?: bigint): bigint {
  const points = runes(text);
  if (wanted === "") return from ?? BigInt(points.length);
  const last = from ?? BigInt(points.length - 1);
  if (last < 0n) {
    if (from === undefined) return -1n;
    throw new CelError(`index out of range: ${last}`);
  }
  if (last >= BigInt(points.length)) return -1n;
  const length = runes(wanted).length;
  for (let i = Math.min(Number(last), points.length - length); i >= 0; i--)
    if (points.slice(i, i + length).join("") === wanted) return BigInt(i);
  return -1n;
}

function substring(text: string, start: bigint, end?: bigint): string {
  const points = runes(text);
  if (end !== undefined && start > end) throw new CelError(`invalid substring range. start: ${start}, end: ${end}`);
  const from = place(start, points.length);
  return points.slice(from, end === undefined ? undefined : place(end, points.length)).join("");
}

function replace(text: string, old: string, by: string, times = -1n): string {
  if (times < 0n) return text.replaceAll(old, () => by);
  let out = "";
  let rest = text;
  for (let left = times; left > 0n; left--) {
    const at = rest.indexOf(old);
    if (at < 0) break;
    // An empty text is found before every rune: step over one, so that the next is found.
    const step = old === "" ? (runes(rest)[0] ?? "") : old;
    out += rest.slice(0, at) + by + (old === "" ? step : "");
    if (step === "") break;
    rest = rest.slice(at + step.length);
  }
  return out + rest;
}

function split(text: string, separator: string, max = -1n): List {
  if (max === 0n) return new List([]);
  const parts = separator === "" ? runes(text) : text.split(separator);
  if (max < 0n || BigInt(parts.length) <= max) return new List(parts);
  const head = parts.slice(0, Number(max) - 1);
  return new List([...head, parts.slice(Number(max) - 1).join(separator)]);
}

function join(list: List, separator = ""): string {
  return list.items
    .map(item => {
      if (typeof item !== "string") throw new CelError(`join: invalid input: ${String(item)}`);
      return item;
    })
    .join(separator);
}

const quoteEscapes: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

/** Unlike Go's %q it leaves what is not printable as it is. */
function quote(text: string): string {
  return `"${text.replace(/[\x07\b\f\n\r\t\v\\"]/g, character => quoteEscapes[character] ?? character)}"`;
}

function regex(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(compilePattern(pattern).source, flags);
  } catch (error) {
    if (error instanceof PatternError) throw new CelError(`Illegal regex: ${error.message}`);
    throw error;
  }
}

function findAll(text: string, pattern: string, max = -1n): List {
  if (max === 0n) return new List([]);
  const found = [...text.matchAll(regex(pattern, "gu"))].map(([match]) => match);
  return new List(max < 0n ? found : found.slice(0, Number(max)));
}

const string2 = [stringType, stringType];

export const stringLibrary: Readonly<Record<string, readonly Overload[]>> = {
  charAt: [method([stringType, intType], stringType, charAt)],
  find: [method(string2, stringType, (text: string, pattern: string) => regex(pattern, "u").exec(text)?.[0] ?? "")],
  findAll: [method(string2, texts, findAll), method([...string2, intType], texts, findAll)],
  format: [
    method([stringType, listOf(dynType)], stringType, (text: string, args: List) => formatted(text, args.items)),
  ],
  indexOf: [method(string2, intType, indexOf), method([...string2, intType], intType, indexOf)],
  join: [method([texts], stringType, join), method([texts, stringType], stringType, join)],
  lastIndexOf: [method(string2, intType, lastIndexOf), method([...string2, intType], intType, lastIndexOf)],
  lowerAscii: [method([stringType], stringType, (text: string) => text.replace(/[A-Z]+/g, run => run.toLowerCase()))],
  replace: [
    method([...string2, stringType], stringType, replace),
    method([...string2, stringType, intType], stringType, replace),
  ],
  split: [method(string2, texts, split), method([...string2, intType], texts, split)],
  "strings.quote": [overload([stringType], stringType, quote)],
  substring: [
    method([stringType, intType], stringType, substring),
    method([stringType, intType, intType], stringType, substring),
  ],
  trim: [method([stringType], stringType, (text: string) => text.replace(/^[\s\u0085]+|[\s\u0085]+$/g, ""))],
  upperAscii: [method([stringType], stringType, (text: string) => text.replace(/[a-z]+/g, run => run.toUpperCase()))],
};
