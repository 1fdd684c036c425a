// The API server as far as leader election sees it: one Lease, optimistic concurrency, and answers that a test can
// delay or lose.

import type { KubeObject, Manifest, Resource } from "../../src/api/meta.ts";
import { ApiError } from "../../src/api/status.ts";
import type { Clock, KubeApi } from "../../src/control/ports.ts";
import { TimeoutError } from "../../src/kube/errors.ts";
import type { Lease } from "../../src/kube/lease.ts";

/** How long until the server acts and then until its answer is there; an answer may be lost, the act is not. */
export type Journey = { thereMs: number; backMs: number; lost?: boolean; refused?: number };

export class LeaseServer {
  lease: Lease | undefined;
  #version = 0;
  #uid = 0;

  /** What one process sees of this server, its calls taking what `journey` says. */
  api(clock: Clock, journey: () => Journey): Pick<KubeApi, "get" | "create" | "update"> {
    const travel = <T>(act: () => T, timeoutMs: number): Promise<T> =>
      new Promise((resolve, reject) => {
        const { thereMs, backMs, lost, refused } = journey();
        const late = () => reject(new TimeoutError("late", { sent: true }));
        if (lost === true || thereMs + backMs > timeoutMs) clock.after(timeoutMs, late);
        clock.after(thereMs, () => {
          const outcome = attempt(refused === undefined ? act : () => refuse(refused, "Refused"));
          clock.after(backMs, () => {
            if ("error" in outcome) reject(outcome.error);
            else if (lost !== true) resolve(outcome.value);
          });
        });
      });
    const verbs = {
      get: (_: Resource, __: unknown, options: { timeoutMs?: number } = {}) =>
        travel(() => structuredClone(this.lease ?? refuse(404, "NotFound")), options.timeoutMs ?? 60_000),
      create: (_: Resource, __: unknown, object: Manifest, options: { timeoutMs?: number } = {}) =>
        travel(() => {
          if (this.lease !== undefined) refuse(409, "AlreadyExists");
          return this.#store(object, `lease-${++this.#uid}`);
        }, options.timeoutMs ?? 60_000),
      update: (_: Resource, __: unknown, object: Manifest, options: { timeoutMs?: number } = {}) =>
        travel(() => {
          const current = this.lease ?? refuse(404, "NotFound");
          if (object.metadata.resourceVersion !== current.metadata.resourceVersion) refuse(409, "Conflict");
          return this.#store(object, current.metadata.uid);
        }, options.timeoutMs ?? 60_000),
    };
    return verbs as unknown as Pick<KubeApi, "get" | "create" | "update">;
  }

  #store(object: Manifest, uid: string): KubeObject {
    const metadata = {
      name: "fettle",
      creationTimestamp: "",
      ...object.metadata,
      uid,
      resourceVersion: String(++this.#version),
    };
    this.lease = structuredClone({ ...object, metadata });
    return structuredClone(this.lease);
  }
}

function attempt<T>(act: () => T): { value: T } | { error: unknown } {
  try {
    return { value: act() };
  } catch (error) {
    return { error };
  }
}

function refuse(code: number, reason: string): never {
  throw new ApiError({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason });
}
