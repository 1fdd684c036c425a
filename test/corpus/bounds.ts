// Every bound that the definitions set: which type, which values, how long, how many, which rules. And which of them an
// entry of the corpus oversteps or meets exactly.

import type { KindDefinition } from "../../src/api/kind-definition.ts";
import type { Manifest } from "../../src/api/meta.ts";
import type { Schema } from "../../src/api/schema/schema.ts";
import { join } from "./field.ts";
import { type Finding, placeOf } from "./judge.ts";

/** `path` has [] for any item and * for any key; `name` tells the bounds of a field apart. */
export type Bound = { path: string; name: string; isMetBy: (value: unknown) => boolean };

const sizes: Record<string, (value: unknown) => number> = {
  minLength: value => [...String(value)].length,
  maxLength: value => [...String(value)].length,
  minimum: Number,
  maximum: Number,
  minItems: value => (value as unknown[]).length,
  maxItems: value => (value as unknown[]).length,
  maxProperties: value => Object.keys(value as object).length,
};

/** Apart from what every object has, which is none of the definitions' business. */
export function boundsOf({ schema }: KindDefinition): Bound[] {
  return walk(schema, "").filter(({ path }) => !["", "apiVersion", "kind", "metadata"].includes(path));
}

function walk(schema: Schema, path: string): Bound[] {
  const { properties = {}, items, additionalProperties } = schema;
  return [
    ...ownBounds(schema, path),
    ...Object.entries(properties).flatMap(([name, field]) => walk(field, join(path, name))),
    ...(items ? walk(items, `${path}[]`) : []),
    ...(typeof additionalProperties === "object" ? walk(additionalProperties, `${path}.*`) : []),
  ];
}

function ownBounds(schema: Schema, path: string): Bound[] {
  const anyValue = () => true;
  const sized = Object.entries(sizes).flatMap(([name, size]): Bound[] => {
    const limit = schema[name as keyof Schema];
    return limit === undefined ? [] : [{ path, name, isMetBy: value => size(value) === limit }];
  });
  // One bound for each value, so that each must be seen accepted.
  const values = (schema.enum ?? []).map(
    (allowed): Bound => ({ path, name: `enum ${String(allowed)}`, isMetBy: value => value === allowed }),
  );
  // Of a time the server tells the format, whatever type stands there.
  const type = schema.format === "date-time" ? [] : ["type"];
  const named = (["pattern", "format"] as const).filter(name => schema[name] !== undefined);
  const isUnique = ["set", "map"].includes(schema["x-kubernetes-list-type"] ?? "");
  const rules = (schema["x-kubernetes-validations"] ?? []).map(({ message = "", fieldPath = "" }) => ({
    path: join(path, fieldPath.slice(1)),
    name: `rule: ${message}`,
    isMetBy: anyValue,
  }));
  return [
    ...[...type, ...named, ...(isUnique ? ["unique"] : [])].map(name => ({ path, name, isMetBy: anyValue })),
    ...sized,
    ...values,
    ...rules,
    ...(schema.required ?? []).map(name => ({ path: join(path, name), name: "required", isMetBy: anyValue })),
  ];
}

const words: readonly (readonly [RegExp, string])[] = [
  [/should match '/, "pattern"],
  [/^Too long/, "maxLength"],
  [/should be at least \d+ chars/, "minLength"],
  [/should be greater than or equal to/, "minimum"],
  [/should be less than or equal to/, "maximum"],
  [/should have at least \d+ items/, "minItems"],
  [/^Too many/, "maxItems maxProperties"],
  [/^Required value/, "required"],
  [/^Unsupported value/, "enum"],
  [/^Duplicate value/, "unique"],
  [/with format int|must be of type (date-time|int32|int64):/, "format"],
  [/must be of type/, "type"],
];

/** The bounds that the findings of a server are about. */
export function overstepped(bounds: readonly Bound[], findings: readonly Finding[], schema: Schema): Set<Bound> {
  const messagesAt = new Map<string, Set<string>>();
  for (const finding of findings) {
    const place = genericPath(placeOf(finding).replace(/^\./, ""), schema);
    messagesAt.set(place, (messagesAt.get(place) ?? new Set()).add(finding.message));
  }
  return new Set(bounds.filter(bound => [...(messagesAt.get(placeOfBound(bound)) ?? [])].some(isAbout(bound))));
}

const isAbout =
  ({ name }: Bound) =>
  (message: string): boolean => {
    if (name.startsWith("rule: ")) return message.endsWith(name.slice("rule: ".length));
    const broken = words.find(([text]) => text.test(message))?.[1] ?? "";
    return broken.split(" ").includes(name.split(" ", 1)[0] ?? "");
  };

/** The second of two equal items is the one that is one too many. */
const placeOfBound = ({ path, name }: Bound): string => (name === "unique" ? `${path}[]` : path);

/** "spec.limits.cpu" → "spec.limits.*": keys of maps may hold dots, and all our maps have plain values. */
function genericPath(path: string, schema: Schema): string {
  let generic = "";
  let at: Schema | undefined = schema;
  let rest = path;
  while (rest !== "") {
    if (typeof at?.additionalProperties === "object") return `${generic}.*`;
    const [step = rest] = /^(\[\d+\]|[^.[]+)/.exec(rest) ?? [];
    rest = rest.slice(step.length).replace(/^\./, "");
    const isIndex: boolean = step.startsWith("[");
    generic = isIndex ? `${generic}[]` : join(generic, step);
    at = isIndex ? at?.items : at?.properties?.[step];
  }
  return generic;
}

/** The bounds that some value of the manifests meets exactly. */
export function met(bounds: readonly Bound[], manifests: readonly Manifest[], schema: Schema): Set<Bound> {
  const values = new Map<string, unknown[]>();
  for (const manifest of manifests) collect(manifest, { at: schema, path: "", values });
  return new Set(bounds.filter(({ path, isMetBy }) => values.get(path)?.some(isMetBy)));
}

type Collection = { at: Schema | undefined; path: string; values: Map<string, unknown[]> };

function collect(value: unknown, { at, path, values }: Collection): void {
  if (at === undefined) return;
  const known = values.get(path);
  if (known === undefined) values.set(path, [value]);
  else known.push(value);
  if (Array.isArray(value)) for (const item of value) collect(item, { at: at.items, path: `${path}[]`, values });
  else if (typeof value === "object" && value !== null) {
    for (const [name, child] of Object.entries(value)) {
      const any = at.additionalProperties;
      if (typeof any === "object") collect(child, { at: any, path: `${path}.*`, values });
      else collect(child, { at: at.properties?.[name], path: join(path, name), values });
    }
  }
}
