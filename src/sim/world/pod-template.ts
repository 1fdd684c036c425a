// Pods from a template: the manifest, the template's fingerprint, and the counts that every workload's status has.

import type { KubeObject, Manifest, ObjectMeta } from "../../api/meta.ts";
import { availableAt } from "./conditions.ts";
import { ownedBy, type Pod, type PodSpec, type PodTemplate } from "./objects.ts";

type Named = Pick<ObjectMeta, "name"> | Pick<ObjectMeta, "generateName">;

export type PodMake = {
  template: PodTemplate;
  named: Named;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  spec?: Partial<PodSpec>;
};

export function podOf(owner: KubeObject, make: PodMake): Manifest {
  const { template, named, labels, finalizers, spec } = make;
  const annotations = { ...template.metadata?.annotations, ...make.annotations };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      ...named,
      namespace: owner.metadata.namespace ?? "default",
      labels: { ...template.metadata?.labels, ...labels },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      ...(finalizers && { finalizers }),
      ...ownedBy(owner),
    },
    spec: { ...template.spec, ...spec },
  };
}

/** Equal for equal templates, whatever the order of their fields; in the alphabet of generated names. */
export function templateHash(template: PodTemplate, collisionCount = 0): string {
  const text = `${canonical(template)}${collisionCount || ""}`;
  let hash = 0x811c9dc5; // 32-bit FNV-1a, as Kubernetes has it over another text
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return [...String(hash)].map(digit => safeAlphabet[Number(digit)]).join("");
}

// No vowels, so that no word comes out.
const safeAlphabet = "bcdf2456789";

export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  fields.sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonical(field)}`).join(",")}}`;
}

export type Counts = {
  readyCount: number;
  availableCount: number;
  /** When the next pod that is ready will count as available. */
  wakeAt: number | undefined;
};

export const noCounts: Readonly<Counts> = { readyCount: 0, availableCount: 0, wakeAt: undefined };

export function countsOf(pods: readonly Pod[], minReadySeconds: number, now: number): Counts {
  const counts = { ...noCounts };
  for (const pod of pods) count(counts, availableAt(pod, minReadySeconds), now);
  return counts;
}

/** One more pod, by when it is available; undefined: it is not ready. */
export function count(counts: Counts, at: number | undefined, now: number): void {
  if (at === undefined) return;
  counts.readyCount++;
  if (at <= now) counts.availableCount++;
  else counts.wakeAt = Math.min(at, counts.wakeAt ?? at);
}

export function isAvailable(pod: Pod, minReadySeconds: number, now: number): boolean {
  const at = availableAt(pod, minReadySeconds);
  return at !== undefined && at <= now;
}
