import { expect, test } from "vitest";
import { aClaim, anAction, aNode, aPool, at, aWorld } from "../../test/builders.ts";
import { settings } from "../../test/termination-world.ts";
import { controllers, nothing } from "./decision.ts";
import { decideAll, decisionKey, rules } from "./rules.ts";

const picture = aWorld({
  pools: [aPool("p")],
  claims: [aClaim("a", { pool: "p", deletingSince: at("1m") }), aClaim("b", { pool: "p" })],
  nodes: [aNode("a"), aNode("b")],
  actions: [anAction("x", { node: "a", phase: "Done" })],
});
const context = { picture, now: at("2m"), settings, epoch: 1 };

test("every rule has a name of its own and belongs to a part that can be switched off", () => {
  expect(new Set(rules.map(({ name }) => name)).size).toBe(rules.length);
  for (const { controller } of rules) expect(controllers).toContain(controller);
  expect(new Set(rules.map(({ controller }) => controller))).toEqual(new Set(controllers));
});

test("from scratch every subject is judged by every rule of its kind", () => {
  const count = { claim: 2, node: 2, pool: 1, action: 1, check: 0, pod: 0, cluster: 1 };
  const expected = rules.reduce((sum, { kind }) => sum + count[kind], 0);
  expect(decideAll(context).size).toBe(expected);
});

test("and found again by rule and subject", () => {
  const decisions = decideAll(context);
  expect(decisions.get(decisionKey("termination", "claim/a"))?.proposals).toMatchObject([{ action: "Deletion" }]);
  expect(decisions.get(decisionKey("termination", "claim/b"))).toEqual(nothing);
  expect(decisions.has(decisionKey("garbage", "cluster"))).toBe(true);
});
