import { describe, expect, test } from "vitest";
import { anAction, aNode, aWorld, t0, type WorldOptions } from "../../test/builders.ts";
import { cordonedByKey } from "../api/well-known.ts";
import type { NodeView } from "../snapshot/views.ts";
import { uncordonRule } from "./cordon.ts";

const cordoned = (more: Partial<NodeView> = {}) =>
  aNode("a", { isCordoned: true, annotations: { [cordonedByKey]: "x" }, ...more });
function decide(world: WorldOptions) {
  const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
  return uncordonRule.decide("a", { picture: aWorld(world), now: t0, settings, epoch: 1 });
}

describe("a cordon of ours", () => {
  test.each<[string, WorldOptions]>([
    ["failed", { actions: [anAction("x", { phase: "Failed" })] }],
    ["was given up", { actions: [anAction("x", { phase: "Abandoned" })] }],
    ["was deleted by somebody", {}],
  ])("is lifted when its action %s", (_, world) => {
    expect(decide({ nodes: [cordoned()], ...world }).commands).toEqual([
      {
        kind: "update-node",
        node: { name: "a", uid: "a-uid" },
        change: { isCordoned: false, annotations: { [cordonedByKey]: null } },
        why: "NodeAction x, which cordoned node a, is over.",
      },
    ]);
  });

  test.each<[string, WorldOptions]>([
    ["while its action is open", { nodes: [cordoned()], actions: [anAction("x")] }],
    ["on a node that goes", { nodes: [cordoned({ deletingSince: t0 })] }],
    ["that is somebody else's", { nodes: [cordoned({ annotations: {} })] }],
    ["of a node that is gone", {}],
  ])("stays %s", (_, world) => expect(decide(world).commands).toEqual([]));
});
