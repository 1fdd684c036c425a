// Random pools with what they can launch, nodes on their way, and daemons: worlds in which new nodes can be had.

import fc, { type Arbitrary } from "fast-check";
import type { InstanceType, Offering } from "../../../src/api/instance-type.ts";
import { capacityTypeKey, instanceTypeKey, zoneKey } from "../../../src/api/node.ts";
import type { Pod, ResourceList } from "../../../src/api/pod.ts";
import type { Labels } from "../../../src/api/selector.ts";
import type {
  ExistingNode,
  Pool,
  PoolRequirement,
  Problem,
  UpcomingNode,
} from "../../../src/decide/packing/problem.ts";
import { clusters, clustersWithStorage } from "./clusters.ts";
import { sparse } from "./sparse.ts";
import * as words from "./words.ts";

const { oneOf } = words;
const inValues = (key: string, ...values: string[]): PoolRequirement => ({ key, operator: "In", values });

type Size = { name: string; cpu: number; memory: number; extra?: ResourceList; labels?: PoolRequirement[] };

const sizes: readonly Size[] = [
  { name: "small", cpu: 2, memory: 4 },
  { name: "medium", cpu: 4, memory: 8, labels: [inValues("size", "4")] },
  { name: "large", cpu: 8, memory: 16, labels: [inValues("size", "8"), inValues("rack", "r1", "r2")] },
  { name: "gpu", cpu: 4, memory: 16, extra: { "example.com/gpu": "2" }, labels: [inValues("tier", "gold")] },
  { name: "wide", cpu: 3, memory: 24, extra: { "ephemeral-storage": "8Gi" } },
];

const offerings = ({ cpu, memory }: Size): Arbitrary<Offering[]> =>
  fc
    .tuple(fc.subarray([...words.zones], { minLength: 1 }), fc.subarray(["spot", "on-demand"], { minLength: 1 }))
    .chain(([zones, capacityTypes]) =>
      fc.tuple(
        ...zones.flatMap(zone =>
          capacityTypes.map(capacity =>
            fc.record({
              requirements: fc.constant([inValues(zoneKey, zone), inValues(capacityTypeKey, capacity)]),
              price: fc
                .integer({ min: 8, max: 12 })
                .map(part => ((cpu + memory / 8) * part) / (capacity === "spot" ? 200 : 100)),
              available: fc.nat({ max: 9 }).map(dice => dice > 0),
            }),
          ),
        ),
      ),
    );

const instanceType = (size: Size): Arbitrary<InstanceType> =>
  fc.tuple(offerings(size), oneOf(4, 8, 110)).map(([all, pods]) => {
    const { name, cpu, memory, extra = {}, labels = [] } = size;
    const values = (key: string) => [
      ...new Set(
        all.flatMap(({ requirements }) => requirements.filter(one => one.key === key).flatMap(one => one.values ?? [])),
      ),
    ];
    const where = [zoneKey, capacityTypeKey].map(key => inValues(key, ...values(key)));
    return {
      name,
      requirements: [inValues(instanceTypeKey, name), ...where, ...labels],
      offerings: all,
      capacity: { cpu: `${cpu}`, memory: `${memory}Gi`, pods: `${pods}`, ...extra },
      allocatable: { cpu: `${cpu * 1000 - 100}m`, memory: `${memory * 1024 - 200}Mi`, pods: `${pods}`, ...extra },
    };
  });

const instanceTypes = fc
  .shuffledSubarray([...sizes], { minLength: 1 })
  .chain(chosen => fc.tuple(...chosen.map(instanceType)));

const requirement: Arbitrary<PoolRequirement> = fc.oneof(
  fc.subarray([...words.zones], { minLength: 1 }).map(zones => inValues(zoneKey, ...zones)),
  oneOf("spot", "on-demand").map(one => inValues(capacityTypeKey, one)),
  fc.constant(inValues("rack", "r1", "r2")),
  oneOf("small", "gpu").map((name): PoolRequirement => ({ key: instanceTypeKey, operator: "NotIn", values: [name] })),
  oneOf(1, 2, 3).map((minValues): PoolRequirement => ({ key: instanceTypeKey, operator: "Exists", minValues })),
);

const pool = (name: string): Arbitrary<Pool> =>
  fc
    .tuple(
      fc.record({
        requirements: fc.uniqueArray(requirement, { maxLength: 2, selector: ({ key }) => key }),
        instanceTypes,
      }),
      sparse(4, {
        weight: oneOf(1, 5),
        labels: oneOf<Labels>({ tier: "tin" }, { tier: "gold", pool: name }),
        taints: fc.array(words.taint, { minLength: 1, maxLength: 1 }),
        startupTaints: fc.array(words.taint, { minLength: 1, maxLength: 1 }),
        limits: oneOf<ResourceList>({ cpu: "8" }, { cpu: "12", nodes: "2" }, { memory: "20Gi" }, { nodes: "1" }),
        usage: oneOf<ResourceList>({ cpu: "4", nodes: "1", memory: "8Gi" }),
      }),
    )
    .map(([usual, rest]) => ({ name, ...usual, ...rest }));

/** It has been launched, so that type and zone are known. */
const upcoming: Arbitrary<UpcomingNode[]> = fc
  .array(
    fc.tuple(
      instanceType(sizes[1] ?? { name: "medium", cpu: 4, memory: 8 }),
      sparse(4, { taints: fc.array(words.taint, { maxLength: 1 }) }),
    ),
    { maxLength: 1 },
  )
  .map(all =>
    all.map(([type, rest]) => {
      const [offering] = type.offerings;
      const one: InstanceType = { ...type, offerings: offering ? [{ ...offering, available: true }] : [] };
      return {
        name: "claim-0",
        pool: "p-a",
        requirements: offering?.requirements ?? [],
        instanceTypes: [one],
        pods: [],
        ...rest,
      };
    }),
  );

const daemons: Arbitrary<Pod[]> = fc
  .array(
    fc.tuple(
      oneOf("100m", "500m"),
      sparse(3, {
        nodeSelector: oneOf<Labels>({ tier: "gold" }, { rack: "r1" }),
        tolerations: fc.constant([{ operator: "Exists" as const }]),
      }),
    ),
    { maxLength: 2 },
  )
  .map(all =>
    all.map(([cpu, rest], index) => ({
      metadata: { name: `daemon-${index}`, namespace: "default", labels: { app: "daemon" } },
      spec: { containers: [{ name: "main", resources: { requests: { cpu, memory: "64Mi" } } }], ...rest },
    })),
  );

/** Now and then a node that is not ready yet, or whose taints are about to go. */
const settling = (all: readonly ExistingNode[]): Arbitrary<ExistingNode[]> =>
  fc.tuple(
    ...all.map(existing =>
      sparse(6, { initialized: fc.constant(false), passingTaints: fc.constant(existing.node.spec?.taints ?? []) }).map(
        rest => ({ ...existing, ...rest }),
      ),
    ),
  );

const pools = fc.integer({ min: 1, max: 2 }).chain(count => fc.tuple(...["p-a", "p-b"].slice(0, count).map(pool)));

export const worlds: Arbitrary<Problem> = fc
  .tuple(
    fc.oneof({ weight: 3, arbitrary: clusters }, { weight: 1, arbitrary: clustersWithStorage }),
    pools,
    upcoming,
    daemons,
  )
  .chain(([cluster, poolList, upcomingList, daemonList]) =>
    settling(cluster.nodes).map(nodes => ({
      ...cluster,
      nodes,
      pools: poolList,
      upcoming: upcomingList,
      daemons: daemonList,
    })),
  );
