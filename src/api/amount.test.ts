import { describe, expect, test } from "vitest";
import { differences, vectors } from "../../test/vectors/read.ts";
import { formatAmount, parseAmount, roundedDown, roundedUp } from "./amount.ts";
import { accepted, certain } from "./parsed.ts";

const { cases } = vectors("amounts") as { cases: [percent: number, total: number, up: number, down: number][] };

test("percentages round as in Kubernetes", () => {
  expect(cases.length).toBeGreaterThan(1000);
  const wrong = differences(cases, ([percent, total, ...theirs]) => {
    const amount = certain(parseAmount(`${percent}%`));
    return { ours: [roundedUp(amount, total), roundedDown(amount, total)], theirs };
  });
  expect(wrong).toEqual([]);
});

describe("an amount", () => {
  test.each([
    [0, { count: 0 }],
    [10, { count: 10 }],
    ["10", { count: 10 }],
    ["010", { count: 10 }],
    [2147483647, { count: 2147483647 }],
    ["0%", { percent: 0 }],
    ["5%", { percent: 5 }],
    ["05%", { percent: 5 }],
    ["100%", { percent: 100 }],
  ])("is read from %j", (value, amount) => {
    expect(parseAmount(value)).toEqual(accepted(amount));
  });

  test.each([
    [-1],
    ["-1"],
    ["-1%"],
    [1.5],
    ["1.5"],
    ["1.5%"],
    ["101%"],
    ["999%"],
    ["%"],
    [""],
    ["10 %"],
    [" 10"],
    ["ten"],
    [Number.NaN],
    [null],
    [undefined],
    [true],
    [[10]],
  ])("is not read from %j, and the refusal says what to write", value => {
    const parsed = parseAmount(value);
    expect(parsed.ok ? "" : parsed.error).toMatch(/write a count such as 3 or a percentage/);
  });

  test.each([[2147483648], ["99999999999999999999"]])("is not read from %j: too large", value => {
    const parsed = parseAmount(value);
    expect(parsed.ok ? "" : parsed.error).toMatch(/at most 2147483647/);
  });

  test.each([
    [3, "3"],
    ["007", "7"],
    ["20%", "20%"],
  ])("%j is written %s", (value, text) => {
    expect(formatAmount(certain(parseAmount(value)))).toBe(text);
  });
});

test("a count is what it is, whatever the total and the rounding", () => {
  const three = { count: 3 };
  expect([roundedUp(three, 1), roundedDown(three, 1)]).toEqual([3, 3]);
});
