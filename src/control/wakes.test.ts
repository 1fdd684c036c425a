import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Wakes } from "./wakes.ts";

describe("wakes", () => {
  test("come at their instant, not a millisecond before", () => {
    const wakes = new Wakes<string>();
    wakes.set("a", 1000);
    expect(wakes.take(999)).toEqual([]);
    expect(wakes.next).toBe(1000);
    expect(wakes.take(1000)).toEqual(["a"]);
    expect(wakes.next).toBeUndefined();
  });

  test("come earliest first, and in the order in which they were set where they tie", () => {
    const wakes = new Wakes<string>();
    for (const [key, at] of [
      ["late", 30],
      ["first", 10],
      ["second", 10],
      ["middle", 20],
    ] as const)
      wakes.set(key, at);
    expect(wakes.take(30)).toEqual(["first", "second", "middle", "late"]);
  });

  test("are taken away, or moved, in either direction", () => {
    const wakes = new Wakes<string>();
    wakes.set("gone", 10);
    wakes.set("gone", undefined);
    wakes.set("earlier", 20);
    wakes.set("earlier", 5);
    wakes.set("later", 5);
    wakes.set("later", 20);
    expect(wakes.take(5)).toEqual(["earlier"]);
    expect(wakes.next).toBe(20);
    expect(wakes.size).toBe(1);
    wakes.clear();
    expect(wakes.next).toBeUndefined();
  });

  test("agree with a list that is sorted each time, whatever is set and taken", () => {
    const act = fc.oneof(
      fc.record({ key: fc.nat(20), at: fc.option(fc.nat(100), { nil: undefined }) }),
      fc.record({ take: fc.nat(100) }),
    );
    fc.assert(
      fc.property(fc.array(act, { maxLength: 300 }), acts => {
        const wakes = new Wakes<number>();
        const atByKey = new Map<number, number>();
        for (const one of acts) {
          if ("take" in one) {
            const due = [...atByKey].filter(([, at]) => at <= one.take);
            for (const [key] of due) atByKey.delete(key);
            const taken = wakes.take(one.take);
            expect(taken.toSorted((a, b) => a - b)).toEqual(due.map(([key]) => key).sort((a, b) => a - b));
          } else {
            wakes.set(one.key, one.at);
            if (one.at === undefined) atByKey.delete(one.key);
            else atByKey.set(one.key, one.at);
          }
          const next = atByKey.size === 0 ? undefined : Math.min(...atByKey.values());
          expect([wakes.next, wakes.size]).toEqual([next, atByKey.size]);
        }
      }),
    );
  });
});
