// The fieldPath of a rule: which field, relative to the value, a finding is about.

import type { Schema } from "./schema.ts";

const singleQuoteEscapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "'": "'",
  "\\": "\\",
};

/** `.a.b['c']` as the API server writes it behind a path ("a.b.c", "a[c]" for a map); undefined if it names no field. */
export function fieldPathIn(schema: Schema, path: string): string | undefined {
  let at: Schema | undefined = schema;
  let out = "";
  const tokens = /\.([^.[\]]+)|\['((?:\\.|[^'\\])*)'\]/gy;
  while (tokens.lastIndex < path.length) {
    const token = tokens.exec(path);
    if (token === null || at === undefined) return undefined;
    const name: string | undefined = token[1] ?? unescapeQuoted(token[2] ?? "");
    if (name === undefined) return undefined;
    const named: boolean = at.properties !== undefined;
    const additional: Schema["additionalProperties"] = at.additionalProperties;
    at = named ? own(at.properties, name) : typeof additional === "object" ? additional : undefined;
    if (at === undefined) return undefined;
    out += named ? (out === "" ? name : `.${name}`) : `[${name}]`;
  }
  return out;
}

function own(properties: Schema["properties"], name: string): Schema | undefined {
  return properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
}

function unescapeQuoted(text: string): string | undefined {
  let known = true;
  const plain = text.replace(/\\(.)/g, (_, character: string) => {
    const meant = singleQuoteEscapes[character];
    if (meant === undefined) known = false;
    return meant ?? "";
  });
  return known ? plain : undefined;
}
