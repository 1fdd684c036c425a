// Pools and pods that wait, for suites of provisioning on a real control plane. Each story's pods go on its own nodes.

import type { KubeObject } from "../../../src/api/meta.ts";
import { hostnameKey } from "../../../src/api/node.ts";
import { type NodePoolSpec, nodePools } from "../../../src/api/node-pool.ts";
import { events, pods } from "../../../src/control/resources.ts";
import { type Claim, isReady, type Stage } from "../../spine/world.ts";
import { deployments } from "../repair/sick.ts";

export type Event = KubeObject & {
  reason: string;
  message: string;
  source?: { component?: string };
  involvedObject: { kind: string; name: string };
};

export async function aPool(stage: Stage, spec: Pick<NodePoolSpec, "podPlacement"> = {}): Promise<void> {
  await stage.create(nodePools.resource, {
    metadata: { name: stage.named("workers") },
    spec: { ...spec, template: { metadata: { labels: stage.labels }, spec: {} } },
  });
}

export type Workload = {
  replicas: number;
  cpu: string;
  /** One a node. */
  isApart?: boolean;
};

export async function deploy(stage: Stage, name: string, { replicas, cpu, isApart = false }: Workload): Promise<void> {
  const labels = { app: name };
  const anti = { topologyKey: hostnameKey, labelSelector: { matchLabels: labels } };
  const spec = {
    ...podSpec(stage, cpu),
    ...(isApart ? { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [anti] } } } : {}),
  };
  await stage.create(deployments, {
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}

export async function aPod(stage: Stage, name: string, cpu: string): Promise<void> {
  await stage.create(pods, { metadata: { name }, spec: podSpec(stage, cpu) });
}

function podSpec(stage: Stage, cpu: string) {
  return {
    nodeSelector: stage.labels,
    containers: [{ name: "main", image: "main", resources: { requests: { cpu, memory: "256Mi" } } }],
  };
}

/** Waits until so many pods run on nodes, and their claims are all Ready. */
export async function allRunning(stage: Stage, count: number): Promise<Claim[]> {
  await stage.world.until(`${count} pods of ${stage.name} that run`, async () => {
    const found = await stage.pods();
    const isUp = found.every(({ spec, status }) => spec.nodeName !== undefined && status.phase === "Running");
    return found.length === count && isUp ? true : undefined;
  });
  return stage.world.until(`the claims of ${stage.name}`, async () => {
    const claims = await stage.claims();
    return claims.every(isReady) ? claims : undefined;
  });
}

/** What we said of pods. */
export async function saidOf(stage: Stage, reason: string): Promise<Event[]> {
  const { items } = await stage.world.api.list<Event>(events, { namespace: stage.name });
  const isOurs = ({ source, involvedObject }: Event) => source?.component === "fettle" && involvedObject.kind === "Pod";
  return items.filter(event => event.reason === reason && isOurs(event));
}
