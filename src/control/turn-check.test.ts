// In a burst the own rule of a check, which reads all of its nodes that are not healthy, is not asked at every turn.

import { expect, test } from "vitest";
import { aNode, at } from "../../test/builders.ts";
import { aCheck, aCheckContext, someNodes } from "../../test/check-builders.ts";
import type { Rule } from "../decide/decision.ts";
import { nothing } from "../decide/decision.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import { Turns } from "./turn.ts";

const startedAt = at("1h");

function aLeader(notHealthy: number) {
  const context = aCheckContext({ checks: [aCheck("web")], nodes: someNodes(300, notHealthy) });
  // As the builders make it.
  const picture = context.picture as ClusterPicture;
  const asked: number[] = [];
  const rule: Rule = {
    name: "check",
    kind: "check",
    controller: "health-checks",
    decide: (_, { now }) => {
      asked.push(now - startedAt);
      return nothing;
    },
  };
  const turns = new Turns(picture, [rule], {
    refused: () => {},
    lifted: () => {},
    asked: () => {},
    compared: () => {},
  });
  turns.askAll(startedAt);
  const turn = (afterMs: number) => {
    picture.put("node", aNode("n0", { ready: "False", since: startedAt + afterMs }));
    turns.decide({ ...context, now: startedAt + afterMs });
    return turns.nextAt === undefined ? undefined : turns.nextAt - startedAt;
  };
  /** Whether the picture has it already or not. */
  const see = (name: string) => {
    const after = picture.node(name);
    if (after !== undefined) turns.observe({ before: after, after }, startedAt);
    turns.decide({ ...context, now: startedAt });
  };
  return { turn, turns, asked, see };
}

test("of many it is asked after as many milliseconds, and nothing is forgotten until then", () => {
  const { turn, turns, asked } = aLeader(200);
  expect([turn(0), turn(20), turn(199)]).toEqual([undefined, 200, 200]);
  expect(turns.hasNews).toBe(true);
  expect(asked).toEqual([0]);
  turn(200);
  expect(asked).toEqual([0, 200]);
  expect(turns.hasNews).toBe(false);
});

test("of a few it is asked at each turn", () => {
  const { turn, asked } = aLeader(20);
  for (const afterMs of [0, 10, 20]) turn(afterMs);
  expect(asked).toEqual([0, 10, 20]);
});

test("a new term does not wait for what the last one asked", () => {
  const { turn, turns, asked } = aLeader(200);
  turn(0);
  turns.end();
  turns.askAll(startedAt);
  turn(10);
  expect(asked).toEqual([0, 10]);
});

test("a clock that was set back makes nobody wait", () => {
  const { turn, asked } = aLeader(200);
  turn(0);
  turn(-60_000);
  expect(asked).toEqual([0, -60_000]);
});

test("it is asked when the watch brings what an answer has shown: since when the node is sick may be otherwise by now", () => {
  const { asked, see } = aLeader(20);
  see("n299");
  expect(asked).toHaveLength(1);
  see("n0");
  expect(asked).toHaveLength(2);
  see("n299");
  expect(asked).toHaveLength(2);
});
