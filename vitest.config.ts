import { defineConfig } from "vitest/config";

// Three suites by what they need: nothing, a server of ours over HTTP, a real control plane.
export default defineConfig({
  test: {
    testTimeout: 30_000,
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts", "test/packing/**/*.test.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          globalSetup: "test/control-plane/shared.ts",
          testTimeout: 120_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: "control-plane",
          include: ["test/control-plane/**/*.test.ts"],
          globalSetup: "test/control-plane/shared.ts",
          testTimeout: 600_000,
          hookTimeout: 1_800_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
