// What the embedded API costs over HTTPS: writes a second and the processor time of each, and how far 20 watchers of all
// pods fall behind at 1,000 writes a second. Beside it, in the same run, a handler that only reads the body and answers
// with as many bytes (what Node's HTTPS leaves at most), and a real kube-apiserver. Linux only: times are those of /proc.
//   npm run bench -- http [--box-only]

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, Pool, request } from "undici";
import { type ClusterConfig, parseKubeconfig, resolveContext } from "../src/kube/kubeconfig.ts";
import { serverCertificate } from "../src/sim/http/certificate.ts";
import { isUnavailable } from "../test/control-plane/binaries.ts";
import { controlPlane } from "../test/control-plane/start.ts";

const podCount = 8_000;
const inFlight = 32;
const watcherCount = 20;
const pacedWrites = 5_000;
const pacedPerSecond = 1_000;

type Target = { url: string; token: string | undefined };
/** Without a pid its processor time is not known. */
type Server = Target & { name: string; pid?: number; hasWatch: boolean; stop(): Promise<void> };

async function theBox(): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), "fettle-bench-"));
  const path = join(folder, "kubeconfig");
  const started = await startProcess(join(import.meta.dirname, "../bin/fettle.mjs"), "cluster", "--kubeconfig", path);
  const stop = async () => {
    await started.stop();
    await rm(folder, { recursive: true, force: true });
  };
  return { name: "the box", ...targetOf(await configAt(path)), pid: started.pid, hasWatch: true, stop };
}

async function theRealOne(): Promise<Server> {
  const plane = await controlPlane();
  const target = targetOf(await configAt(plane.kubeconfigPath));
  return { name: "kube-apiserver", ...target, hasWatch: true, stop: () => plane.stop() };
}

/** This file, started once more as a server. */
async function theEmptyHandler(): Promise<Server> {
  const { said, pid, stop } = await startProcess(process.argv[1] ?? "", "--empty-handler");
  return { name: "an empty handler", url: said.trim(), token: undefined, pid, hasWatch: false, stop };
}

function serveEmptyHandler(): void {
  const answer = Buffer.from(pod(0));
  const { cert, key } = serverCertificate(Date.now());
  const server = createServer({ cert, key, keepAlive: true, noDelay: true }, (request, response) => {
    request.resume();
    request.once("end", () => {
      response.writeHead(201, { "Content-Type": "application/json", "Content-Length": answer.length }).end(answer);
    });
  });
  server.listen(0, "127.0.0.1", () => console.log(`https://127.0.0.1:${(server.address() as AddressInfo).port}`));
}

async function startProcess(...args: string[]) {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const said = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", data => resolve(String(data)));
    child.once("exit", code => reject(new Error(`${args.join(" ")} ended with ${code}`)));
  });
  return { said, pid: child.pid ?? 0, stop: async () => void child.kill("SIGTERM") };
}

async function configAt(path: string): Promise<ClusterConfig> {
  return resolveContext(parseKubeconfig(await readFile(path, "utf8"), { file: path, baseDir: "/" }));
}

function targetOf({ server, user }: ClusterConfig): Target {
  return { url: server, token: user.token };
}

/** About 4 KB of JSON. */
function pod(index: number): string {
  const env = Array.from({ length: 40 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value-${index}-${i}` }));
  const containers = [{ name: "main", image: "registry.example/app:v1", env }];
  const annotations = { "example.com/padding": "x".repeat(1_500) };
  const metadata = { name: `pod-${index}`, annotations };
  return JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata, spec: { containers } });
}

// That the server is the one that was started is known; the client is part of what takes the processor, so it does no
// more than it must: bodies are made before, and answers are let pass unread.
const trusting = { connect: { rejectUnauthorized: false } };

class Writer {
  readonly #pool: Pool;
  readonly #authorization: Record<string, string>;

  constructor({ url, token }: Target) {
    this.#pool = new Pool(url, { ...trusting, connections: inFlight });
    this.#authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  create = (body: string) => this.#send("POST", "", body, "application/json");

  patchLabel = (index: number, round: string) => {
    const body = JSON.stringify({ metadata: { labels: { round: `${round}-${index}` } } });
    return this.#send("PATCH", `/pod-${index % podCount}`, body, "application/merge-patch+json");
  };

  async #send(method: "POST" | "PATCH", name: string, body: string, contentType: string): Promise<void> {
    const path = `/api/v1/namespaces/default/pods${name}`;
    const headers = { ...this.#authorization, "content-type": contentType, accept: "application/json" };
    const answer = await this.#pool.request({ method, path, headers, body });
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${await answer.body.text()}`);
    await answer.body.dump({ limit: Number.POSITIVE_INFINITY });
  }

  close = () => this.#pool.close();
}

/** So many under way at once; what each takes of the server's processor, in microseconds, and of the client's. */
async function rate({ pid }: Server, writes: readonly (() => Promise<void>)[]) {
  const startedAt = performance.now();
  const [serverBefore, clientBefore] = [cpuMicrosOf(pid), process.cpuUsage()];
  let next = 0;
  const lane = async () => {
    while (next < writes.length) await writes[next++]?.();
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  const { user, system } = process.cpuUsage(clientBefore);
  return {
    "writes/s": Math.round((writes.length / (performance.now() - startedAt)) * 1000),
    "server µs": each(cpuMicrosOf(pid) - serverBefore, writes.length),
    "client µs": each(user + system, writes.length),
  };
}

const each = (micros: number, count: number) => (Number.isNaN(micros) ? "" : Math.round(micros / count));

/** Of all threads of a process. The name of the program may have spaces; ticks are hundredths of a second. */
function cpuMicrosOf(pid: number | undefined): number {
  if (pid === undefined) return Number.NaN;
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Counts lines and notes when each came; it parses nothing, so that the server and not the reader is measured. */
async function watcher({ url, token }: Target, arrivals: number[]): Promise<() => void> {
  // Its own connection, as each watcher of a cluster has.
  const dispatcher = new Agent(trusting);
  const { body } = await request(`${url}/api/v1/pods?watch=true`, {
    headers: { authorization: `Bearer ${token}` },
    dispatcher,
  });
  body.on("data", (chunk: Buffer) => {
    const at = performance.now();
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, end + 1)) arrivals.push(at);
  });
  body.on("error", () => {});
  return () => void dispatcher.destroy();
}

/** How far the watchers are behind, and what a write that all of them are told of takes of the server's processor. */
async function lag(server: Server, writer: Writer) {
  const arrivals = Array.from({ length: watcherCount }, () => [] as number[]);
  const stops = await Promise.all(arrivals.map(times => watcher(server, times)));
  // What was there before comes first; it is let pass.
  await until(() => arrivals.every(times => times.length >= podCount));
  for (const times of arrivals) times.length = 0;

  const written: number[] = [];
  const startedAt = performance.now();
  const cpuBefore = cpuMicrosOf(server.pid);
  const writes: Promise<unknown>[] = [];
  for (let index = 0; index < pacedWrites; index++) {
    const dueAt = startedAt + (index * 1000) / pacedPerSecond;
    if (dueAt > performance.now()) await sleep(dueAt - performance.now());
    writes.push(writer.patchLabel(index, "paced").then(() => written.push(performance.now())));
  }
  await Promise.all(writes);
  const perSecond = Math.round((pacedWrites / (performance.now() - startedAt)) * 1000);
  await until(() => arrivals.every(times => times.length >= pacedWrites));
  const serverMicros = each(cpuMicrosOf(server.pid) - cpuBefore, pacedWrites);
  for (const stop of stops) stop();
  const lags = arrivals.flatMap(times => times.map((at, index) => at - (written[index] ?? at))).sort((a, b) => a - b);
  const at = (share: number) => Math.round(lags[Math.floor((lags.length - 1) * share)] ?? 0);
  return { "writes/s": perSecond, "server µs": serverMicros, "lag p50 ms": at(0.5), "lag at most ms": at(1) };
}

async function until(isSo: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 60_000; !isSo(); await sleep(20)) {
    if (performance.now() > deadline) throw new Error("the watchers did not see all events within a minute");
  }
}

async function measure(server: Server): Promise<void> {
  const writer = new Writer(server);
  const bodies = Array.from({ length: podCount }, (_, index) => pod(index));
  rows[`${server.name}: creates`] = await rate(
    server,
    bodies.map(body => () => writer.create(body)),
  );
  rows[`${server.name}: patches`] = await rate(
    server,
    bodies.map((_, index) => () => writer.patchLabel(index, "fast")),
  );
  if (server.hasWatch) rows[`${server.name}: patches, ${watcherCount} watchers`] = await lag(server, writer);
  await writer.close();
}

const rows: Record<string, object> = {};

async function main(): Promise<void> {
  const starts = [theEmptyHandler, theBox];
  if (!process.argv.includes("--box-only") && !isUnavailable("etcd", "kube-apiserver")) starts.push(theRealOne);
  for (const start of starts) {
    const server = await start();
    try {
      await measure(server);
    } finally {
      await server.stop();
    }
  }
  console.log(`HTTPS, pods of 4 KB, ${inFlight} writes in flight; watchers at ${pacedPerSecond} writes/s`);
  console.table(rows);
}

if (process.argv.includes("--empty-handler")) serveEmptyHandler();
else await main();
