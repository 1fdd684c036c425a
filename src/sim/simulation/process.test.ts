import { expect, test } from "vitest";
import { VirtualClock } from "../clock.ts";
import { Process } from "./process.ts";

function started() {
  const clock = new VirtualClock(1_000_000);
  const process = new Process(clock, 1);
  const heard: string[] = [];
  const say = (word: string, delayMs: number) => process.after(delayMs, () => heard.push(word));
  return { clock, process, heard, say };
}

test("a process that stands still hears everything when it goes on, in its order", async () => {
  const { clock, process, heard, say } = started();
  say("second", 20);
  say("first", 10);
  process.pause();
  await clock.runFor(100);
  expect(heard).toEqual([]);
  process.resume();
  await clock.runFor(0);
  expect(heard).toEqual(["first", "second"]);
});

test("a dead process hears nothing more, not even what it was held from", async () => {
  const { clock, process, heard, say } = started();
  say("while it stands still", 10);
  say("later", 100);
  process.pause();
  await clock.runFor(50);
  process.kill();
  process.resume();
  await clock.runFor(100);
  expect(heard).toEqual([]);
});

test("a timer that was cancelled while the process stood still stays cancelled", async () => {
  const { clock, process, heard, say } = started();
  const cancel = say("too late", 10);
  process.pause();
  await clock.runFor(50);
  cancel();
  process.resume();
  await clock.runFor(0);
  expect(heard).toEqual([]);
});

test("a jump of the wall clock moves no timer", async () => {
  const { clock, process, heard, say } = started();
  say("in a second", 1000);
  process.jump(3_600_000);
  expect(process.now()).toBe(1_000_000 + 3_600_000);
  expect(process.monotonic()).toBe(0);
  await clock.runFor(999);
  expect(heard).toEqual([]);
  await clock.runFor(1);
  expect(heard).toEqual(["in a second"]);
});

test("a crash comes at the write that was named, not before and not again", () => {
  const { process } = started();
  let deaths = 0;
  process.crashAt(3, "after", () => deaths++);
  expect([process.writes(), process.writes(), process.writes()]).toEqual([undefined, undefined, "after"]);
  expect(process.isDead).toBe(false);
  process.die();
  expect([process.isDead, deaths]).toEqual([true, 1]);
});
