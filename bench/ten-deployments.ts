// 1,000 pods of ten Deployments and the pool they run on, for the parts of the bench that need a real control plane.

import { effectiveSimulatedNodeClass } from "../src/api/effective-simulated-node-class.ts";
import type { KubeObject, Manifest, Resource } from "../src/api/meta.ts";
import { capacityTypeKey, instanceTypeKey, zoneKey } from "../src/api/node.ts";
import type { Pod as PodToPlace } from "../src/api/pod.ts";
import { simulatedCatalogue } from "../src/api/simulated-catalogue.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { pods } from "../src/control/resources.ts";
import type { Pod } from "../src/sim/world/objects.ts";
import { emptyProblem } from "../src/decide/packing/problem.ts";
import { solveNow } from "../src/decide/packing/solve.ts";
import { machineSpec, manifest, until } from "./provisioning-plane.ts";

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
export const windowMs = 1_000;

const apps: Resource = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true };
const namespace = "default";

/** One on-demand pool of linux/amd64 machines. */
export const poolTemplate = {
  spec: {
    requirements: [
      { key: capacityTypeKey, operator: "In" as const, values: ["on-demand"] },
      { key: "kubernetes.io/os", operator: "In" as const, values: ["linux"] },
      { key: "kubernetes.io/arch", operator: "In" as const, values: ["amd64"] },
    ],
  },
};

export async function deployAll(api: KubeApi, replicas: number): Promise<void> {
  for (const [index, size] of sizes.entries()) await api.create(apps, { namespace }, deployment(index, replicas, size));
}

export async function scaleAll(api: KubeApi, replicas: number): Promise<void> {
  const scaled = sizes.map((_, index) =>
    api.patch(apps, { name: nameOf(index), namespace }, { type: "merge", body: { spec: { replicas } } }),
  );
  await Promise.all(scaled);
}

/** Waits until so many pods of each are there and all run. */
export async function allRun(api: KubeApi, replicas: number): Promise<void> {
  await until("all pods running", async () => {
    const { items } = await api.list<Pod>(pods);
    const isUp = items.every(({ status }) => status.phase === "Running");
    return items.length === replicas * sizes.length && isUp ? true : undefined;
  });
}

const nameOf = (index: number) => `app-${index}`;

function deployment(index: number, replicas: number, size: readonly [number, number]): Manifest {
  const template = templateOf(index, size);
  const spec = { replicas, selector: { matchLabels: template.metadata.labels }, template };
  return manifest(apps, nameOf(index), { spec });
}

function templateOf(index: number, [cpus, gib]: readonly [number, number]) {
  const labels = { app: nameOf(index) };
  const requests = { cpu: `${cpus * 1000}m`, memory: `${gib}Gi` };
  const spread = {
    maxSkew: 1,
    topologyKey: zoneKey,
    whenUnsatisfiable: "DoNotSchedule" as const,
    labelSelector: { matchLabels: labels },
  };
  const spec = {
    containers: [{ name: "main", image: "main", resources: { requests } }],
    ...(index < spreadCount ? { topologySpreadConstraints: [spread] } : {}),
  };
  return { metadata: { labels }, spec };
}

const priceOfCpu = 0.025;
const priceOfGib = 0.001;

/** By the catalogue's rule, from the name of the type: s-4x-amd64-linux has 4 CPUs with 4 GiB each. */
export function priceOf({ metadata }: KubeObject): number {
  const [family = "", size = ""] = (metadata.labels?.[instanceTypeKey] ?? "").split("-");
  const cpus = Number.parseInt(size, 10);
  const gibPerCpu = { c: 2, s: 4, m: 8 }[family] ?? Number.NaN;
  return cpus * (priceOfCpu + gibPerCpu * priceOfGib);
}

/** If pods could be cut to pieces. */
export function floorPrice(replicas: number): number {
  return sum(sizes.map(([cpus, gib]) => replicas * (cpus * priceOfCpu + gib * priceOfGib)));
}

/** What the solver would launch for all of them at once, if each went where it says. */
export function planPrice(replicas: number): number {
  const types = simulatedCatalogue(effectiveSimulatedNodeClass(machineSpec));
  if (!types.ok) throw new Error("The bench's own catalogue cannot be read.");
  const { requirements } = poolTemplate.spec;
  const placed = sizes.flatMap((size, index) =>
    Array.from({ length: replicas }, (_, place): PodToPlace => {
      const { metadata, spec } = templateOf(index, size);
      const name = `${nameOf(index)}-${place}`;
      return { metadata: { ...metadata, namespace, name, uid: name }, spec };
    }),
  );
  const pools = [{ name: "workers", requirements, instanceTypes: types.value }];
  return sum(solveNow({ ...emptyProblem, pods: placed, pools }).newNodes.map(({ price }) => price));
}

export const sum = (numbers: readonly number[]) => numbers.reduce((total, one) => total + one, 0);
