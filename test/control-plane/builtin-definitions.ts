// Makes src/sim/kinds/definitions.json: the shapes of the built-in kinds as a real API server publishes them, without
// prose, joined with what only the Go types know. Facts only; nothing here is linked into Fettle itself.

export type GoFacts = Record<string, { pointers?: string[]; null?: string[]; typeNames?: Record<string, string> }>;

type Json = { [key: string]: unknown };

/** The OpenAPI v3 documents that hold the kinds, and the definitions to start from. */
const roots: Record<string, readonly string[]> = {
  "api/v1": [
    "io.k8s.api.core.v1.Namespace",
    "io.k8s.api.core.v1.Node",
    "io.k8s.api.core.v1.Pod",
    "io.k8s.api.core.v1.Event",
    "io.k8s.api.core.v1.ConfigMap",
    "io.k8s.api.core.v1.Secret",
    "io.k8s.api.core.v1.ServiceAccount",
    "io.k8s.api.core.v1.PersistentVolume",
    "io.k8s.api.core.v1.PersistentVolumeClaim",
    "io.k8s.api.core.v1.Binding",
    "io.k8s.api.policy.v1.Eviction",
  ],
  "apis/apps/v1": [
    "io.k8s.api.apps.v1.Deployment",
    "io.k8s.api.apps.v1.ReplicaSet",
    "io.k8s.api.apps.v1.DaemonSet",
    "io.k8s.api.apps.v1.StatefulSet",
  ],
  "apis/batch/v1": ["io.k8s.api.batch.v1.Job"],
  "apis/policy/v1": ["io.k8s.api.policy.v1.PodDisruptionBudget"],
  "apis/coordination.k8s.io/v1": ["io.k8s.api.coordination.v1.Lease"],
  "apis/storage.k8s.io/v1": [
    "io.k8s.api.storage.v1.StorageClass",
    "io.k8s.api.storage.v1.VolumeAttachment",
    "io.k8s.api.storage.v1.CSINode",
  ],
  "apis/scheduling.k8s.io/v1": ["io.k8s.api.scheduling.v1.PriorityClass"],
  "apis/events.k8s.io/v1": ["io.k8s.api.events.v1.Event"],
  "apis/apiextensions.k8s.io/v1": ["io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"],
};

const kept = [
  "type",
  "format",
  "enum",
  "required",
  "oneOf",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
  "x-kubernetes-patch-strategy",
  "x-kubernetes-patch-merge-key",
  "x-kubernetes-preserve-unknown-fields",
];

const refPrefix = "#/components/schemas/";

/** `get` fetches one document below /openapi/v3/. The text ends with a newline and has one definition a line. */
export async function builtInDefinitions(get: (path: string) => Promise<unknown>, goFacts: GoFacts): Promise<string> {
  const found = new Map<string, Json>();
  for (const [path, names] of Object.entries(roots)) {
    const document = (await get(path)) as { components: { schemas: Record<string, Json> } };
    for (const name of names) collect(name, document.components.schemas, found);
  }
  const lines = [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(withFacts(schema, goFacts[name]))}`);
  return `{\n${lines.join(",\n")}\n}\n`;
}

function collect(name: string, schemas: Record<string, Json>, found: Map<string, Json>): void {
  if (found.has(name)) return;
  const source = schemas[name];
  if (source === undefined) throw new Error(`OpenAPI names ${name} but does not define it.`);
  found.set(name, {});
  const refs = new Set<string>();
  found.set(name, compact(source, refs));
  for (const ref of refs) collect(ref, schemas, found);
}

function compact(schema: Json, refs: Set<string>): Json {
  const result: Json = {};
  // A reference with a default beside it is published as allOf with one member.
  const target = (schema.allOf as Json[] | undefined)?.[0]?.$ref ?? schema.$ref;
  if (typeof target === "string") {
    const name = target.slice(refPrefix.length);
    refs.add(name);
    result.$ref = name;
  }
  for (const key of kept) if (schema[key] !== undefined) result[key] = schema[key];
  if (schema.default !== undefined) result.default = schema.default;
  if (schema.properties) result.properties = compactAll(schema.properties as Record<string, Json>, refs);
  if (schema.items) result.items = withoutDefault(compact(schema.items as Json, refs));
  if (typeof schema.additionalProperties === "object") {
    result.additionalProperties = withoutDefault(compact(schema.additionalProperties as Json, refs));
  }
  return result;
}

function compactAll(properties: Record<string, Json>, refs: Set<string>): Record<string, Json> {
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, compact(value, refs)]));
}

/** OpenAPI gives every item a zero default; it stands for a null in the list, which our decoder handles. */
function withoutDefault(schema: Json): Json {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key !== "default"));
}

function withFacts(schema: Json, facts: GoFacts[string] | undefined): Json {
  if (facts === undefined || schema.properties === undefined) return schema;
  const properties = schema.properties as Json;
  const known = (names: string[] | undefined) => names?.filter(name => name in properties) ?? [];
  const pointers = known(facts.pointers);
  const nulls = known(facts.null);
  return {
    ...schema,
    ...(pointers.length > 0 && { pointers }),
    ...(nulls.length > 0 && { null: nulls }),
    ...(facts.typeNames && { typeNames: facts.typeNames }),
  };
}
