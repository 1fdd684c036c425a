import { expect, test } from "vitest";
import { aClaim, aWorld, at, t0 } from "../../test/builders.ts";

const instance = (providerID: string) => ({ providerID, createdAt: t0 });

test("a list of as many instances is another one if one of them is", () => {
  const [one, two] = [instance("one"), instance("two")];
  const picture = aWorld({ instanceList: { at: t0, instances: [one] } });
  picture.setInstanceList({ at: at("1m"), instances: [two] });
  expect(picture.unclaimedInstances()).toEqual([two]);
});

test("the same list once more, later: a claim that was launched in between is missed in it", () => {
  const listed = [instance("one")];
  const picture = aWorld({ instanceList: { at: at("-1m"), instances: listed }, claims: [aClaim("a")] });
  expect(picture.unlistedClaims()).toEqual([]);
  picture.setInstanceList({ at: at("1m"), instances: listed });
  expect(picture.unlistedClaims().map(({ name }) => name)).toEqual(["a"]);
  expect(picture.unclaimedInstances()).toEqual(listed);
});

test("what was launched within a minute before a list is not missed in it", () => {
  const picture = aWorld({ instanceList: { at: at("59s"), instances: [] }, claims: [aClaim("a")] });
  expect(picture.unlistedClaims()).toEqual([]);
  expect(picture.isUnlisted(aClaim("a"))).toBe(false);
  picture.setInstanceList({ at: at("60s"), instances: [] });
  expect(picture.unlistedClaims().map(({ name }) => name)).toEqual(["a"]);
});
