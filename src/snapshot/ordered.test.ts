import fc from "fast-check";
import { expect, test } from "vitest";
import { Ordered } from "./ordered.ts";

const key = fc.nat(40).map(String);
const step = fc.oneof(
  fc.record({ kind: fc.constant("set" as const), key, value: fc.nat() }),
  fc.record({ kind: fc.constant("delete" as const), key }),
  fc.constant({ kind: "read" as const }),
);

/** Of a model that sorts all whenever it is asked. */
function sorted(model: ReadonlyMap<string, number>): number[] {
  return [...model].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
}

test("however few or many were touched between two looks, all come in the order of their keys", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), steps => {
      const ordered = new Ordered<number>();
      const model = new Map<string, number>();
      for (const one of steps) {
        if (one.kind === "set") {
          ordered.set(one.key, one.value);
          model.set(one.key, one.value);
        } else if (one.kind === "delete") {
          ordered.delete(one.key);
          model.delete(one.key);
        } else {
          expect(ordered.values()).toEqual(sorted(model));
        }
      }
      expect(ordered.values()).toEqual(sorted(model));
    }),
  );
});

test("whoever holds a list has it as it was", () => {
  const ordered = new Ordered<number>();
  ordered.set("a", 1);
  const before = ordered.values();
  ordered.set("a", 2);
  ordered.set("b", 3);
  expect(ordered.values()).toEqual([2, 3]);
  expect(before).toEqual([1]);
  expect(ordered.values()).toBe(ordered.values());
});
