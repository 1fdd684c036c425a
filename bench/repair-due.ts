// 1,000 nodes on a real kube-apiserver, without kubelets: one after the other is due, then a hundred at once. How long
// from the end of a toleration, which is known to the millisecond, to the first write; and how long for all hundred,
// beside the time in which the same server takes as many plain writes.

import { setTimeout as sleep } from "node:timers/promises";
import { nodeClaims } from "../src/api/node-claim.ts";
import { nodePools } from "../src/api/node-pool.ts";
import {
  providerIdOf,
  simulatedInstanceManifest,
  simulatedInstances,
  simulatedNamespace,
} from "../src/api/simulated-instance.ts";
import { formatTime } from "../src/api/time.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { namespaces, nodes } from "../src/control/resources.ts";
import { systemClock } from "../src/kube/system-clock.ts";
import { isWrite, readRequests, type Request } from "../test/control-plane/spine/requests.ts";
import type { ControlPlane } from "../test/control-plane/start.ts";
import { claim, instanceOf, node, nodeName, poolName } from "./settled-cluster.ts";

const nodeCount = 1_000;
const inFlightMax = 32;
/** A pool has 50 policies at most; each but the last gives one node an instant of its own, with time between them. */
const singleCount = 49;
const stepMs = 1_000;
const burstCount = 100;
/** Until then the controller has been started. */
const firstTolerationMs = 30_000;
const burstTolerationMs = firstTolerationMs + singleCount * stepMs + 5_000;

export type Bench = { plane: ControlPlane; api: KubeApi; machines: () => void; controller: () => void };

/** The controller sees these conditions for the first time: so it believes when they say that they began. */
export async function due({ plane, api, controller }: Bench): Promise<object> {
  const madeAt = systemClock.now();
  await makePool(api);
  await inParallel(nodeCount, index => makeNode(api, index, madeAt));
  // Nothing is sick for longer than it is there, and times are written in whole seconds.
  await sleep(1_000);
  const turnedAt = Math.floor(systemClock.now() / 1000) * 1000;
  await inParallel(singleCount, index => turn(api, index, { type: `Due${index}`, since: turnedAt }));
  await inParallel(burstCount, index => turn(api, singleCount + index, { type: "Burst", since: turnedAt }));
  controller();

  const burstDueAt = turnedAt + burstTolerationMs;
  await sleep(burstDueAt + 30_000 - systemClock.now());
  const uidByName = await uids(api);
  const writes = (await readRequests(plane)).filter(request => request.user === "fettle" && isWrite(request));
  const opened = new Map(
    writes
      .filter(({ resource, verb }) => resource === "nodeactions" && verb === "create")
      .map(({ name, at }) => [name, at]),
  );
  const openedAt = (index: number) => opened.get(`repair-${uidByName.get(nodeName(index))}`) ?? Number.NaN;
  const delays = Array.from(
    { length: singleCount },
    (_, index) => openedAt(index) - turnedAt - tolerationMs(index),
  ).toSorted((a, b) => a - b);
  const burst = burstOf(writes, burstDueAt);
  const plainMs = await plainWrites(api, burst.writes);
  return {
    cluster: `${nodeCount} nodes`,
    "one due, to the first write, p50 ms": delays[Math.floor(delays.length / 2)],
    "p99 ms": delays[Math.ceil(delays.length * 0.99) - 1],
    "at most, ms": delays.at(-1),
    "of so many": delays.length,
    "100 due at once, until all are being deleted, ms": burst.ms,
    "with so many writes": burst.writes,
    "as many plain writes, ms": Math.round(plainMs),
    ratio: (burst.ms / plainMs).toFixed(2),
  };
}

type Sick = { type: string; since: number };

const tolerationMs = (index: number) => firstTolerationMs + index * stepMs;

async function makePool(api: KubeApi): Promise<void> {
  const policy = (conditionType: string, ms: number) => ({
    conditionType,
    conditionStatus: "True",
    toleration: `${ms}ms`,
  });
  const singles = Array.from({ length: singleCount }, (_, index) => policy(`Due${index}`, tolerationMs(index)));
  const { group, version, kind } = nodePools.resource;
  const nodeClassRef = { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" };
  await api.create(namespaces, {}, { apiVersion: "v1", kind: "Namespace", metadata: { name: simulatedNamespace } });
  await api.create(
    nodePools.resource,
    {},
    {
      apiVersion: `${group}/${version}`,
      kind,
      metadata: { name: poolName },
      spec: {
        replicas: nodeCount,
        template: { spec: { nodeClassRef } },
        disruption: { budgets: [{ nodes: "100%", action: "Repair" }] },
        repair: { maxUnhealthy: "100%", policies: [...singles, policy("Burst", burstTolerationMs)] },
      },
    },
  );
}

async function makeNode(api: KubeApi, index: number, madeAt: number): Promise<void> {
  const written = formatTime(madeAt);
  const { status: _, ...bare } = claim(index, "", written);
  const { metadata } = await api.create(nodeClaims.resource, {}, bare);
  const instance = instanceOf(index, metadata.uid, madeAt);
  await api.create(simulatedInstances, { namespace: simulatedNamespace }, simulatedInstanceManifest(instance));
  const providerID = providerIdOf(instance);
  const { status } = claim(index, providerID, written);
  const key = { name: metadata.name };
  await api.patch(nodeClaims.resource, key, { type: "merge", body: { status } }, { subresource: "status" });
  await api.create(nodes, {}, node(index, providerID, written));
}

async function turn(api: KubeApi, index: number, { type, since }: Sick): Promise<void> {
  const lastTransitionTime = formatTime(since);
  const body = { status: { conditions: [{ type, status: "True", reason: "Bench", message: "", lastTransitionTime }] } };
  await api.patch(nodes, { name: nodeName(index) }, { type: "strategic", body }, { subresource: "status" });
}

async function uids(api: KubeApi): Promise<ReadonlyMap<string, string>> {
  const { items } = await api.list(nodes);
  return new Map(items.map(({ metadata }) => [metadata.name, metadata.uid]));
}

/** Until the last of its claims was deleted: how long, and how much was written in that time. */
function burstOf(writes: readonly Request[], dueAt: number): { ms: number; writes: number } {
  const since = writes.filter(({ at }) => at >= dueAt);
  const deletions = since.filter(({ verb, resource }) => verb === "delete" && resource === "nodeclaims");
  const last = deletions[burstCount - 1];
  if (last === undefined) throw new Error(`${deletions.length} of ${burstCount} claims were deleted.`);
  return { ms: last.at - dueAt, writes: since.filter(({ at }) => at <= last.at).length };
}

/** How long the server takes for so many, in milliseconds. */
export async function plainWrites(api: KubeApi, count: number): Promise<number> {
  const startedAt = performance.now();
  await inParallel(count, async index => {
    const metadata = { name: `plain-${index}`, namespace: "default" };
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata, data: { text: "x".repeat(1_000) } };
    await api.create(simulatedInstances, { namespace: "default" }, body);
  });
  return performance.now() - startedAt;
}

/** As many at a time as the controller has lanes. */
export async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: inFlightMax }, lane));
}
