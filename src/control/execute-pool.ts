// Commands on pools and on the SafetyPolicy: what the controller tells their owners.

import type { KubeObject } from "../api/meta.ts";
import { nodePools } from "../api/node-pool.ts";
import { safetyPolicies } from "../api/safety-policy.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import { done, type Execution, overLive } from "./execution.ts";
import { isConflict } from "./outcome.ts";
import { type Bound, metadataBody, patchBound, statusBody } from "./patch.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;

/** As the watch has shown it; read live only if somebody was quicker. */
export async function updatePool(command: Of<"update-pool">, execution: Execution): Promise<Outcome> {
  const { name, uid } = command.pool;
  const view = execution.picture.pool(name);
  if (view?.uid === uid) {
    try {
      return await writePool({ metadata: view, status: view.status }, command, execution);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
  const target = { resource: nodePools.resource, target: command.pool };
  return overLive(execution, target, live => writePool(live, command, execution));
}

type Seen = {
  readonly metadata: Bound & { readonly finalizers?: readonly string[] };
  readonly status?: object | undefined;
};

async function writePool(
  seen: Seen,
  { metadata, status }: Of<"update-pool">,
  { api, picture, clock, recentReads }: Execution,
): Promise<Outcome> {
  const { resource } = nodePools;
  const { name, uid, resourceVersion = "" } = seen.metadata;
  let bound = { name, uid, resourceVersion };
  const wrote = (raw: KubeObject) => {
    picture.answered("pool", raw);
    // Who makes claims need not look whether it is still there.
    void recentReads.share(uid, Promise.resolve(raw));
    bound = { ...bound, resourceVersion: raw.metadata.resourceVersion };
  };
  const change = metadata && metadataBody(metadata, seen.metadata.finalizers ?? []);
  if (change !== undefined) wrote(await patchBound(api, resource, { bound, body: { metadata: change } }));
  if (status === undefined) return done;
  const body = { status: statusBody(seen.status ?? {}, status, clock.now()) };
  wrote(await patchBound(api, resource, { bound, body, subresource: "status" }));
  return done;
}

export function updateSafetyPolicy(
  { policy, status }: Of<"update-safety-policy">,
  execution: Execution,
): Promise<Outcome> {
  const { api, picture, clock } = execution;
  const { resource } = safetyPolicies;
  return overLive(execution, { resource, target: policy }, async live => {
    const body = { status: statusBody(live.status ?? {}, status, clock.now()) };
    const written = await patchBound(api, resource, { bound: live.metadata, body, subresource: "status" });
    picture.answered("safety-policy", written);
    return done;
  });
}
