// Which objects of a kind a list, a watch or a collection's deletion means: namespace, name, labels, fields.

import { type FieldSelector, matchesFields, parseFieldSelector, requiredField } from "../api/field-selector.ts";
import type { KubeObject } from "../api/meta.ts";
import { remembered } from "../api/remembered.ts";
import { matches as matchesLabels, type Selector } from "../api/selector.ts";
import { parseSelector } from "../api/selector-text.ts";
import type { ServedKind } from "./kind.ts";
import { badRequest } from "./refusal.ts";
import type { ApiRequest } from "./request.ts";
import type { StoredObject } from "./stored.ts";

export type Selection = {
  /** All selected objects have keys that start with this. */
  prefix: string;
  /** What they must have in the kind's indexed field, if that is asked for. */
  indexed: string | undefined;
  /** Nothing but the prefix selects: objects need not be read at all. */
  isEverything: boolean;
  matches(stored: StoredObject): boolean;
};

type Asked = Pick<ApiRequest, "namespace" | "name" | "options">;

export function selectionOf(kind: ServedKind, { namespace, name, options }: Asked): Selection {
  const labels = labelsOf(options.labelSelector);
  const fields = fieldsOf(kind, options.fieldSelector);
  const named = name ?? requiredField(fields, "metadata.name");
  if (name !== undefined && fields.length > 0 && requiredField(fields, "metadata.name") !== name) {
    throw badRequest("fieldSelector metadata.name doesn't match requested name");
  }
  const selectsFields = (stored: StoredObject) => {
    const known = stored.fields(object => selectable(kind, object));
    return matchesFields(fields, known) && (name === undefined || known["metadata.name"] === name);
  };
  const needsFields = fields.length > 0 || name !== undefined;
  const isEverything = labels.length === 0 && !needsFields;
  const indexed = kind.indexedField === undefined ? undefined : requiredField(fields, kind.indexedField);
  const selects = (stored: StoredObject) =>
    (indexed === undefined || (stored.indexed ?? indexed) === indexed) &&
    matchesLabels(labels, stored.labels) &&
    (!needsFields || selectsFields(stored));
  return {
    prefix: prefixOf(kind, namespace ?? requiredField(fields, "metadata.namespace"), named),
    indexed,
    isEverything,
    matches: stored => isEverything || selects(stored),
  };
}

/** Who lists or watches asks for the same again and again. */
const parsedSelector = remembered(parseSelector);

function labelsOf(text = ""): Selector {
  const parsed = parsedSelector(text);
  if (!parsed.ok) throw badRequest(parsed.error);
  return parsed.value;
}

function fieldsOf(kind: ServedKind, text = ""): FieldSelector {
  const parsed = parseFieldSelector(text);
  if (!parsed.ok) throw badRequest(parsed.error);
  if (parsed.value.length === 0) return parsed.value;
  const known = selectable(kind, blank);
  for (const { field } of parsed.value) {
    if (Object.hasOwn(known, field) && !(field === "metadata.namespace" && hasNoNamespaceField(kind))) continue;
    // Kinds without fields of their own are refused in other words by the server.
    throw badRequest(
      kind.rules.selectableFields === undefined && kind.strategic
        ? `"${field}" is not a known field selector: only "metadata.name", "metadata.namespace"`
        : `field label not supported: ${field}`,
    );
  }
  return parsed.value;
}

/** Of the cluster-scoped kinds only those without a list of their own let one ask for a namespace. */
function hasNoNamespaceField({ resource, strategic, rules }: ServedKind): boolean {
  return !resource.namespaced && (!strategic || rules.selectableFields !== undefined);
}

// An object with nothing in it, wherever one looks: which fields can be selected does not depend on their values.
const blank: KubeObject = new Proxy({} as KubeObject, {
  get: (_, field) => (field === "metadata" ? {} : field === "toString" ? () => "" : isName(field) ? blank : undefined),
});

function isName(field: string | symbol): boolean {
  return typeof field === "string";
}

function selectable(kind: ServedKind, object: KubeObject): Readonly<Record<string, string>> {
  const { name = "", namespace = "" } = object.metadata;
  return { ...kind.rules.selectableFields?.(object), "metadata.name": name, "metadata.namespace": namespace };
}

// A name alone narrows only cluster-scoped kinds: of the others each namespace may have one.
function prefixOf({ resource }: ServedKind, namespace: string | undefined, name: string | undefined): string {
  if (!resource.namespaced) return name ?? "";
  if (namespace === undefined || namespace === "") return "";
  return `${namespace}/${name ?? ""}`;
}
