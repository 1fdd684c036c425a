import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isObject } from "./json-value.ts";
import { mergePatch } from "./merge-patch.ts";

describe("merge patch", () => {
  // The examples of RFC 7386, appendix A, between objects.
  test.each([
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])("%j patched with %j is %j", (target, patch, result) => {
    expect(mergePatch(target, patch)).toEqual(result);
  });

  test("drops nulls inside objects of a new list, as the API server does and the RFC does not", () => {
    expect(mergePatch({}, { a: [{ b: null, c: 1 }, null] })).toEqual({ a: [{ c: 1 }, null] });
  });

  test("changes neither argument and shares what the patch does not touch", () => {
    const target = { spec: { big: [1, 2, 3] }, status: { phase: "a" } };
    const patch = { status: { phase: "b" } };
    const result = mergePatch(target, patch);
    expect(result.spec).toBe(target.spec);
    expect(target).toEqual({ spec: { big: [1, 2, 3] }, status: { phase: "a" } });
    expect(patch).toEqual({ status: { phase: "b" } });
  });

  test("applied twice gives what it gave once", () => {
    const document = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
    fc.assert(
      fc.property(document, document, (target, patch) => {
        const once = mergePatch(target, patch);
        expect(isObject(once)).toBe(true);
        expect(mergePatch(once, patch)).toEqual(once);
      }),
    );
  });
});
