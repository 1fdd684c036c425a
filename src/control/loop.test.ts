import { describe, expect, test } from "vitest";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import { Loop } from "./loop.ts";
import type { Clock } from "./ports.ts";

function turning(next: (clock: ManualClock) => number | undefined = () => undefined) {
  const clock = new ManualClock();
  const start = clock.monotonic();
  const turns: number[] = [];
  const loop = new Loop(clock, () => {
    turns.push(clock.monotonic() - start);
    return next(clock);
  });
  return { clock, loop, turns };
}

describe("the loop", () => {
  test("makes one turn of a burst, a moment after it began", async () => {
    const { clock, loop, turns } = turning();
    for (let index = 0; index < 1000; index++) loop.wake();
    expect(loop.isWoken).toBe(true);
    await clock.advance(9);
    loop.wake();
    expect(turns).toEqual([]);
    await clock.advance(1);
    expect(turns).toEqual([10]);
    expect(loop.isWoken).toBe(false);
  });

  test("is spared while nothing could be begun, and comes a moment after there is room", async () => {
    const clock = new ManualClock();
    const start = clock.monotonic();
    const turns: number[] = [];
    let crowdedMs = 150;
    const loop = new Loop(
      clock,
      () => void turns.push(clock.monotonic() - start),
      () => crowdedMs,
    );
    loop.wake();
    await clock.advance(149);
    expect(turns).toEqual([]);
    await clock.advance(1);
    expect(turns).toEqual([150]);
    loop.wake();
    await clock.advance(40);
    crowdedMs = 0;
    loop.wake();
    await clock.advance(9);
    expect(turns).toHaveLength(1);
    await clock.advance(1);
    expect(turns).toEqual([150, 200]);
  });

  test("comes back at the instant that the turn asks for, or before if something changes", async () => {
    const { clock, loop, turns } = turning(({ now, monotonic }) => (monotonic() < 3000 ? now() + 5000 : undefined));
    loop.wake();
    await clock.advance(100);
    loop.wake();
    await clock.advance(20_000);
    expect(turns).toEqual([10, 110, 5110]);
  });

  test("comes back a moment later for an instant that has passed, not at once and for ever", async () => {
    let count = 0;
    const { clock, loop, turns } = turning(({ now }) => (++count < 3 ? now() - 1 : undefined));
    loop.wake();
    await clock.advance(100);
    expect(turns).toEqual([10, 20, 30]);
  });

  test("rests after a long turn twice as long as it took, and no longer than 100 ms, however often it is woken", async () => {
    const clock = new ManualClock();
    let spentMs = 0;
    const slow = { now: () => clock.now() + spentMs, monotonic: () => clock.monotonic() + spentMs };
    const after: Clock["after"] = (delayMs, run) => clock.after(delayMs, run);
    const start = clock.monotonic();
    const turns: number[] = [];
    const took = [20, 400, 0, 0];
    const loop: Loop = new Loop({ ...slow, after }, () => {
      turns.push(clock.monotonic() + spentMs - start);
      spentMs += took[turns.length - 1] ?? 0;
      if (turns.length < took.length) loop.wake();
      return undefined;
    });
    loop.wake();
    await clock.advance(1_000);
    // From 10 to 30, rest until 70; from 70 to 470, rest until 570; then a moment.
    expect(turns).toEqual([10, 70, 570, 580]);
  });

  test("looks at the wall clock every minute, so that a clock set forward is not slept through", async () => {
    const { clock, loop, turns } = turning(({ now }) => now() + 3_600_000);
    loop.wake();
    await clock.advance(120_100);
    expect(turns).toEqual([10, 60_010, 120_010]);
  });

  test("stands still for as long as it is told, whatever wakes it", async () => {
    const { clock, loop, turns } = turning();
    loop.wake();
    loop.pause(10_000);
    loop.wake();
    await clock.advance(9_999);
    expect(turns).toEqual([]);
    await clock.advance(1);
    expect(turns).toEqual([10_000]);
  });

  test("is not woken out of it, either", async () => {
    const { clock, loop, turns } = turning();
    loop.pause(10_000);
    await clock.advance(5_000);
    loop.wake();
    await clock.advance(4_999);
    expect(turns).toEqual([]);
    await clock.advance(1);
    expect(turns).toEqual([10_000]);
  });

  test("makes no turn once it is stopped", async () => {
    const { clock, loop, turns } = turning();
    loop.wake();
    loop.stop();
    loop.wake();
    await clock.advance(100_000);
    expect(turns).toEqual([]);
  });
});
