// More than there is room for, in a large cluster: beside 150,000 pods that run, a fifth as many wait for a node when the
// controller comes, and once it has planned for those, half as many again come at once. The controller is a process of
// its own whose heap V8 bounds. It must not outgrow it, nor stand still, forget anybody or lose its lease.

import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { clusterName, poolName, settle, waitingPod } from "../../bench/settled-cluster.ts";
import { nodePoolKey, zoneKey } from "../../src/api/node.ts";
import { nodeActions } from "../../src/api/node-action.ts";
import { nodeClaims } from "../../src/api/node-claim.ts";
import { nodePools } from "../../src/api/node-pool.ts";
import { formatTime } from "../../src/api/time.ts";
import { type Lease, LEASES } from "../../src/kube/lease.ts";
import { systemClock as clock } from "../../src/kube/system-clock.ts";
import type { ApiServer } from "../../src/sim/api-server.ts";
import { clusterInTheBox } from "../../src/sim/cluster-in-the-box.ts";
import { kubeconfig } from "../../src/sim/http/kubeconfig.ts";
import { type Listening, listen } from "../../src/sim/http/listener.ts";
import { InProcessApi } from "../../src/sim/in-process.ts";
import { seededRandom } from "../../src/sim/random.ts";
import { keyOf } from "../../src/sim/store.ts";
import { buildFettle, FettleProcess } from "../spine/fettle-process.ts";
import { processWorld } from "../spine/process-world.ts";
import type { Claim } from "../spine/world.ts";

const settled = { nodes: 5_000, podsPerNode: 30 };
const settledPods = settled.nodes * settled.podsPerNode;
const burstPool = "burst";
const early = { first: settledPods, count: 30_000, zone: "test-zone-a" };
/** In another zone: what the claims of those have left is no room for these, and for each of them more is asked. */
const late = { first: settledPods + early.count, count: 14_800, zone: "test-zone-b" };
/** Measured on Node 24: with 300 it died of the burst, 350 were enough. All its memory came to 660 MB at most. */
const heapMaxMb = 600;
const leaseKey = { name: "fettle", namespace: "default" };
const testMaxMs = 150_000;

describe("150,000 pods run, 30,000 wait, 14,800 more come at once", () => {
  // Alone: its garbage collector would end every pod, for their owners are only named.
  const server = clusterInTheBox({ clock, random: seededRandom(1), controllers: false });
  const api = new InProcessApi(server, clock);
  const account = () => controller?.lines ?? [];
  const world = processWorld({ name: "the box", api, account, stop: async () => {} });
  let folder: string;
  let listening: Listening;
  let address: string;
  let controller: FettleProcess | undefined;
  let end: number | NodeJS.Signals | undefined;
  let term: number | undefined;

  beforeAll(async () => {
    await buildFettle();
    settle(server, settled, clock.now());
    const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", spec: { template: { spec: {} } } };
    await api.create(nodePools.resource, {}, { ...pool, metadata: { name: burstPool } });
    arrive(server, early);
    server.store.compact();
    listening = await listen({ api: server, clock, now: clock.now(), token: "token" });
    folder = await mkdtemp(join(tmpdir(), "fettle-overload-"));
    await writeFile(join(folder, "kubeconfig"), kubeconfig(listening), { mode: 0o600 });
    address = `127.0.0.1:${await freePort()}`;
    controller = start(join(folder, "kubeconfig"), address);
    void controller.ended.then(how => (end = how));
    term = await world.until("its term", async () => (await lease())?.leaseTransitions);
  });
  afterAll(async () => {
    await controller?.kill();
    await listening?.close();
    if (folder !== undefined) await rm(folder, { recursive: true });
  });

  test("all that wait when it comes get claims", { timeout: testMaxMs }, async () => {
    expect(await planned(early.count)).toBe(early.count);
  });

  test("so do all that come at once after those", { timeout: testMaxMs }, async () => {
    arrive(server, late);
    expect(await planned(early.count + late.count)).toBe(early.count + late.count);
  });

  test("whoever runs is left alone", async () => {
    const { items } = await api.list<Claim>(nodeClaims.resource, { labelSelector: `${nodePoolKey}=${poolName}` });
    expect(items.length).toBe(settled.nodes);
    expect(items.filter(({ metadata }) => metadata.deletionTimestamp !== undefined)).toEqual([]);
    expect((await api.list(nodeActions.resource)).items).toEqual([]);
  });

  /** For how many pods there are claims once these are enough. Until then there are more and more, and never fewer. */
  async function planned(podCount: number): Promise<number> {
    for (let before = await look(); before < podCount; ) {
      before = await world.until(`a claim for more than ${before} of ${podCount} pods`, async () => {
        const now = await look();
        expect(now, "how many pods have claims").toBeGreaterThanOrEqual(before);
        return now > before ? now : undefined;
      });
    }
    return look();
  }

  /** For how many pods there are claims. Whenever somebody looks, the controller lives, answers and leads as it did. */
  async function look(): Promise<number> {
    expect((await lease())?.leaseTransitions).toBe(term);
    expect(account().filter(line => line.includes("No longer leads."))).toEqual([]);
    const { statusCode, body } = await request(`http://${address}/healthz`).catch(unanswered);
    expect([statusCode, await body.text()]).toEqual([200, "ok\n"]);
    const { items } = await api.list<Claim>(nodeClaims.resource, { labelSelector: `${nodePoolKey}=${burstPool}` });
    return items.reduce((sum, { spec }) => sum + Number(spec.resources?.requests?.["pods"]), 0);
  }

  /** Who does not answer has ended, and what it said last is still on its way. */
  async function unanswered(): Promise<never> {
    throw ended(await world.until("an answer of the controller, or its end,", async () => end));
  }

  function ended(how: number | NodeJS.Signals): Error {
    return new Error(`The controller ended (${how}). It said last:\n${account().join("\n")}`);
  }

  /** Of a controller that is alive. Undefined: nobody has led yet. */
  async function lease() {
    if (end !== undefined) throw ended(end);
    const { items } = await api.list<Lease>(LEASES, { namespace: leaseKey.namespace });
    return items.find(({ metadata }) => metadata.name === leaseKey.name)?.spec;
  }
});

function start(path: string, address: string): FettleProcess {
  return new FettleProcess(
    `--max-old-space-size=${heapMaxMb}`,
    "run",
    `--kubeconfig=${path}`,
    "--provider=simulated",
    `--cluster-name=${clusterName}`,
    `--metrics-bind-address=${address}`,
    `--leader-elect-resource-namespace=${leaseKey.namespace}`,
    "--default-health-check=off",
    // All that come at once are looked at as one, however slowly: of two halves the second would find room on the first's
    // last claim, and the claims would ask for less than all.
    "--batch-idle-duration=5s",
    "--batch-max-duration=1m",
    // Only its last lines are kept: what it warns of must not be pushed out by what it does.
    "--log-level=warn",
  );
}

type Arrival = { readonly first: number; readonly count: number; readonly zone: string };

/** In one turn of the event loop: for everybody else at once. */
function arrive(server: ApiServer, { first, count, zone }: Arrival): void {
  const pods = server.store.collection("pods");
  const madeAt = formatTime(clock.now());
  for (let index = first; index < first + count; index++) {
    const size = index % 20;
    const requests = { cpu: `${250 + 100 * size}m`, memory: `${512 + 128 * size}Mi` };
    const pod = waitingPod(index, { requests, nodeSelector: { [nodePoolKey]: burstPool, [zoneKey]: zone } }, madeAt);
    server.store.put(pods, keyOf(pod.metadata.namespace, pod.metadata.name), pod);
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>(resolve => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise(resolve => probe.close(resolve));
  return port;
}
