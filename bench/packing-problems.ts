// Problems for the packing bench: Karpenter's benchmark where its data lie beside the repository, and problems of the same
// and of other shapes from seeds, so that nothing is tuned to one set.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { InstanceType } from "../src/api/instance-type.ts";
import { capacityTypeKey, hostnameKey, instanceTypeKey, zoneKey } from "../src/api/node.ts";
import type { Affinity, Pod, PodSpec, TopologySpreadConstraint } from "../src/api/pod.ts";
import type { Labels } from "../src/api/selector.ts";
import { emptyProblem, type ExistingNode, type Problem } from "../src/decide/packing/problem.ts";
import { seededRandom } from "../src/sim/random.ts";

const folder = process.env["FETTLE_BENCH_DATA"] ?? join(import.meta.dirname, "../../shared/data");

type StoredPod = {
  name: string;
  labels: Labels;
  requests: Record<string, string>;
  affinity?: Affinity;
  topologySpreadConstraints?: TopologySpreadConstraint[];
};

/** A problem of Karpenter's benchmark, or undefined if its data are not there. */
export function stored(name: string): Problem | undefined {
  const file = join(folder, `${name}.json.gz`);
  if (!existsSync(file)) return undefined;
  const { pods, instanceTypes } = JSON.parse(gunzipSync(readFileSync(file)).toString("utf8")) as {
    pods: StoredPod[];
    instanceTypes: InstanceType[];
  };
  return problemOf(
    pods.map(({ name: pod, labels, requests, affinity, topologySpreadConstraints }) =>
      podOf(pod, labels, {
        requests,
        ...(affinity && { affinity }),
        ...(topologySpreadConstraints && { topologySpreadConstraints }),
      }),
    ),
    instanceTypes,
  );
}

/** One fifth each: plain, zone spread, host spread, near their like in a zone, apart from their like on hosts. */
export function diverse(count: number, seed: number): Problem {
  const random = fractions(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const letter = () => pick(["a", "b", "c", "d", "e", "f", "g"]);
  const requests = () => ({
    cpu: pick(["100m", "250m", "500m", "1", "1500m"]),
    memory: pick(["100Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi"]),
  });
  const spread = (topologyKey: string) => ({
    topologySpreadConstraints: [
      {
        maxSkew: 1,
        topologyKey,
        whenUnsatisfiable: "DoNotSchedule" as const,
        labelSelector: { matchLabels: { "my-label": letter() } },
      },
    ],
  });
  const terms = (key: string, value: string, topologyKey: string) => ({
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey, labelSelector: { matchLabels: { [key]: value } } }],
  });
  const makers: ((name: string) => Pod)[] = [
    name => podOf(name, { "my-label": letter() }, { requests: requests() }),
    name => podOf(name, { "my-label": letter() }, { requests: requests(), ...spread(zoneKey) }),
    name => podOf(name, { "my-label": letter() }, { requests: requests(), ...spread(hostnameKey) }),
    name => {
      const group = letter();
      const affinity = { podAffinity: terms("my-affinity", group, zoneKey) };
      return podOf(name, { "my-affinity": group }, { requests: requests(), affinity });
    },
    name => {
      const affinity = { podAntiAffinity: terms("app", "nginx", hostnameKey) };
      return podOf(name, { app: "nginx" }, { requests: requests(), affinity });
    },
  ];
  const pods = Array.from({ length: count }, (_, index) => pick(makers)(`pod-${index}`));
  return problemOf(pods, types(400));
}

/** Pods that differ in size alone. */
export function plain(count: number, typeCount: number, seed: number): Problem {
  return problemOf(plainPods(count, seed), types(typeCount));
}

/** The same where no more than so many of the pods' sizes are left, as deployments have them. Each has its own objects. */
export function alike(problem: Problem, sizes: number): Problem {
  const pods = problem.pods.map((pod, index) => ({
    ...pod,
    spec: structuredClone(problem.pods[index % sizes]?.spec ?? pod.spec),
  }));
  return { ...problem, pods };
}

export function ontoNodes(count: number, nodeCount: number, seed: number): Problem {
  return {
    ...emptyProblem,
    nodes: Array.from({ length: nodeCount }, (_, index) => nodeOf(index)),
    pods: plainPods(count, seed),
  };
}

/** A cluster that runs: as many pods a node, some of them spread over zones or apart from one another. */
export function running(nodeCount: number, podCount: number, seed: number): Problem {
  const random = fractions(seed);
  const bound = Array.from({ length: podCount }, (_, index): Pod => {
    const app = `app-${Math.floor(random() * 200)}`;
    const labelSelector = { matchLabels: { app } };
    const isSpread = Number(app.slice(4)) % 4 === 0;
    const pod = podOf(
      `pod-${index}`,
      { app },
      {
        requests: {
          cpu: `${50 + 10 * Math.floor(random() * 20)}m`,
          memory: `${64 * (1 + Math.floor(random() * 6))}Mi`,
        },
        ...(isSpread && {
          topologySpreadConstraints: [
            { maxSkew: 5, topologyKey: zoneKey, whenUnsatisfiable: "ScheduleAnyway", labelSelector },
          ],
        }),
      },
    );
    return { ...pod, spec: { ...pod.spec, nodeName: `node-${index % nodeCount}` } };
  });
  const nodes = Array.from({ length: nodeCount }, (_, index) => nodeOf(index));
  return { ...problemOf([], types(400)), nodes, bound };
}

function plainPods(count: number, seed: number): Pod[] {
  const random = fractions(seed);
  return Array.from({ length: count }, (_, index) => {
    const cpu = 50 + Math.floor(random() * 1950);
    const memory = 64 + Math.floor(random() * 4032);
    return podOf(`pod-${index}`, {}, { requests: { cpu: `${cpu}m`, memory: `${memory}Mi` } });
  });
}

function podOf(
  name: string,
  labels: Labels,
  { requests, ...spec }: Partial<PodSpec> & { requests: Record<string, string> },
): Pod {
  return { metadata: { name, labels }, spec: { containers: [{ name: "main", resources: { requests } }], ...spec } };
}

function nodeOf(index: number): ExistingNode {
  const name = `node-${index}`;
  return {
    node: {
      metadata: { name, labels: { [hostnameKey]: name, [zoneKey]: `zone-${index % 3}` } },
      status: { allocatable: { cpu: "8", memory: "32Gi", pods: "110" } },
    },
  };
}

function types(count: number): InstanceType[] {
  const zones = ["zone-0", "zone-1", "zone-2"];
  return Array.from({ length: count }, (_, index) => {
    const size = index + 1;
    return {
      name: `type-${String(index).padStart(4, "0")}`,
      requirements: [
        { key: instanceTypeKey, operator: "In", values: [`type-${String(index).padStart(4, "0")}`] },
        { key: zoneKey, operator: "In", values: zones },
        { key: capacityTypeKey, operator: "In", values: ["spot", "on-demand"] },
      ],
      offerings: zones.flatMap(zone =>
        ["spot", "on-demand"].map(capacityType => ({
          requirements: [
            { key: zoneKey, operator: "In" as const, values: [zone] },
            { key: capacityTypeKey, operator: "In" as const, values: [capacityType] },
          ],
          price: size * (capacityType === "spot" ? 0.1 : 0.3),
          available: true,
        })),
      ),
      capacity: { cpu: `${size}`, memory: `${2 * size}Gi`, pods: `${10 * size}` },
      allocatable: { cpu: `${size * 1000 - 100}m`, memory: `${2048 * size - 10}Mi`, pods: `${10 * size}` },
    };
  });
}

function problemOf(pods: Pod[], instanceTypes: InstanceType[]): Problem {
  return { ...emptyProblem, pods, pools: [{ name: "default", requirements: [], instanceTypes }] };
}

/** Numbers in [0, 1). */
function fractions(seed: number): () => number {
  const random = seededRandom(seed);
  return () => random() / 2 ** 32;
}
