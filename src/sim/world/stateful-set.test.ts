import { describe, expect, test } from "vitest";
import type { Pod, StatefulSet } from "./objects.ts";
import { nextSteps } from "./stateful-set.ts";

const now = Date.parse("2026-01-01T01:00:00Z");

type Standing = "up" | "starting" | "stopping" | "failed" | "old";

function pod(ordinal: number, standing: Standing): Pod {
  return {
    metadata: {
      name: `db-${ordinal}`,
      labels: { "controller-revision-hash": standing === "old" ? "db-1" : "db-2" },
      ...(standing === "stopping" && { deletionTimestamp: "2026-01-01T00:59:00Z" }),
    },
    spec: { containers: [] },
    status: {
      phase: standing === "failed" ? "Failed" : standing === "starting" ? "Pending" : "Running",
      conditions: [
        {
          type: "Ready",
          status: standing === "up" || standing === "old" ? "True" : "False",
          lastTransitionTime: "2026-01-01T00:00:00Z",
        },
      ],
    },
  } as unknown as Pod;
}

function set(replicas: number, spec: object = {}): StatefulSet {
  const defaults = { replicas, updateStrategy: { type: "RollingUpdate" }, podManagementPolicy: "OrderedReady" };
  return { metadata: { name: "db" }, spec: { ...defaults, ...spec } } as unknown as StatefulSet;
}

const parallel = { podManagementPolicy: "Parallel" };
const onDelete = { updateStrategy: { type: "OnDelete" } };
const partitioned = { updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } };

describe("the next steps of a stateful set", () => {
  test.each<[string, StatefulSet, Standing[], number[], number[]]>([
    ["the first pod comes first", set(3), [], [0], []],
    ["the next one when the last is up", set(3), ["up"], [1], []],
    ["not before", set(3), ["starting"], [], []],
    ["all at once where order does not matter", set(3, parallel), ["starting"], [1, 2], []],
    ["one that failed is made again", set(2), ["failed", "up"], [], [0]],
    ["nothing to do", set(2), ["up", "up"], [], []],
    ["the last goes first", set(1), ["up", "up", "up"], [], [2]],
    ["one at a time", set(1), ["up", "up", "stopping"], [], []],
    ["all at once", set(1, parallel), ["up", "up", "up"], [], [2, 1]],
    ["a sick one below is waited for", set(1), ["starting", "up", "up"], [], []],
    ["the first that is sick may go though the last is well", set(1), ["up", "starting", "up"], [], []],
    ["rolled from the last", set(3), ["old", "old", "old"], [], [2]],
    ["and on", set(3), ["old", "old", "up"], [], [1]],
    ["not while the one before is not up", set(3), ["old", "old", "starting"], [], []],
    ["only down to the partition", set(3, partitioned), ["old", "old", "up"], [], []],
    ["never by itself", set(3, onDelete), ["old", "old", "old"], [], []],
  ])("%s", (_, statefulSet, standings, creates, deletes) => {
    const steps = nextSteps(
      statefulSet,
      standings.map((standing, i) => pod(i, standing)),
      { revision: "db-2", now },
    );
    expect([steps.creates, steps.deletes.map(({ ordinal }) => ordinal)]).toEqual([creates, deletes]);
  });

  test("a pod counts as up once it has been ready for long enough", () => {
    const steps = (minReadySeconds: number) =>
      nextSteps(set(2, { minReadySeconds }), [pod(0, "up")], { revision: "db-2", now }).creates;
    expect(steps(3600)).toEqual([1]);
    expect(steps(3601)).toEqual([]);
  });

  test("ordinals may begin elsewhere", () => {
    const steps = nextSteps(set(1, { ordinals: { start: 5 } }), [pod(0, "up")], { revision: "db-2", now });
    expect(steps.creates).toEqual([5]);
  });
});
