import { expect, test } from "vitest";
import { ServerClock } from "../../src/kube/server-clock.ts";
import { VirtualClock } from "../../src/sim/clock.ts";
import { Process } from "../../src/sim/simulation/process.ts";
import { playRenewals } from "../../src/sim/simulation/renewals.ts";

function played(jumpMs = 0) {
  const server = new VirtualClock(0);
  const process = new Process(server, 1, jumpMs);
  const heard: (number | undefined)[] = [];
  playRenewals(new ServerClock(process), { server, process }, aheadMs => heard.push(aheadMs));
  return { server, process, heard };
}

test("a jump is noticed with the next renewal, and that it is mended a minute after", async () => {
  const { server, process, heard } = played();
  await server.runFor(10_000);
  process.jump(3_600_000);
  await server.runFor(1_999);
  expect(heard).toEqual([undefined]);
  await server.runFor(1);
  expect(heard.length).toBe(2);
  process.jump(-3_600_000);
  await server.runFor(59_000);
  expect(heard.length).toBe(2);
  await server.runFor(3_000);
  expect(heard.at(-1)).toBeUndefined();
});

test("a process that starts with a wrong clock notices at once", () => {
  const { heard } = played(-3_600_000);
  expect(heard.length).toBe(2);
  expect(heard.at(-1)).toBeLessThan(-3_590_000);
});

test("a clock that is right costs no renewal", async () => {
  const { server, process, heard } = played();
  process.jump(30_000);
  await server.runFor(60_000);
  expect(heard).toEqual([undefined]);
});
