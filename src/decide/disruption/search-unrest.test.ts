import { describe, expect, test } from "vitest";
import { aClaim, aCondition, aNode, at, t0 } from "../../../test/builders.ts";
import type { Stay } from "../../snapshot/moves.ts";
import { Unrest } from "./search-unrest.ts";

const now = at("1h");
const why = "pods still come to other nodes and go from them";

/** Of so many nodes, some with a pod that came or went so long ago. */
function unrestOf({ nodes, restless, agoMs = 1_000 }: { nodes: number; restless: number; agoMs?: number }): Unrest {
  const unrest = new Unrest();
  for (let index = 0; index < nodes; index++) {
    const on = () => (index < restless ? now - agoMs : undefined);
    unrest.add(aNode(`n${index}`), aClaim(`n${index}`), {
      picture: { podEvents: { on, since: t0, isSeamless: true } },
      now,
    });
  }
  return unrest;
}

function puttingOff(unrest: Unrest, stay?: Stay): Stay | undefined {
  return unrest.puttingOff("n9-uid", { picture: { stayOf: () => stay }, now });
}

const anew = { short: why, at: now, until: now + 120_000 };

describe("a wave of pods that come or go", () => {
  test.each([
    { nodes: 100, restless: 5, isWave: false },
    { nodes: 100, restless: 6, isWave: true },
    { nodes: 3, restless: 1, isWave: false },
    { nodes: 3, restless: 2, isWave: true },
    { nodes: 0, restless: 0, isWave: false },
  ])("$restless of $nodes nodes: $isWave", ({ isWave, ...counts }) => {
    const unrest = unrestOf(counts);
    expect(puttingOff(unrest)).toEqual(isWave ? anew : undefined);
    expect(unrest.endsAt).toBe(isWave ? now + 14_000 : undefined);
  });

  test.each([
    ["a millisecond before a node has stood still", 14_999, anew],
    ["when it has", 15_000, undefined],
  ])("passes: %s", (_, agoMs, expected) => {
    expect(puttingOff(unrestOf({ nodes: 4, restless: 4, agoMs }))).toEqual(expected);
  });

  test("counts nodes that have only just come up, and none that has not", () => {
    const unrest = new Unrest();
    const picture = { podEvents: { on: () => undefined, since: t0, isSeamless: true } };
    const came = aCondition("Initialized", "True", { since: now - 1 });
    for (const name of ["a", "b"]) unrest.add(aNode(name), aClaim(name, { conditions: [came] }), { picture, now });
    for (const name of ["c", "d"]) unrest.add(aNode(name), aClaim(name, { conditions: [] }), { picture, now });
    expect(unrest.endsAt).toBe(now + 14_999);
  });
});

describe("nobody is put off", () => {
  const unrest = unrestOf({ nodes: 10, restless: 5 });

  test.each([
    ["for longer than two minutes", { short: why, at: now - 120_000, until: now }, undefined],
    [
      "but until then",
      { short: why, at: now - 1, until: now + 119_999 },
      { short: why, at: now - 1, until: now + 119_999 },
    ],
    ["and anew where it has been judged since", { short: "its pods do not fit onto other nodes", at: t0 }, anew],
  ])("%s", (_, stay, expected) => {
    expect(puttingOff(unrest, stay)).toEqual(expected);
  });
});
