// A repair that is written down and has not begun is judged as those that are asked for: by the brake, by what spreads, by
// outbreaks and by how the pool's launches end.

import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, aPool, aSafetyPolicy, at } from "../../test/builders.ts";
import { Leader, pool } from "../../test/repair-leader.ts";
import { formatTime, minuteMs } from "../api/time.ts";
import { launchRecordKey } from "../api/well-known.ts";
import type { Command } from "../decide/decision.ts";

const names = Array.from({ length: 10 }, (_, index) => `n${index}`);
const sick = (name: string) => aNode(name, { ready: "Unknown", since: at("0s") });
const alone = aSafetyPolicy({ correlatedFailure: { mode: "Disabled" } });

/** The repair of n0, written at `decided`, and not begun. */
const pending = (decided = at("31m"), status = {}) =>
  anAction("x", {
    node: "n0",
    phase: "Pending",
    status,
    spec: {
      action: "Repair",
      method: "Terminate",
      termination: "Forceful",
      nodePool: "web",
      claim: { name: "n0", uid: "n0-claim-uid" },
      askedBy: { kind: "NodePool", name: "web" },
      decidedAt: formatTime(decided),
      evidence: [
        { kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", seenAt: formatTime(at("30m")) },
      ],
      epoch: 1,
    },
  });

/** Ten nodes, of which n0 is sick for long; its repair is written down. */
function leaderOf(safety = alone): Leader {
  const world = pool(names, name => (name === "n0" ? sick(name) : aNode(name)));
  const leader = new Leader({ ...world, safety, actions: [pending()] }, at("20m"));
  leader.turn(at("20m10s"));
  return leader;
}

test("nothing is repaired by a clock that is off", () => {
  const leader = new Leader(
    pool(["a"], name => aNode(name, { ready: "Unknown", since: at("0s") })),
    at("1h"),
  );
  leader.picture.setClockAhead(-61_499);
  expect([leader.repairs(at("1h10s")), leader.codes("a")]).toEqual([[], ["clock-off"]]);
  expect(leader.turns.standing.refusals("node/a")[0]?.message).toBe(
    "Our clock is about 1m0s behind the API server's, so nobody knows what is due.",
  );
  leader.picture.setClockAhead(undefined);
  expect(leader.repairs(at("1h10s"))).toEqual(["a"]);
});

const ofAction = (commands: readonly Command[]) =>
  commands.filter(({ kind }) => kind === "start-action" || kind === "update-action");

describe("a pending repair", () => {
  test("is begun while nothing speaks against it", () => {
    const leader = leaderOf();
    leader.turns.ask(["action/x"]);
    expect(ofAction(leader.turn(at("31m")))).toMatchObject([{ kind: "start-action" }]);
  });

  test("waits while another node has just turned sick, and goes on when nothing more follows", () => {
    const leader = leaderOf();
    leader.show(aNode("n1", { ready: "False", since: at("31m") }), at("31m"));
    expect(ofAction(leader.turn(at("31m")))).toMatchObject([
      { kind: "update-action", progress: { waitingFor: { reason: "Settling", until: at("31m10s") } } },
    ]);
    expect(leader.codesOf("action/x")).toEqual(["settling"]);
    expect(ofAction(leader.turn(at("31m10s") - 1))).not.toMatchObject([{ kind: "start-action" }]);
    expect(ofAction(leader.turn(at("31m10s")))).toMatchObject([{ kind: "start-action" }]);
  });

  test("is held by the brake for as long as too many are unhealthy", () => {
    const leader = leaderOf();
    for (const name of ["n1", "n2"]) leader.show(aNode(name, { ready: "False", since: at("31m") }), at("31m"));
    expect(ofAction(leader.turn(at("31m20s")))).toMatchObject([{ kind: "update-action" }]);
    expect(leader.codesOf("action/x")).toEqual(["pool-too-unhealthy"]);
    leader.show(aNode("n2", { since: at("32m") }), at("32m"));
    expect(ofAction(leader.turn(at("32m")))).toMatchObject([{ kind: "start-action" }]);
  });

  test("is given up when that takes too long, so that its place in the budget is free again", () => {
    const leader = leaderOf();
    for (const name of ["n1", "n2"]) leader.show(aNode(name, { ready: "False", since: at("31m") }), at("31m"));
    leader.turn(at("31m20s"));
    expect(leader.turns.standing.nextAt).toBeLessThanOrEqual(at("41m"));
    expect(ofAction(leader.turn(at("41m") - 1))).not.toMatchObject([{ progress: { phase: "Abandoned" } }]);
    expect(ofAction(leader.turn(at("41m")))).toMatchObject([{ progress: { phase: "Abandoned" } }]);
  });

  test("is held by an outbreak that shows itself only now", () => {
    const leader = leaderOf(aSafetyPolicy({ settle: { quiet: "0s", max: "0s" } }));
    leader.picture.put("pool", aPool("web", { generation: 2, spec: { repair: { maxUnhealthy: "100%" } } }));
    for (const name of names.slice(1, 6)) {
      leader.show(aNode(name, { ready: "Unknown", since: at("31m") }), at("31m"));
    }
    leader.turn(at("31m"));
    expect(leader.codesOf("action/x")).toEqual(["correlated-failure"]);
  });

  test("is held when its pool's latest launch failed and another repair took a node since; the next good one frees it", () => {
    const leader = leaderOf();
    const gone = anAction("gone", {
      node: "m",
      phase: "Done",
      spec: { action: "Repair", method: "Terminate", nodePool: "web", evidence: [] },
      status: { finishedAt: formatTime(at("30m")), startedAt: formatTime(at("29m")) },
    });
    leader.picture.put("action", gone);
    const recorded = (...results: readonly string[]) =>
      aPool("web", { annotations: { [launchRecordKey]: ["of", "-", ...results].join("; ") } });
    const bad = `${formatTime(at("30m"))} bad u1`;
    leader.picture.put("pool", recorded(bad));
    leader.turn(at("31m"));
    expect(leader.codesOf("action/x")).toEqual(["successors-failing"]);
    leader.picture.put("pool", recorded(bad, `${formatTime(at("32m"))} good u2`));
    expect(ofAction(leader.turn(at("32m")))).toMatchObject([{ kind: "start-action" }]);
  });

  test("is held while our clock is far from the API server's: by one that is ahead everything would be due", () => {
    const leader = leaderOf();
    leader.picture.setClockAhead(60 * minuteMs);
    leader.turn(at("31m"));
    expect(leader.codesOf("action/x")).toEqual(["clock-off"]);
    leader.picture.setClockAhead(undefined);
    expect(ofAction(leader.turn(at("32m")))).toMatchObject([{ kind: "start-action" }]);
  });

  test("that has begun goes on, whatever comes", () => {
    const leader = leaderOf();
    const begun = pending(at("31m"), { startedAt: formatTime(at("31m")) });
    leader.picture.put("action", { ...begun, status: { ...begun.status, phase: "Running" } });
    for (const name of ["n1", "n2"]) leader.show(aNode(name, { ready: "False", since: at("31m") }), at("31m"));
    expect(ofAction(leader.turn(at("31m1s")))).toMatchObject([{ kind: "start-action" }]);
  });

  test("that a person's delete overtook goes on, too", () => {
    const leader = leaderOf();
    leader.picture.put("claim", aClaim("n0", { pool: "web", deletingSince: at("31m") }));
    for (const name of ["n1", "n2"]) leader.show(aNode(name, { ready: "False", since: at("31m") }), at("31m"));
    leader.turn(at("31m"));
    expect(leader.codesOf("action/x")).toEqual([]);
  });
});
