import { expect, test } from "vitest";
import { effectiveSimulatedNodeClass } from "./effective-simulated-node-class.ts";

test("without a class there is the whole catalogue in four zones, as spot and on demand, and nothing goes wrong", () => {
  expect(effectiveSimulatedNodeClass(undefined)).toEqual({
    zones: ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"],
    capacityTypes: ["on-demand", "spot"],
    prices: { perCPU: "0.025", perGiB: "0.001", spotFactor: "0.7" },
    overhead: { cpu: "100m", memory: "10Mi" },
    types: {
      catalogue: {
        cpus: [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256],
        memoryPerCPU: [2, 4, 8],
        operatingSystems: ["linux", "windows"],
        architectures: ["amd64", "arm64"],
        podsPerCPU: 16,
        maxPods: 1024,
      },
    },
    boot: { median: "30s" },
    join: { median: "10s" },
    stop: { median: "5s" },
    reboot: { time: { median: "1m" }, heals: "100%" },
    faults: [],
  });
});

test("types that are listed take the catalogue's place", () => {
  const { types } = effectiveSimulatedNodeClass({
    instanceTypes: [{ name: "tiny", capacity: { cpu: 1, memory: "1Gi" } }],
  });
  expect(types).toEqual({
    instanceTypes: [
      { name: "tiny", capacity: { cpu: 1, memory: "1Gi" }, operatingSystem: "linux", architecture: "amd64" },
    ],
  });
});

test("a part of the catalogue that is named leaves the rest as it is", () => {
  const { types } = effectiveSimulatedNodeClass({ catalogue: { cpus: [4] } });
  expect(types).toMatchObject({ catalogue: { cpus: [4], memoryPerCPU: [2, 4, 8], maxPods: 1024 } });
});
