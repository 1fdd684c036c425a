// A health check whose controller dies at each of its writes in turn, before or after the server has it: whoever leads
// next goes on from the objects, and the node is replaced once.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../src/cli/scenario-file.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import { parts } from "./parts.ts";

const file = "health-check-replace.yaml";
const parsed = parseScenario(file, readFileSync(join(import.meta.dirname, "../../scenarios", file)));
if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
const { scenario } = parsed;
/** From the entry in the ledger to the claim's end, and a little on. */
const writes = Array.from({ length: 20 }, (_, index) => index + 1);

function dyingAt(atWrite: number, committed: boolean) {
  const timeline = scenario.timeline?.filter(({ do: { crash } }) => crash === undefined) ?? [];
  return {
    ...scenario,
    until: "25m",
    timeline: [...timeline, { at: "15m30s", do: { crash: { atWrite, committed } } }],
  };
}

describe.each([true, false])("a death at each write (it reached the server: %s)", committed => {
  test.each(writes)("%i", async atWrite => {
    const { verdict } = await simulate(dyingAt(atWrite, committed), { ...parts, verifyEvery: 20 });
    expect(verdict.problems).toEqual([]);
  });
});
