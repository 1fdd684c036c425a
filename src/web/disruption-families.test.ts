import { expect, test } from "vitest";
import { aClaim, aCondition, aNode, aPool, at, aWorld } from "../../test/builders.ts";
import { doNotDisruptKey } from "../api/well-known.ts";
import { disruptionFamilies } from "./disruption-families.ts";
import { breath } from "./family.ts";
import type { Asked, Of } from "./measured.ts";

test("counts what is due, apart by whether something blocks it", () => {
  const drifted = (name: string) => {
    const claim = aClaim(name, { pool: "web" });
    return { ...claim, conditions: [...claim.conditions, aCondition("Drifted", "True")] };
  };
  const picture = aWorld({
    pools: [aPool("web")],
    claims: [drifted("a"), drifted("b"), aClaim("c", { pool: "web", spec: { expireAfter: "1h" } })],
    nodes: [aNode("a"), aNode("b", { annotations: { [doNotDisruptKey]: "true" } }), aNode("c")],
  });
  const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
  const asked = { picture, settings, now: at("1h"), epoch: 1 } as unknown as Asked;
  const of: Of = read => () => read(asked);
  const told = disruptionFamilies(of).map(({ samples }) =>
    [...samples()].flatMap(sample =>
      sample === breath || sample.value === 0 ? [] : [[sample.labels?.["reason"], sample.value]],
    ),
  );
  expect(told).toEqual([
    [
      ["expired", 1],
      ["drifted", 1],
    ],
    [["drifted", 1]],
  ]);
});
