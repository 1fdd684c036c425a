import { expect, test } from "vitest";
import { VirtualClock } from "../clock.ts";
import { type Leadership, Processes } from "./processes.ts";

function started() {
  const clock = new VirtualClock(0);
  const told: string[] = [];
  const terms: Leadership[] = [];
  const changes: number[] = [];
  const processes = new Processes<number>({
    clock,
    start: (process, leadership) => {
      terms.push(leadership);
      leadership.onChange(() => changes.push(process.epoch));
      return process.epoch;
    },
    tell: (_, message) => told.push(message),
  });
  return { clock, processes, told, terms, changes };
}

test("a process that dies is followed by one with the next epoch and the same wrong clock", async () => {
  const { clock, processes, terms } = started();
  processes.current.jump(5_000);
  processes.crash({ cut: "before", downMs: 20_000 });
  expect(processes.current.isDead).toBe(true);
  await clock.runFor(19_999);
  expect(processes.program).toBe(1);
  await clock.runFor(1);
  expect([processes.program, processes.current.epoch, processes.current.jumpMs]).toEqual([2, 2, 5_000]);
  // By its own clock.
  expect(terms.map(({ ledUntil }) => ledUntil)).toEqual([undefined, 5_000]);
});

test("a death at a write comes with that write, and only one successor comes of it", async () => {
  const { clock, processes } = started();
  processes.crash({ atWrite: 2, cut: "after", downMs: 1_000 });
  const { current } = processes;
  expect([current.writes(), current.writes()]).toEqual([undefined, "after"]);
  current.die();
  processes.crash({ cut: "before", downMs: 1_000 });
  await clock.runFor(5_000);
  expect(processes.current.epoch).toBe(2);
});

test("one that stands still for long wakes up fenced, and is told a little later", async () => {
  const { clock, processes, terms, changes } = started();
  const old = processes.current;
  processes.pause(60_000, 20_000);
  await clock.runFor(20_000);
  expect([processes.current.epoch, old.isFenced, terms[0]?.epoch, terms[1]?.epoch]).toEqual([2, true, undefined, 2]);
  await clock.runFor(39_999);
  expect(changes).toEqual([]);
  await clock.runFor(1);
  expect([old.isRunning, changes]).toEqual([true, [1]]);
});

test("one that stands still for a moment goes on leading", async () => {
  const { clock, processes, terms } = started();
  processes.pause(10_000, 20_000);
  await clock.runFor(60_000);
  expect([processes.current.epoch, processes.current.isRunning, terms[0]?.epoch]).toEqual([1, true, 1]);
});
