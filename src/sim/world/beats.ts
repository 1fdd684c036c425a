// A kubelet's lease. On virtual time a healthy kubelet would write nothing but beats, so its lease can be a function of
// time instead: an annotation says how often it is renewed, and every reader computes the last renewal from it. When
// the kubelet falls silent it writes the last beat and takes the annotation away; from then on the lease says it all.

import type { KubeObject, Manifest } from "../../api/meta.ts";
import { formatMicroTime } from "../../api/time.ts";
import type { KubeApi, List } from "../../control/ports.ts";
import type { Lease, Node } from "./objects.ts";

export const leaseNamespace = "kube-node-lease";
export const beatMs = 10_000;
const leaseDurationSeconds = 40;
const renewedEvery = "fettle.dev/renewed-every-seconds";

export type Beats = "computed" | "written";

export function isComputed({ metadata }: KubeObject): boolean {
  return metadata.annotations?.[renewedEvery] !== undefined;
}

/** The last renewal up to `now`. */
export function renewedAt(lease: Lease, now: number): number | undefined {
  const written = Date.parse(lease.spec.renewTime ?? "");
  if (Number.isNaN(written)) return undefined;
  const everyMs = Number(lease.metadata.annotations?.[renewedEvery]) * 1000;
  return everyMs > 0 ? lastBeat(written, now, everyMs) : written;
}

export function lastBeat(firstBeatAt: number, now: number, everyMs = beatMs): number {
  return firstBeatAt + Math.max(0, Math.floor((now - firstBeatAt) / everyMs)) * everyMs;
}

/** Deleted with its node. */
export function leaseOf({ metadata }: Node, renewTimeAt: number, beats: Beats): Manifest {
  const { name, uid } = metadata;
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name,
      namespace: leaseNamespace,
      ...(beats === "computed" && { annotations: computedAnnotation() }),
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds, renewTime: formatMicroTime(renewTimeAt) },
  };
}

/** A merge patch: `computed` from here on, or a beat and nothing after it. */
export function beat(at: number, beats: Beats): object {
  const annotations = beats === "computed" ? computedAnnotation() : { [renewedEvery]: null };
  return { metadata: { annotations }, spec: { renewTime: formatMicroTime(at) } };
}

/**
 * The API as a reader that knows nothing of computed leases should see it: leases that are read carry the renewal they
 * would have by now. Watches show what is written, as they do for everyone.
 */
export function withBeats(api: KubeApi, now: () => number): KubeApi {
  const seen = <T extends KubeObject>(object: T): T => {
    if (object.kind !== "Lease" || !isComputed(object)) return object;
    const lease = object as unknown as Lease;
    return { ...object, spec: { ...lease.spec, renewTime: formatMicroTime(renewedAt(lease, now()) ?? 0) } };
  };
  return {
    get: async <T extends KubeObject>(...args: Parameters<KubeApi["get"]>) => seen(await api.get<T>(...args)),
    list: async <T extends KubeObject>(...args: Parameters<KubeApi["list"]>): Promise<List<T>> => {
      const list = await api.list<T>(...args);
      const [{ plural }] = args;
      return plural === "leases" ? { ...list, items: list.items.map(seen) } : list;
    },
    watch: (...args) => api.watch(...args),
    create: (...args) => api.create(...args),
    update: (...args) => api.update(...args),
    patch: (...args) => api.patch(...args),
    delete: (...args) => api.delete(...args),
    deleteCollection: (...args) => api.deleteCollection(...args),
  };
}

function computedAnnotation(): Record<string, string> {
  return { [renewedEvery]: String(beatMs / 1000) };
}
