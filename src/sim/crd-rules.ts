// Writing CustomResourceDefinitions: what the server fills in and what a deletion means. What is refused in them is
// crd-validation.ts' matter, how their kinds are served custom-kind.ts'.

import { type Backend, find, save, type Target } from "./backend.ts";
import { cleanupFinalizer, type Crd, setCrdCondition } from "./crd.ts";
import { crdErrors } from "./crd-validation.ts";
import { crdWarnings } from "./crd-warnings.ts";
import type { DeleteOptions, Removed } from "./delete-options.ts";
import { deepCopy } from "./json-value.ts";
import type { KindRules } from "./kind.ts";
import { timestamp } from "./object-meta.ts";

/** Laid over what src/sim/kinds knows of the kind: its shape and its columns. */
export const crdRules: KindRules = {
  countsGeneration: true,
  defaults: object => fillNames(object as Crd),
  prepare: (object, { old, subresource }) => {
    if (subresource === undefined) keepStatus(object as Crd, old as Crd | undefined);
    addStorageVersion(object as Crd);
  },
  validate: (object, { old, subresource }) =>
    subresource === "status" ? [] : crdErrors(object as Crd, old as Crd | undefined),
  warnings: (object, old) => crdWarnings(object as Crd, old as Crd | undefined),
};

function fillNames({ spec }: Crd): void {
  const names = spec?.names;
  if (names === undefined) return;
  names.singular ||= names.kind?.toLowerCase() ?? "";
  if (names.kind) names.listKind ||= `${names.kind}List`;
  spec.conversion ??= { strategy: "None" };
}

function keepStatus(crd: Crd, old: Crd | undefined): void {
  crd.status =
    old === undefined ? { conditions: null, acceptedNames: { plural: "", kind: "" } } : deepCopy(old.status ?? {});
}

/** The version in which objects are stored from now on joins those in which some may still be. */
function addStorageVersion(crd: Crd): void {
  const status = (crd.status ??= {});
  const storage = crd.spec?.versions?.find(version => version.storage)?.name;
  const stored = status.storedVersions ?? [];
  if (storage !== undefined && !stored.includes(storage)) status.storedVersions = [...stored, storage];
}

/** The first deletion marks it and asks for its objects to be removed; it goes when they are gone. */
export function removeCrd(backend: Backend, target: Target, options: DeleteOptions): Removed | undefined {
  const existing = find(backend, target);
  if (existing === undefined || existing.object.metadata.deletionTimestamp !== undefined) return undefined;
  const crd = deepCopy(existing.object as Crd);
  crd.metadata.deletionTimestamp = timestamp(backend.clock.now());
  const finalizers = crd.metadata.finalizers ?? [];
  if (!finalizers.includes(cleanupFinalizer)) crd.metadata.finalizers = [...finalizers, cleanupFinalizer];
  const message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
  const condition = { type: "Terminating", status: "True", reason: "InstanceDeletionPending", message };
  setCrdCondition(crd, condition, backend.clock.now());
  return { stored: save(backend, target, crd, options.dryRun), deleted: false, asObject: true };
}
