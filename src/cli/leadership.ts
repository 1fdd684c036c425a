// In which term this process acts: elected by a Lease, or, where nobody else runs, at once. Terms are counted in the
// Lease either way, so that what an earlier process began is known as older.

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { ApiError } from "../api/status.ts";
import type { Leadership } from "../control/leader.ts";
import type { Clock, Fence, KubeApi } from "../control/ports.ts";
import { LeaderElection } from "../kube/leader.ts";
import { type Lease, LEASES, withSpec } from "../kube/lease.ts";

export type LeaderElectFlags = {
  leaderElect: boolean;
  leaderElectLeaseDuration: number;
  leaderElectRenewDeadline: number;
  leaderElectRetryPeriod: number;
  leaderElectResourceName: string;
  leaderElectResourceNamespace: string;
};

export type Leading = {
  readonly leadership: Leadership;
  /** For the connection that the leader writes through; absent: nothing holds its writes. */
  readonly fence?: Fence;
  /** Why we cannot even know who leads. */
  problem(): string | undefined;
  /** Gives the lease back. */
  stop(): Promise<void>;
};

type Parts = {
  /** Not fenced. */
  api: KubeApi;
  clock: Clock;
  /** Told when a term ends before we do, and why. */
  lost: (reason: string) => void;
};

export async function leading(flags: LeaderElectFlags, parts: Parts): Promise<Leading> {
  if (flags.leaderElect) return elected(flags, parts);
  const epoch = await nextTerm(leaseKey(flags), parts);
  return { leadership: { epoch, onChange: () => {} }, problem: () => undefined, stop: async () => {} };
}

function elected(flags: LeaderElectFlags, { api, clock, lost }: Parts): Leading {
  const listeners: (() => void)[] = [];
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const election = new LeaderElection({
    api,
    clock,
    lease: leaseKey(flags),
    // A host's name alone is not enough: its next process must not be taken for this one.
    identity: `${hostname()}_${randomUUID()}`,
    durationMs: flags.leaderElectLeaseDuration,
    renewWithinMs: flags.leaderElectRenewDeadline,
    retryMs: flags.leaderElectRetryPeriod,
    firstTerm: () => firstTerm(clock.now()),
    handlers: {
      elected: tell,
      lost: reason => {
        lost(reason);
        tell();
      },
    },
  });
  const leadership: Leadership = {
    get epoch() {
      return election.epoch;
    },
    get ledUntil() {
      return election.ledUntil;
    },
    onChange: changed => listeners.push(changed),
  };
  const problem = () => {
    const error = election.lastError;
    return error && `The lease ${leaseKey(flags).namespace}/${leaseKey(flags).name} cannot be had: ${error.message}`;
  };
  return { leadership, fence: election.fence, problem, stop: () => election.stop() };
}

function leaseKey({ leaderElectResourceName, leaderElectResourceNamespace }: LeaderElectFlags) {
  return { name: leaderElectResourceName, namespace: leaderElectResourceNamespace };
}

const countedFrom = Date.parse("2026-01-01T00:00:00Z");

/**
 * The ledger remembers terms, and may outlive the lease that counts them: somebody deletes it, or has it elsewhere. Terms
 * are rarer than seconds, so a count that begins with the seconds is above every earlier one.
 */
function firstTerm(now: number): number {
  return Math.max(0, Math.floor((now - countedFrom) / 1000));
}

const attemptsMax = 5;

async function nextTerm(key: ReturnType<typeof leaseKey>, { api, clock }: Parts): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    try {
      const lease = await api.get<Lease>(LEASES, key);
      const leaseTransitions = (lease.spec?.leaseTransitions ?? 0) + 1;
      await api.update(LEASES, key, withSpec(lease, { ...lease.spec, leaseTransitions }));
      return leaseTransitions;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 404) await createLease(key, { api, clock });
      // Somebody writes it at the same time: an elected leader, which is not supposed to be there.
      else if (error.code !== 409 || attempt === attemptsMax) throw error;
    }
  }
}

async function createLease(key: ReturnType<typeof leaseKey>, { api, clock }: Pick<Parts, "api" | "clock">) {
  const manifest = {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: key,
    spec: { leaseTransitions: firstTerm(clock.now()) },
  };
  try {
    await api.create(LEASES, { namespace: key.namespace }, manifest);
  } catch (error) {
    if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
  }
}
