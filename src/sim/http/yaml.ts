// The text of one YAML document as the JSON value that the API server makes of it: YAML 1.1 with that parser's limits
// and sentences. The library reads the text; what an alias, a tag and a merge mean is decided here, because the library
// shares what an alias repeats, and takes quadratic time to find it.

import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  type Scalar,
  type ScalarTag,
  type Tags,
  visit,
  type YAMLMap,
} from "yaml";
import { isObject, type JsonObject, setField } from "../json-value.ts";

export class YamlError extends Error {}

const tagOf = (name: string) => `tag:yaml.org,2002:${name}`;

const binary: ScalarTag = {
  tag: tagOf("binary"),
  resolve: (text, onError) => {
    const base64 = text.replaceAll(/[\r\n]/g, "");
    const isValid = base64.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(base64);
    if (!isValid) onError("!!binary value contains invalid base64 data");
    return Buffer.from(base64, "base64").toString("utf8");
  },
};

const modernOctal: ScalarTag = {
  tag: tagOf("int"),
  default: true,
  format: "OCT",
  test: /^[-+]?0o[0-7_]+$/,
  resolve: text => (text.startsWith("-") ? -1 : 1) * Number.parseInt(text.replaceAll(/[-+_]|0o/g, ""), 8),
};

// A date is text for Kubernetes, and so are base-60 numbers; a set is a map, and ordered pairs are a list.
const unknownTags = new Set(["timestamp", "binary", "set", "omap", "pairs"].map(tagOf));
const asKubernetesReads = {
  version: "1.1",
  merge: true,
  uniqueKeys: false,
  customTags: (tags: Tags) => [
    ...tags.filter(tag => typeof tag === "string" || !(unknownTags.has(tag.tag) || tag.format === "TIME")),
    binary,
    modernOctal,
  ],
} as const;

/** Of several documents the first; an empty one is an empty object. Throws YamlError. */
export function readYaml(text: string): unknown {
  const document = parseDocument(text, asKubernetesReads);
  const error = document.errors.find(({ code }) => code !== "MULTIPLE_DOCS");
  if (error !== undefined) throw new YamlError(isTooDeep(error) ? tooDeep : `yaml: ${error.message.split("\n", 1)[0]}`);
  const { explicit, version } = document.directives.yaml;
  if (explicit === true && version !== "1.1") throw new YamlError("yaml: found incompatible YAML document");
  try {
    return new Reader(targetsOf(document)).value(document.contents) ?? {};
  } catch (cause) {
    throw isTooDeep(cause as Error) ? new YamlError(tooDeep) : cause;
  }
}

const tooDeep = "yaml: the document is nested too deeply to be read";
const isTooDeep = ({ message }: Error) => message.includes("call stack");

/** What each alias stands for: the last node before it with that anchor. */
function targetsOf(document: Document.Parsed): Map<Alias, unknown> {
  const anchors = new Map<string, unknown>();
  const targets = new Map<Alias, unknown>();
  visit(document, {
    Alias: (_, alias) => {
      if (!anchors.has(alias.source)) throw new YamlError(`yaml: unknown anchor '${alias.source}' referenced`);
      targets.set(alias, anchors.get(alias.source));
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

class Reader {
  readonly #targets: ReadonlyMap<Alias, unknown>;
  readonly #open = new Set<unknown>();
  #read = 0;
  #readAgain = 0;

  constructor(targets: ReadonlyMap<Alias, unknown>) {
    this.#targets = targets;
  }

  value(node: unknown): unknown {
    this.#count();
    if (isAlias(node)) return this.#alias(node, target => this.value(target));
    if (isScalar(node)) return scalarValue(node);
    if (isSeq(node)) return node.items.map(item => this.value(item));
    return isMap(node) ? this.#map(node) : null;
  }

  /** A small text can stand for gigabytes: the more there is, the less of it may be repetition. */
  #count(): void {
    this.#read++;
    if (this.#open.size > 0) this.#readAgain++;
    if (this.#readAgain <= 100 || this.#read <= 1000) return;
    if (this.#readAgain / this.#read > repeatedMax(this.#read))
      throw new YamlError("yaml: document contains excessive aliasing");
  }

  #alias<T>(alias: Alias, read: (target: unknown) => T): T {
    const target = this.#targets.get(alias);
    if (this.#open.has(target)) throw new YamlError(`yaml: anchor '${alias.source}' value contains itself`);
    this.#open.add(target);
    const value = read(target);
    this.#open.delete(target);
    return value;
  }

  #map(map: YAMLMap): JsonObject {
    const object: JsonObject = {};
    for (const { key, value } of map.items) {
      if (isScalar(key) && typeof key.value === "symbol") this.#merge(object, value);
      else setField(object, keyText(this.value(key)), this.value(value));
    }
    return object;
  }

  /** In the order of the text, so that what comes later wins; within a list of maps the first wins. */
  #merge(object: JsonObject, from: unknown): void {
    const value = this.value(from);
    const sources = Array.isArray(value) ? value.toReversed() : [value];
    for (const source of sources) {
      if (!isObject(source)) throw new YamlError("yaml: map merge requires map or sequence of maps as the value");
      for (const [key, merged] of Object.entries(source)) setField(object, key, merged);
    }
  }
}

/** 99 % in a document of up to 400,000 values, falling to 10 % in one of 4,000,000. */
function repeatedMax(read: number): number {
  const excess = Math.min(Math.max(read - 400_000, 0) / 3_600_000, 1);
  return 0.99 - 0.89 * excess;
}

function scalarValue({ value, tag }: Scalar): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw new YamlError(`json: unsupported value: ${Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf"}`);
  }
  // The library leaves the text where it does not fit the tag.
  if (typeof value !== "string" || !textless.has(tag ?? "")) return value;
  if (tag === tagOf("float") && /^[-+]?\d+$/.test(value)) return Number(value);
  throw new YamlError(`yaml: cannot decode !!str \`${value}\` as a !!${tag?.split(":").at(-1)}`);
}

const textless = new Set(["int", "float", "bool", "null"].map(tagOf));

function keyText(key: unknown): string {
  if (key === null) throw new YamlError("yaml: a key may not be null: put it in quotes");
  if (typeof key === "object") throw new YamlError(`yaml: invalid map key: ${JSON.stringify(key)}`);
  return String(key);
}
