import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { aCondition, aNode, at, t0 } from "../../test/builders.ts";
import type { Instant } from "../api/time.ts";
import type { ConditionView, NodeView } from "../snapshot/views.ts";
import type { Stretch } from "./remembered.ts";
import { addsUpAt, ConditionMemory, runBegan } from "./sickness-history.ts";

const nodeWith = (...conditions: ConditionView[]): NodeView => aNode("a", { conditions });
const ready = (status: string, since?: Instant, reason = "r"): ConditionView => {
  const { since: _, ...rest } = aCondition("Ready", status, { reason });
  return since === undefined ? rest : { ...rest, since };
};

/** What is remembered of Ready after these looks at a node. */
function watched(looks: readonly (readonly [NodeView | undefined, Instant])[]) {
  const memory = new ConditionMemory();
  let before: NodeView | undefined;
  for (const [after, now] of looks) {
    memory.observe({ ...(before ? { before } : {}), ...(after ? { after } : {}) }, now);
    before = after;
  }
  return memory.history("a-uid", "Ready");
}

describe("what is remembered of a condition", () => {
  test("nothing at first sight: its own time is believed", () => {
    expect(watched([[nodeWith(ready("False", at("1h"))), at("2h")]])).toBeUndefined();
  });

  test.each([
    ["a time in the future", ready("False", at("2h") + 1), { isAhead: true }],
    ["no time at all", ready("False"), {}],
  ])("with %s it counts from when we saw it", (_what, condition, ahead) => {
    expect(watched([[nodeWith(condition), at("2h")]])).toEqual({
      stretches: [{ status: "False", reason: "r", from: at("2h") }],
      since: at("2h"),
      ...ahead,
    });
  });

  test("a time that is just now is believed", () => {
    expect(watched([[nodeWith(ready("False", at("2h"))), at("2h")]])).toBeUndefined();
  });

  test("a change that we saw is when we saw it, whatever time it brings", () => {
    const looks = [
      [nodeWith(ready("True", t0)), at("1h")],
      [nodeWith(ready("False", at("10m"))), at("2h")],
    ] as const;
    expect(watched(looks)).toEqual({
      stretches: [
        { status: "True", reason: "r", from: t0 },
        { status: "False", reason: "r", from: at("2h") },
      ],
      since: at("10m"),
    });
  });

  test("absent is a state too", () => {
    const looks = [
      [nodeWith(), at("1h")],
      [nodeWith(ready("False", at("10m"))), at("2h")],
      [nodeWith(), at("3h")],
    ] as const;
    expect(watched(looks)?.stretches).toEqual([
      { status: "", reason: "", from: t0 },
      { status: "False", reason: "r", from: at("2h") },
      { status: "", reason: "", from: at("3h") },
    ]);
  });

  test("a rewritten time begins no new stretch, and is what the reporter says now", () => {
    const looks = [
      [nodeWith(ready("False", at("1h"))), at("1h")],
      [nodeWith(ready("False", at("2h"))), at("2h")],
      [nodeWith(ready("False", at("9h"))), at("3h")],
      [nodeWith(ready("False", at("9h")), aCondition("Other", "True")), at("4h")],
    ] as const;
    const stretches = [{ status: "False", reason: "r", from: at("1h") }];
    expect(watched(looks.slice(0, 2))).toEqual({ stretches, since: at("2h") });
    // In the future: from when we saw it, and another look changes nothing.
    expect(watched(looks.slice(0, 3))).toEqual({ stretches, since: at("3h"), isAhead: true });
    expect(watched(looks)).toEqual({ stretches, since: at("3h"), isAhead: true });
  });

  test("nothing of a node that has gone, nor for another of its name", () => {
    const looks = [
      [nodeWith(ready("True", t0)), at("1h")],
      [nodeWith(ready("False", t0)), at("2h")],
    ] as const;
    expect(watched([...looks, [undefined, at("3h")]])).toBeUndefined();
    const another = { ...nodeWith(ready("False", t0)), uid: "b-uid" };
    expect(watched([...looks, [another, at("3h")]])).toBeUndefined();
  });

  test("a clock that went back makes no stretch of negative length", () => {
    const looks = [
      [nodeWith(ready("True", t0)), at("1h")],
      [nodeWith(ready("False", t0)), at("2h")],
      [nodeWith(ready("True", t0)), at("1h")],
    ] as const;
    expect(watched(looks)?.stretches.map(({ from }) => from)).toEqual([t0, at("2h"), at("2h")]);
  });

  test("what was seen by a clock that is set back since was seen now at the latest", () => {
    const memory = new ConditionMemory();
    const [well, sick] = [nodeWith(ready("True", t0)), nodeWith(ready("False", at("2h")))];
    memory.observe({ after: well }, at("1h"));
    memory.observe({ before: well, after: sick }, at("2h"));
    memory.setBack(at("30m"));
    const history = memory.history("a-uid", "Ready");
    expect(history?.stretches.map(({ from }) => from)).toEqual([t0, at("30m")]);
    expect(history?.since).toBe(at("30m"));
  });

  test("what was seen by a clock that is set forward since is no older by that", () => {
    const memory = new ConditionMemory();
    // Its reporter's clock is right: to ours, which is behind, that is to come, so it counts from when it was seen.
    const [well, sick] = [nodeWith(ready("True", t0)), nodeWith(ready("False", at("2h")))];
    memory.observe({ after: well }, at("30m"));
    memory.observe({ before: well, after: sick }, at("1h"));
    memory.setForward(at("1h") - t0);
    const history = memory.history("a-uid", "Ready");
    expect(history?.stretches.map(({ from }) => from)).toEqual([at("1h"), at("2h")]);
    expect(history?.since).toBe(at("2h"));
  });

  test("what agreed with its reporter stays as it was seen by a clock that is set forward since, perhaps wrongly", () => {
    const memory = new ConditionMemory();
    const [well, sick] = [nodeWith(ready("True", t0)), nodeWith(ready("False", at("1h")))];
    memory.observe({ after: well }, at("30m"));
    memory.observe({ before: well, after: sick }, at("1h"));
    const before = memory.history("a-uid", "Ready");
    memory.setForward(at("1h") - t0);
    expect(memory.history("a-uid", "Ready")).toEqual(before);
  });

  test("of one that flaps each second for hours a bounded part, with the sums of all of it", () => {
    const looks = Array.from({ length: 5_000 }, (_, second) => {
      const status = second % 4 === 3 ? "True" : "False";
      return [nodeWith(ready(status, t0)), t0 + second * 1_000] as const;
    });
    const stretches = watched(looks)?.stretches ?? [];
    expect(stretches.length).toBeLessThanOrEqual(512);
    const badMs = stretches.reduce((sum, { status, from }, index) => {
      const until = stretches[index + 1]?.from ?? t0 + 5_000_000;
      return status === "False" ? sum + until - from : sum;
    }, 0);
    expect(badMs).toBe(3_750_000);
  });

  test("of more than can be kept no run begins earlier than it did, whatever is held to be bad, and sums stay", () => {
    const states = ["True", "False", "Unknown"].flatMap(status => ["a", "b"].map(reason => ({ status, reason })));
    const change = fc.record({ state: fc.constantFrom(...states), afterMs: fc.integer({ min: 1, max: 600_000 }) });
    const runs = fc.record({
      changes: fc.array(change, { minLength: 700, maxLength: 900 }),
      bad: fc.subarray(states, { minLength: 1 }),
    });
    const isIn = (set: typeof states) => (seen: { status: string; reason: string }) =>
      set.some(({ status, reason }) => seen.status === status && seen.reason === reason);
    const badMs = (stretches: readonly Stretch[], isBad: ReturnType<typeof isIn>, now: Instant) =>
      stretches.reduce((sum, seen, index) => {
        return isBad(seen) ? sum + (stretches[index + 1]?.from ?? now) - seen.from : sum;
      }, 0);
    fc.assert(
      fc.property(runs, ({ changes, bad }) => {
        let now = t0;
        const told = [
          { status: "True", reason: "first", from: t0 },
          ...changes.map(({ state, afterMs }) => ({ ...state, from: (now += afterMs) })),
        ];
        const looks = told.map(({ status, reason, from }) => [nodeWith(ready(status, t0, reason)), from] as const);
        const kept = watched(looks)?.stretches ?? [];
        const isBad = isIn(bad);
        expect(kept.length).toBeLessThanOrEqual(512);
        expect(runBegan(kept, isBad) ?? Infinity).toBeGreaterThanOrEqual(runBegan(told, isBad) ?? Infinity);
        expect(badMs(kept, isBad, now)).toBe(badMs(told, isBad, now));
      }),
      { numRuns: 20 },
    );
  });

  test("what ended a month ago is forgotten with the next change", () => {
    const looks = [
      [nodeWith(ready("True", t0)), t0],
      [nodeWith(ready("False", t0)), at("1h")],
      [nodeWith(ready("True", t0)), at("2h")],
      [nodeWith(ready("False", t0)), at("721h")],
    ] as const;
    expect(watched(looks)?.stretches.map(({ from }) => from)).toEqual([at("1h"), at("2h"), at("721h")]);
    const later = [...looks, [nodeWith(ready("True", t0)), at("722h")]] as const;
    expect(watched(later)?.stretches.map(({ from }) => from)).toEqual([at("2h"), at("721h"), at("722h")]);
  });
});

const isBad = ({ status }: { status: string }) => status === "bad";

/** Alternating, the last one bad. */
const flapping = fc.array(fc.integer({ min: 1, max: 50 }), { maxLength: 12 }).map(lengths => {
  let from = 1_000;
  const stretches: Stretch[] = [];
  for (const [index, length] of lengths.entries()) {
    stretches.push({ status: (lengths.length - index) % 2 === 0 ? "bad" : "good", reason: "", from });
    from += length;
  }
  return [...stretches, { status: "bad", reason: "", from }];
});

describe("what comes and goes is added up", () => {
  test("one spell alone is due after its toleration", () => {
    const stretches = [{ status: "bad", reason: "", from: 1_000 }];
    expect(addsUpAt(stretches, { isBad, totalMs: 30, windowMs: 60 })).toBe(1_030);
  });

  test("not when it is switched off, nor when the window is too short, nor when it is good now", () => {
    const stretches = [{ status: "bad", reason: "", from: 1_000 }];
    expect(addsUpAt(stretches, { isBad, totalMs: 30, windowMs: 0 })).toBeUndefined();
    expect(addsUpAt(stretches, { isBad, totalMs: 30, windowMs: 29 })).toBeUndefined();
    expect(addsUpAt(stretches, { isBad: () => false, totalMs: 30, windowMs: 60 })).toBeUndefined();
  });

  test("as soon as a look at every millisecond would find it, and from then on", () => {
    const spans = fc.record({ totalMs: fc.integer({ min: 1, max: 60 }), more: fc.integer({ min: 0, max: 90 }) });
    fc.assert(
      fc.property(flapping, spans, (stretches, { totalMs, more }) => {
        const windowMs = totalMs + more;
        const began = runBegan(stretches, isBad) ?? 0;
        const isBadAt = (ms: number) => {
          const last = stretches.findLast(({ from }) => from <= ms);
          return last !== undefined && isBad(last);
        };
        const badWithin = (end: number) =>
          Array.from({ length: windowMs }, (_, back) => end - 1 - back).filter(isBadAt).length;
        let expected = began;
        while (badWithin(expected) < totalMs) expected++;
        expect(addsUpAt(stretches, { isBad, totalMs, windowMs })).toBe(expected);
        expect(badWithin(expected + 17)).toBeGreaterThanOrEqual(totalMs);
      }),
    );
  });
});
