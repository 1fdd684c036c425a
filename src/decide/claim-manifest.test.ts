import { expect, test } from "vitest";
import { aClaim, anAction, aWorld } from "../../test/builders.ts";
import { isNameTaken } from "./claim-manifest.ts";

test("a name is taken while a claim has it, and for as long as the ledger tells of one that had it", () => {
  const gone = anAction("drift-1", { phase: "Done", spec: { claim: { name: "blue-gone", uid: "gone" } } });
  const picture = aWorld({ claims: [aClaim("blue-here")], actions: [gone] });
  expect(isNameTaken("blue-here", picture)).toBe(true);
  expect(isNameTaken("blue-gone", picture)).toBe(true);
  expect(isNameTaken("blue-new", picture)).toBe(false);
});
