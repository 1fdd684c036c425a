import { describe, expect, test } from "vitest";
import { effectiveSimulatedNodeClass } from "./effective-simulated-node-class.ts";
import type { InstanceType } from "./instance-type.ts";
import { certain } from "./parsed.ts";
import { simulatedCatalogue } from "./simulated-catalogue.ts";
import type { SimulatedNodeClassSpec } from "./simulated-node-class.ts";

const catalogue = (spec?: SimulatedNodeClassSpec) => certain(simulatedCatalogue(effectiveSimulatedNodeClass(spec)));
const named = (types: readonly InstanceType[], name: string) => {
  const found = types.find(type => type.name === name);
  if (found === undefined) throw new Error(`no type ${name}`);
  return found;
};
const labels = ({ requirements }: Pick<InstanceType, "requirements">) =>
  Object.fromEntries(requirements.map(({ key, values }) => [key, values?.join()]));
const price = (type: InstanceType, capacityType: string) => [
  ...new Set(
    type.offerings
      .filter(({ requirements }) => labels({ requirements })["karpenter.sh/capacity-type"] === capacityType)
      .map(offering => offering.price),
  ),
];

describe("the default catalogue, beside the peer's", () => {
  const types = catalogue();

  test("has its 144 types: twelve sizes, three shapes, two systems, two architectures, each by its own name", () => {
    expect(types).toHaveLength(144);
    expect(new Set(types.map(({ name }) => name)).size).toBe(144);
    expect(types.map(({ name }) => name)).toEqual(
      expect.arrayContaining(["c-1x-amd64-linux", "s-4x-amd64-linux", "m-256x-arm64-windows"]),
    );
  });

  test("offers each in four zones, as spot and on demand", () => {
    for (const { offerings } of types) {
      expect(offerings).toHaveLength(8);
      expect(offerings.every(({ available }) => available)).toBe(true);
    }
    const zones = types[0]?.offerings.map(offering => labels(offering)["topology.kubernetes.io/zone"]);
    expect([...new Set(zones)]).toEqual(["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"]);
  });

  // 0.025 for a CPU and 0.001 for a GiB; spot costs 0.7 of it.
  test.each([
    ["c-1x-amd64-linux", 0.027, 0.0189],
    ["s-4x-amd64-linux", 0.116, 0.0812],
    ["m-8x-arm64-windows", 0.264, 0.1848],
    ["m-256x-amd64-linux", 8.448, 5.9136],
  ])("%s costs %d an hour, %d as spot", (name, onDemand, spot) => {
    expect(price(named(types, name), "on-demand")).toEqual([onDemand]);
    expect(price(named(types, name), "spot")).toEqual([spot]);
  });

  test.each([
    ["c-1x-amd64-linux", { cpu: "1", memory: "2Gi", pods: "16" }, { cpu: "900m", memory: "2038Mi", pods: "16" }],
    ["s-4x-amd64-linux", { cpu: "4", memory: "16Gi", pods: "64" }, { cpu: "3900m", memory: "16374Mi", pods: "64" }],
    ["m-64x-amd64-linux", { cpu: "64", memory: "512Gi", pods: "1024" }, { cpu: "63900m" }],
    ["m-256x-amd64-linux", { cpu: "256", memory: "2Ti", pods: "1024" }, { memory: "2097142Mi", pods: "1024" }],
  ])("%s holds what it says, less 100m and 10 MiB", (name, capacity, allocatable) => {
    expect(named(types, name)).toMatchObject({ capacity, allocatable });
    expect(named(types, name).capacity["ephemeral-storage"]).toBe("20Gi");
  });

  test("labels a type with all that a pool may ask for", () => {
    expect(labels(named(types, "s-4x-arm64-windows"))).toEqual({
      "node.kubernetes.io/instance-type": "s-4x-arm64-windows",
      "kubernetes.io/arch": "arm64",
      "kubernetes.io/os": "windows",
      "fettle.dev/instance-family": "s",
      "fettle.dev/instance-size": "4x",
      "fettle.dev/instance-cpu": "4",
      "fettle.dev/instance-memory-gib": "16",
    });
  });
});

test("a catalogue of other shapes names them after their memory", () => {
  const [type] = catalogue({
    catalogue: { cpus: [2], memoryPerCPU: [16], operatingSystems: ["linux"], architectures: ["arm64"], podsPerCPU: 5 },
    zones: ["north"],
    capacityTypes: ["reserved"],
  });
  expect(type?.name).toBe("g16-2x-arm64-linux");
  expect(type?.capacity).toMatchObject({ cpu: "2", memory: "32Gi", pods: "10" });
  expect(type?.offerings).toHaveLength(1);
});

describe("types that are listed", () => {
  test("are offered everywhere, by the prices of the class, with 16 pods for each CPU", () => {
    const [type] = catalogue({
      zones: ["north", "south"],
      capacityTypes: ["on-demand"],
      prices: { perCPU: "1", perGiB: "0.5" },
      instanceTypes: [
        { name: "big", capacity: { cpu: 2, memory: "4Gi", "example.com/gpu": "1" }, labels: { gpu: "x" } },
      ],
    });
    expect(type).toMatchObject({
      name: "big",
      capacity: { cpu: "2", memory: "4Gi", pods: "32", "example.com/gpu": "1" },
      allocatable: { cpu: "1900m", memory: "4086Mi", pods: "32", "example.com/gpu": "1" },
    });
    expect(type && labels(type)).toMatchObject({
      gpu: "x",
      "kubernetes.io/os": "linux",
      "kubernetes.io/arch": "amd64",
    });
    expect(type?.offerings.map(offering => offering.price)).toEqual([4, 4]);
  });

  test("may say themselves where they are to be had, at what price, and what they keep", () => {
    const [type] = catalogue({
      instanceTypes: [
        {
          name: "odd",
          capacity: { cpu: "500m", memory: "1Gi", pods: 4 },
          overhead: { cpu: "1", memory: "1Mi" },
          offerings: [{ zone: "moon", capacityType: "spot", price: "9.5", available: false }],
        },
      ],
    });
    expect(type?.offerings).toMatchObject([{ price: 9.5, available: false }]);
    expect(type?.allocatable).toEqual({ cpu: "0", memory: "1023Mi", pods: "4" });
  });

  test("that hold what is no quantity are refused by name", () => {
    const refused = simulatedCatalogue(
      effectiveSimulatedNodeClass({ instanceTypes: [{ name: "bad", capacity: { cpu: "lots" } }] }),
    );
    expect(refused).toMatchObject({ ok: false, error: expect.stringMatching(/^instance type bad: cpu: "lots"/) });
  });
});
