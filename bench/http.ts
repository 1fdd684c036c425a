// What the embedded API costs over HTTPS, beside a real kube-apiserver in the same run: writes a second by our own
// client, and how far 20 watchers of all pods fall behind at 1,000 writes a second.
//   npm run bench -- http [--box-only]

import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import type { Manifest, Resource } from "../src/api/meta.ts";
import { type Connection, connect } from "../src/kube/client.ts";
import { type ClusterConfig, parseKubeconfig, resolveContext } from "../src/kube/kubeconfig.ts";
import { systemClock } from "../src/kube/system-clock.ts";
import { isUnavailable } from "../test/control-plane/binaries.ts";
import { controlPlane } from "../test/control-plane/start.ts";

const pods: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const podCount = 4_000;
const inFlight = 32;
const watcherCount = 20;
const pacedWrites = 5_000;
const pacedPerSecond = 1_000;

type Server = { name: string; config: ClusterConfig; stop(): Promise<void> };
type Figures = { creates: number; patches: number; paced: number; lagMedianMs: number; lagMaxMs: number };

async function theBox(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), "fettle-bench-"));
  const path = join(folder, "kubeconfig");
  const root = join(import.meta.dirname, "..");
  const child = spawn(process.execPath, [join(root, "bin/fettle.mjs"), "cluster", "--kubeconfig", path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", code => reject(new Error(`fettle cluster ended with ${code}`)));
  });
  return {
    name: "the box",
    config: await configAt(path),
    stop: async () => {
      child.kill("SIGTERM");
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function theRealOne(): Promise<Server> {
  const plane = await controlPlane();
  return { name: "kube-apiserver", config: await configAt(plane.kubeconfigPath), stop: () => plane.stop() };
}

async function configAt(path: string): Promise<ClusterConfig> {
  return resolveContext(parseKubeconfig(await readFile(path, "utf8"), { file: path, baseDir: "/" }));
}

/** About 4 KB of JSON. */
function pod(index: number): Manifest {
  const env = Array.from({ length: 40 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value-${index}-${i}` }));
  const containers = [{ name: "main", image: "registry.example/app:v1", env }];
  const annotations = { "example.com/padding": "x".repeat(1_500) };
  return { apiVersion: "v1", kind: "Pod", metadata: { name: `pod-${index}`, annotations }, spec: { containers } };
}

/** Per second, with so many under way at once. */
async function rate(count: number, write: (index: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  const lane = async () => {
    while (next < count) await write(next++);
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  return Math.round((count / (performance.now() - startedAt)) * 1000);
}

function patchLabel(api: Connection, index: number, round: string): Promise<unknown> {
  const key = { name: `pod-${index % podCount}`, namespace: "default" };
  return api.patch(pods, key, { type: "merge", body: { metadata: { labels: { round: `${round}-${index}` } } } });
}

/** Counts lines and notes when each came; it parses nothing, so that the server and not the reader is measured. */
async function watcher(config: ClusterConfig, arrivals: number[]): Promise<() => void> {
  // Its own connection, as each watcher of a cluster has; that the server is ours has been checked by the client.
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const { body } = await request(`${config.server}/api/v1/pods?watch=true`, {
    headers: { authorization: `Bearer ${config.user.token}` },
    dispatcher,
  });
  body.on("data", (chunk: Buffer) => {
    const at = performance.now();
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, end + 1)) arrivals.push(at);
  });
  body.on("error", () => {});
  return () => void dispatcher.destroy();
}

async function measured(server: Server): Promise<Figures> {
  const api = connect(server.config, { clock: systemClock });
  const creates = await rate(podCount, index => api.create(pods, { namespace: "default" }, pod(index)));
  const patches = await rate(podCount, index => patchLabel(api, index, "fast"));

  const arrivals = Array.from({ length: watcherCount }, () => [] as number[]);
  const stops = await Promise.all(arrivals.map(times => watcher(server.config, times)));
  // What was there before comes first; it is let pass.
  await until(() => arrivals.every(times => times.length >= podCount));
  for (const times of arrivals) times.length = 0;

  const written: number[] = [];
  const startedAt = performance.now();
  const writes: Promise<unknown>[] = [];
  for (let index = 0; index < pacedWrites; index++) {
    const dueAt = startedAt + (index * 1000) / pacedPerSecond;
    if (dueAt > performance.now()) await sleep(dueAt - performance.now());
    writes.push(patchLabel(api, index, "paced").then(() => written.push(performance.now())));
  }
  await Promise.all(writes);
  const paced = Math.round((pacedWrites / (performance.now() - startedAt)) * 1000);
  await until(() => arrivals.every(times => times.length >= pacedWrites));
  for (const stop of stops) stop();
  await api.close();
  const lags = arrivals.flatMap(times => times.map((at, index) => at - (written[index] ?? at))).sort((a, b) => a - b);
  const at = (share: number) => Math.round(lags[Math.floor((lags.length - 1) * share)] ?? 0);
  return { creates, patches, paced, lagMedianMs: at(0.5), lagMaxMs: at(1) };
}

async function until(isSo: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 60_000; !isSo(); await sleep(20)) {
    if (performance.now() > deadline) throw new Error("the watchers did not see all events within a minute");
  }
}

const starts = [theBox];
if (!process.argv.includes("--box-only") && !isUnavailable("etcd", "kube-apiserver")) starts.push(theRealOne);
const rows: Record<string, Figures> = {};
for (const start of starts) {
  const server = await start();
  try {
    rows[server.name] = await measured(server);
  } finally {
    await server.stop();
  }
}
console.log(
  `HTTPS, pods of 4 KB, ${inFlight} writes in flight; lag of ${watcherCount} watchers at ${pacedPerSecond} writes/s`,
);
console.table(rows);
