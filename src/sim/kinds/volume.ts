// What volumes and claims have in common: access modes and how they are written.

import { forbidden, notSupported, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";

const shortModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

/** "RWO,ROX": each mode once, in a fixed order. */
export function accessModesText(modes: readonly string[] | undefined): string {
  return Object.entries(shortModes)
    .flatMap(([mode, short]) => (modes?.includes(mode) ? [short] : []))
    .join(",");
}

export function accessModeErrors(modes: readonly string[] | undefined, path: string, none: string): FieldError[] {
  if (modes === undefined) return [required(path, none)];
  const supported = Object.keys(shortModes).sort();
  const found = modes.flatMap(mode => (mode in shortModes ? [] : [notSupported(path, mode, supported)]));
  const single = modes.includes("ReadWriteOncePod");
  const others = modes.some(mode => mode in shortModes && mode !== "ReadWriteOncePod");
  if (single && others) found.push(forbidden(path, "may not use ReadWriteOncePod with other access modes"));
  return found;
}

/** The class that a volume or claim names: an annotation of old goes before the field. */
export function storageClassName(
  annotations: Readonly<Record<string, string>> | undefined,
  spec: { storageClassName?: string },
): string {
  return annotations?.["volume.beta.kubernetes.io/storage-class"] ?? spec.storageClassName ?? "";
}

export const volumeModes = ["Block", "Filesystem"];
