import { describe, expect, test } from "vitest";
import { VirtualClock } from "./clock.ts";

describe("virtual time", () => {
  test("stands still until it is run, and then shows each timer its own instant", async () => {
    const clock = new VirtualClock(1_000);
    const seen: [string, number][] = [];
    clock.after(20, () => seen.push(["late", clock.now()]));
    clock.after(5, () => seen.push(["early", clock.now()]));
    expect(seen).toEqual([]);
    await clock.runFor(20);
    expect(seen).toEqual([
      ["early", 1_005],
      ["late", 1_020],
    ]);
    expect(clock.now()).toBe(1_020);
    expect(clock.monotonic()).toBe(20);
  });

  test("runs timers of one instant in the order in which they were asked for", async () => {
    const clock = new VirtualClock(0);
    const seen: number[] = [];
    for (let i = 0; i < 50; i++) clock.after(10, () => seen.push(i));
    await clock.runUntil(10);
    expect(seen).toEqual(Array.from({ length: 50 }, (_, i) => i));
  });

  test("runs what a timer asks for within the same stretch, and leaves what is later", async () => {
    const clock = new VirtualClock(0);
    const seen: number[] = [];
    const tick = () => {
      seen.push(clock.now());
      clock.after(10, tick);
    };
    clock.after(10, tick);
    await clock.runUntil(35);
    expect(seen).toEqual([10, 20, 30]);
    expect(clock.now()).toBe(35);
  });

  test("lets promises settle between two timers", async () => {
    const clock = new VirtualClock(0);
    const seen: string[] = [];
    clock.after(1, () => {
      void Promise.resolve()
        .then(() => Promise.resolve())
        .then(() => seen.push("promised"));
    });
    clock.after(1, () => seen.push("second timer"));
    await clock.runFor(1);
    expect(seen).toEqual(["promised", "second timer"]);
  });

  test("does not run what was cancelled, also when it is cancelled at its own instant", async () => {
    const clock = new VirtualClock(0);
    const seen: string[] = [];
    const cancel = clock.after(5, () => seen.push("cancelled"));
    clock.after(4, () => seen.push("kept"));
    clock.after(4, cancel);
    await clock.runFor(10);
    expect(seen).toEqual(["kept"]);
  });

  test("what was cancelled is no step, and takes no time of its own", async () => {
    const clock = new VirtualClock(0);
    const steps: number[] = [];
    clock.after(3, () => {})();
    clock.after(7, () => {});
    await clock.runUntil(10, () => void steps.push(clock.now()));
    expect(steps).toEqual([7]);
    expect(clock.now()).toBe(10);
  });
});

test("time passes in whole milliseconds, and never less than was asked for", async () => {
  const clock = new VirtualClock(1_767_225_600_000);
  const seen: number[] = [];
  clock.after(0.0001, () => seen.push(clock.monotonic()));
  clock.after(2.5, () => seen.push(clock.monotonic()));
  await clock.runFor(10);
  expect(seen).toEqual([1, 3]);
});

test("what is asked for at its own instant runs behind what was asked for before, and ahead of what comes later", async () => {
  const clock = new VirtualClock(0);
  const ran: string[] = [];
  clock.after(10, () => {
    ran.push("first");
    clock.after(0, () => {
      ran.push("at once");
      clock.after(0, () => ran.push("at once again"));
    });
    clock.after(1, () => ran.push("later"));
  });
  clock.after(10, () => ran.push("second"));
  await clock.runUntil(10);
  expect(ran).toEqual(["first", "second", "at once", "at once again"]);
  clock.after(0, () => ran.push("after a stop"));
  await clock.runUntil(11);
  expect(ran.slice(4)).toEqual(["after a stop", "later"]);
});
