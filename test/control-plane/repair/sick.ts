// How suites of repair turn nodes sick and well on a real control plane: by their status, as an agent would. And a
// SafetyPolicy that holds back nothing but failures which still spread.

import { type KubeObject, type Resource } from "../../../src/api/meta.ts";
import { nodePools } from "../../../src/api/node-pool.ts";
import { safetyPolicies } from "../../../src/api/safety-policy.ts";
import { formatTime } from "../../../src/api/time.ts";
import { nodes } from "../../../src/control/resources.ts";
import { systemClock } from "../../../src/kube/system-clock.ts";
import type { Condition } from "../../../src/sim/world/objects.ts";
import type { Claim, Stage } from "../../spine/world.ts";

/** Nobody else writes it. */
export const ownCondition = "DiskBroken";

export const deployments: Resource = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
};

/** `quiet`: how long nothing may have turned sick. */
export async function wideCaps(stage: Stage, quiet: string): Promise<void> {
  const all = "100%";
  await stage.create(safetyPolicies.resource, {
    metadata: { name: "default" },
    spec: {
      settle: { quiet, max: "10s" },
      correlatedFailure: { mode: "Disabled" },
      caps: { repair: { cluster: all, zone: all, perWindow: { nodes: all, duration: "1m" } } },
    },
  });
}

export type Pool = {
  replicas: number;
  conditionType?: string;
  toleration?: string;
  maxUnhealthy?: string;
  /** Of the budget for Repair. */
  atOnce?: string;
};

export async function aPool(stage: Stage, name: string, pool: Pool): Promise<Claim[]> {
  const { replicas, conditionType = ownCondition, toleration = "0s", maxUnhealthy = "20%", atOnce = "100%" } = pool;
  const status = conditionType === "Ready" ? {} : { conditionStatus: "True" };
  await stage.create(nodePools.resource, {
    metadata: { name: stage.named(name) },
    spec: {
      replicas,
      template: { metadata: { labels: stage.labels }, spec: {} },
      disruption: { budgets: [{ nodes: atOnce, action: "Repair" }] },
      // A node that was not Ready while it came up has flapped, by a window as short as this toleration's.
      repair: { maxUnhealthy, flappingWindow: "0s", policies: [{ conditionType, toleration, ...status }] },
    },
  });
  return stage.ready(replicas);
}

/** One patch a claim's node, all of them on their way at once. */
export async function turn(
  stage: Stage,
  claims: readonly Claim[],
  [type, status]: readonly [type: string, status: string],
): Promise<void> {
  const lastTransitionTime = formatTime(systemClock.now());
  const body = { status: { conditions: [{ type, status, reason: "Test", message: "", lastTransitionTime }] } };
  const { api } = stage.world;
  await Promise.all(
    claims.map(claim =>
      api.patch(nodes, { name: nodeOf(claim) }, { type: "strategic", body }, { subresource: "status" }),
    ),
  );
}

export const nodeOf = ({ status }: Claim) => status?.nodeName ?? "";

type WithConditions = KubeObject & { status?: { conditions?: readonly Condition[] } };

/** Waits until the pool says of itself whether its brake holds. */
export async function brake(stage: Stage, name: string, status: "True" | "False"): Promise<void> {
  await stage.world.until(`RepairBlocked=${status} on ${name}`, async () => {
    const pool = await stage.get<WithConditions>(nodePools.resource, stage.named(name));
    const found = pool?.status?.conditions?.find(({ type }) => type === "RepairBlocked");
    return found?.status === status ? true : undefined;
  });
}
