// A storm that is over before the status of its check could be written is not forgotten by the turns that saw it.

import { expect, test } from "vitest";
import { aNode, at } from "../../test/builders.ts";
import { aCheck, aCheckContext, commandsOf, someNodes } from "../../test/check-builders.ts";
import { rules } from "../decide/rules.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import { Turns } from "./turn.ts";

const check = aCheck("web", { spec: { minHealthy: 4, stormCooldownDuration: "10m" } });

function aLeader() {
  const context = aCheckContext({ checks: [check], nodes: someNodes(7, 3) });
  // As the builders make it.
  const picture = context.picture as ClusterPicture;
  const turns = new Turns(picture, rules, { refused: () => {}, lifted: () => {}, asked: () => {}, compared: () => {} });
  turns.askAll(context.now);
  const turn = (now: number) => {
    const commands = turns.decide({ ...context, now }).flatMap(({ decision }) => decision.commands);
    const told = commandsOf({ commands }, "update-check")[0]?.status.conditions ?? [];
    return told.filter(({ type, status }) => type.startsWith("Storm") && status === "True").map(({ type }) => type);
  };
  return { turns, turn, picture, verify: (now: number) => turns.verify({ ...context, now }) };
}

test("it is told by the next turn, too, and a decision from scratch says the same", () => {
  const { turn, picture, verify } = aLeader();
  expect(turn(at("1h"))).toEqual([]);
  picture.put("node", aNode("n3", { ready: "False", since: at("1h") }));
  expect(turn(at("1h"))).toEqual(["StormActive"]);
  picture.put("node", aNode("n3", { since: at("1h") }));
  expect(turn(at("1h") + 500)).toEqual(["StormActive"]);
  expect(verify(at("1h") + 500)).toEqual([]);
});

test("whoever leads anew goes by what is written", () => {
  const { turns, turn, picture } = aLeader();
  turn(at("1h"));
  picture.put("node", aNode("n3", { ready: "False", since: at("1h") }));
  turn(at("1h"));
  picture.put("node", aNode("n3", { since: at("1h") }));
  turns.end();
  turns.askAll(at("1h1m"));
  expect(turn(at("1h1m"))).toEqual([]);
});
