// Commands on pools and on the SafetyPolicy: what the controller tells their owners.

import { nodePools } from "../api/node-pool.ts";
import { safetyPolicies } from "../api/safety-policy.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import { alreadySo, assertSame, done, type Execution } from "./execution.ts";
import { keyOf, metadataBody, patchBound, statusBody, touchesLists } from "./patch.ts";

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;

export async function updatePool(command: Of<"update-pool">, execution: Execution): Promise<Outcome> {
  const { api, picture, clock } = execution;
  const { pool, metadata, status } = command;
  const { resource } = nodePools;
  if (metadata !== undefined) {
    const live = touchesLists(metadata) ? assertSame(await api.get(resource, keyOf(pool)), pool).metadata : undefined;
    const change = metadataBody(metadata, live?.finalizers ?? []);
    const bound = live === undefined ? pool : { ...pool, resourceVersion: live.resourceVersion };
    if (change !== undefined)
      execution.picture.answered("pool", await patchBound(api, resource, { bound, body: { metadata: change } }));
  }
  if (status === undefined) return metadata === undefined ? alreadySo : done;
  const body = { status: statusBody(picture.pool(pool.name)?.status ?? {}, status, clock.now()) };
  execution.picture.answered("pool", await patchBound(api, resource, { bound: pool, body, subresource: "status" }));
  return done;
}

export async function updateSafetyPolicy(
  { policy, status }: Of<"update-safety-policy">,
  execution: Execution,
): Promise<Outcome> {
  const { api, picture, clock } = execution;
  const body = { status: statusBody(picture.safety.status ?? {}, status, clock.now()) };
  const { resource } = safetyPolicies;
  execution.picture.answered(
    "safety-policy",
    await patchBound(api, resource, { bound: policy, body, subresource: "status" }),
  );
  return done;
}
