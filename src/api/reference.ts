// A kind's definition → its page of the API reference, in Markdown: for every field what it means, its type, default
// and bounds. A shape that occurs twice is told once and linked.

import { crdName } from "./crd.ts";
import { patterns } from "./define.ts";
import { effectiveDefaults } from "./effective-defaults.ts";
import type { Column, KindDefinition } from "./kind-definition.ts";
import { apiVersionOf } from "./meta.ts";
import { offlineCodes } from "./offline-finding.ts";
import type { Schema } from "./schema/schema.ts";

/** Where each shape is told, by what it consists of: the first place that has it. */
type Told = ReadonlyMap<string, string>;

export function referencePage(definition: KindDefinition): string {
  const { spec, status } = definition.schema.properties ?? {};
  const shapes = [...shapesUnder("spec", spec), ...shapesUnder("status", status)];
  const told = new Map(shapes.reverse().map(({ path, schema }) => [identity(schema), path]));
  const sections = shapes
    .reverse()
    .filter(({ path, schema }) => told.get(identity(schema)) === path)
    .flatMap(shape => section(definition, shape, told));
  return [...head(definition), ...sections].join("\n\n").concat("\n");
}

/** The table of contents of docs/api. */
export function referenceIndex(definitions: readonly KindDefinition[]): string {
  const rows = definitions.map(definition => {
    const { resource, schema } = definition;
    return [
      `[${resource.kind}](${pageName(definition)})`,
      code(apiVersionOf(resource)),
      cell(schema.description ?? ""),
    ];
  });
  const findings = Object.entries(offlineCodes).map(([name, { severity, when }]) => [code(name), severity, when]);
  const lines = [
    "# API reference",
    "Made from the definitions in `src/api` by `npm run generate`. All kinds are cluster-scoped.",
    table(["Kind", "Version", "What it is"], rows),
    "Durations are written as Go writes them (`1h30m`, `300s`). Where a default depends on other fields, the API server stores nothing and Fettle reads the object as if the default stood there.",
    "## What no API server refuses",
    "`fettle validate` finds these without a cluster; the controller puts the same into a condition. An error fails closed: what it concerns is not done.",
    table(["Code", "Severity", "When"], findings),
  ];
  return lines.join("\n\n").concat("\n");
}

export function pageName({ resource }: KindDefinition): string {
  return `${resource.kind.replaceAll(/(?<!^)(?=[A-Z])/g, "-").toLowerCase()}.md`;
}

function head(definition: KindDefinition): string[] {
  const { resource, versions, shortNames, categories, columns, schema, scale, selectableFields } = definition;
  const served = versions.map(version => code(apiVersionOf({ ...resource, version })));
  const facts = [
    `Served as ${served.join(" and ")}${versions.length > 1 ? `, stored as ${served[0]}, with one schema` : ""}.`,
    `CRD ${code(crdName(definition))}.`,
    shortNames.length > 0 ? `Short name ${shortNames.map(code).join(", ")}.` : "",
    `In ${categories.map(name => code(`kubectl get ${name}`)).join(" and ")}.`,
    scale ? `${code("kubectl scale")} sets ${code(scale.specReplicasPath.slice(1))}.` : "",
    selectableFields.length > 0
      ? `Field selectors: ${selectableFields.map(path => code(path.slice(1))).join(", ")}.`
      : "",
  ];
  return [
    `# ${resource.kind}`,
    schema.description ?? "",
    facts.filter(fact => fact !== "").join(" "),
    `\`kubectl get ${resource.plural}\` shows ${columns.map(column).join(", ")}.`,
    ...nameRules(schema),
  ];
}

function column({ name, jsonPath, priority }: Column): string {
  return `${name} (${code(jsonPath.slice(1))}${priority === 1 ? ", with `-o wide`" : ""})`;
}

function nameRules(schema: Schema): string[] {
  const { maxLength } = schema.properties?.["metadata"]?.properties?.["name"] ?? {};
  const lines = rulesOf(schema);
  if (maxLength !== undefined && maxLength < 253)
    lines.unshift(`- \`metadata.name\` has at most ${maxLength} characters`);
  return lines.length > 0 ? [lines.join("\n")] : [];
}

type Shape = { path: string; schema: Schema };

// What a shape consists of, whatever it is called in its place.
const identity = (schema: Schema): string => JSON.stringify({ ...schema, description: undefined, default: undefined });

// Every object that has fields, from the outside in: the one at the path, and those its fields hold.
function shapesUnder(path: string, schema: Schema | undefined): Shape[] {
  const shape = shapeAt(path, schema);
  if (shape === undefined) return [];
  const fields = Object.entries(shape.schema.properties ?? {});
  return [shape, ...fields.flatMap(([name, field]) => shapesUnder(`${shape.path}.${name}`, field))];
}

// The object that a field holds, if it holds any: itself, the items of a list, the values of a map.
function shapeAt(path: string, schema: Schema | undefined): Shape | undefined {
  if (schema?.items) return shapeAt(`${path}[]`, schema.items);
  if (typeof schema?.additionalProperties === "object") return shapeAt(`${path}.*`, schema.additionalProperties);
  return schema?.properties ? { path, schema } : undefined;
}

function section(definition: KindDefinition, { path, schema }: Shape, told: Told): string[] {
  const fields = Object.entries(schema.properties ?? {});
  const rows = fields.map(([name, field]) => row(definition, { name, path: `${path}.${name}`, field, schema }, told));
  const rules = [...rulesOf(schema), ...fields.flatMap(([name, field]) => valueRules(name, field))];
  return [
    `## ${path}`,
    schema.description ?? "",
    table(["Field", "Type", "Default", "Meaning"], rows),
    ...(rules.length > 0 ? [`Rules:\n\n${rules.join("\n")}`] : []),
  ];
}

// Rules of a field that holds an object stand in that object's own section.
function valueRules(name: string, field: Schema): string[] {
  return field.properties ? [] : rulesOf(field).map(line => `${line} (${code(name)})`);
}

function rulesOf(schema: Schema): string[] {
  return (schema["x-kubernetes-validations"] ?? []).map(({ message, rule }) => `- ${message ?? rule}`);
}

type Field = { name: string; path: string; field: Schema; schema: Schema };

function row(definition: KindDefinition, { name, path, field, schema }: Field, told: Told): string[] {
  const required = schema.required?.includes(name) === true && field.default === undefined;
  const nested = shapeAt(path, field);
  const place = nested && told.get(identity(nested.schema));
  const link = place === undefined ? "" : ` See [${place}](#${anchor(place)}).`;
  return [
    code(name),
    cell(typeOf(field)),
    required ? "required" : defaultOf(definition, path, field),
    cell((field.description ?? "") + link),
  ];
}

function defaultOf({ resource }: KindDefinition, path: string, field: Schema): string {
  const value = field.default ?? effectiveDefaults[resource.kind]?.[path];
  const isEmptyObject = typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return value === undefined || isEmptyObject
    ? ""
    : cell(code(typeof value === "string" ? value : JSON.stringify(value)));
}

const typeByPattern = new Map<string, string>([
  [patterns.amount, "count or percentage"],
  [patterns.percent, "percentage"],
  [patterns.duration, "duration"],
  [patterns.signedDuration, "duration, may be negative"],
  [patterns.wholeDuration, "duration (h, m, s)"],
  [patterns.durationOrNever, "duration (h, m, s) or Never"],
  [patterns.quantity, "quantity"],
  [patterns.schedule, "cron schedule"],
  [patterns.timeZone, "time zone"],
  [patterns.decimal, "decimal number in quotes"],
  [patterns.qualifiedName, "label key"],
  [patterns.labelValue, "label value"],
  [patterns.conditionType, "condition type"],
  [patterns.conditionStatus, '"True", "False" or "Unknown"'],
]);

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map(value => code(String(value))).join(", ");
  if (schema.items) return `list of ${typeOf(schema.items)}${itemBounds(schema)}`;
  if (typeof schema.additionalProperties === "object") return `map of ${typeOf(schema.additionalProperties)}`;
  if (schema.format === "date-time") return "time (RFC 3339)";
  const named = schema.pattern === undefined ? undefined : typeByPattern.get(schema.pattern);
  return (named ?? schema.type ?? "value") + numberBounds(schema);
}

function numberBounds({ minimum, maximum, type }: Schema): string {
  if (type !== "integer" || (minimum === undefined && maximum === undefined)) return "";
  if (maximum === undefined) return ` ≥ ${minimum}`;
  return ` ${minimum ?? 0}–${maximum}`;
}

function itemBounds({ minItems, maxItems }: Schema): string {
  return maxItems === undefined ? "" : `, ${minItems === undefined ? "at most " : `${minItems} to `}${maxItems}`;
}

function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(headings), line(headings.map(() => "---")), ...rows.map(line)].join("\n");
}

const code = (text: string): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll("|", "\\|");
const anchor = (heading: string): string => heading.toLowerCase().replaceAll(/[^a-z0-9 -]/g, "");
