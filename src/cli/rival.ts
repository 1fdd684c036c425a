// Whether another controller of the karpenter.sh kinds is at work in the cluster: its lease is looked at once, at the
// start. Two controllers that both end nodes would not count each other's.

import { minuteMs, type Instant, parseMicroTime } from "../api/time.ts";
import { ApiError } from "../api/status.ts";
import type { KubeApi } from "../control/ports.ts";
import { type Lease, LEASES } from "../kube/lease.ts";

export const rivalLease = "karpenter-leader-election";
const namespaces = ["kube-system", "karpenter"];
/** Longer than its lease lasts: clocks differ, and a restart takes a moment. */
const aliveMs = minuteMs;

export type Rival = { readonly holder: string; readonly namespace: string };

/** Undefined: none has renewed its lease within the last minute. */
export async function rival(api: Pick<KubeApi, "get">, now: Instant): Promise<Rival | undefined> {
  for (const namespace of namespaces) {
    const lease = await read(api, namespace);
    const { holderIdentity: holder = "", renewTime = "" } = lease?.spec ?? {};
    const renewedAt = parseMicroTime(renewTime);
    if (holder !== "" && renewedAt.ok && now - renewedAt.value < aliveMs) return { holder, namespace };
  }
  return undefined;
}

async function read(api: Pick<KubeApi, "get">, namespace: string): Promise<Lease | undefined> {
  try {
    return await api.get<Lease>(LEASES, { name: rivalLease, namespace });
  } catch (error) {
    if (error instanceof ApiError && error.code === 404) return undefined;
    throw error;
  }
}
