// Fields that nobody knows, values of another type, and nulls: at every field of every kind that has one.

import { kindOf } from "../../src/api/kinds.ts";
import type { Manifest } from "../../src/api/meta.ts";
import type { Schema } from "../../src/api/schema/schema.ts";
import { at, bad, type Case, type Entry, good, type Table } from "./entry.ts";
import { join } from "./field.ts";
import { documents, least } from "./manifests.ts";

type Field = { path: string; schema: Schema; isNeeded: boolean };

/** Every field of the manifest with its schema; of a list the first item. The root and its metadata are left out. */
function fieldsOf(value: unknown, { path, schema }: Field): Field[] {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items && value.length > 0 ? below(value[0], { path: `${path}[0]`, schema: items, isNeeded: true }) : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => {
    const known = schema.properties?.[name];
    const untouched = path === "" && ["apiVersion", "kind", "metadata"].includes(name);
    if (known === undefined || untouched) return [];
    const isNeeded = schema.required?.includes(name) === true && known.default === undefined;
    return below(child, { path: join(path, name), schema: known, isNeeded });
  });
}

const below = (value: unknown, field: Field): Field[] => [field, ...fieldsOf(value, field)];

const isText = ({ type, ...schema }: Schema) => type === "string" || schema["x-kubernetes-int-or-string"] === true;

/** A value that the field cannot have, and that has no fields of its own for anybody to be unknown. */
const wrongType = ({ schema }: Field): Case => (isText(schema) ? bad("a boolean", true) : bad("a word", "word"));

/** Optional fields whose absence breaks a rule on the object around them. */
const missed =
  /nodeClassRef\.(group|apiVersion)$|\.values$|budgets\[0\]\.(schedule|crontab|duration)$|^spec\.(remediationTemplate|escalatingRemediations)$/;

/** A null is as good as nothing: a default takes its place, or the field is left out. */
function nothing(manifest: Manifest, { path, isNeeded }: Field): Entry[] {
  if (!missed.test(path) || isNeeded) return at(manifest, path, [isNeeded ? bad("null", null) : good("null", null)]);
  const [around = ""] = path.split(/\.\w+$/);
  return at(manifest, path, [bad("null", null)]).map(entry => ({
    ...entry,
    verdict: { kind: "refused", at: [around] },
  }));
}

const unknown = (manifest: Manifest, { path, schema }: Field): Entry[] =>
  schema.properties === undefined ? [] : at(manifest, join(path, "bogus"), [bad("unknown", 1)]);

function sweep({ manifest, file }: { manifest: Manifest; file: string }): Table {
  const schema = kindOf(manifest)?.schema ?? {};
  const fields = fieldsOf(manifest, { path: "", schema, isNeeded: true });
  return {
    title: `every field of whole/${file}, of another type, as null, or with an unknown one beside it`,
    entries: fields.flatMap(field => [
      ...at(manifest, field.path, [wrongType(field)]),
      ...nothing(manifest, field),
      ...unknown(manifest, field),
    ]),
  };
}

const pool = least.nodePool();

const unknownFields: Table = {
  title: "fields that nobody knows",
  entries: [
    ...at(pool, "sepc", [bad("a slip of the pen", {})]),
    ...at(pool, "spec.disruptions", [bad("one letter more", {})]),
    ...at(pool, "spec.disruption.budgets[0].node", [bad("one letter less", 1)]),
    ...at(pool, "spec.kubelet", [bad("a field of v1beta1 that went to the node class", { maxPods: 110 })]),
    ...at(pool, "spec.template.spec.resources", [bad("a field of claims", { requests: { cpu: 1 } })]),
    ...at(pool, "metadata.lables", [bad("a slip of the pen", { team: "a" })]),
    ...at(pool, "spec", [
      bad(
        "several at once",
        { a: 1, disruption: { b: 1 }, template: { spec: { c: 1 } } },
        "a",
        "disruption.b",
        "template.spec.c",
      ),
      bad("an unknown one hides a wrong one", { a: 1, weight: 101 }, "a"),
    ]),
  ],
};

const nulls: Table = {
  title: "nulls in lists and maps, and all at once",
  entries: [
    ...at(pool, "spec.limits", [good("a null for a quantity", { cpu: null })]),
    ...at(pool, "spec.template.metadata.labels", [good("a null for a label", { team: null })]),
    ...at(pool, "spec.disruption.budgets", [bad("a null among budgets", [{ nodes: 1 }, null], "[1]")]),
    ...at(pool, "spec.template.spec.requirements", [
      bad("a null among values", [{ key: "a", operator: "In", values: ["b", null] }], "[0].values[1]"),
    ]),
    ...at(pool, "spec", [good("each part", { template: null, disruption: null, repair: null, limits: null })]),
    ...at(pool, "", [good("a status of null", { ...pool, status: null })]),
  ],
};

export const strict: readonly Table[] = [unknownFields, nulls, ...documents("whole").map(sweep)];
