// 1,000 pods of ten Deployments on an empty cluster, one on-demand pool with machines of up to 8 CPUs: how long until the
// last claim, what the nodes cost, and what it took. Beside it what Karpenter v1.15 took for such a cluster on two cores.

import { setTimeout as sleep } from "node:timers/promises";
import { nodeClaims } from "../src/api/node-claim.ts";
import { nodePools } from "../src/api/node-pool.ts";
import { simulatedInstances } from "../src/api/simulated-instance.ts";
import { readRequests, type Request } from "../test/control-plane/spine/requests.ts";
import { type Claim, isReady } from "../test/spine/world.ts";
import { controllerUser, cpuSeconds, manifest, onPlane, type Plane, until } from "./provisioning-plane.ts";
import { allRun, deployAll, floorPrice, planPrice, poolTemplate, priceOf, sum, windowMs } from "./ten-deployments.ts";

const replicas = 100;
/** Its own figures, as far as they are known. */
const peer = {
  "last claim after the last pod, s": 45,
  nodes: 155,
  "$/h": 33.8,
  "CPU s": 17,
  requests: 4_000,
  "status patches per claim": 8.7,
};

export async function deployments(): Promise<object> {
  const ours: Record<string, object> = {};
  for (const podPlacement of ["Scheduler", "Planned"] as const) {
    const { row, breakdown } = await onPlane(plane => measured(plane, podPlacement));
    console.log(`podPlacement: ${podPlacement}`);
    console.table(breakdown);
    ours[`ours, podPlacement: ${podPlacement}`] = row;
  }
  return { ...ours, "Karpenter v1.15": peer };
}

async function measured({ plane, api, controller, machines }: Plane, podPlacement: "Scheduler" | "Planned") {
  await machines();
  const process = await controller();
  const spec = { template: poolTemplate, podPlacement };
  await api.create(nodePools.resource, {}, manifest(nodePools.resource, "workers", { spec }));
  await sleep(3_000);
  await deployAll(api, replicas);
  await allRun(api, replicas);
  const claims = await until("all claims ready", async () => {
    const { items } = await api.list<Claim>(nodeClaims.resource);
    return items.every(isReady) ? items : undefined;
  });
  const cpu = await cpuSeconds(process.pid);
  const all = await readRequests(plane);
  const own = all.filter(({ user }) => user === controllerUser);
  const last = (of: readonly Request[], what: string) => of.findLast(one => called(one) === what)?.at ?? Number.NaN;
  // The scheduler says so of each pod that it finds no node for.
  const others = all.filter(({ user }) => user === "admin");
  const lastPod = last(others, "create pods");
  const lastClaim = last(own, "create nodeclaims");
  const unschedulable = others.filter(one => called(one) === "patch pods/status" && one.at <= lastClaim);
  const closedAt = (unschedulable.at(-1)?.at ?? Number.NaN) + windowMs;
  const perClaim = (what: string) => (own.filter(one => called(one) === what).length / claims.length).toFixed(1);
  return {
    row: {
      "last claim after the last pod, s": inSeconds(lastClaim - lastPod),
      "last claim after the window closed, s": inSeconds(lastClaim - closedAt),
      nodes: claims.length,
      "$/h": sum(claims.map(priceOf)).toFixed(2),
      "floor $/h": floorPrice(replicas).toFixed(1),
      "plan $/h": planPrice(replicas).toFixed(2),
      "CPU s": cpu,
      requests: own.length,
      "requests per node": (own.length / claims.length).toFixed(1),
      "but for the machines' own": (own.filter(isOfCluster).length / claims.length).toFixed(1),
      "status patches per claim": perClaim("patch nodeclaims/status"),
    },
    breakdown: counted(own, claims.length),
  };
}

const called = ({ verb, resource }: Request) => `${verb} ${resource}`;

/** The simulated provider keeps its instances in ConfigMaps: elsewhere that is the cloud's own API. */
const isOfCluster = ({ resource }: Request) => resource !== simulatedInstances.plural;

function counted(requests: readonly Request[], nodeCount: number): Record<string, object> {
  const counts: Record<string, { all: number; failed: number }> = {};
  for (const request of requests) {
    const count = (counts[called(request)] ??= { all: 0, failed: 0 });
    count.all++;
    if (request.code >= 400) count.failed++;
  }
  const sorted = Object.entries(counts).toSorted(([, a], [, b]) => b.all - a.all);
  return Object.fromEntries(
    sorted.map(([what, count]) => [what, { ...count, "per node": (count.all / nodeCount).toFixed(2) }]),
  );
}

const inSeconds = (ms: number) => (ms / 1000).toFixed(1);
