// Creating and updating: the order of steps, checks and sentences of the API server's registry (1.36).

import type { KubeObject } from "../api/meta.ts";
import { labelErrors, subdomainErrors } from "../api/name.ts";
import { invalid as wrong } from "../api/schema/field-error.ts";
import { metadataErrors } from "../api/schema/object-meta.ts";
import type { FieldError } from "../api/schema/schema.ts";
import type { ApiError } from "../api/status.ts";
import type { Subresource } from "../control/ports.ts";
import { type Backend, clusterOf, find, save, type Target } from "./backend.ts";
import { deepEqual } from "./json-value.ts";
import type { ServedKind } from "./kind.ts";
import { admitToNamespace, isNamespace } from "./namespaces.ts";
import { fillSystemFields, keepSystemFields, settleNamespace, wipeSystemFields } from "./object-meta.ts";
import { generatedName } from "./random.ts";
import {
  alreadyExists,
  badRequest,
  conflict,
  failure,
  generatedNameTaken,
  invalid,
  notFound,
  staleVersion,
} from "./refusal.ts";
import { collectionOf, kindName, resourceName, toStored } from "./served-kinds.ts";
import { keyOf } from "./store.ts";
import type { StoredObject } from "./stored.ts";

export type Written = { stored: StoredObject; created: boolean };
type CreateTarget = Omit<Target, "name">;

const nameAttemptMax = 8;

/** Takes the object over. `isUpdate`: a PUT of what does not exist, where the kind allows that. */
export function create(
  backend: Backend,
  target: CreateTarget,
  object: KubeObject,
  { dryRun, isUpdate = false, warnings = [] }: { dryRun: boolean; isUpdate?: boolean; warnings?: string[] },
): StoredObject {
  const { kind, namespace } = target;
  settleNamespace(object, kind, namespace);
  admitToNamespace(backend, target, object.metadata.name ?? "");
  if (!isUpdate) wipeSystemFields(object);
  fillSystemFields(object, backend.clock.now(), backend.random);
  kind.rules.admit?.(object, { cluster: clusterOf(backend) });
  const base = object.metadata.name ? "" : (object.metadata.generateName ?? "");
  if (base !== "") object.metadata.name = freeName(backend, target, base);
  judgeNew(backend, target, object);
  warnings.push(...(kind.rules.warnings?.(object, undefined) ?? []));

  const { name } = object.metadata;
  if (!isUpdate && !dryRun && object.metadata.resourceVersion) {
    throw failure("resourceVersion should not be set on objects to be created");
  }
  const named = { kind, namespace, name };
  const existing = find(backend, named);
  if (existing !== undefined) throw taken(kind, existing.object, base);
  if (!dryRun) backend.siblings.share(object);
  return save(backend, named, object, dryRun);
}

function freeName(backend: Backend, target: CreateTarget, base: string): string {
  let name = generatedName(base, backend.random);
  for (let attempt = 1; attempt < nameAttemptMax && find(backend, { ...target, name }) !== undefined; attempt++) {
    name = generatedName(base, backend.random);
  }
  return name;
}

function taken(kind: ServedKind, existing: KubeObject, generatedFrom: string): ApiError {
  const { name, deletionTimestamp } = existing.metadata;
  if (generatedFrom !== "") return generatedNameTaken(resourceName(kind), name);
  return alreadyExists(resourceName(kind), name, { deleting: deletionTimestamp !== undefined });
}

function judgeNew(backend: Backend, { kind }: CreateTarget, object: KubeObject): void {
  const { rules } = kind;
  if (rules.countsGeneration) object.metadata.generation = 1;
  rules.prepare?.(object, { now: backend.clock.now() });
  const { namespaced } = kind.resource;
  const metadata = metadataErrors(object.metadata, {
    namespaced,
    nameErrors: nameErrors[kind.nameFormat ?? "subdomain"],
  });
  const finalizers = finalizerErrors(kind, object);
  const content = rules.validate?.(object, {}) ?? [];
  if (rules.judgesContentFirst) refuseIf(kind, object, content);
  metadata.push(...finalizers, ...content);
  refuseIf(kind, object, metadata);
}

const nameErrors = { subdomain: subdomainErrors, label: labelErrors, segment: segmentErrors };

/** What a path can hold: the least that every name must be. */
function segmentErrors(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter(part => name.includes(part)).map(part => `may not contain '${part}'`);
}

const standardFinalizers = ["orphan", "foregroundDeletion", "kubernetes"];
// These are judged by the machinery's own rules, which are milder.
const mildGroups = ["coordination.k8s.io", "policy", "apiextensions.k8s.io"];

/** Most of the server's own kinds take no finalizer without a domain. */
function finalizerErrors({ strategic, resource }: ServedKind, { metadata }: KubeObject): FieldError[] {
  if (metadata.finalizers === undefined || !strategic || mildGroups.includes(resource.group)) return [];
  return metadata.finalizers.flatMap((name, index) =>
    name.includes("/") || standardFinalizers.includes(name)
      ? []
      : [
          wrong(
            `metadata.finalizers[${index}]`,
            name,
            "name is neither a standard finalizer name nor is it fully qualified",
          ),
        ],
  );
}

export type UpdateOptions = {
  dryRun: boolean;
  subresource?: Subresource | undefined;
  /** It changes what is there, and never creates. */
  isPatch?: boolean;
  /** Checked before anything else: a PUT of an object with a uid means that very object. */
  uid?: string | undefined;
  /** Where to put what the writer should know of an object that passed. */
  warnings?: string[];
};

/**
 * Replaces an object by what `next` makes of it. `next` gets the existing object, undefined when the kind lets an
 * update create, and returns one that it may own.
 */
export function update(
  backend: Backend,
  target: Target,
  next: (existing: KubeObject | undefined) => KubeObject,
  options: UpdateOptions,
): Written {
  const { kind, name } = target;
  const existing = find(backend, target);
  if (existing === undefined) {
    const mayCreate = kind.createsOnUpdate === true && options.subresource === undefined && options.isPatch !== true;
    if (!mayCreate) throw notFound(resourceName(kind), name);
    refuseOtherUid(target, options, "");
    const object = next(undefined);
    refuseMalformedVersion(object.metadata.resourceVersion ?? "");
    return { stored: create(backend, target, object, { ...options, isUpdate: true }), created: true };
  }
  const old = existing.read(options.subresource);
  refuseOtherUid(target, options, old.metadata.uid);
  const object = next(old);
  checkVersion(kind, object, old);
  settleNamespace(object, kind, target.namespace);
  judgeChanged(backend, target, { object, old, options });
  options.warnings?.push(...(kind.rules.warnings?.(object, old) ?? []));

  if (isFinalized(kind, object, old)) {
    if (!options.dryRun) backend.store.remove(collectionOf(backend.store, kind), keyOf(target.namespace, name));
    return { stored: backend.store.unstored(object), created: false };
  }
  if (deepEqual(object, old) && isStoredSo(backend, target, object)) return { stored: existing, created: false };
  return { stored: save(backend, target, object, options.dryRun), created: false };
}

/** What reads the same may have been stored by another schema or in another version: then it is written anew. */
function isStoredSo({ store }: Backend, { kind, namespace, name }: Target, object: KubeObject): boolean {
  if (kind.readAs === undefined) return true;
  return deepEqual(toStored(kind, object), collectionOf(store, kind).get(keyOf(namespace, name))?.object);
}

type Changed = { object: KubeObject; old: KubeObject; options: UpdateOptions };

function judgeChanged(backend: Backend, { kind }: Target, { object, old, options }: Changed): void {
  const { rules } = kind;
  const context = options.subresource === undefined ? { old } : { old, subresource: options.subresource };
  rules.admit?.(object, { cluster: clusterOf(backend), ...context });
  setOrDelete(object.metadata, "generation", old.metadata.generation);
  narrow(kind, object, { old, subresource: options.subresource });
  rules.prepare?.(object, { now: backend.clock.now(), ...context });
  countGeneration(kind, object, old);
  keepSystemFields(object, old);
  const errors = metadataChangeErrors(kind, object, old);
  errors.push(...finalizerErrors(kind, object));
  if (isContentChanged(kind, object, old)) errors.push(...(rules.validate?.(object, context) ?? []));
  refuseIf(kind, object, errors);
}

/** What the server's own kinds accepted once and nobody changed stays accepted; custom schemas may have changed. */
function isContentChanged({ strategic }: ServedKind, object: KubeObject, old: KubeObject): boolean {
  return !strategic || isChangedBeside(metadataOnly, object, old);
}

const metadataOnly: ReadonlySet<string> = new Set(["metadata"]);
const metadataAndStatus: ReadonlySet<string> = new Set(["metadata", "status"]);

/** In any field but those. */
function isChangedBeside(apart: ReadonlySet<string>, object: KubeObject, old: KubeObject): boolean {
  for (const field in object) if (!apart.has(field) && !deepEqual(object[field], old[field])) return true;
  for (const field in old) if (!apart.has(field) && !Object.hasOwn(object, field)) return true;
  return false;
}

/** A write to the object itself leaves the status alone; one to the status leaves everything else alone. */
function narrow(
  kind: ServedKind,
  object: KubeObject,
  { old, subresource }: { old: KubeObject; subresource?: Subresource | undefined },
): void {
  if (subresource === "status") {
    for (const field of Object.keys(object)) if (!statusWritten.has(field)) setOrDelete(object, field, old[field]);
    for (const field of Object.keys(old)) if (!statusWritten.has(field)) object[field] = old[field];
    // The server's own kinds let a status write carry metadata too; custom kinds do not.
    if (!kind.strategic) object.metadata = { ...old.metadata, resourceVersion: object.metadata.resourceVersion };
  } else if (kind.subresources.includes("status")) {
    setOrDelete(object, "status", old.status);
  }
}

const statusWritten: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata", "status"]);

function setOrDelete(object: object, field: string, value: unknown): void {
  const fields = object as Record<string, unknown>;
  if (value !== undefined) fields[field] = value;
  // V8 leaves its compiled code for a delete, also of what is not there.
  else if (Object.hasOwn(fields, field)) delete fields[field];
}

/** Counts changes of what the user wants: everything but metadata, and status where it is written apart. */
function countGeneration(kind: ServedKind, object: KubeObject, old: KubeObject): void {
  const { generation } = old.metadata;
  if (!kind.rules.countsGeneration || object.metadata.generation !== generation) return;
  const apart = kind.strategic || kind.subresources.includes("status") ? metadataAndStatus : metadataOnly;
  if (isChangedBeside(apart, object, old)) object.metadata.generation = (generation ?? 0) + 1;
}

function checkVersion(kind: ServedKind, object: KubeObject, old: KubeObject): void {
  const asked = object.metadata.resourceVersion ?? "";
  const { name } = old.metadata;
  if (asked === "" || asked === "0") {
    if (kind.strategic && kind.unconditionalUpdate !== false) {
      object.metadata.resourceVersion = old.metadata.resourceVersion;
      return;
    }
    const message = "Invalid value: 0: must be specified for an update";
    throw invalid(resourceName(kind), name, [
      { path: "metadata.resourceVersion", reason: "FieldValueInvalid", message },
    ]);
  }
  refuseMalformedVersion(asked);
  if (asked !== old.metadata.resourceVersion) throw conflict(resourceName(kind), name, staleVersion);
}

function refuseMalformedVersion(asked: string): void {
  if (!/^\d*$/.test(asked)) throw failure(`strconv.ParseUint: parsing ${JSON.stringify(asked)}: invalid syntax`);
}

function refuseOtherUid(
  { kind, namespace, name }: Target,
  { uid: asked, dryRun }: UpdateOptions,
  actual: string,
): void {
  if (!asked || asked === actual) return;
  // A dry run looks before the storage puts its prefix on.
  const key = storageKey(kind, keyOf(namespace, name)).replace(dryRun ? /^\/registry/ : "", "");
  throw conflict(
    resourceName(kind),
    name,
    `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, ` +
      `AdditionalErrorMsg: Precondition failed: UID in precondition: ${asked}, UID in object meta: ${actual}`,
  );
}

/** Where the object would lie in etcd: part of one of the server's sentences. */
export function storageKey(kind: ServedKind, key: string): string {
  const { group, plural } = kind.storedAs?.resource ?? kind.resource;
  const prefix = plural === "nodes" ? "minions" : plural;
  return kind.strategic && group !== "apiextensions.k8s.io"
    ? `/registry/${prefix}/${key}`
    : `/registry/${group}/${prefix}/${key}`;
}

/** The last finalizer of an object that is being deleted is gone. */
function isFinalized(kind: ServedKind, object: KubeObject, old: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  // A namespace has finalizers of its own in its spec, for what is in it.
  if (isNamespace(kind) && ((object.spec as { finalizers?: string[] }).finalizers ?? []).length > 0) return false;
  return (
    (object.metadata.finalizers ?? []).length === 0 && deletionTimestamp !== undefined && !deletionGracePeriodSeconds
  );
}

/** The metadata by itself, but for the name that was accepted once, and against what it was: said twice, as there. */
function metadataChangeErrors({ resource }: ServedKind, { metadata }: KubeObject, old: KubeObject): FieldError[] {
  if (deepEqual(metadata, old.metadata)) return [];
  const { namespaced } = resource;
  const changes = metadataErrors(metadata, { namespaced, old: old.metadata });
  return [...metadataErrors(metadata, { namespaced, nameErrors: () => [] }), ...changes, ...changes];
}

function refuseIf(kind: ServedKind, object: KubeObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid(kindName(kind), object.metadata.name ?? "", errors);
}

/** The object's name must be the path's. */
export function checkName(object: KubeObject, name: string): void {
  if (!object.metadata.name) {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (object.metadata.name !== name) {
    throw badRequest(`the name of the object (${object.metadata.name}) does not match the name on the URL (${name})`);
  }
}
