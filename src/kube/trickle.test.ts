import { describe, expect, test } from "vitest";
import { Trickle } from "./trickle.ts";

const windowMs = 200;
const much = 96 * 1024;
const flood = 256 * 1024;

describe("how long a stream may rest after bytes were read", () => {
  // Each step: at, bytes, how long the next ones may wait.
  const cases: readonly (readonly [string, readonly (readonly [number, number, number])[]])[] = [
    ["until the window ends", [[1_030, 500, 170]]],
    ["no time at its very end", [[1_199.5, 500, 0.5]]],
    ["the whole of one that begins", [[1_200, 500, 200]]],
    [
      "as long in each window, as long as it is a trickle",
      [
        [1_030, 500, 170],
        [1_200, 4_000, 200],
        [1_400, 4_000, 200],
      ],
    ],
    ["not at all after much", [[1_030, much, 0]]],
    ["until the end after a byte less", [[1_030, much - 1, 170]]],
    [
      "not at all where pieces add up to much within the window",
      [
        [1_030, much / 2, 170],
        [1_050, much / 2, 0],
      ],
    ],
    [
      "after much in the window before as ever",
      [
        [1_030, much, 0],
        [1_200, 500, 200],
      ],
    ],
    [
      "not at all after a flood in it: a list goes on",
      [
        [1_030, flood, 0],
        [1_200, 500, 0],
      ],
    ],
    [
      "until the end after a byte less than that",
      [
        [1_030, flood - 1, 0],
        [1_200, 500, 200],
      ],
    ],
    [
      "what came before a silent window no longer counts",
      [
        [1_030, flood, 0],
        [1_400, 500, 200],
      ],
    ],
    [
      "the window before counts to its end",
      [
        [1_030, flood, 0],
        [1_399.5, 500, 0],
      ],
    ],
  ];
  test.each(cases)("%s", (_, steps) => {
    const trickle = new Trickle(windowMs);
    expect(steps.map(([at, bytes]) => trickle.restMs(bytes, at))).toEqual(steps.map(([, , rest]) => rest));
  });

  test("streams that spoke at different instants are read again at the same one", () => {
    const ends = [1_010, 1_090, 1_150].map(at => at + new Trickle(windowMs).restMs(100, at));
    expect(ends).toEqual([1_200, 1_200, 1_200]);
  });
});
