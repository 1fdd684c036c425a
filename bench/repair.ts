// How fast repair is, on a real kube-apiserver, the controller as a process of its own: from the end of the tolerations
// until the last pod of 20 % of the nodes runs elsewhere; and from a toleration's end to the first write.
//   npm run bench -- repair [pods] [due] [nodes=150] [pods-per-node=4]

import { loadavg } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Resource } from "../src/api/meta.ts";
import { nodeClaims } from "../src/api/node-claim.ts";
import { nodePools } from "../src/api/node-pool.ts";
import { safetyPolicies } from "../src/api/safety-policy.ts";
import { simulateAnnotation } from "../src/sim/world/simulated-faults.ts";
import { formatTime } from "../src/api/time.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { nodes, pods } from "../src/control/resources.ts";
import { systemClock } from "../src/kube/system-clock.ts";
import type { Pod } from "../src/sim/world/objects.ts";
import { addressOf, connectTo, install, ourDefinitions } from "../test/contract/backends.ts";
import { isUnavailable } from "../test/control-plane/binaries.ts";
import { readRequests } from "../test/control-plane/spine/requests.ts";
import { type ControlPlaneOptions, controlPlane } from "../test/control-plane/start.ts";
import { buildFettle, FettleProcess, writeKubeconfig } from "../test/spine/fettle-process.ts";
import { quickMachines } from "../test/spine/process-world.ts";
import { type Claim, isReady } from "../test/spine/world.ts";
import { type Bench, due } from "./repair-due.ts";
import { clusterName } from "./settled-cluster.ts";

const words = process.argv.slice(2);
const numberOf = (name: string, or: number) =>
  Number(words.find(word => word.startsWith(`${name}=`))?.slice(name.length + 1) ?? or);
const nodeCount = numberOf("nodes", 150);
const podCount = nodeCount * numberOf("pods-per-node", 4);
const sickShare = 0.2;
/** Longer than the ten seconds for which a pool must be quiet. */
const tolerationSeconds = 15;
const deployments: Resource = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
};

/** A control plane with our kinds, and with caps that let everybody go. */
async function on<T>(options: ControlPlaneOptions, settle: string, measure: (bench: Bench) => Promise<T>): Promise<T> {
  const plane = await controlPlane({ ...options, audit: true, users: ["fettle"], auditBodiesOf: ["fettle"] });
  const address = addressOf(plane);
  const api = connectTo(address);
  const processes: FettleProcess[] = [];
  try {
    await install(address, ourDefinitions());
    const all = "100%";
    const caps = { repair: { cluster: all, zone: all, perWindow: { nodes: all } } };
    const spec = { caps, correlatedFailure: { mode: "Disabled" }, settle: { quiet: settle } };
    await api.create(safetyPolicies.resource, {}, manifest(safetyPolicies.resource, "default", spec));
    const kubeconfig = join(plane.dir, "fettle");
    await writeKubeconfig(kubeconfig, { ...address, token: plane.tokens["fettle"] ?? "" });
    const run = (...args: readonly string[]) => {
      const process = new FettleProcess(...args, "--kubeconfig", kubeconfig);
      processes.push(process);
      return process;
    };
    const machines = () => void run("machines");
    const controller = () => {
      const process = run("run", ...controllerFlags);
      return { stop: () => process.kill(), pid: process.pid ?? 0 };
    };
    return await measure({ plane, api, machines, controller });
  } finally {
    await Promise.all(processes.map(process => process.kill()));
    await api.close();
    await plane.stop();
  }
}

const manifest = ({ group, version, kind }: Resource, name: string, spec: object) => ({
  apiVersion: group === "" ? version : `${group}/${version}`,
  kind,
  metadata: { name },
  spec,
});

const controllerFlags = [
  "--provider=simulated",
  `--cluster-name=${clusterName}`,
  "--metrics-bind-address=0",
  "--leader-elect-resource-namespace=default",
];

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + 600_000; performance.now() < end; await sleep(250)) {
    const found = await look();
    if (found !== undefined) return found;
  }
  throw new Error(`${what} did not come within 10 min.`);
}

async function podsElsewhere({ plane, api, machines, controller }: Bench): Promise<object> {
  await quickMachines(api);
  machines();
  controller();
  const spec = {
    replicas: nodeCount,
    template: { spec: {} },
    disruption: { budgets: [{ nodes: "100%", action: "Repair" }] },
    repair: {
      maxUnhealthy: "100%",
      policies: [{ conditionType: "Ready", toleration: `${tolerationSeconds}s` }],
    },
  };
  await api.create(nodePools.resource, {}, manifest(nodePools.resource, "workers", spec));
  const claims = await until("the nodes", async () => {
    const { items } = await api.list<Claim>(nodeClaims.resource);
    return items.length === nodeCount && items.every(isReady) ? items : undefined;
  });
  await deploy(api);
  const before = await until("the pods", () => allRunning(api, new Set()));

  const sick = new Set(claims.slice(0, Math.ceil(nodeCount * sickShare)).map(({ status }) => status?.nodeName ?? ""));
  await silence(api, sick);
  const dueAt = systemClock.now() + tolerationSeconds * 1000;
  const moved = before.filter(({ spec: { nodeName = "" } }) => sick.has(nodeName));
  const uids = new Set(moved.map(({ metadata }) => metadata.uid));
  await until("the pods elsewhere", () => allRunning(api, sick));
  const upAt = systemClock.now();
  await until("the pods of the sick nodes to go", async () => {
    const { items } = await api.list<Pod>(pods);
    return items.some(({ metadata }) => uids.has(metadata.uid)) ? undefined : true;
  });
  const goneAt = systemClock.now();
  const requests = (await readRequests(plane)).filter(({ at, code }) => at >= dueAt && at <= upAt && code < 300);
  const last = (user: string, what: string) =>
    inSeconds(
      (requests.findLast(one => one.user === user && `${one.verb} ${one.resource}` === what)?.at ?? dueAt) - dueAt,
    );
  return {
    cluster: `${nodeCount} nodes, ${podCount} pods; ${sick.size} nodes with ${moved.length} pods due at once`,
    "until the last action is open, s": last("fettle", "create nodeactions"),
    "until the last claim is being deleted, s": last("fettle", "delete nodeclaims"),
    "until the last pod is told to go, s": last("fettle", "delete pods"),
    "until kube-controller-manager made the last new one, s": last("admin", "create pods"),
    "until kube-scheduler bound it, s": last("admin", "create pods/binding"),
    "until the last pod is Running elsewhere, s": inSeconds(upAt - dueAt),
    "until nothing is left of those before, s": inSeconds(goneAt - dueAt),
  };
}

const inSeconds = (ms: number) => (ms / 1000).toFixed(1);

async function deploy(api: KubeApi): Promise<void> {
  const labels = { app: "web" };
  const containers = [{ name: "web", image: "web", resources: { requests: { cpu: "10m" } } }];
  const spec = {
    replicas: podCount,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers } },
  };
  await api.create(deployments, { namespace: "default" }, manifest(deployments, "web", spec));
}

/** Undefined: not all of them run, or one runs on a node where it must not. */
async function allRunning(api: KubeApi, sick: ReadonlySet<string>): Promise<Pod[] | undefined> {
  const { items } = await api.list<Pod>(pods);
  const standing = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const isUp = ({ spec, status }: Pod) => status.phase === "Running" && !sick.has(spec.nodeName ?? "");
  return standing.length === podCount && standing.every(isUp) ? standing : undefined;
}

/** Dead machines: their kubelets say nothing more, and somebody says that they are not ready. */
async function silence(api: KubeApi, names: ReadonlySet<string>): Promise<void> {
  const annotations = { [simulateAnnotation]: "silent" };
  await Promise.all(
    [...names].map(name => api.patch(nodes, { name }, { type: "merge", body: { metadata: { annotations } } })),
  );
  const lastTransitionTime = formatTime(systemClock.now());
  const conditions = [{ type: "Ready", status: "False", reason: "Bench", message: "", lastTransitionTime }];
  const body = { status: { conditions } };
  await Promise.all(
    [...names].map(name => api.patch(nodes, { name }, { type: "strategic", body }, { subresource: "status" })),
  );
}

const components = ["kube-controller-manager", "kube-scheduler"] as const;
if (!isUnavailable("etcd", "kube-apiserver", ...components)) {
  const isAsked = (word: string) => !words.some(other => other === "pods" || other === "due") || words.includes(word);
  await buildFettle();
  if (isAsked("pods")) report(await on({ components }, "10s", podsElsewhere));
  if (isAsked("due")) report(await on({}, "0s", due));
}

function report(row: object): void {
  console.log(`Repair on a real kube-apiserver; load ${loadavg()[0]?.toFixed(1)}`);
  console.table(row);
}
