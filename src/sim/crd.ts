// CustomResourceDefinitions as objects: their shape and their conditions.

import type { KubeObject } from "../api/meta.ts";
import type { Schema } from "../api/schema/schema.ts";
import type { ServedKind } from "./kind.ts";
import { timestamp } from "./object-meta.ts";
import type { PrinterColumn } from "./printer-columns.ts";
import { groupResource } from "./served-kinds.ts";

export type CrdNames = {
  plural: string;
  singular?: string;
  kind: string;
  listKind?: string;
  shortNames?: string[];
  categories?: string[];
};

export type CrdVersion = {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: {
    status?: object;
    scale?: { specReplicasPath: string; statusReplicasPath: string; labelSelectorPath?: string };
  };
  additionalPrinterColumns?: PrinterColumn[];
  selectableFields?: { jsonPath: string }[];
};

export type CrdCondition = {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
};

export type Crd = KubeObject & {
  spec: {
    group: string;
    names: CrdNames;
    scope: string;
    versions: CrdVersion[];
    conversion?: {
      strategy: string;
      webhook?: { clientConfig?: object; conversionReviewVersions?: string[] | null };
    };
    preserveUnknownFields?: boolean;
  };
  status?: { conditions?: CrdCondition[] | null; acceptedNames?: Partial<CrdNames>; storedVersions?: string[] };
};

export const crdCollection = "customresourcedefinitions.apiextensions.k8s.io";
export const cleanupFinalizer = "customresourcecleanup.apiextensions.k8s.io";

export function isCrd(kind: ServedKind): boolean {
  return groupResource(kind.resource) === crdCollection;
}

export function conditionOf({ status }: Crd, type: string): CrdCondition | undefined {
  return status?.conditions?.find(condition => condition.type === type);
}

/** Changes `crd`; the time of transition moves only when the status does. */
export function setCrdCondition(crd: Crd, condition: CrdCondition, now: number): void {
  const status = (crd.status ??= {});
  const conditions = status.conditions ?? [];
  const before = conditionOf(crd, condition.type);
  const unchanged = before?.status === condition.status ? before.lastTransitionTime : undefined;
  const { type, status: value, ...rest } = condition;
  const written = { type, status: value, lastTransitionTime: unchanged ?? timestamp(now), ...rest };
  status.conditions = before ? conditions.map(other => (other === before ? written : other)) : [...conditions, written];
}
