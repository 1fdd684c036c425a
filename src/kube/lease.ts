// The leader's Lease as an object: what is written into it, and when another may take it. Pure.

import type { KubeObject, Manifest, Resource } from "../api/meta.ts";
import { parseTime } from "../api/time.ts";

export const LEASES: Resource = {
  group: "coordination.k8s.io",
  version: "v1",
  plural: "leases",
  kind: "Lease",
  namespaced: true,
};

export type LeaseSpec = {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
  [field: string]: unknown;
};

export type Lease = KubeObject & { spec?: LeaseSpec };

/** What we saw of somebody's lease, and when we first saw it like that, by our own monotonic clock. */
export type Observed = { lease: Lease; since: number };

/** Every write changes the version, so an unchanged one is a lease that nobody renews. */
export function observe(observed: Observed | undefined, lease: Lease, monotonic: number): Observed {
  const same =
    observed?.lease.metadata.uid === lease.metadata.uid &&
    observed.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
  return same ? observed : { lease, since: monotonic };
}

/**
 * Whether nobody can hold it any more. Times in the lease are another machine's and are not looked at. The longer of
 * the holder's duration and ours counts: a shorter one written by mistake must not cut the holder's term.
 */
export function isFree({ lease, since }: Observed, monotonic: number, durationMs: number): boolean {
  const holder = lease.spec?.holderIdentity;
  if (holder === undefined || holder === "") return true;
  return monotonic - since >= Math.max(durationMs, (lease.spec?.leaseDurationSeconds ?? 0) * 1000);
}

/** `firstTerm`: the number of the term where nobody knows of an earlier one. */
export type Claim = { identity: string; durationMs: number; now: number; firstTerm: number };

/** A new term. `before` is the lease as last seen; if it was deleted since, its count of terms still goes on. */
export function acquired(before: Lease | undefined, claim: Claim): LeaseSpec {
  const now = microTime(claim.now);
  return {
    ...before?.spec,
    holderIdentity: claim.identity,
    leaseDurationSeconds: claim.durationMs / 1000,
    acquireTime: now,
    renewTime: now,
    leaseTransitions: before === undefined ? claim.firstTerm : (before.spec?.leaseTransitions ?? 0) + 1,
  };
}

/** By its holder's clock. Undefined: nobody renewed it, or not in a way that can be read. */
export function renewedAtOf(lease: Lease | undefined): number | undefined {
  const parsed = lease?.spec?.renewTime === undefined ? undefined : parseTime(lease.spec.renewTime);
  return parsed?.ok ? parsed.value : undefined;
}

export function renewed(lease: Lease, now: number): LeaseSpec {
  return { ...lease.spec, renewTime: microTime(now) };
}

/** Given back: without a holder it is free at once. */
export function released(lease: Lease, now: number): LeaseSpec {
  const { holderIdentity: _, ...rest } = lease.spec ?? {};
  return { ...rest, leaseDurationSeconds: 1, renewTime: microTime(now) };
}

/** The same term, under whatever version: the holder's identity is unique and it acquires once a term. */
export function isSameTerm(one: Lease, other: Lease): boolean {
  return (
    one.metadata.uid === other.metadata.uid &&
    one.spec?.holderIdentity === other.spec?.holderIdentity &&
    one.spec?.acquireTime === other.spec?.acquireTime &&
    one.spec?.leaseTransitions === other.spec?.leaseTransitions
  );
}

export function withSpec(lease: Lease, spec: LeaseSpec): Manifest {
  return { ...lease, spec };
}

/** metav1.MicroTime: the server takes exactly six digits, no fewer. */
export function microTime(now: number): string {
  return new Date(now).toISOString().replace("Z", "000Z");
}
