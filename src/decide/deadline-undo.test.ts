import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, at, aWorld, t0 } from "../../test/builders.ts";
import { formatTime } from "../api/time.ts";
import { terminationTimestampKey } from "../api/well-known.ts";
import type { ActionView, ClaimView } from "../snapshot/views.ts";
import { deadlineUndo } from "./deadline-undo.ts";
import { nothing } from "./decision.ts";

const settings = { cluster: "c", dryRun: false, foreignClaims: "repair" } as const;
const marked = (more: Partial<ClaimView> = {}) => aClaim("a", { terminationAt: t0, ...more });
const foreign = { ...aClaim("a").spec, nodeClassRef: { group: "x", kind: "Y", name: "z" } };

type Options = NonNullable<Parameters<typeof anAction>[1]>;
const byForce = (phase: NonNullable<Options["phase"]>, more: Options["spec"] = {}): ActionView =>
  anAction("repair-a-uid", {
    phase,
    status: { finishedAt: formatTime(at("1m")) },
    spec: {
      action: "Repair",
      termination: "Forceful",
      deadline: formatTime(t0),
      decidedAt: formatTime(at("-1m")),
      ...more,
    },
  });
const shown = { ...byForce("DryRun", { dryRun: true }), name: "repair-a-uid-2" };

function decide(claim: ClaimView, ...actions: readonly ActionView[]) {
  const picture = aWorld({ nodes: [aNode("a")], claims: [claim], actions });
  return deadlineUndo.decide("a", { picture, now: at("1h"), settings, epoch: 1 });
}

const undone = {
  commands: [
    {
      kind: "update-claim",
      claim: { name: "a" },
      resourceVersion: marked().resourceVersion,
      metadata: { annotations: { [terminationTimestampKey]: null } },
    },
  ],
};

describe("the termination time of a claim that stays is taken off", () => {
  test.each<[string, readonly ActionView[]]>([
    ["after the repair that wrote it was given up", [byForce("Abandoned")]],
    [
      "while another waits that would go gently, and would find it",
      [byForce("Abandoned"), anAction("drift-a-uid", { phase: "Pending", spec: { action: "Drift" } })],
    ],
    ["while one by force is only shown", [byForce("Abandoned"), shown]],
    ["which is the instant of its start, by force", [byForce("Abandoned", { deadline: formatTime(at("-10m")) })]],
  ])("%s", (_, actions) => {
    expect(decide(marked(), ...actions)).toMatchObject(undone);
  });

  test("of another controller's claim if one of ours wrote it", () => {
    expect(decide(marked({ spec: foreign }), byForce("Abandoned"))).toMatchObject(undone);
    expect(decide(marked({ spec: foreign }))).toEqual(nothing);
  });
});

describe("it stays", () => {
  test.each<[string, ClaimView, readonly ActionView[]]>([
    ["while the start that wrote it may be under way", marked(), [byForce("Pending")]],
    ["once the claim is being deleted", marked({ deletingSince: t0 }), [byForce("Abandoned")]],
    ["where there is none", aClaim("a"), []],
    ["where no action of ours had one", marked(), [anAction("drift-a-uid", { phase: "Done" })]],
    ["where one of ours is only shown", marked(), [shown]],
    ["where a person wrote it before one of ours", marked({ terminationAt: at("-20m") }), [byForce("Abandoned")]],
    ["where a person wrote it since", marked({ terminationAt: at("10m") }), [byForce("Abandoned")]],
  ])("%s", (_, claim, actions) => {
    expect(decide(claim, ...actions)).toEqual(nothing);
  });
});
