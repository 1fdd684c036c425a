import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { differences, vectors } from "../../test/vectors/read.ts";
import { certain, type Parsed } from "./parsed.ts";
import {
  addQuantities,
  approximateValue,
  canonicalQuantity,
  compareQuantities,
  fastInteger,
  formatQuantity,
  milliValue,
  parseQuantity,
  type Quantity,
  subtractQuantities,
  wholeValue,
} from "./quantity.ts";

type Parsing = [
  text: string,
  shown?: string,
  canonical?: string,
  format?: string,
  value?: string,
  milli?: string,
  integer?: string | null,
];
type Pair = [a: string, b: string, order: number, sum: string, difference: string];
const kubernetes = vectors("quantities") as { parsed: Parsing[]; pairs: Pair[] };

const quantity = (text: string): Quantity => certain(parseQuantity(text));
const isInt64 = (value: bigint) => value === BigInt.asIntN(64, value);
// Beyond exa, Kubernetes prints no suffix at all: 1000E is shown as 1.
const isBeyondSuffixes = (value: Quantity) =>
  value.format !== "DecimalExponent" && /e\d+$/.test(canonicalQuantity(value));

describe("quantities agree with Kubernetes", () => {
  test("in which texts they are", () => {
    expect(kubernetes.parsed.length).toBeGreaterThan(1000);
    const wrong = differences(kubernetes.parsed, ([text, shown]) => ({
      ours: parseQuantity(text).ok,
      theirs: shown !== undefined,
    }));
    expect(wrong).toEqual([]);
  });

  const read = kubernetes.parsed.filter(([, shown]) => shown !== undefined);
  const common = read.filter(([text]) => !isBeyondSuffixes(quantity(text)));

  test("in how they are shown, canonical or as written", () => {
    const wrong = differences(common, ([text, shown, canonical, format]) => {
      const ours = quantity(text);
      return { ours: [formatQuantity(ours), canonicalQuantity(ours), ours.format], theirs: [shown, canonical, format] };
    });
    expect(wrong).toEqual([]);
  });

  test("in their 64-bit values, rounded away from zero", () => {
    // Where the value does not fit, Kubernetes' is wrapped or 0; below zero its large form rounds towards zero. Ours is exact.
    const fitting = read.filter(([text]) => isInt64(milliValue(quantity(text))) && quantity(text).digits >= 0n);
    expect(fitting.length).toBeGreaterThan(500);
    const wrong = differences(fitting, ([text, , , , value, milli]) => ({
      ours: [wholeValue(quantity(text)).toString(), milliValue(quantity(text)).toString()],
      theirs: [value, milli],
    }));
    expect(wrong).toEqual([]);
  });

  test("in which are integers at once", () => {
    const wrong = differences(read, ([text, , , , , , integer]) => ({
      ours: fastInteger(quantity(text))?.toString() ?? null,
      theirs: integer,
    }));
    expect(wrong).toEqual([]);
  });

  test("in order, sums and differences", () => {
    expect(kubernetes.pairs.length).toBeGreaterThanOrEqual(700);
    const wrong = differences(kubernetes.pairs, ([a, b, order, sum, difference]) => {
      const total = addQuantities(quantity(a), quantity(b));
      const rest = subtractQuantities(quantity(a), quantity(b));
      return {
        ours: [
          compareQuantities(quantity(a), quantity(b)),
          isBeyondSuffixes(total) ? sum : formatQuantity(total),
          isBeyondSuffixes(rest) ? difference : formatQuantity(rest),
        ],
        theirs: [order, sum, difference],
      };
    });
    expect(wrong).toEqual([]);
  });
});

test.each([
  ["1000E", "1e21"],
  ["12345E", "12345E"],
  ["1e21", "1e21"],
])("%s is shown as %s, so that it reads back, where Kubernetes may print no suffix", (text, shown) => {
  expect(canonicalQuantity(quantity(text))).toBe(shown);
});

test.each([
  ["-1.5", -2n, -1500n],
  ["-1.5Gi", -1610612736n, -1610612736000n],
  ["-0.0001", -1n, -1n],
])("%s below zero is rounded away from it", (text, whole, milli) => {
  expect([wholeValue(quantity(text)), milliValue(quantity(text))]).toEqual([whole, milli]);
});

test.each([["1e1001"], ["1e-1001"], ["1e999999999"], ["1e99999999999999999999"]])(
  "%s is refused, although Kubernetes would take it: one addition could fill the memory",
  text => {
    expect(errorOf(parseQuantity(text))).toMatch(/exponent is beyond 1000/);
  },
);

test.each([
  ["", /write one such as 250m/],
  ["1 Gi", /write one such as/],
  ["1Kb", /write one such as/],
  ["1K", /suffix must be one of/],
  ["Ei", /no digits/],
])("%j is refused with what to write", (text, why) => {
  expect(errorOf(parseQuantity(text))).toMatch(why);
});

function errorOf(parsed: Parsed<unknown>): string {
  return parsed.ok ? "" : parsed.error;
}

test.each([
  ["1.5Gi", 1610612736],
  ["250m", 0.25],
  ["-2e3", -2000],
  ["1E", 1e18],
])("%s is about %d", (text, number) => {
  expect(approximateValue(quantity(text))).toBe(number);
});

const anyText = fc
  .tuple(
    fc.constantFrom("", "-"),
    fc.bigInt({ min: 0n, max: 10n ** 20n }),
    fc.constantFrom("", ".5", ".000000001", ".25"),
    fc.constantFrom("", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "e3", "e-5"),
  )
  .map(([sign, whole, fraction, suffix]) => `${sign}${whole}${fraction}${suffix}`);

describe("for any quantities", () => {
  test("what is shown reads back as the same value", () => {
    fc.assert(
      fc.property(anyText, text => {
        const read = quantity(text);
        expect(compareQuantities(quantity(canonicalQuantity(read)), read)).toBe(0);
        expect(compareQuantities(quantity(formatQuantity(read)), read)).toBe(0);
      }),
    );
  });

  test("the order is the order of the exact values, and adding keeps it", () => {
    fc.assert(
      fc.property(anyText, anyText, anyText, (a, b, c) => {
        const [x, y, z] = [quantity(a), quantity(b), quantity(c)];
        expect(compareQuantities(x, y) + compareQuantities(y, x)).toBe(0);
        expect(compareQuantities(addQuantities(x, z), addQuantities(y, z))).toBe(compareQuantities(x, y));
        expect(compareQuantities(subtractQuantities(addQuantities(x, y), y), x)).toBe(0);
      }),
    );
  });

  test("rounding never takes away and adds less than one", () => {
    fc.assert(
      fc.property(anyText, text => {
        const read = quantity(text);
        const whole = quantity(wholeValue(read).toString());
        const excess = subtractQuantities(whole, read);
        expect(compareQuantities(excess, quantity("1"))).toBe(-1);
        expect(compareQuantities(excess, quantity("-1"))).toBe(1);
        expect(excess.digits === 0n || excess.digits > 0n === read.digits > 0n).toBe(true);
      }),
    );
  });
});
