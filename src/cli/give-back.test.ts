import { describe, expect, test } from "vitest";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import { giveBack } from "./give-back.ts";

function started({ usedBytes }: { usedBytes: number }) {
  const clock = new ManualClock();
  const done: string[] = [];
  const listed = { isSo: false };
  const heap = {
    usedBytes,
    collect: () => void done.push("collected"),
    holdGrowth: (percent: number) => void done.push(`growth held at ${percent} %`),
  };
  const end = giveBack({ clock, isListed: () => listed.isSo, heap });
  return { clock, done, listed, end };
}

describe("what the first lists leave behind", () => {
  test("is collected once, when all has been listed and the first turns are over", async () => {
    const { clock, done, listed } = started({ usedBytes: 99e6 });
    await clock.advance(60_000);
    expect(done).toEqual([]);
    listed.isSo = true;
    await clock.advance(5_900);
    expect(done).toEqual([]);
    await clock.advance(100);
    expect(done).toEqual(["collected"]);
    await clock.advance(86_400_000);
    expect(done).toEqual(["collected"]);
  });

  test("where much is kept, garbage is not let grow to as much again", async () => {
    const { clock, done, listed } = started({ usedBytes: 100e6 });
    listed.isSo = true;
    await clock.advance(10_000);
    expect(done).toEqual(["collected", "growth held at 30 %"]);
  });

  test.each([false, true])("is left alone by a process that ends before (all listed: %s)", async isListed => {
    const { clock, done, listed, end } = started({ usedBytes: 100e6 });
    listed.isSo = isListed;
    await clock.advance(2_000);
    end();
    await clock.advance(60_000);
    expect(done).toEqual([]);
  });
});

test("V8 collects when it is asked to, and is not heard on the terminal", async () => {
  const clock = new ManualClock();
  const garbage = new WeakRef({ kept: "by nobody" });
  giveBack({ clock, isListed: () => true });
  await clock.advance(10_000);
  expect(garbage.deref()).toBeUndefined();
});
