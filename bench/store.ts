// What the embedded API server costs: memory with a large cluster loaded, writes per second, how far watchers lag.
//   node scripts/run.mjs --expose-gc bench/store.ts [nodes] [pods]

import { readFileSync } from "node:fs";
import { ApiServer } from "../src/sim/api-server.ts";
import { VirtualClock } from "../src/sim/clock.ts";
import { builtInKinds } from "../src/sim/kinds/built-in-kinds.ts";
import { seededRandom } from "../src/sim/random.ts";
import type { ApiRequest } from "../src/sim/request.ts";

const [nodeCount = 5_000, podCount = 150_000] = process.argv.slice(2).map(Number);
const writeCount = Math.min(50_000, podCount);
const clock = new VirtualClock(Date.parse("2026-01-01T00:00:00Z"));
const server = new ApiServer({ clock, random: seededRandom(1), kinds: builtInKinds });

function send(request: Partial<ApiRequest> & Pick<ApiRequest, "verb" | "plural">) {
  const answer = server.handle({ group: "", version: "v1", options: {}, ...request });
  if (answer.kind === "status" && answer.status.status === "Failure") throw new Error(answer.status.message);
  return answer;
}

const filler = (bytes: number) => "x".repeat(Math.max(0, bytes));

/** About 10 KB of JSON, most of it images and conditions. */
function node(index: number) {
  const images = Array.from({ length: 40 }, (_, i) => ({
    names: [
      `registry.example/team-${i}/service@sha256:${filler(64)}`,
      `registry.example/team-${i}/service:v1.${index}`,
    ],
    sizeBytes: 100_000_000 + i,
  }));
  const conditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"].map(type => ({
    type,
    status: type === "Ready" ? "True" : "False",
    reason: `Kubelet${type}`,
    message: `kubelet reports ${type}`,
    lastHeartbeatTime: "2026-01-01T00:00:00Z",
    lastTransitionTime: "2026-01-01T00:00:00Z",
  }));
  const labels = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [`example.com/label-${i}`, `value-${index % 7}-${i}`]),
  );
  const capacity = { cpu: "16", memory: "64Gi", pods: "110", "ephemeral-storage": "200Gi" };
  return {
    metadata: { name: `node-${index}`, labels, annotations: { "example.com/padding": filler(1_300) } },
    spec: { providerID: `sim:///${index}` },
    status: { capacity, allocatable: capacity, conditions, images },
  };
}

/** About 4 KB of JSON. */
function pod(index: number) {
  const env = Array.from({ length: 30 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value-${index}-${i}` }));
  const resources = { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } };
  return {
    metadata: {
      name: `pod-${index}`,
      labels: { app: `app-${index % 500}`, tier: "web", version: "v1" },
      annotations: { "example.com/padding": filler(1_650) },
    },
    spec: {
      nodeName: `node-${index % nodeCount}`,
      containers: [{ name: "main", image: "registry.example/app:v1", env, resources }],
    },
  };
}

const namespaceOf = (index: number) => `team-${index % 20}`;

const batch = 64;

/**
 * Per second by the clock on the wall; the processor's time for each, of all threads of the process (collectors of garbage
 * and compilers are others); and what the thread that writes would do in a second of its own, which is the figure that
 * survives a busy machine. What is written is made before the clocks run, a few at a time, as a caller has it at hand.
 */
function rate<T>(count: number, make: (index: number) => T, run: (made: T, index: number) => void): string {
  let [wallMs, cpuMicros, threadMicros] = [0, 0, 0];
  for (let from = 0; from < count; from += batch) {
    const made = Array.from({ length: Math.min(batch, count - from) }, (_, i) => make(from + i));
    const startedAt = performance.now();
    const before = used();
    for (const [i, one] of made.entries()) run(one, from + i);
    const after = used();
    wallMs += performance.now() - startedAt;
    cpuMicros += after.all - before.all;
    threadMicros += after.thread - before.thread;
  }
  const perSecond = (ms: number) => Math.round((count / ms) * 1000);
  const [all, own] = [cpuMicros / count, threadMicros / count].map(micros => micros.toFixed(1));
  return `${perSecond(wallMs)}/s; CPU ${all} µs each, ${own} in the thread that writes: ${perSecond(threadMicros / 1000)}/s`;
}

/** In microseconds. Linux only; to ask for all threads brings the kernel's count of this one up to date. */
function used(): { all: number; thread: number } {
  const { user, system } = process.cpuUsage();
  const [thread] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, "utf8").split(" ");
  return { all: user + system, thread: Number(thread) / 1000 };
}

/** By this the figures of machines that are busy in different ways can be compared. */
function floor(): string {
  const kept: Buffer[] = [];
  const objects = Array.from({ length: 100 }, (_, i) => {
    const answer = send({ verb: "get", plural: "pods", namespace: namespaceOf(i), name: `pod-${i}` });
    // Parsed whole: the server's own may have a field that nobody has read.
    return answer.kind === "object" ? (JSON.parse(answer.stored.json.toString()) as unknown) : undefined;
  });
  const pick = (i: number) => objects[i % objects.length];
  return rate(20_000, pick, object => kept.push(Buffer.from(JSON.stringify(object))));
}

function memory(): string {
  const { rss, heapUsed, heapTotal, arrayBuffers } = process.memoryUsage();
  const megabytes = (bytes: number) => Math.round(bytes / 1e6);
  const heap = `${megabytes(heapUsed)} of ${megabytes(heapTotal)}`;
  return `${megabytes(rss)} MB (heap ${heap}, bytes ${megabytes(arrayBuffers)})`;
}

const figures: [string, string][] = [];
const note = (what: string, figure: string) => figures.push([what, figure]);

send({ verb: "create", plural: "namespaces", body: { metadata: { name: "default" } } });
for (let i = 0; i < 20; i++) send({ verb: "create", plural: "namespaces", body: { metadata: { name: `team-${i}` } } });

const nodeRate = rate(nodeCount, node, body => send({ verb: "create", plural: "nodes", body }));
const podRate = rate(podCount, pod, (body, i) =>
  send({ verb: "create", plural: "pods", namespace: namespaceOf(i), body }),
);
await clock.runFor(1_000);
const bytesOf = (plural: string, name: string, namespace?: string) => {
  const answer = send({ verb: "get", plural, name, ...(namespace && { namespace }) });
  return answer.kind === "object" ? answer.stored.json.length : 0;
};
note("bytes of a node", String(bytesOf("nodes", "node-1")));
note("bytes of a pod", String(bytesOf("pods", "pod-1", namespaceOf(1))));
note("creates of nodes", nodeRate);
note("creates of pods", podRate);
globalThis.gc?.();
note(`RSS with ${nodeCount} nodes and ${podCount} pods`, memory());
note("the least that a create of a pod can be: JSON, and bytes that are kept", floor());

const podStatus = (i: number) => ({ status: { phase: "Running", podIP: `10.0.${i % 250}.${i % 249}` } });
const patchRate = rate(writeCount, podStatus, (body, i) => {
  const index = (i * 7919) % podCount;
  const request = { plural: "pods", namespace: namespaceOf(index), name: `pod-${index}`, subresource: "status" };
  send({ verb: "patch", patchType: "merge", body, ...request });
});
note("merge patches of pod status (all pods, mostly cold)", patchRate);

const podLabel = (i: number) => ({ metadata: { labels: { version: `v${i}` } } });

function patchPod(index: number, body: object): void {
  const target = { plural: "pods", namespace: namespaceOf(index), name: `pod-${index}` };
  send({ verb: "patch", patchType: "merge", body, ...target });
}

const hotRate = rate(writeCount, podLabel, (body, i) => patchPod(i % 1_000, body));
note("merge patches of pod labels (1,000 pods)", hotRate);

send({
  verb: "create",
  group: "coordination.k8s.io",
  plural: "leases",
  namespace: "default",
  body: { metadata: { name: "a" } },
});
const renewal = (i: number) => ({
  spec: { holderIdentity: "a", renewTime: `2026-01-01T00:00:00.${String(i).padStart(6, "0")}Z` },
});
const leaseRate = rate(writeCount, renewal, body => {
  const request = { group: "coordination.k8s.io", plural: "leases", namespace: "default", name: "a" };
  send({ verb: "patch", patchType: "merge", body, ...request });
});
note("merge patches of a lease", leaseRate);

let received = 0;
let bytes = 0;
for (let i = 0; i < 20; i++) {
  const watch = send({ verb: "watch", plural: "pods", options: { resourceVersion: String(server.store.revision) } });
  if (watch.kind !== "watch") throw new Error("no watch");
  watch.start({
    events: events => {
      received += events.length;
      for (const { stored } of events) bytes += stored.json.length;
    },
    end: () => {},
  });
}
const watchedLabel = (i: number) => ({ metadata: { labels: { version: `w${i}` } } });
const watchedRate = rate(writeCount, watchedLabel, (body, i) => patchPod(i % podCount, body));
note(
  "the same, each serialized for 20 watchers of all pods",
  `${watchedRate} (${received} events, ${Math.round(bytes / 1e6)} MB)`,
);

const listedAt = performance.now();
const listed = send({ verb: "list", plural: "pods" });
note(
  "list of all pods",
  `${Math.round(performance.now() - listedAt)} ms, ${listed.kind === "list" ? listed.items.length : 0} items`,
);
const selectedAt = performance.now();
send({ verb: "list", plural: "pods", options: { fieldSelector: "spec.nodeName=node-1" } });
note("list of a node's pods by field selector", `${Math.round(performance.now() - selectedAt)} ms`);
globalThis.gc?.();
note("RSS at the end", memory());

const width = Math.max(...figures.map(([what]) => what.length));
for (const [what, figure] of figures) console.log(`${what.padEnd(width)}  ${figure}`);
