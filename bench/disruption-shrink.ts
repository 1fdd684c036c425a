// The 1,000 pods of the provisioning bench are scaled to 40 % on a real control plane: how soon the cluster is as small as
// it should be, what it costs then, and what it took. Beside it what Karpenter v1.15 took on two cores.

import { setTimeout as sleep } from "node:timers/promises";
import { nodeClaims } from "../src/api/node-claim.ts";
import { nodePools } from "../src/api/node-pool.ts";
import { pods } from "../src/control/resources.ts";
import type { Pod } from "../src/sim/world/objects.ts";
import { readRequests } from "../test/control-plane/spine/requests.ts";
import { type Claim, isReady } from "../test/spine/world.ts";
import { controllerUser, cpuSeconds, manifest, onPlane, type Plane, until } from "./provisioning-plane.ts";
import { allRun, deployAll, floorPrice, planPrice, poolTemplate, priceOf, scaleAll, sum } from "./ten-deployments.ts";

const before = 100;
const after = 40;
const lookEveryMs = 1_000;
/** The cluster is watched for so long, whether it has come to rest or not. */
const watchedMs = 180_000;
const peer = {
  "$/h before": 33.8,
  "$/h after 90 s": 14,
  "$/h at last": 13,
  "nodes at last": 74,
  launched: 37,
  "pods moved": 272,
  "CPU s": 75,
};

type Look = {
  readonly atMs: number;
  readonly nodes: number;
  readonly price: number;
  readonly waiting: readonly string[];
};

export async function shrink(): Promise<object> {
  const { ours, looks } = await onPlane(measured);
  console.table(looks.filter((_, index) => index % 10 === 0));
  return { ours, "Karpenter v1.15": peer };
}

async function measured({ plane, api, controller, machines }: Plane) {
  await machines();
  const process = await controller();
  const disruption = { consolidateAfter: "10s", budgets: [{ nodes: "100%" }] };
  const spec = { template: poolTemplate, disruption };
  await api.create(nodePools.resource, {}, manifest(nodePools.resource, "workers", { spec }));
  await sleep(3_000);
  await deployAll(api, before);
  await allRun(api, before);
  const settled = await until("all claims ready", async () => {
    const { items } = await api.list<Claim>(nodeClaims.resource);
    return items.every(isReady) ? items : undefined;
  });
  const cpu = await cpuSeconds(process.pid);
  const scaledAt = Date.now();
  await scaleAll(api, after);
  const looks: Look[] = [];
  while (Date.now() < scaledAt + watchedMs) {
    await sleep(lookEveryMs);
    looks.push(await look(api, Date.now() - scaledAt));
  }
  const requests = (await readRequests(plane)).filter(({ at }) => at > scaledAt);
  const launched = requests.filter(one => one.user === controllerUser && called(one) === "create nodeclaims");
  const moved = requests.filter(one => one.user !== controllerUser && called(one) === "create pods");
  const last = looks.at(-1);
  return {
    looks: looks.map(({ waiting, ...one }) => ({ ...one, waiting: waiting.length })),
    ours: {
      "$/h before": round(sum(settled.map(priceOf))),
      "$/h after 90 s": round(looks.find(({ atMs }) => atMs >= 90_000)?.price ?? Number.NaN),
      "$/h at last": round(last?.price ?? Number.NaN),
      "floor $/h": round(floorPrice(after)),
      "plan $/h": round(planPrice(after)),
      "nodes at last": last?.nodes,
      launched: launched.length,
      "pods moved": moved.length,
      "a pod waited at most, s": longestWait(looks),
      "CPU s": round((await cpuSeconds(process.pid)) - cpu),
    },
  };
}

async function look(api: Plane["api"], atMs: number): Promise<Look> {
  const claims = (await api.list<Claim>(nodeClaims.resource)).items;
  const found = (await api.list<Pod>(pods)).items;
  const waiting = found.filter(({ status }) => status.phase === "Pending").map(({ metadata }) => metadata.uid);
  return { atMs, nodes: claims.length, price: round(sum(claims.map(priceOf))), waiting };
}

/** As long as the same pod was seen to wait, in looks. */
function longestWait(looks: readonly Look[]): number {
  const counts = new Map<string, number>();
  for (const { waiting } of looks) for (const uid of waiting) counts.set(uid, (counts.get(uid) ?? 0) + 1);
  return (Math.max(0, ...counts.values()) * lookEveryMs) / 1000;
}

const called = ({ verb, resource }: { verb: string; resource: string }) => `${verb} ${resource}`;
const round = (number: number) => Math.round(number * 100) / 100;
