// Clusters after a scale-down, by a seed: filled by the solver, then most pods go at random, so that every node keeps some.
// Nodes go and come as a consolidation says, and the price of what is there is known throughout.

import type { InstanceType } from "../src/api/instance-type.ts";
import { capacityTypeKey, hostnameKey, instanceTypeKey, nodePoolKey, zoneKey } from "../src/api/node.ts";
import { type Pod, podKey } from "../src/api/pod.ts";
import type { NewNode } from "../src/decide/packing/answer.ts";
import { changePicture, pictureOf } from "../src/decide/packing/build.ts";
import type { Picture } from "../src/decide/packing/picture.ts";
import { emptyProblem, type ExistingNode, type Problem } from "../src/decide/packing/problem.ts";
import { solveNow } from "../src/decide/packing/solve.ts";
import { seededRandom } from "../src/sim/random.ts";

const zones = ["zone-a", "zone-b", "zone-c"];

/** Per CPU and per GiB of memory, as clouds roughly price them. */
const price = (cpu: number, gib: number) => Number((0.03 * cpu + 0.004 * gib).toFixed(5));

const types: InstanceType[] = [2, 4, 8].flatMap(ratio =>
  [1, 2, 4, 8, 16].map(cpu => {
    const name = `m${ratio}-${cpu}`;
    const gib = cpu * ratio;
    return {
      name,
      requirements: [
        { key: instanceTypeKey, operator: "In", values: [name] },
        { key: zoneKey, operator: "In", values: zones },
        { key: capacityTypeKey, operator: "In", values: ["on-demand"] },
      ],
      offerings: zones.map(zone => ({
        requirements: [
          { key: zoneKey, operator: "In", values: [zone] },
          { key: capacityTypeKey, operator: "In", values: ["on-demand"] },
        ],
        price: price(cpu, gib),
        available: true,
      })),
      capacity: { cpu: `${cpu}`, memory: `${gib}Gi`, pods: "110" },
      allocatable: { cpu: `${cpu * 1000 - 100}m`, memory: `${gib * 1024 - 200}Mi`, pods: "110" },
    };
  }),
);

export const poolName = "default";
const pools = [{ name: poolName, requirements: [], instanceTypes: types }];

export type Machine = { readonly name: string; readonly price: number };

export class FragmentedCluster {
  readonly picture: Picture;
  readonly machineByName = new Map<string, Machine>();
  #nextNode = 0;

  constructor(problem: Problem, machines: readonly Machine[]) {
    this.picture = pictureOf(problem);
    for (const machine of machines) this.machineByName.set(machine.name, machine);
  }

  get price(): number {
    return [...this.machineByName.values()].reduce((sum, one) => sum + one.price, 0);
  }

  /** Of every node but those named: the pods, so that a bound can be reckoned. */
  pods(): Pod[] {
    return this.picture.residents.flatMap(residents => [...residents.values()].map(({ pod }) => pod));
  }

  podCountOn(name: string): number {
    const index = this.picture.hosts.indexByName.get(name);
    return index === undefined ? 0 : (this.picture.residents[index]?.size ?? 0);
  }

  /** The nodes go; their pods go where it is said, on new nodes those that are listed there. */
  apply(gone: readonly string[], newNodes: readonly NewNode[], places: ReadonlyMap<string, string>): void {
    const { picture } = this;
    const target = new Map(places);
    for (const node of newNodes) {
      const name = `new-${this.#nextNode++}`;
      const machine = machineOf(name, node);
      changePicture(picture, { kind: "node", node: machine });
      this.machineByName.set(name, { name, price: node.price });
      for (const pod of node.pods) target.set(podKey(pod), name);
    }
    for (const name of gone) {
      const index = picture.hosts.indexByName.get(name) ?? -1;
      const pods = [...(picture.residents[index]?.values() ?? [])].map(({ pod }) => pod);
      for (const pod of pods) {
        const nodeName = target.get(podKey(pod));
        if (nodeName === undefined) throw new Error(`Pod ${podKey(pod)} was left without a place.`);
        changePicture(picture, { kind: "pod", pod: { ...pod, spec: { ...pod.spec, nodeName } } });
      }
      changePicture(picture, { kind: "node-gone", name });
      this.machineByName.delete(name);
    }
  }
}

/** So many nodes, of which the share of pods is left that is kept. */
export function fragmented(nodeCount: number, { seed, podsPerNode = 30, kept = 0.4 }: Shape): FragmentedCluster {
  const random = seededRandom(seed);
  const chance = () => random() / 2 ** 32;
  const apps = Array.from({ length: Math.max(20, nodeCount / 5) }, (_, index) => appOf(index, chance, podsPerNode));
  const nodes: ExistingNode[] = [];
  const machines: Machine[] = [];
  const bound: Pod[] = [];
  let next = 0;
  // In waves, as deployments come one after the other.
  while (nodes.length < nodeCount) {
    const wave = Array.from({ length: (nodeCount * podsPerNode) / 10 }, () => podOf(apps, chance, next++));
    const { newNodes } = solveNow({ ...emptyProblem, pools, pods: wave });
    for (const node of newNodes.slice(0, nodeCount - nodes.length)) {
      const name = `node-${String(nodes.length).padStart(5, "0")}`;
      nodes.push(machineOf(name, node));
      machines.push({ name, price: node.price });
      for (const pod of node.pods) if (chance() < kept) bound.push({ ...pod, spec: { ...pod.spec, nodeName: name } });
    }
  }
  return new FragmentedCluster({ ...emptyProblem, pools, nodes, bound }, machines);
}

type Shape = { readonly seed: number; readonly podsPerNode?: number; readonly kept?: number };
type App = { readonly name: string; readonly requests: Record<string, string>; readonly isSpread: boolean };

function appOf(index: number, chance: () => number, podsPerNode: number): App {
  // About what lets so many of them fill a node of 16 CPUs.
  const cpu = Math.max(50, Math.round((16_000 / podsPerNode) * (0.2 + 1.6 * chance())));
  const memory = Math.round(cpu * (1 + 5 * chance()));
  return { name: `app-${index}`, requests: { cpu: `${cpu}m`, memory: `${memory}Mi` }, isSpread: index % 5 === 0 };
}

function podOf(apps: readonly App[], chance: () => number, index: number): Pod {
  const { name, requests, isSpread } = apps[Math.floor(chance() * apps.length)] ?? {
    name: "",
    requests: {},
    isSpread: false,
  };
  const labelSelector = { matchLabels: { app: name } };
  const spread = [{ maxSkew: 1, topologyKey: zoneKey, whenUnsatisfiable: "ScheduleAnyway" as const, labelSelector }];
  return {
    metadata: { name: `pod-${index}`, labels: { app: name } },
    spec: {
      containers: [{ name: "main", resources: { requests } }],
      ...(isSpread ? { topologySpreadConstraints: spread } : {}),
    },
  };
}

/** The node as its cheapest type, in the first zone that is left. */
function machineOf(name: string, { instanceTypes, requirements }: NewNode): ExistingNode {
  const type = types.find(one => one.name === instanceTypes[0]);
  const zone = requirements.find(({ key }) => key === zoneKey)?.values?.[0] ?? zones[name.length % zones.length] ?? "";
  const labels = {
    [hostnameKey]: name,
    [zoneKey]: zone,
    [instanceTypeKey]: type?.name ?? "",
    [capacityTypeKey]: "on-demand",
    [nodePoolKey]: poolName,
  };
  return { node: { metadata: { name, labels }, status: { allocatable: type?.allocatable ?? {} } } };
}
