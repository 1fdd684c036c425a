// 1,000 pods of ten Deployments on an empty cluster, one on-demand pool with machines of up to 8 CPUs: how long until the
// last claim, what the nodes cost, and what it took. Beside it what Karpenter v1.15 took for such a cluster on two cores.

import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject, Resource } from "../src/api/meta.ts";
import { capacityTypeKey, instanceTypeKey, zoneKey } from "../src/api/node.ts";
import { nodeClaims } from "../src/api/node-claim.ts";
import { nodePools } from "../src/api/node-pool.ts";
import { pods } from "../src/control/resources.ts";
import type { Pod } from "../src/sim/world/objects.ts";
import { readRequests, type Request } from "../test/control-plane/spine/requests.ts";
import { type Claim, isReady } from "../test/spine/world.ts";
import { controllerUser, cpuSeconds, manifest, onPlane, type Plane, until } from "./provisioning-plane.ts";

const replicas = 100;
/** CPUs and GiB of each Deployment's pods. */
const sizes = [
  [0.5, 1],
  [0.5, 2],
  [0.5, 4],
  [1, 1],
  [1, 2],
  [1, 3],
  [1, 4],
  [1.5, 2],
  [1.5, 3],
  [2, 4],
] as const;
const spreadCount = 2;
const windowMs = 1_000;
/** Its own figures, as far as they are known. */
const peer = {
  "last claim after the last pod, s": 45,
  nodes: 155,
  "$/h": 33.8,
  "CPU s": 17,
  requests: 4_000,
  "status patches per claim": 8.7,
};

const apps = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true };

export async function deployments(): Promise<object> {
  const { ours, breakdown } = await onPlane(measured);
  console.table(breakdown);
  return { ours, "Karpenter v1.15": peer };
}

async function measured({ plane, api, controller, machines }: Plane) {
  await machines();
  const process = await controller();
  await api.create(nodePools.resource, {}, manifest(nodePools.resource, "workers", { spec: pool }));
  await sleep(3_000);
  for (const [index, size] of sizes.entries()) {
    await api.create(apps, { namespace: "default" }, deployment(apps, index, size));
  }
  const podCount = replicas * sizes.length;
  await until("all pods running", async () => {
    const { items } = await api.list<Pod>(pods);
    return items.length === podCount && items.every(({ status }) => status.phase === "Running") ? true : undefined;
  });
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
    ours: {
      "last claim after the last pod, s": inSeconds(lastClaim - lastPod),
      "last claim after the window closed, s": inSeconds(lastClaim - closedAt),
      nodes: claims.length,
      "$/h": sum(claims.map(priceOf)).toFixed(2),
      "floor $/h": floor().toFixed(1),
      "CPU s": cpu,
      requests: own.length,
      "requests per node": (own.length / claims.length).toFixed(1),
      "status patches per claim": perClaim("patch nodeclaims/status"),
    },
    breakdown: counted(own),
  };
}

const pool = {
  template: {
    spec: {
      requirements: [
        { key: capacityTypeKey, operator: "In", values: ["on-demand"] },
        { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
        { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
      ],
    },
  },
};

function deployment(resource: Resource, index: number, [cpus, gib]: readonly [number, number]) {
  const labels = { app: `app-${index}` };
  const requests = { cpu: `${cpus * 1000}m`, memory: `${gib}Gi` };
  const spread = {
    maxSkew: 1,
    topologyKey: zoneKey,
    whenUnsatisfiable: "DoNotSchedule",
    labelSelector: { matchLabels: labels },
  };
  const podSpec = {
    containers: [{ name: "main", image: "main", resources: { requests } }],
    ...(index < spreadCount ? { topologySpreadConstraints: [spread] } : {}),
  };
  const spec = { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } };
  return manifest(resource, `app-${index}`, { spec });
}

const called = ({ verb, resource }: Request) => `${verb} ${resource}`;

function counted(requests: readonly Request[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const request of requests) counts[called(request)] = (counts[called(request)] ?? 0) + 1;
  return Object.fromEntries(Object.entries(counts).toSorted(([, a], [, b]) => b - a));
}

const priceOfCpu = 0.025;
const priceOfGib = 0.001;

/** By the catalogue's rule, from the name of the type: s-4x-amd64-linux has 4 CPUs with 4 GiB each. */
function priceOf({ metadata }: KubeObject): number {
  const [family = "", size = ""] = (metadata.labels?.[instanceTypeKey] ?? "").split("-");
  const cpus = Number.parseInt(size, 10);
  const gibPerCpu = { c: 2, s: 4, m: 8 }[family] ?? Number.NaN;
  return cpus * (priceOfCpu + gibPerCpu * priceOfGib);
}

/** If pods could be cut to pieces. */
const floor = () => sum(sizes.map(([cpus, gib]) => replicas * (cpus * priceOfCpu + gib * priceOfGib)));

const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
const inSeconds = (ms: number) => (ms / 1000).toFixed(1);
