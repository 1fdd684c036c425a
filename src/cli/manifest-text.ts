// Reads the text of manifests as kubectl does (YAML 1.1 booleans, several documents, JSON objects in a row, Lists) and
// remembers where each field stands. What cannot be read is a problem of that document alone.

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

export type Position = { line: number; column: number };

/** One object of a file: its value, or why it cannot be read, and where a field path stands in the text. */
export type ManifestObject =
  | { file: string; value: unknown; positionOf(path: string): Position }
  | { file: string; problem: string; at: Position };

const largestObjectBytes = 3 * 1024 * 1024;
/** What aliases may add up to, one inside the other multiplied: far more than a person writes, far less than a bomb. */
const largestAliasCount = 10_000;

/** All objects of one text. A document that cannot be read is a problem of its own and hides no other. */
export function parseManifests(file: string, bytes: Uint8Array): ManifestObject[] {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return [{ file, problem: `byte ${invalidByteAt(bytes)} is not valid UTF-8; save the file as UTF-8`, at: start }];
  }
  return piecesOf(text).flatMap(piece => objectsIn(file, piece));
}

/** A part of the text that is read on its own, and where it begins. */
type Piece = { text: string; at: Position };

const jsonTokens = /"(?:[^"\\]+|\\.)*"|[{}]/gs;

/** JSON objects may follow each other with nothing between them; everything else is one piece. */
function piecesOf(text: string): Piece[] {
  if (!text.trimStart().startsWith("{")) return [{ text, at: start }];
  const ends: number[] = [];
  let depth = 0;
  for (const { 0: token, index } of text.matchAll(jsonTokens)) {
    if (token === "{") depth++;
    if (token === "}" && --depth === 0) ends.push(index + 1);
  }
  const first = text.slice(0, ends[0]);
  if (ends.length === 0 || !isJson(first) || !text.slice(ends[0]).trimStart().startsWith("{")) {
    return [{ text, at: start }];
  }
  const pieces: Piece[] = [];
  let at = start;
  for (const [index, end] of [...ends, text.length].entries()) {
    const piece = { text: text.slice(index === 0 ? 0 : ends[index - 1], end), at };
    pieces.push(piece);
    at = endOf(piece);
  }
  return pieces;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function endOf({ text, at }: Piece): Position {
  const lines = text.split("\n");
  const last = (lines.at(-1) ?? "").length;
  return lines.length === 1
    ? { line: at.line, column: at.column + last }
    : { line: at.line + lines.length - 1, column: last + 1 };
}

function objectsIn(file: string, { text, at }: Piece): ManifestObject[] {
  const { rest, tooLarge } = withoutLargeDocuments(text);
  const lines = new LineCounter();
  const documents = parseAllDocuments(rest, { ...asKubernetesReads, lineCounter: lines });
  const place = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: at.line - 1 + Math.max(line, 1), column: (line > 1 ? 0 : at.column - 1) + Math.max(col, 1) };
  };
  return [
    ...tooLarge.map(({ problem, line }) => ({ file, problem, at: { line: at.line - 1 + line, column: 1 } })),
    ...documents.flatMap(document => objectsOf(file, document, place)),
  ];
}

/** Documents that no server would take are not even read; their lines stay, so that all others keep their places. */
function withoutLargeDocuments(text: string): { rest: string; tooLarge: { problem: string; line: number }[] } {
  if (text.length <= largestObjectBytes) return { rest: text, tooLarge: [] };
  const tooLarge: { problem: string; line: number }[] = [];
  let line = 1;
  // A line that begins with --- begins a document, wherever it stands.
  const parts = text.split(/^(?=---(?:\s|$))/m).map(part => {
    const begins = line;
    const newlines = part.replaceAll(/[^\n]+/g, "");
    line += newlines.length;
    if (part.length <= largestObjectBytes) return part;
    const problem = `the object is ${megabytes(part.length)}; an API server takes at most ${megabytes(largestObjectBytes)}`;
    tooLarge.push({ problem, line: begins });
    return part.startsWith("---") ? `---${newlines}` : newlines;
  });
  return { rest: parts.join(""), tooLarge };
}

function objectsOf(file: string, document: Document.Parsed, place: (offset: number) => Position): ManifestObject[] {
  const [error] = document.errors;
  if (error !== undefined) return [{ file, problem: sentence(error), at: place(error.pos[0]) }];
  const repeated = repeatedKey(document.contents);
  if (repeated !== undefined) {
    return [{ file, problem: `the key "${repeated.name}" stands twice in one map`, at: place(repeated.offset) }];
  }
  if (document.contents === null || (isScalar(document.contents) && document.contents.value === null)) return [];
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: largestAliasCount });
  } catch (cause) {
    return [{ file, problem: sentence(cause as Error), at: place(document.range[0]) }];
  }
  if (holdsItself(value)) return [{ file, problem: "an anchor contains itself", at: place(document.range[0]) }];
  const root = document.contents;
  if (isList(value)) {
    const { apiVersion, kind } = value;
    return value.items.map((item, index) => ({
      file,
      value: kind === "List" ? item : asItem(item, { apiVersion, kind: kind.slice(0, -"List".length) }),
      positionOf: path => place(offsetOf(document, root, path === "" ? `items[${index}]` : `items[${index}].${path}`)),
    }));
  }
  return [{ file, value, positionOf: path => place(offsetOf(document, root, path)) }];
}

/** The library's own check compares each key with each other one, which a map of 100,000 keys makes take minutes. */
function repeatedKey(root: unknown): { name: string; offset: number } | undefined {
  const open: unknown[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isSeq(node)) open.push(...node.items.toReversed());
    if (!isMap(node)) continue;
    const names = new Set<string>();
    for (const { key } of node.items) {
      const name = isScalar(key) && key.value !== "<<" ? String(key.value) : undefined;
      if (name !== undefined && names.has(name)) return { name, offset: (key as { range?: number[] }).range?.[0] ?? 0 };
      if (name !== undefined) names.add(name);
    }
    for (const { value } of node.items.toReversed()) if (value !== null) open.push(value);
  }
  return undefined;
}

type List = { apiVersion: string; kind: string; items: unknown[] };

/** `v1 List`, and the typed lists in which an API server answers. */
function isList(value: unknown): value is List {
  const list = value as Partial<List> | null;
  return typeof list?.apiVersion === "string" && String(list.kind).endsWith("List") && Array.isArray(list.items);
}

/** Items of a typed list may leave out what the list says of them all. */
function asItem(item: unknown, type: { apiVersion: string; kind: string }): unknown {
  return typeof item === "object" && item !== null && !Array.isArray(item) ? { ...type, ...item } : item;
}

function holdsItself(value: unknown, around = new Set<unknown>(), seen = new Set<unknown>()): boolean {
  if (typeof value !== "object" || value === null || seen.has(value)) return false;
  if (around.has(value)) return true;
  around.add(value);
  const found = Object.values(value).some(child => holdsItself(child, around, seen));
  around.delete(value);
  seen.add(value);
  return found;
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
  uniqueKeys: false,
  prettyErrors: false,
  customTags: (tags: Tags) => [
    ...tags.filter(tag => typeof tag === "string" || !isUnknownToKubectl(tag)),
    modernOctal,
    binaryText,
  ],
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

const notInJson = new Set(["timestamp", "set", "omap", "pairs", "binary"].map(name => `tag:yaml.org,2002:${name}`));

function isUnknownToKubectl(tag: { tag: string; format?: string }): boolean {
  return notInJson.has(tag.tag) || tag.format === "TIME";
}

const binaryText: ScalarTag = {
  tag: "tag:yaml.org,2002:binary",
  resolve: text =>
    new TextDecoder().decode(Uint8Array.from(atob(text.replaceAll(/\s/g, "")), byte => byte.charCodeAt(0))),
};

function sentence({ message }: Error): string {
  if (message.includes("call stack")) return "the document is nested too deeply to be read";
  return message.split("\n", 1)[0] ?? message;
}

export const megabytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

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
