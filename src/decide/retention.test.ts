import { expect, test } from "vitest";
import { anAction, aSafetyPolicy, at, aWorld } from "../../test/builders.ts";
import { formatTime } from "../api/time.ts";
import type { Context } from "./decision.ts";
import { retentionRule } from "./retention.ts";

/** As many finished actions, one a second, the first at one hour. */
function decide(count: number, now: number) {
  const actions = Array.from({ length: count }, (_, index) =>
    anAction(`x${index}`, {
      node: `n${index}`,
      phase: "Done",
      status: { finishedAt: formatTime(at("1h") + index * 1_000) },
    }),
  );
  const context: Context = {
    picture: aWorld({ actions, safety: aSafetyPolicy() }),
    now,
    settings: { cluster: "c", dryRun: false, foreignClaims: "ignore" },
    epoch: 1,
  };
  const { commands, wakeAt } = retentionRule.decide("cluster", context);
  return {
    names: commands.flatMap(command => (command.kind === "delete-action" ? [command.action.name] : [])),
    wakeAt,
  };
}

test("2,000 finished actions are kept", () => {
  expect(decide(2_000, at("100h"))).toEqual({ names: [], wakeAt: undefined });
});

test("of more, the oldest go, a hundred at a time", () => {
  expect(decide(2_003, at("100h")).names).toEqual(["x0", "x1", "x2"]);
  expect(decide(2_500, at("100h")).names).toHaveLength(100);
});

test("not those that a cap still looks back at", () => {
  // Windows of an hour: the first is needed until two hours and a second.
  expect(decide(2_003, at("2h0.999s"))).toEqual({ names: [], wakeAt: at("2h1s") });
  expect(decide(2_003, at("2h2s"))).toEqual({ names: ["x0", "x1"], wakeAt: at("2h3s") });
});
