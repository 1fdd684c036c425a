// What the controller costs as a process of its own: memory on a cluster of 5,000 nodes and 150,000 pods that another
// process serves over HTTPS, and processor time when nothing happens but heartbeats, on a real kube-apiserver with 150
// nodes whose kubelets a third process plays. Linux only: the numbers are those of /proc.
//   npm run bench -- controller [memory] [idle] [nodes=5000] [seconds=60]

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { formatTime } from "../src/api/time.ts";
import { systemClock } from "../src/kube/system-clock.ts";
import { clusterInTheBox } from "../src/sim/cluster-in-the-box.ts";
import { kubeconfig } from "../src/sim/http/kubeconfig.ts";
import { listen } from "../src/sim/http/listener.ts";
import { seededRandom } from "../src/sim/random.ts";
import { isUnavailable } from "../test/control-plane/binaries.ts";
import { controlPlane } from "../test/control-plane/start.ts";
import { buildFettle, fettle } from "../test/spine/fettle-process.ts";
import { ageMs, clusterName, nodeConditions, nodeName, settle } from "./settled-cluster.ts";

const podsPerNode = 30;
const idleNodes = 150;
/** A kubelet writes its status once in five minutes when it has no news. */
const statusEveryMs = 300_000;

const words = process.argv.slice(2);
const numberOf = (name: string, or: number) =>
  Number(words.find(word => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? or);
const nodeCount = numberOf("nodes", 5_000);
const seconds = numberOf("seconds", 60);

/** The other process: serves the large cluster, with its kubelets' heartbeats. */
async function serve(path: string): Promise<void> {
  const startedAt = systemClock.now();
  // Alone: its garbage collector would end every pod, for their owners are only named.
  const server = clusterInTheBox({ clock: systemClock, random: seededRandom(1), controllers: false });
  settle(server, { nodes: nodeCount, podsPerNode }, startedAt);
  server.store.compact();
  const listening = await listen({ api: server, clock: systemClock, now: startedAt, token: "bench" });
  await writeFile(path, kubeconfig(listening), { mode: 0o600 });
  const conditions = nodeConditions(formatTime(startedAt - ageMs));
  let next = 0;
  setInterval(() => {
    const lastHeartbeatTime = formatTime(systemClock.now());
    const body = { status: { conditions: conditions.map(one => ({ ...one, lastHeartbeatTime })) } };
    const request = { group: "", version: "v1", plural: "nodes", name: nodeName(next++ % nodeCount) };
    server.handle({ ...request, verb: "patch", patchType: "merge", subresource: "status", options: {}, body });
  }, statusEveryMs / nodeCount);
  console.log("serving");
}

type Child = { readonly pid: number; said(text: string, withinMs: number): Promise<void>; end(): Promise<void> };

function start(...args: readonly string[]): Child {
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on("line", line => lines.push(line));
  }
  const exited = new Promise<void>(resolve => child.once("exit", () => resolve()));
  return {
    pid: child.pid ?? 0,
    said: async (text, withinMs) => {
      for (const deadline = performance.now() + withinMs; !lines.some(line => line.includes(text)); await sleep(50)) {
        if (child.exitCode === null && performance.now() < deadline) continue;
        throw new Error(`${args.join(" ")} did not say "${text}":\n${lines.slice(-20).join("\n")}`);
      }
    },
    end: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

const program = join(import.meta.dirname, "../bin/fettle.mjs");
const election = "--leader-elect-resource-namespace=default";

function startController(path: string): Child {
  const flags = ["--provider=simulated", `--cluster-name=${clusterName}`, "--metrics-bind-address=0", election];
  return start(program, "run", "--kubeconfig", path, ...flags);
}

/** In megabytes: now, and at most so far. */
async function memoryOf(pid: number): Promise<{ now: number; peak: number }> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  const of = (field: string) => Math.round((Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) * 1024) / 1e6);
  return { now: of("VmRSS"), peak: of("VmHWM") };
}

/** Of all its threads, in milliseconds. */
async function cpuMsOf(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

async function during(forSeconds: number, child: Child) {
  const cpuBefore = await cpuMsOf(child.pid);
  const startedAt = performance.now();
  let most = 0;
  for (let i = 0; i < forSeconds; i++) {
    await sleep(1000);
    most = Math.max(most, (await memoryOf(child.pid)).now);
  }
  const cpuMs = (await cpuMsOf(child.pid)) - cpuBefore;
  return { most, percentOfCore: Number(((100 * cpuMs) / (performance.now() - startedAt)).toFixed(2)) };
}

async function memory(): Promise<object> {
  const folder = await mkdtemp(join(tmpdir(), "fettle-bench-"));
  const path = join(folder, "kubeconfig");
  // This very program, as it was bundled.
  const server = start(process.argv[1] ?? "", "serve", path, `nodes=${nodeCount}`);
  try {
    await server.said("serving", 300_000);
    const startedAt = performance.now();
    const controller = startController(path);
    try {
      await controller.said("Leads: actions", 300_000);
      const listedIn = ((performance.now() - startedAt) / 1000).toFixed(1);
      const { peak: listing } = await memoryOf(controller.pid);
      await sleep(15_000);
      const steady = await during(seconds, controller);
      const { now, peak } = await memoryOf(controller.pid);
      return {
        cluster: `${nodeCount} nodes, ${nodeCount * podsPerNode} pods, the box`,
        "first list, s": listedIn,
        "RSS at most until it leads, MB": listing,
        "RSS at most at all, MB": peak,
        "RSS at most in the steady minute, MB": steady.most,
        "RSS at the end, MB": now,
        "% of a core": steady.percentOfCore,
      };
    } finally {
      await controller.end();
    }
  } finally {
    await server.end();
    await rm(folder, { recursive: true, force: true });
  }
}

async function idle(): Promise<object> {
  const plane = await controlPlane({ components: ["kube-controller-manager"] });
  const children: Child[] = [];
  try {
    const kubectl = async (args: readonly string[], input?: string) => {
      const { code, stdout, stderr } = await plane.kubectl(args, input);
      if (code !== 0) throw new Error(`kubectl ${args.join(" ")}: ${stderr}`);
      return stdout;
    };
    await kubectl(["apply", "--server-side", "-f", "-"], await fettle("crds"));
    await kubectl(["wait", "--for=condition=Established", "crd", "--all", "--timeout=60s"]);
    children.push(start(program, "machines", "--kubeconfig", plane.kubeconfigPath));
    const controller = startController(plane.kubeconfigPath);
    children.push(controller);
    const metadata = { name: "workers" };
    const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata, spec: { replicas: idleNodes } };
    await kubectl(["create", "-f", "-"], JSON.stringify(pool));
    const ready = ["wait", "--for=condition=Ready", "nodeclaim", "--all", "--timeout=600s"];
    for (let found = 0; found < idleNodes; await sleep(500)) {
      found = (await kubectl(["get", "nodeclaims", "-o", "name"])).split("\n").filter(Boolean).length;
    }
    await kubectl(ready);
    await sleep(30_000);
    const { most, percentOfCore } = await during(seconds, controller);
    const nodes = (await kubectl(["get", "nodes", "-o", "name"])).split("\n").filter(Boolean).length;
    return {
      cluster: `${nodes} nodes with beats, kube-apiserver`,
      "RSS at most in the steady minute, MB": most,
      "% of a core": percentOfCore,
    };
  } finally {
    for (const child of children) await child.end();
    await plane.stop();
  }
}

if (words[0] === "serve") await serve(words[1] ?? "");
else {
  const isAsked = (word: string) =>
    !words.some(other => other === "memory" || other === "idle") || words.includes(word);
  await buildFettle();
  const rows: object[] = [];
  if (isAsked("memory")) rows.push(await memory());
  if (isAsked("idle") && !isUnavailable("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")) {
    rows.push(await idle());
  }
  console.log(`The controller as a process; load ${loadavg()[0]?.toFixed(1)}`);
  for (const row of rows) console.table(row);
}
