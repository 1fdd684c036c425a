// OpenAPI v3, one document a group and version: what `kubectl explain` prints, what `kubectl apply` computes its patches
// from, and the proof to kubectl that the server validates fields itself.

import { createHash } from "node:crypto";
import { apiVersionOf, type Resource } from "../../api/meta.ts";
import type { Schema } from "../../api/schema/schema.ts";
import type { ServedKind } from "../kind.ts";
import { type Definition, definitionOf } from "../kinds/definitions.ts";

type Json = Record<string, unknown>;
type Kinds = Iterable<ServedKind>;

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
const listMeta = {
  type: "object",
  properties: Object.fromEntries(["continue", "resourceVersion"].map(optionalString)),
};

/** GET /openapi/v3: where the documents are. The hash changes with the kinds, so that clients may keep what they read. */
export function openapiPaths(kinds: Kinds): Json {
  const documents = [...new Set([...kinds].map(kind => pathOf(kind.resource)))].sort();
  const paths = documents.map(path => {
    const hash = createHash("sha512")
      .update(JSON.stringify(documentOf([...kinds], path)))
      .digest("hex")
      .toUpperCase();
    return [path, { serverRelativeURL: `/openapi/v3/${path}?hash=${hash}` }];
  });
  return { paths: Object.fromEntries(paths) };
}

/** GET /openapi/v3/api/v1, GET /openapi/v3/apis/{group}/{version}; undefined if nothing is served there. */
export function openapiDocument(kinds: Kinds, at: Pick<Resource, "group" | "version">): Json | undefined {
  const path = pathOf(at);
  const served = [...kinds];
  return served.some(kind => pathOf(kind.resource) === path) ? documentOf(served, path) : undefined;
}

const pathOf = (at: Pick<Resource, "group" | "version">): string =>
  at.group === "" ? `api/${at.version}` : `apis/${at.group}/${at.version}`;

function documentOf(kinds: readonly ServedKind[], path: string): Json {
  const served = kinds.filter(kind => pathOf(kind.resource) === path);
  const schemas = new Map<string, Json>();
  for (const kind of served) {
    if (kind.strategic) addDefinition(builtInName(kind.resource), schemas);
    else schemas.set(customName(kind.resource), customSchema(kind));
    addDefinition(objectMeta, schemas);
    schemas.set(`${componentName(kind)}List`, listSchema(kind));
  }
  for (const kind of served) {
    Object.assign(schemas.get(componentName(kind))!, { "x-kubernetes-group-version-kind": [gvk(kind)] }); // set above
  }
  return {
    openapi: "3.0.0",
    info: { title: "Fettle", version: "v1" },
    paths: Object.fromEntries(served.flatMap(kind => pathsOf(kind, `/${path}`))),
    components: { schemas: Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) },
  };
}

const gvk = ({ resource: { group, version, kind } }: ServedKind) => ({ group, version, kind });
const componentName = (kind: ServedKind): string =>
  kind.strategic ? builtInName(kind.resource) : customName(kind.resource);

function builtInName({ group, version, kind }: Resource): string {
  const [area = ""] = group.split(".");
  const module = area === "apiextensions" ? "io.k8s.apiextensions-apiserver.pkg.apis" : "io.k8s.api";
  return `${module}.${area || "core"}.${version}.${kind}`;
}

/** "karpenter.sh" → "sh.karpenter.v1.NodePool". */
function customName({ group, version, kind }: Resource): string {
  return `${group.split(".").reverse().join(".")}.${version}.${kind}`;
}

function optionalString(name: string): [string, Json] {
  return [name, { type: "string" }];
}

function addDefinition(name: string, schemas: Map<string, Json>): void {
  if (schemas.has(name)) return;
  const refs = new Set<string>();
  schemas.set(name, published(definitionOf(name), refs));
  for (const ref of refs) addDefinition(ref, schemas);
}

function published(definition: Definition, refs: Set<string>): Json {
  const { $ref, properties, items, additionalProperties, pointers: _, null: __, typeNames: ___, ...own } = definition;
  if ($ref !== undefined) {
    refs.add($ref);
    // Beside a $ref nothing counts, so what belongs to the field itself goes around it.
    return Object.keys(own).length === 0 ? ref($ref) : { ...own, allOf: [ref($ref)] };
  }
  return {
    ...own,
    ...(properties && { properties: mapValues(properties, property => published(property, refs)) }),
    ...(items && { items: published(items, refs) }),
    ...(additionalProperties && { additionalProperties: published(additionalProperties, refs) }),
  };
}

const ref = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));
}

function customSchema(kind: ServedKind): Json {
  const { schema } = kind;
  return {
    ...schema,
    properties: {
      ...schema.properties,
      apiVersion: { type: "string", description: `Group and version of this form: ${apiVersionOf(kind.resource)}.` },
      kind: { type: "string", description: `Always ${kind.resource.kind}.` },
      metadata: { description: "Name, labels, annotations and what else every object has.", allOf: [ref(objectMeta)] },
    } satisfies Record<string, Schema | Json>,
  };
}

function listSchema(kind: ServedKind): Json {
  const { group, version, kind: name } = kind.resource;
  return {
    description: `A list of ${name} objects.`,
    type: "object",
    required: ["items"],
    properties: {
      ...Object.fromEntries(["apiVersion", "kind"].map(optionalString)),
      metadata: listMeta,
      items: { type: "array", items: ref(componentName(kind)) },
    },
    "x-kubernetes-group-version-kind": [{ group, version, kind: `${name}List` }],
  };
}

function pathsOf(kind: ServedKind, groupVersionPath: string): [string, Json][] {
  const { plural, namespaced } = kind.resource;
  const collection = `${groupVersionPath}${namespaced ? "/namespaces/{namespace}" : ""}/${plural}`;
  const whole = content(componentName(kind));
  const changed = { ...whole, parameters: writeParameters };
  const patched = { ...changed, requestBody: patchBody(kind) };
  return [
    [
      collection,
      {
        get: operation(kind, "list", content(`${componentName(kind)}List`)),
        post: operation(kind, "post", { ...changed, requestBody: whole.responses["200"] }),
      },
    ],
    [
      `${collection}/{name}`,
      {
        get: operation(kind, "get", whole),
        put: operation(kind, "put", { ...changed, requestBody: whole.responses["200"] }),
        patch: operation(kind, "patch", patched),
        delete: operation(kind, "delete", whole),
      },
    ],
  ];
}

// kubectl looks for fieldValidation here, and checks manifests itself where it does not find it.
const writeParameters = ["dryRun", "fieldManager", "fieldValidation"].map(name => ({
  name,
  in: "query",
  schema: { type: "string", uniqueItems: true },
}));

function operation(kind: ServedKind, action: string, rest: Json): Json {
  return { ...rest, "x-kubernetes-action": action, "x-kubernetes-group-version-kind": gvk(kind) };
}

function content(component: string) {
  const schema = ref(component);
  const media = { "application/json": { schema }, "application/yaml": { schema } };
  return { responses: { "200": { description: "OK", content: media } } };
}

function patchBody(kind: ServedKind): Json {
  const types = ["application/json-patch+json", "application/merge-patch+json"];
  if (kind.strategic) types.push("application/strategic-merge-patch+json");
  return { content: Object.fromEntries(types.map(type => [type, { schema: { type: "object" } }])), required: true };
}
