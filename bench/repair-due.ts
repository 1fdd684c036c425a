// 1,000 nodes on a real kube-apiserver, without kubelets: one after the other is due, then a hundred at once. How long
// from the end of a toleration, which is known to the millisecond, to the first write; and how long for all hundred,
// beside the time in which the same server takes the same writes from a plain client, and as many ConfigMaps.

import { loadavg } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../src/api/meta.ts";
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
import type { ControlPlane } from "../test/control-plane/start.ts";
import { CpuWatch, processesOf } from "./plane-cpu.ts";
import { countsOf, inFlight, inParallel, plainMs, readWrites, replay, type Write } from "./replay.ts";
import { claim, instanceOf, node, nodeName, poolName } from "./settled-cluster.ts";

const nodeCount = 1_000;
/** A pool has 50 policies at most; each but the last gives one node an instant of its own, with time between them. */
const singleCount = 49;
const stepMs = 1_000;
const burstCount = 100;
/** Until then the controller has been started. */
const firstTolerationMs = 30_000;
const burstTolerationMs = firstTolerationMs + singleCount * stepMs + 5_000;

/** The program as it runs. */
export type Running = { stop: () => Promise<void>; pid: number };
export type Bench = { plane: ControlPlane; api: KubeApi; machines: () => void; controller: () => Running };

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
  const before = await objectsOf(api);
  const { stop, pid } = controller();

  const burstDueAt = turnedAt + burstTolerationMs;
  await sleep(burstDueAt - 2_000 - systemClock.now());
  const cpu = { all: new CpuWatch(processesOf(plane.dir)), own: new CpuWatch([pid]) };
  const load = loadavg()[0]?.toFixed(1);
  await sleep(burstDueAt + 30_000 - systemClock.now());
  for (const watch of Object.values(cpu)) watch.stop();
  await stop();
  const uidByName = await uids(api);
  const writes = await readWrites(plane, "fettle");
  const opened = new Map(
    writes
      .filter(({ resource, verb }) => resource.plural === "nodeactions" && verb === "create")
      .map(({ name, at }) => [name, at]),
  );
  const openedAt = (index: number) => opened.get(`repair-${uidByName.get(nodeName(index))}`) ?? Number.NaN;
  const delays = Array.from(
    { length: singleCount },
    (_, index) => openedAt(index) - turnedAt - tolerationMs(index),
  ).toSorted((a, b) => a - b);
  const burst = burstOf(writes, burstDueAt);
  const replayed = await replay({ api, plane }, burst.writes, before);
  const cpuOfAll = cpu.all.between(burstDueAt, burstDueAt + burst.ms);
  const plain = await plainMs(api, burst.writes.length);
  return {
    cluster: `${nodeCount} nodes; load before the hundred ${load}`,
    "one due, to the first write, p50 ms": delays[Math.floor(delays.length / 2)],
    "p99 ms": delays[Math.ceil(delays.length * 0.99) - 1],
    "at most, ms": delays.at(-1),
    "of so many": delays.length,
    "100 due at once, until all are being deleted, ms": burst.ms,
    "with so many writes": countsOf(burst.writes),
    "writes in the server's hands at a time": inFlight(burst.writes, burst.ms).toFixed(1),
    "the same writes by a plain client, ms": Math.round(replayed.ms),
    "times that": (burst.ms / replayed.ms).toFixed(2),
    "CPU s of server, etcd and controller, and of all for the plain client": `${cpuOfAll.toFixed(2)} ${replayed.cpuSeconds.toFixed(2)}`,
    "times that in CPU": (cpuOfAll / replayed.cpuSeconds).toFixed(2),
    "as many ConfigMaps, ms": Math.round(plain),
    "times those": (burst.ms / plain).toFixed(2),
    "CPU of the controller, s": cpu.own.between(burstDueAt, burstDueAt + burst.ms).toFixed(2),
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

/** Until the last of its claims was deleted. */
function burstOf(writes: readonly Write[], dueAt: number): { ms: number; writes: readonly Write[] } {
  const since = writes.filter(({ at }) => at >= dueAt);
  const deletions = since.filter(({ verb, resource }) => verb === "delete" && resource.plural === "nodeclaims");
  const last = deletions[burstCount - 1];
  if (last === undefined) throw new Error(`${deletions.length} of ${burstCount} claims were deleted.`);
  return { ms: last.at - dueAt, writes: since.filter(({ at }) => at <= last.at) };
}

/** Claims and nodes as they are, by plural and name: what is written to them is replayed on copies. */
async function objectsOf(api: KubeApi): Promise<ReadonlyMap<string, KubeObject>> {
  const lists = await Promise.all(
    [nodeClaims.resource, nodes].map(async resource => ({ resource, ...(await api.list(resource)) })),
  );
  return new Map(
    lists.flatMap(({ resource, items }) => items.map(item => [`${resource.plural}/${item.metadata.name}`, item])),
  );
}
