// What the ledger says of a termination, and when it is written.

import { describe, expect, test } from "vitest";
import { aCondition, anAction, aNode, aPod, at } from "../../test/builders.ts";
import { decided, leavingClaim, withConditions } from "../../test/termination-world.ts";
import type { Command, Decision } from "./decision.ts";

const now = at("11m");
const kinds = ({ commands }: Decision) => commands.map(({ kind }) => kind);

function progressOf({ commands }: Decision) {
  const updates = commands.filter(
    (one): one is Extract<Command, { kind: "update-action" }> => one.kind === "update-action",
  );
  return updates[0]?.progress;
}

describe("the ledger", () => {
  const draining = withConditions(
    leavingClaim(),
    aCondition("Drained", "Unknown", {
      reason: "Draining",
      message: "Pod default/p is stopping; its grace ends at 2026-01-01T00:11:20Z.",
    }),
  );
  const pods = [aPod("p", { on: "a", deletionAt: at("11m20s") })];
  const time = "2026-01-01T00:10:30Z";
  const said = {
    steps: [
      { name: "taint", startedAt: time, finishedAt: time },
      { name: "drain", startedAt: time },
    ],
    waitingFor: {
      reason: "PodStopping",
      message: "Pod default/p is stopping; its grace ends at 2026-01-01T00:11:20Z.",
      since: time,
      until: "2026-01-01T00:12:20Z",
    },
  };

  test("says the steps and who holds it up", () => {
    expect(progressOf(decided(now, { claims: [draining], pods }))).toEqual({
      steps: [
        { name: "taint", isFinished: true },
        { name: "drain", isFinished: false },
      ],
      waitingFor: { reason: "PodStopping", message: said.waitingFor.message, until: at("12m20s") },
    });
  });

  test("is left alone while it says so", () => {
    const actions = [anAction("deletion-a-uid", { status: said })];
    expect(decided(now, { claims: [draining], pods, actions }).commands).toEqual([]);
  });

  test.each([
    [
      "another step",
      {
        ...said,
        steps: [
          { name: "taint", startedAt: time, finishedAt: time },
          { name: "volumes", startedAt: time },
        ],
      },
    ],
    [
      "a step that is not over",
      {
        ...said,
        steps: [
          { name: "taint", startedAt: time },
          { name: "drain", startedAt: time },
        ],
      },
    ],
    ["another reason", { ...said, waitingFor: { ...said.waitingFor, reason: "Other" } }],
    ["another sentence", { ...said, waitingFor: { ...said.waitingFor, message: "Other." } }],
    ["another time", { ...said, waitingFor: { ...said.waitingFor, until: time } }],
    ["no wait", { steps: said.steps }],
  ])("is written when it says %s", (_what, status) => {
    const actions = [anAction("deletion-a-uid", { status })];
    expect(kinds(decided(now, { claims: [draining], pods, actions }))).toEqual(["update-action"]);
  });

  test("a wait that is over is taken away", () => {
    const status = { ...said, steps: [{ name: "taint", startedAt: time }] };
    const actions = [anAction("deletion-a-uid", { status })];
    const decision = decided(now, { nodes: [aNode("a")], actions });
    expect(progressOf(decision)?.waitingFor).toBeNull();
  });
});
