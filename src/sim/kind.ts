// A kind that the embedded API server serves: where, with which schema, and what is special about its writes.
// Built-in kinds (src/sim/kinds/) and CustomResourceDefinitions (src/sim/crd.ts) are both turned into this.

import type { KubeObject, Resource } from "../api/meta.ts";
import type { FieldError, Schema } from "../api/schema/schema.ts";
import type { Subresource } from "../control/ports.ts";

/** A column of `kubectl get`. `cell` sees the stored object and the instant the table is made. */
export type Column = {
  name: string;
  type: "string" | "integer" | "number" | "boolean" | "date";
  format?: string;
  description: string;
  /** 0 is always shown, 1 only with -o wide. */
  priority: number;
  cell(object: KubeObject, now: number): unknown;
};

/** Strategic merge patch needs these beside the structural schema; only built-in kinds have them. */
export type BuiltInSchema = Schema & {
  "x-kubernetes-patch-strategy"?: string;
  "x-kubernetes-patch-merge-key"?: string;
};

export type ServedKind = {
  resource: Resource;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  subresources: readonly Subresource[];
  /** Prunes, defaults and (for custom kinds) validates; `undefined` fields are unknown fields. */
  schema: Schema;
  /** Whether strategic merge patch is served (built-in kinds) or is 415 (custom kinds). */
  strategic: boolean;
  columns: readonly Column[];
  /** Absent: metadata.name is a DNS subdomain. A segment is anything that a path can hold. */
  nameFormat?: "subdomain" | "label" | "segment";
  /** PUT of an absent object creates it (Event, Lease). */
  createsOnUpdate?: boolean;
  /** False: an update must carry metadata.resourceVersion. */
  unconditionalUpdate?: boolean;
  /** Set where the same objects are served in two groups (events.k8s.io): they are kept in the other kind's form. */
  storedAs?: StoredAs;
  /** Set where objects may be stored in another form than the one in which they would be written by now. */
  readAs?: ReadAs;
  /** False: a version that is only stored. It has no path of its own. */
  served?: boolean;
  /** The field by which its objects are asked for most, "spec.nodeName": an index answers that. */
  indexedField?: string;
  /** Where the scale subresource finds its numbers; absent: where the server's own workloads keep them. */
  scale?: ScalePaths;
  rules: KindRules;
};

/** Dotted paths without the leading dot: "spec.replicas". */
export type ScalePaths = { spec: string; status: string; selector?: string };

/** Both conversions build a new object and leave their argument alone. */
export type StoredAs = {
  resource: Resource;
  toStored(object: KubeObject): KubeObject;
  fromStored(stored: KubeObject): KubeObject;
};

/** Builds a new object. `name` tells this reading of an object from others. */
export type ReadAs = { name: string; read(stored: KubeObject): KubeObject };

/** What an admission plugin may look at: the objects of built-in kinds, as stored now. */
export type Cluster = {
  list(plural: string): Iterable<KubeObject>;
  /** Of an object of a core kind without namespaces; they are known without reading it. */
  labels(plural: string, name: string): Readonly<Record<string, string>> | undefined;
};

/**
 * What is special about one kind, in the order in which the server calls it. Each may change `object` in place; all
 * are pure otherwise: the instant and the rest of the world come in as arguments.
 */
export type KindRules = {
  /**
   * On every write, in place of the schema's defaults: the object as the server's own types read and write it (zero
   * values dropped or written out, quantities and times in canonical form). Throws ApiError 400, with the decoder's
   * sentence alone, for what those types cannot hold. Returns whether there are unknown fields, which are left to be
   * pruned by the schema.
   */
  decode?(object: KubeObject): boolean;
  /** On every write, after that: defaults that depend on other fields. */
  defaults?(object: KubeObject): void;
  /** Admission, which may look at other objects (priority and storage classes). Throws ApiError 403. */
  admit?(object: KubeObject, context: { old?: KubeObject; subresource?: Subresource; cluster: Cluster }): void;
  /** Fields that only the server fills, before validation: status dropped on create, generation counted, … */
  prepare?(object: KubeObject, context: { old?: KubeObject; subresource?: Subresource; now: number }): void;
  validate?(object: KubeObject, context: { old?: KubeObject; subresource?: Subresource }): FieldError[];
  /** On create, whether the metadata is looked at only once `validate` has found nothing. */
  judgesContentFirst?: boolean;
  /** What the writer should know about a write that succeeds. */
  warnings?(object: KubeObject, old: KubeObject | undefined): string[];
  /** Fields that a fieldSelector may name, beside metadata.name and metadata.namespace. */
  selectableFields?(object: KubeObject): Readonly<Record<string, string>>;
  /** Seconds of graceful deletion; undefined: deleted at once. */
  gracePeriodSeconds?(object: KubeObject, asked: number | undefined): number | undefined;
  /** Whether metadata.generation counts changes of spec; false for kinds without it (ConfigMap, Lease, …). */
  countsGeneration?: boolean;
};
