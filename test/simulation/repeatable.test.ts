// (seed, scenario, code) → the same journal.

import { expect, test } from "vitest";
import { journalOf } from "./failing-world.ts";

test("a day is the same each time, and another one with another seed", async () => {
  const once = await journalOf(7);
  expect(await journalOf(7)).toEqual(once);
  expect(await journalOf(8)).not.toEqual(once);
});
