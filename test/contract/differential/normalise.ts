// Makes what two servers said comparable: what each may choose freely (versions, uids, times, generated names,
// continue tokens) is replaced by when it was first seen. Everything else stays, to the letter.

import { type Accepted, acceptedDifferences } from "../accepted-differences.ts";
import { generatedName, type Names } from "./names.ts";
import type { Json, JsonObject } from "./operation.ts";
import type { WatchLine } from "./server.ts";
import type { Exchange, WatchRecord } from "./side.ts";

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
// Times that sequences write themselves are older than this.
const serverTime = /^20(2[6-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
// Sentences in which the server quotes versions.
const quotedVersions = [
  /(?<=ResourceVersion in (?:precondition|object meta): )\d+/g,
  /(?<=ResourceVersion in the precondition \()\d+(?=\))/g,
  /(?<=ResourceVersion in record \()\d+(?=\))/g,
  /(?<=too old resource version: )\d+ \(\d+\)/g,
  /(?<=Too large resource version: )\d+, current: \d+/g,
];

/** Remembers, for one server and one sequence, what was seen in which order. */
export class Normaliser {
  readonly #uids = new Numbering("uid");
  readonly #versions = new Numbering("version");
  readonly #generated = new Numbering("generated");
  readonly #generatedName: RegExp;
  readonly #accepted: readonly Accepted[];

  constructor(names: Names, accepted: readonly Accepted[] = acceptedDifferences) {
    this.#generatedName = generatedName(names);
    this.#accepted = accepted;
  }

  exchange({ request, answer }: Exchange): Json {
    const { code, warnings, retryAfter, body } = answer;
    const { method, path } = request;
    const seen = { method, path, isDryRun: isDryRun(request), code, warnings: [...warnings], retryAfter, body };
    return this.#object(this.#erased(seen));
  }

  watch({ request, refused, lines, ended }: WatchRecord): Json {
    const asked = { method: "WATCH", path: request.path };
    if (refused !== undefined) return this.#object(this.#erased({ ...asked, code: refused.code, body: refused.body }));
    const told = (lines ?? []).filter(isTold).map(atNow);
    return this.#object(this.#erased({ ...asked, ended: ended ?? false, body: told }));
  }

  #erased(value: JsonObject): JsonObject {
    const copy = structuredClone(value);
    for (const { erase } of this.#accepted) erase(copy);
    return copy;
  }

  #object(value: Json): Json {
    if (Array.isArray(value)) return value.map(item => this.#object(item));
    if (typeof value === "string") return this.#text(value);
    if (typeof value !== "object" || value === null) return value;
    const isList = Array.isArray(value["items"]);
    // In the order of names: two servers may write the fields of one object in different orders.
    const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
    return Object.fromEntries(
      fields.map(([field, child]) => {
        if (isList && field === "metadata") return [field, listMeta(child as JsonObject)];
        if (field === "resourceVersion" && typeof child === "string" && /^\d+$/.test(child))
          return [field, this.#versions.of(child)];
        return [field, this.#object(child)];
      }),
    );
  }

  #text(text: string): string {
    if (serverTime.test(text)) return "<time>";
    let result = text
      .replaceAll(uuid, uid => this.#uids.of(uid))
      .replaceAll(this.#generatedName, name => this.#generated.of(name));
    for (const quoted of quotedVersions) result = result.replaceAll(quoted, "<version>");
    return result;
  }
}

function isDryRun({ query, body }: Exchange["request"]): boolean {
  return JSON.stringify([query, body]).includes('"dryRun":');
}

// A list's own version is "now", and now moves on by itself on a real server.
function listMeta({ resourceVersion, continue: token, ...rest }: JsonObject): Json {
  return {
    ...rest,
    resourceVersion: resourceVersion ? "<now>" : "",
    ...(token === undefined ? {} : { continue: token === "" ? "" : "<token>" }),
  };
}

// Bookmarks come when they come, but for the one that ends the initial events.
function isTold({ type, object }: WatchLine): boolean {
  return type !== "BOOKMARK" || JSON.stringify(object).includes("initial-events-end");
}

// Its version is that of the last change of anything, by anybody.
function atNow(line: WatchLine): WatchLine {
  if (line.type !== "BOOKMARK") return line;
  const metadata = { ...(line.object["metadata"] as JsonObject), resourceVersion: "<now>" };
  return { ...line, object: { ...line.object, metadata } };
}

class Numbering {
  readonly #kind: string;
  readonly #known = new Map<string, number>();

  constructor(kind: string) {
    this.#kind = kind;
  }

  of(value: string): string {
    const number = this.#known.get(value) ?? this.#known.size + 1;
    this.#known.set(value, number);
    return `<${this.#kind} ${number}>`;
  }
}
