// Claims at the server's own pace: one pod a node, 1,000 of them, from the first claim that is created to the last, and
// beside it the same claims created by nothing but a loop, as many at a time.

import { setTimeout as sleep } from "node:timers/promises";
import type { Manifest } from "../src/api/meta.ts";
import { hostnameKey } from "../src/api/node.ts";
import { nodeClaims } from "../src/api/node-claim.ts";
import { nodePools } from "../src/api/node-pool.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { pods } from "../src/control/resources.ts";
import { isWrite, readRequests } from "../test/control-plane/spine/requests.ts";
import type { Claim } from "../test/spine/world.ts";
import { controllerUser, manifest, onPlane, type Plane, until } from "./provisioning-plane.ts";

const count = 1_000;
/** As many as the controller has lanes. */
const atOnce = 32;

export const claims = (): Promise<object> => onPlane(measured);

async function measured({ plane, api, controller }: Plane): Promise<object> {
  await inParallel(index => api.create(pods, { namespace: "default" }, pod(index)).then(() => undefined));
  await until("the scheduler's word on all pods", async () => {
    const { items } = await api.list(pods);
    return items.every(item => JSON.stringify(item).includes("Unschedulable")) ? true : undefined;
  });
  await controller();
  await sleep(3_000);
  await api.create(
    nodePools.resource,
    {},
    manifest(nodePools.resource, "workers", { spec: { template: { spec: {} } } }),
  );
  const made = await until("all claims", async () => {
    const { items } = await api.list<Claim>(nodeClaims.resource);
    return items.length === count ? items : undefined;
  });
  const own = (await readRequests(plane)).filter(({ user }) => user === controllerUser);
  const creates = own.filter(({ verb, resource }) => verb === "create" && resource === "nodeclaims");
  const [firstAt, lastAt] = [creates[0]?.at ?? Number.NaN, creates.at(-1)?.at ?? Number.NaN];
  const ours = lastAt - firstAt;
  // The first of them are launched while the last are still made.
  const writes = own.filter(request => isWrite(request) && request.at >= firstAt && request.at <= lastAt);
  const [model] = made;
  if (model === undefined) throw new Error("There is no claim.");
  const plain = await plainCreates(api, model);
  const perSecond = (ms: number) => Math.round((count / ms) * 1000);
  return {
    claims: count,
    "ours, s": (ours / 1000).toFixed(1),
    "ours per s": perSecond(ours),
    "our writes meanwhile": writes.length,
    "plain creates, s": (plain / 1000).toFixed(1),
    "plain per s": perSecond(plain),
  };
}

function pod(index: number): Manifest {
  const anti = { topologyKey: hostnameKey, labelSelector: { matchLabels: { app: "apart" } } };
  const spec = {
    containers: [{ name: "main", image: "main", resources: { requests: { cpu: "100m" } } }],
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [anti] } },
  };
  const { metadata, ...rest } = manifest(pods, `pod-${index}`, { spec });
  return { ...rest, metadata: { ...metadata, labels: { app: "apart" } } };
}

/** Of a class that nobody serves, so that nothing comes of them. */
async function plainCreates(api: KubeApi, { spec }: Claim): Promise<number> {
  const nodeClassRef = { group: "example.com", kind: "Nothing", name: "none" };
  const startedAt = performance.now();
  await inParallel(async index => {
    const body = manifest(nodeClaims.resource, `plain-${index}`, { spec: { ...spec, nodeClassRef } });
    await api.create(nodeClaims.resource, {}, body);
  });
  return performance.now() - startedAt;
}

async function inParallel(work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}
