// Commands on pools and on the SafetyPolicy: what the controller tells their owners.

import { nodePools } from "../api/node-pool.ts";
import { safetyPolicies } from "../api/safety-policy.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import { done, type Execution, overLive } from "./execution.ts";
import { metadataBody, patchBound, statusBody } from "./patch.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;

export function updatePool({ pool, metadata, status }: Of<"update-pool">, execution: Execution): Promise<Outcome> {
  const { api, picture, clock } = execution;
  const { resource } = nodePools;
  return overLive(execution, { resource, target: pool }, async live => {
    const change = metadata && metadataBody(metadata, live.metadata.finalizers ?? []);
    const changed =
      change === undefined
        ? live
        : await patchBound(api, resource, { bound: live.metadata, body: { metadata: change } });
    picture.answered("pool", changed);
    if (status === undefined) return done;
    const body = { status: statusBody(live.status ?? {}, status, clock.now()) };
    const written = await patchBound(api, resource, { bound: changed.metadata, body, subresource: "status" });
    picture.answered("pool", written);
    return done;
  });
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
