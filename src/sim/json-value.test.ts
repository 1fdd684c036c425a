import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { deepCopy, deepEqual, deepFreeze } from "./json-value.ts";

describe("JSON values", () => {
  test("a copy is equal and shares nothing that can change", () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const copy = deepCopy(value);
        expect(deepEqual(copy, value)).toBe(true);
        expect(JSON.stringify(copy)).toBe(JSON.stringify(value));
        if (typeof value === "object" && value !== null) expect(copy).not.toBe(value);
      }),
    );
  });

  test("two values are equal exactly when their sorted JSON is", () => {
    // Objects become marked lists of their fields, so that they cannot be taken for lists.
    const sorted = (value: unknown): unknown =>
      Array.isArray(value)
        ? value.map(sorted)
        : typeof value === "object" && value !== null
          ? {
              fields: Object.entries(value)
                .sort(byName)
                .map(([key, field]) => [key, sorted(field)]),
            }
          : value;
    const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 2 }), fc.jsonValue({ maxDepth: 2 }), (a, b) => {
        fc.pre(!JSON.stringify([a, b]).includes("-0"));
        expect(deepEqual(a, b)).toBe(JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
      }),
    );
  });

  test.each([
    [[], {}],
    [{ a: undefined }, {}],
    [null, {}],
    [{ a: 1 }, { b: 1 }],
  ])("%j and %j are not equal", (a, b) => {
    expect(deepEqual(a, b)).toBe(false);
    expect(deepEqual(b, a)).toBe(false);
  });

  test("a field named __proto__ is a field", () => {
    const value = JSON.parse('{"__proto__":{"a":1}}') as object;
    expect(Object.keys(deepCopy(value))).toEqual(["__proto__"]);
    expect(Object.getPrototypeOf(deepCopy(value))).toBe(Object.prototype);
  });

  test("what is frozen refuses changes at every depth", () => {
    const value = deepFreeze({ a: [{ b: 1 }] });
    expect(() => value.a[0]!.b++).toThrow(TypeError);
  });
});
