import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Many cases by rule rather than by hand: corpora and random worlds. They need nothing, but their time.
const property = [
  "test/corpus.test.ts",
  "test/schema-recorded.test.ts",
  "test/packing/**/*.test.ts",
  "test/simulation/**/*.test.ts",
];

/** Stories on the real clock take minutes: begun last, they would keep everybody waiting for one worker. */
class StoriesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isStory = ({ moduleId }: TestSpecification) =>
      moduleId.includes("/spine/") || moduleId.endsWith("/spine.test.ts");
    return [...sorted.filter(isStory), ...sorted.filter(file => !isStory(file))];
  }
}

// Suites by what they need: nothing, time, a server of ours over HTTP, a real control plane.
export default defineConfig({
  test: {
    testTimeout: 30_000,
    sequence: { sequencer: StoriesFirst },
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/*.test.ts"],
          exclude: property,
          // All cores: the fast half is for people who wait. Files share the modules of their worker: to load them anew
          // for each took longer than the tests, and none of them keeps anything between tests.
          maxWorkers: "100%",
          isolate: false,
          setupFiles: ["test/seed.ts"],
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: "property",
          include: property,
          setupFiles: ["test/seed.ts"],
          // Nothing but work: on all cores.
          maxWorkers: "100%",
          testTimeout: 300_000,
        },
      },
      {
        test: {
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          setupFiles: ["test/seed.ts"],
          globalSetup: "test/control-plane/shared.ts",
          testTimeout: 120_000,
          hookTimeout: 600_000,
          // They wait for servers more than they work; Vitest alone would leave a core out, on two cores half of them.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: "control-plane",
          include: ["test/control-plane/**/*.test.ts"],
          setupFiles: ["test/seed.ts"],
          globalSetup: "test/control-plane/shared.ts",
          testTimeout: 600_000,
          hookTimeout: 1_800_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
