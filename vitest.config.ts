import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Many cases by rule rather than by hand: corpora, random worlds, whole stories in the box. They need nothing, but their
// time.
const property = [
  "src/**/{worlds,*-worlds,properties,*-properties}.test.ts",
  "src/{api/{pattern,schedule,window},cli/{manifest-text,up},control/turn-repair}.test.ts",
  "src/decide/{node-life,termination-course,packing/slices}.test.ts",
  "test/{controller,corpus,disruption-calendar,health-check*,provisioning-trickle,schema-recorded,search,spine}.test.ts",
  "test/packing/**/*.test.ts",
  "test/simulation/**/*.test.ts",
];

/** What takes minutes, the longest first. */
const longest = [
  "/spine/kill.test.ts",
  "/repair/repair.test.ts",
  "/simulation/random-worlds-1.test.ts",
  "/simulation/random-worlds-2.test.ts",
  "/simulation/random-worlds-3.test.ts",
  "/simulation/random-worlds-4.test.ts",
  "/simulation/scenarios.test.ts",
  "/simulation/replacement-writes.test.ts",
  "/disruption/drift.test.ts",
  "/spine/stories.test.ts",
  "/contract/spine.test.ts",
  "/health-check/life.test.ts",
  "/health-check/kill.test.ts",
  "/simulation/mutants/mutants.test.ts",
  "/control-plane/world.test.ts",
  "/contract/overload.test.ts",
  "/contract/differential.test.ts",
  "/contract/lists-and-watches.test.ts",
  "/control-plane/corpus.test.ts",
  "/repair/kill.test.ts",
  "/spine/replicas.test.ts",
  "/contract/kubectl.test.ts",
  "/control-plane/schema.test.ts",
  "/simulation/repair-restarts.test.ts",
  "/simulation/every-write.test.ts",
  "/contract/reflector.test.ts",
  "/control-plane/packing.test.ts",
];

/** Begun last, a long one would keep everybody waiting for one worker. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const index = longest.findIndex(end => moduleId.endsWith(end));
      return index < 0 ? longest.length : index;
    };
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

// Suites by what they need: nothing, time, a server of ours over HTTP, a real control plane.
export default defineConfig({
  test: {
    testTimeout: 30_000,
    sequence: { sequencer: LongestFirst },
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
          // Nothing but work: on all cores, and with what has been compiled for the file before.
          maxWorkers: "100%",
          isolate: false,
          // It yields to all others.
          testTimeout: 900_000,
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
          // They wait for servers more than they work: more of them at once than there are cores.
          maxWorkers: 3,
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
          maxWorkers: 3,
        },
      },
    ],
  },
});
