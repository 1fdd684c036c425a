// How fast health checks are, on a real kube-apiserver, the controller as a process of its own: 1,000 nodes, of which 300
// fail at once, then one after the other while those are open, then as many others at once, when the code is warm. Beside
// it the time in which the same server takes the same writes from a plain client, and as many ConfigMaps; the live reads by
// its audit log, and what the process uses.
// `silent`: by kubelets that say nothing, so that their leases are read as well.
//   npm run bench -- health-check [nodes=1000] [sick=300] [singles=20] [silent=1]

import { readFile } from "node:fs/promises";
import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { rivalLease } from "../src/cli/rival.ts";
import { apiVersionOf, type Manifest, type Resource } from "../src/api/meta.ts";
import { nodeHealthChecks } from "../src/api/node-health-check.ts";
import { nodeLeaseNamespace } from "../src/api/node-health-check-contract.ts";
import { safetyPolicies } from "../src/api/safety-policy.ts";
import { formatTime } from "../src/api/time.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { namespaces, nodes } from "../src/control/resources.ts";
import { systemClock } from "../src/kube/system-clock.ts";
import { addressOf, connectTo, install, ourDefinitions } from "../test/contract/backends.ts";
import { isUnavailable } from "../test/control-plane/binaries.ts";
import { strangerDefinitions, strangers, strangerTemplates } from "../test/control-plane/health-check/stranger.ts";
import { readRequests, type Request } from "../test/control-plane/spine/requests.ts";
import { type ControlPlane, controlPlane } from "../test/control-plane/start.ts";
import { buildFettle, FettleProcess, writeKubeconfig } from "../test/spine/fettle-process.ts";
import { CpuWatch, processesOf } from "./plane-cpu.ts";
import { countsOf, inFlight, inParallel, plainMs, readWrites, replay, type Write } from "./replay.ts";
import { node, nodeName } from "./settled-cluster.ts";

const words = process.argv.slice(2);
const numberOf = (name: string, or: number) =>
  Number(words.find(word => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? or);
const nodeCount = numberOf("nodes", 1_000);
const sickCount = numberOf("sick", 300);
const singleCount = numberOf("singles", 20);
const burstCondition =
  numberOf("silent", 0) === 1 ? { type: "Ready", status: "Unknown" } : { type: "Burst", status: "True" };
const singleCondition = { type: "Single", status: "True" };
/** Until then the controller has been started, sees the conditions for the first time and believes when they began. */
const durationMs = 45_000;
const user = "fettle";
/** The server writes as much of its requests into the audit log. */
const plainUser = "plain";

type Bench = { plane: ControlPlane; api: KubeApi; plain: KubeApi; start: () => Promise<FettleProcess> };
type Sick = { type: string; status: string; since: number };

/** One burst: when all were due, when the last object was asked for, and what that took. */
type Burst = {
  readonly dueAt: number;
  readonly last: number;
  readonly requests: readonly Request[];
  readonly writes: readonly Write[];
  readonly load: string | undefined;
  readonly cpu: { readonly all: number; readonly own: number };
};

async function measure({ plane, api, plain, start }: Bench): Promise<Record<string, object>> {
  await prepare(api);
  await inParallel(nodeCount, index => makeNode(api, index));
  // Nothing is sick for longer than it is there, and times are written in whole seconds.
  await sleep(1_000);
  const since = Math.floor(systemClock.now() / 1000) * 1000;
  await inParallel(sickCount, index => turn(api, index, { ...burstCondition, since }));
  const controller = await start();
  const dueAt = since + durationMs;
  await sleep(dueAt - 2_000 - systemClock.now());
  const first = await burst({ plane, pid: controller.pid ?? 0, count: sickCount }, async () => dueAt);
  const singles = await single(plane, api);
  const all = (await ownRequests(plane)).filter(({ at }) => at >= dueAt);
  // Whether another controller is there is looked for from time to time, whatever happens.
  const lists = all.filter(({ verb, name }) => verb === "list" && name !== rivalLease);
  const memory = await peakMb(controller.pid);
  const count = 2 * sickCount + singleCount;
  const second = await burst({ plane, pid: controller.pid ?? 0, count }, () => releaseOthers(api));
  await controller.kill();
  const rows = {
    "first burst of a new process": await besidePlain(first, { plane, plain }),
    "second burst, of other nodes": await besidePlain(second, { plane, plain }),
  };
  const configMapsMs = await plainMs(plain, first.writes.length);
  const others = {
    "as many ConfigMaps as the first one wrote, ms": Math.round(configMapsMs),
    "it took times those": ((first.last - first.dueAt) / configMapsMs).toFixed(2),
    [`one more while ${sickCount} are open, p50 ms`]: singles[Math.floor(singles.length / 2)],
    "at most, ms": singles.at(-1),
    "of so many": singles.length,
    "live lists": lists.map(({ resource }) => resource).join(" ") || 0,
    "memory at most, MB": memory,
  };
  return { ...rows, "beside them": others };
}

type Watched = { readonly plane: ControlPlane; readonly pid: number; readonly count: number };

/** Until there are `count` objects in all; `due` returns the instant from which on. */
async function burst({ plane, pid, count }: Watched, due: () => Promise<number>): Promise<Burst> {
  const cpu = { all: new CpuWatch(processesOf(plane.dir)), own: new CpuWatch([pid]) };
  const load = loadavg()[0]?.toFixed(1);
  const dueAt = await due();
  await created(plane, count);
  for (const watch of Object.values(cpu)) watch.stop();
  await sleep(5_000);
  const requests = (await ownRequests(plane)).filter(({ at }) => at >= dueAt);
  const last = lastOf(requests.filter(isCreation));
  const writes = (await readWrites(plane, user)).filter(({ at }) => at >= dueAt && at <= last);
  const used = { all: cpu.all.between(dueAt, last), own: cpu.own.between(dueAt, last) };
  return { dueAt, last, requests, writes, load, cpu: used };
}

/** As many other nodes turn sick while the check is paused; all are due when it is no more. */
async function releaseOthers(api: KubeApi): Promise<number> {
  const pause = (pauseRequests: readonly string[]) =>
    api.patch(nodeHealthChecks.resource, { name: "all" }, { type: "merge", body: { spec: { pauseRequests } } });
  await pause(["until all of them are sick"]);
  // Until the controller has seen it: what it has opened before is held, not paused.
  await sleep(1_000);
  await inParallel(sickCount, index =>
    turn(api, sickCount + singleCount + index, { ...singleCondition, since: systemClock.now() }),
  );
  await sleep(5_000);
  await pause([]);
  // The server takes a good while for it: the check has hundreds of nodes in its status.
  return systemClock.now();
}

async function besidePlain(burst: Burst, { plane, plain }: Pick<Bench, "plane" | "plain">): Promise<object> {
  const { dueAt, last, requests, writes, load, cpu } = burst;
  const replayed = await replay({ api: plain, plane }, writes);
  return {
    cluster: `${nodeCount} nodes, ${sickCount} due at once; load before that ${load}`,
    "until the last action is open, ms":
      lastOf(requests.filter(({ verb, resource }) => verb === "create" && resource === "nodeactions")) - dueAt,
    "until the last remediation object, ms": last - dueAt,
    "with so many writes": countsOf(writes),
    "writes in the server's hands at a time": inFlight(writes, last - dueAt).toFixed(1),
    "and so many reads": requests.filter(({ verb, at }) => verb === "get" && at <= last).length,
    "the same writes by a plain client, ms": Math.round(replayed.ms),
    "times that": ((last - dueAt) / replayed.ms).toFixed(2),
    "CPU s of server, etcd and controller, and of all for the plain client": `${cpu.all.toFixed(2)} ${replayed.cpuSeconds.toFixed(2)}`,
    "times that in CPU": (cpu.all / replayed.cpuSeconds).toFixed(2),
    "CPU of the controller, s": cpu.own.toFixed(2),
  };
}

async function prepare(api: KubeApi): Promise<void> {
  const all = "100%";
  const caps = { repair: { cluster: all, zone: all, perWindow: { nodes: all } } };
  const policy = { caps, correlatedFailure: { mode: "Disabled" }, settle: { quiet: "0s" } };
  await api.create(safetyPolicies.resource, {}, manifest(safetyPolicies.resource, "default", policy));
  await api.create(namespaces, {}, manifest(namespaces, nodeLeaseNamespace, {}));
  const template = manifest(strangerTemplates, "idle", { template: { spec: { manner: "Wait" } } });
  await api.create(strangerTemplates, { namespace: "default" }, template);
  const { apiVersion, kind } = template;
  const check = {
    maxUnhealthy: all,
    unhealthyConditions: [
      { ...burstCondition, duration: `${durationMs}ms` },
      { ...singleCondition, duration: "0s" },
    ],
    remediationTemplate: { apiVersion, kind, name: "idle", namespace: "default" },
  };
  await api.create(nodeHealthChecks.resource, {}, manifest(nodeHealthChecks.resource, "all", check));
}

function manifest(resource: Resource, name: string, spec: object): Manifest {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: { name }, spec };
}

/** Somebody's: without a claim and without anything of ours on it. */
async function makeNode(api: KubeApi, index: number): Promise<void> {
  const { metadata, ...rest } = node(index, `other://${index}`, formatTime(systemClock.now()));
  const { name, labels = {} } = metadata;
  const kept = Object.entries(labels).filter(([key]) => !key.includes("karpenter.sh"));
  await api.create(nodes, {}, { ...rest, metadata: { name, labels: Object.fromEntries(kept) } });
}

async function turn(api: KubeApi, index: number, { type, status, since }: Sick): Promise<void> {
  const lastTransitionTime = formatTime(since);
  const body = { status: { conditions: [{ type, status, reason: "Bench", message: "", lastTransitionTime }] } };
  await api.patch(nodes, { name: nodeName(index) }, { type: "strategic", body }, { subresource: "status" });
}

/** From the request that turned each node sick to the one that creates its remediation, the shortest first. */
async function single(plane: ControlPlane, api: KubeApi): Promise<number[]> {
  const indexes = Array.from({ length: singleCount }, (_, index) => sickCount + index);
  for (const index of indexes) {
    await turn(api, index, { ...singleCondition, since: systemClock.now() });
    await sleep(1_500);
  }
  await created(plane, sickCount + singleCount);
  const requests = await readRequests(plane);
  const delays = indexes.map(index => {
    const named = requests.filter(({ name }) => name === nodeName(index));
    const turned = named.findLast(({ resource, user: who }) => resource === "nodes/status" && who === "admin");
    return (named.find(isCreation)?.at ?? Number.NaN) - (turned?.at ?? Number.NaN);
  });
  return delays.toSorted((a, b) => a - b);
}

const isCreation = ({ verb, resource, code }: Request) =>
  verb === "create" && resource === strangers.plural && code < 300;

const ownRequests = async (plane: ControlPlane) => (await readRequests(plane)).filter(one => one.user === user);

const lastOf = (requests: readonly Request[]) => requests.at(-1)?.at ?? Number.NaN;

/** Looks seldom: to read the log takes processor time from those who are measured. */
async function created(plane: ControlPlane, count: number): Promise<void> {
  for (const end = performance.now() + 300_000; performance.now() < end; ) {
    await sleep(5_000);
    if ((await ownRequests(plane)).filter(isCreation).length >= count) return;
  }
  throw new Error(`There are not ${count} remediations after 5 min.`);
}

async function peakMb(pid: number | undefined): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8");
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(text)?.[1]) / 1024);
}

async function run(): Promise<Record<string, object>> {
  await buildFettle();
  const plane = await controlPlane({ audit: true, users: [user, plainUser], auditBodiesOf: [user, plainUser] });
  const address = addressOf(plane);
  const api = connectTo(address);
  const plain = connectTo({ ...address, token: plane.tokens[plainUser] ?? "" });
  const processes: FettleProcess[] = [];
  const start = async () => {
    const kubeconfig = join(plane.dir, user);
    await writeKubeconfig(kubeconfig, { ...address, token: plane.tokens[user] ?? "" });
    const flags = ["--provider=none", "--default-health-check=off"];
    const others = ["--metrics-bind-address=0", "--leader-elect-resource-namespace=default"];
    const controller = new FettleProcess("run", "--kubeconfig", kubeconfig, ...flags, ...others);
    processes.push(controller);
    return controller;
  };
  try {
    await install(address, [...ourDefinitions(), ...strangerDefinitions]);
    return await measure({ plane, api, plain, start });
  } finally {
    await Promise.all(processes.map(process => process.kill()));
    await Promise.all([api.close(), plain.close()]);
    await plane.stop();
  }
}

if (!isUnavailable("etcd", "kube-apiserver")) {
  const tables = await run();
  console.log(`Health checks on a real kube-apiserver; load ${loadavg()[0]?.toFixed(1)}`);
  for (const [name, row] of Object.entries(tables)) {
    console.log(name);
    console.table(row);
  }
}
