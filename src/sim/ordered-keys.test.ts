import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OrderedKeys } from "./ordered-keys.ts";

const key = fc.stringMatching(/^[a-c]{1,2}(\/[a-d]{1,3})?$/);

describe("ordered keys", () => {
  test("are, after any additions and removals, the sorted set of what is left", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), key), { maxLength: 300 }), key, (operations, from) => {
        const keys = new OrderedKeys();
        const model = new Set<string>();
        for (const [adds, each] of operations) {
          if (adds && !model.has(each)) keys.add(each);
          if (!adds) keys.remove(each);
          if (adds) model.add(each);
          else model.delete(each);
        }
        const sorted = [...model].sort();
        expect([...keys.range("")]).toEqual(sorted);
        expect(keys.count).toBe(sorted.length);
        const inNamespace = sorted.filter(each => each.startsWith("a/") && each >= from);
        expect([...keys.range("a/", from)]).toEqual(inNamespace);
        expect(keys.countFrom("a/", from)).toBe(inNamespace.length);
      }),
    );
  });

  test("stay in order across many blocks, whatever order they come in", () => {
    const keys = new OrderedKeys();
    const names = Array.from({ length: 5_000 }, (_, i) => `ns/${String((i * 7919) % 5_000).padStart(5, "0")}`);
    for (const name of names) keys.add(name);
    expect([...keys.range("ns/")]).toEqual([...names].sort());
    expect(keys.countFrom("ns/", "ns/04000")).toBe(1_000);
    for (const name of names.slice(100)) keys.remove(name);
    expect(keys.count).toBe(100);
    expect([...keys.range("")]).toEqual(names.slice(0, 100).sort());
  });

  test("do not confuse a namespace with one that its name begins", () => {
    const keys = new OrderedKeys();
    for (const each of ["a/x", "a-b/x", "ab/x"]) keys.add(each);
    expect([...keys.range("a/")]).toEqual(["a/x"]);
    expect([...keys.range("")]).toEqual(["a-b/x", "a/x", "ab/x"]);
  });
});
