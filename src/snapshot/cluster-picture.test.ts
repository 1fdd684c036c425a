import { expect, test } from "vitest";
import { aClaim, aNode, anAction, aPod, aWorld } from "../../test/builders.ts";

test("a claim and its node are joined by providerID, and pods lie on their node", () => {
  const world = aWorld({
    nodes: [aNode("a")],
    claims: [aClaim("a", { zone: "z1", pool: "p" })],
    pods: [aPod("x", { on: "a" })],
  });
  const node = world.node("a");
  const claim = world.claim("a");
  expect(node && world.claimOf(node)).toBe(claim);
  expect(claim && world.nodesOf(claim)).toEqual([node]);
  expect([...world.podsOn("a")].map(({ name }) => name)).toEqual(["x"]);
  expect(world.nodeCountIn("z1")).toBe(1);
  expect([...world.nodesOfPool("p")]).toEqual([node]);
});

test("a node counts as going once, whatever says so", () => {
  const world = aWorld({
    nodes: [aNode("a", { deletingSince: 1 })],
    claims: [aClaim("a", { deletingSince: 1 })],
    actions: [anAction("x")],
  });
  expect(world.departureCount).toBe(1);
});
