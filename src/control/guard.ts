// The API and the provider as one command may use them: no call once its time is up, no write outside its own term as
// leader. A command of several writes so stops between two of them; whoever leads next goes on from what is there.

import { CutShort } from "./outcome.ts";
import type { InstanceProvider, KubeApi } from "./ports.ts";

export type Guard = {
  readonly signal: AbortSignal;
  /** Whether the term in which the command was decided still runs. */
  isInTerm(): boolean;
};

export type GuardedApi = Pick<KubeApi, "get" | "list" | "create" | "patch" | "delete">;
export type GuardedProvider = Pick<InstanceProvider, "create" | "get" | "list" | "delete" | "reboot">;

export function guardedApi(api: KubeApi, guard: Guard): GuardedApi {
  const { signal } = guard;
  return {
    get: async (resource, key, options) => {
      assertInTime(guard);
      return api.get(resource, key, { ...options, signal });
    },
    list: async (resource, options) => {
      assertInTime(guard);
      return api.list(resource, { ...options, signal });
    },
    create: async (resource, key, object, options) => {
      assertMayWrite(guard);
      return api.create(resource, key, object, { ...options, signal });
    },
    patch: async (resource, key, patch, options) => {
      assertMayWrite(guard);
      return api.patch(resource, key, patch, { ...options, signal });
    },
    delete: async (resource, key, options) => {
      assertMayWrite(guard);
      return api.delete(resource, key, { ...options, signal });
    },
  };
}

export function guardedProvider(provider: InstanceProvider, guard: Guard): GuardedProvider {
  const { signal } = guard;
  return {
    create: async request => {
      assertMayWrite(guard);
      return provider.create(request, { signal });
    },
    get: async providerID => {
      assertInTime(guard);
      return provider.get(providerID, { signal });
    },
    list: async cluster => {
      assertInTime(guard);
      return provider.list(cluster, { signal });
    },
    delete: async providerID => {
      assertMayWrite(guard);
      return provider.delete(providerID, { signal });
    },
    reboot: async (providerID, token) => {
      assertMayWrite(guard);
      return provider.reboot(providerID, token, { signal });
    },
  };
}

function assertInTime({ signal }: Guard): void {
  if (signal.aborted) throw new CutShort("Not sent: the time for this command is up.");
}

function assertMayWrite(guard: Guard): void {
  assertInTime(guard);
  if (!guard.isInTerm()) throw new CutShort("Not sent: this process no longer leads, or leads anew.");
}
