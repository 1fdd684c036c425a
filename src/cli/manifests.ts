// Reads manifests as kubectl does (YAML 1.1 booleans, several documents, Lists) and remembers where each field stands.

import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  parseAllDocuments,
  type ScalarTag,
  type Tags,
} from "yaml";
import { Failure, type Io } from "./io.ts";

export type Position = { line: number; column: number };

/** One object of a file: its value, or why it cannot be read, and where a field path stands in the text. */
export type ManifestObject =
  | { file: string; value: unknown; positionOf(path: string): Position }
  | { file: string; problem: string; at: Position };

const largestObjectBytes = 3 * 1024 * 1024;
const largestFileBytes = 64 * 1024 * 1024;
const manifestSuffixes = new Set([".yaml", ".yml", ".json"]);

export async function readManifests(paths: readonly string[], recursive: boolean, io: Io): Promise<ManifestObject[]> {
  const objects: ManifestObject[] = [];
  for (const path of paths) {
    if (path === "-") objects.push(...parseManifests("<stdin>", await io.stdin()));
    else for (const file of await filesAt(path, recursive)) objects.push(...parseManifests(file, await bytesOf(file)));
  }
  return objects;
}

async function filesAt(path: string, recursive: boolean): Promise<string[]> {
  const found = await attempt(path, () => stat(path));
  if (!found.isDirectory()) return [path];
  const entries = await attempt(path, () => readdir(path, { withFileTypes: true, recursive }));
  const files = entries
    .filter(entry => !entry.isDirectory() && manifestSuffixes.has(extname(entry.name)))
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
  if (files.length > 0) return files;
  const hint = recursive ? "" : " (add -R to look into its folders)";
  throw new Failure(`${path} holds no .yaml, .yml or .json file${hint}`);
}

async function bytesOf(file: string): Promise<Uint8Array> {
  const { size } = await attempt(file, () => stat(file));
  if (size > largestFileBytes) {
    throw new Failure(`${file} is ${megabytes(size)}; split it into files of at most ${megabytes(largestFileBytes)}`);
  }
  return attempt(file, () => readFile(file));
}

async function attempt<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    throw new Failure(`cannot read ${path}: ${systemSentence(error)}`, { cause: error });
  }
}

function systemSentence(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "there is no such file or directory";
  if (code === "EACCES" || code === "EPERM") return "permission denied";
  return (error as Error).message;
}

/** All objects of one text. A document that cannot be read is a problem of its own and hides no other. */
export function parseManifests(file: string, bytes: Uint8Array): ManifestObject[] {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return [{ file, problem: `byte ${invalidByteAt(bytes)} is not valid UTF-8; save the file as UTF-8`, at: start }];
  }
  const lines = new LineCounter();
  const documents = parseAllDocuments(text, { ...asKubernetesReads, lineCounter: lines });
  return documents.flatMap(document => objectsOf(file, document, lines));
}

function objectsOf(file: string, document: Document.Parsed, lines: LineCounter): ManifestObject[] {
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const [error] = document.errors;
  if (error !== undefined) return [{ file, problem: firstLine(error.message), at: place(error.pos[0]) }];
  const [from, to] = document.range;
  if (to - from > largestObjectBytes) {
    const problem = `the object is ${megabytes(to - from)}; an API server takes at most ${megabytes(largestObjectBytes)}`;
    return [{ file, problem, at: place(from) }];
  }
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) return [];
  let value: unknown;
  try {
    value = document.toJS();
  } catch (cause) {
    return [{ file, problem: firstLine((cause as Error).message), at: place(from) }];
  }
  const root = document.contents;
  if (isList(value)) {
    return value.items.map((item, index) => ({
      file,
      value: item,
      positionOf: path => place(offsetOf(document, root, path === "" ? `items[${index}]` : `items[${index}].${path}`)),
    }));
  }
  return [{ file, value, positionOf: path => place(offsetOf(document, root, path)) }];
}

function isList(value: unknown): value is { items: unknown[] } {
  const list = value as { kind?: unknown; apiVersion?: unknown; items?: unknown } | null;
  return list?.kind === "List" && list.apiVersion === "v1" && Array.isArray(list.items);
}

/**
 * Where the field stands, or the closest field around it that is there (a missing field has no place of its own).
 * Keys may hold dots, so at each map the longest key that fits is taken.
 */
function offsetOf(document: Document.Parsed, root: ParsedNode, path: string): number {
  let offset = root.range[0];
  let node: unknown = root;
  let rest = path;
  while (rest !== "") {
    if (isAlias(node)) node = node.resolve(document);
    const step = isMap(node) ? intoMap(node.items, rest) : isSeq(node) ? intoList(node.items, rest) : undefined;
    if (step === undefined) return offset;
    [offset, node, rest] = step;
  }
  return offset;
}

type Step = [offset: number, node: unknown, rest: string];

function intoMap(pairs: readonly { key: unknown; value: unknown }[], rest: string): Step | undefined {
  const path = rest.startsWith(".") ? rest.slice(1) : rest;
  let best: Step | undefined;
  let bestLength = -1;
  for (const { key, value } of pairs) {
    if (!isScalar(key)) continue;
    const name = String(key.value);
    const after = remainder(path, name);
    if (after !== undefined && name.length > bestLength) {
      best = [key.range?.[0] ?? 0, value, after];
      bestLength = name.length;
    }
  }
  return best;
}

/** What follows `name` at the head of `path`, in either spelling of a key: `labels.app` or `labels[app]`. */
function remainder(path: string, name: string): string | undefined {
  if (path.startsWith(`[${name}]`)) return path.slice(name.length + 2);
  if (!path.startsWith(name)) return undefined;
  const after = path.slice(name.length);
  return after === "" || after.startsWith(".") || after.startsWith("[") ? after : undefined;
}

function intoList(items: readonly unknown[], rest: string): Step | undefined {
  const match = /^\[(\d+)\]/.exec(rest);
  const item = match && (items[Number(match[1])] as { range?: [number, number, number] } | undefined);
  return match && item ? [item.range?.[0] ?? 0, item, rest.slice(match[0].length)] : undefined;
}

const start: Position = { line: 1, column: 1 };

// YAML 1.1 as kubectl's parser has it: `yes` and `on` are booleans, 0777 and 0o777 are octal, but there are no base-60
// numbers, and a date stays text.
const asKubernetesReads = {
  version: "1.1",
  merge: true,
  uniqueKeys: true,
  prettyErrors: false,
  customTags: (tags: Tags) => [...tags.filter(tag => typeof tag === "string" || !isUnknownToKubectl(tag)), modernOctal],
} as const;

const modernOctal: ScalarTag = {
  identify: value => typeof value === "number",
  default: true,
  tag: "tag:yaml.org,2002:int",
  format: "OCT",
  test: /^[-+]?0o[0-7_]+$/,
  resolve: text => {
    const digits = Number.parseInt(text.replaceAll(/[-+_]|0o/g, ""), 8);
    return text.startsWith("-") ? -digits : digits;
  },
};

function isUnknownToKubectl(tag: { tag: string; format?: string }): boolean {
  return tag.tag === "tag:yaml.org,2002:timestamp" || tag.format === "TIME";
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? text;
const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/** The longest prefix that decodes as the beginning of a text ends right before the offending byte. */
function invalidByteAt(bytes: Uint8Array): number {
  let low = 0;
  let high = bytes.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (beginsText(bytes.subarray(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function beginsText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
