// Typed reading of one entry of a kubeconfig: every complaint names file, entry and field, and never quotes a value
// that could be a credential.

import { isAbsolute, join } from "node:path";
import { ConfigError } from "./errors.ts";

/** Bytes given in the configuration, or the file that holds them. */
export type Material = { data: string } | { file: string };

export type Place = {
  file: string;
  baseDir: string;
  /** `user "ann"`, `user "ann" exec`; empty at the top. */
  entry: string;
};

export class Fields {
  readonly #value: Record<string, unknown>;
  readonly #place: Place;

  constructor(value: unknown, place: Place) {
    if (!isRecord(value)) throw new ConfigError(`${placed(place)} must be a mapping of fields to values.`);
    this.#value = value;
    this.#place = place;
  }

  get file(): string {
    return this.#place.file;
  }

  get baseDir(): string {
    return this.#place.baseDir;
  }

  fail(field: string, complaint: string): never {
    throw new ConfigError(`${placed(this.#place)}: ${field} ${complaint}.`);
  }

  has(field: string): boolean {
    return this.#value[field] !== undefined && this.#value[field] !== null;
  }

  /** An empty string is an absent one, as in Go. */
  text(field: string): string | undefined {
    const value = this.#value[field];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value !== "string") this.fail(field, "must be a string: put it in quotes");
    return value;
  }

  required(field: string): string {
    return this.text(field) ?? this.fail(field, "is missing");
  }

  oneOf<T extends string>(field: string, allowed: readonly T[]): T {
    const value = this.required(field);
    const known = allowed.find(one => one === value);
    return known ?? this.fail(field, `must be one of ${allowed.join(", ")}`);
  }

  flag(field: string): boolean {
    const value = this.#value[field] ?? false;
    if (typeof value !== "boolean") this.fail(field, "must be true or false");
    return value;
  }

  texts(field: string): string[] {
    return this.#list(field).map(one =>
      typeof one === "string" ? one : this.fail(field, "must be a list of strings"),
    );
  }

  textLists(field: string): Record<string, string[]> {
    if (!this.has(field)) return {};
    const lists = new Fields(this.#value[field], this.#inner(field));
    return Object.fromEntries(Object.keys(lists.#value).map(key => [key, lists.texts(key)]));
  }

  nested(field: string, place: Place): Fields {
    return new Fields(this.#value[field] ?? {}, place);
  }

  child(field: string): Fields | undefined {
    return this.has(field) ? new Fields(this.#value[field], this.#inner(field)) : undefined;
  }

  children(field: string): Fields[] {
    return this.#list(field).map((one, index) => new Fields(one, this.#inner(`${field}[${index}]`)));
  }

  path(field: string): string | undefined {
    const path = this.text(field);
    return path === undefined || isAbsolute(path) ? path : join(this.#place.baseDir, path);
  }

  url(field: string, schemes: readonly string[]): string | undefined {
    const text = this.text(field);
    if (text === undefined) return undefined;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !schemes.includes(url.protocol) || url.hostname === "") {
      this.fail(field, `must be a URL that begins with ${schemes.map(scheme => `${scheme}//`).join(" or ")}`);
    }
    return text;
  }

  /** `name` is a file, `name-data` its content in base64. Both is a mistake, as kubectl says too. */
  material(name: string): Material | undefined {
    const data = this.text(`${name}-data`);
    const file = this.path(name);
    if (data !== undefined && file !== undefined) this.fail(`${name}-data`, `and ${name} are both given: remove one`);
    if (data === undefined) return file === undefined ? undefined : { file };
    if (!/^[A-Za-z0-9+/\s]+={0,2}\s*$/.test(data)) this.fail(`${name}-data`, "must be base64");
    return { data: Buffer.from(data, "base64").toString("utf8") };
  }

  /** `extensions` is a list of {name, extension}. */
  extension(name: string): unknown {
    const found = this.children("extensions").find(one => one.text("name") === name);
    return found === undefined ? undefined : found.#value["extension"];
  }

  #list(field: string): unknown[] {
    const value = this.#value[field] ?? [];
    return Array.isArray(value) ? value : this.fail(field, "must be a list");
  }

  #inner(field: string): Place {
    return { ...this.#place, entry: `${this.#place.entry} ${field}`.trim() };
  }
}

/** `contexts`, `clusters` and `users` are lists of {name, context | cluster | user}. */
export function entries(root: Fields, list: string, kind: string): Map<string, Fields> {
  const byName = new Map<string, Fields>();
  for (const item of root.children(list)) {
    const name = item.required("name");
    if (byName.has(name)) root.fail(list, `has two entries named "${name}"`);
    const place = { file: root.file, baseDir: root.baseDir, entry: `${kind} "${name}"` };
    byName.set(name, item.nested(kind, place));
  }
  return byName;
}

function placed({ file, entry }: Place): string {
  return entry === "" ? `Kubeconfig ${file}` : `Kubeconfig ${file}, ${entry}`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
