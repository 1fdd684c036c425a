import { beforeEach, expect, test } from "vitest";
import { aNode, aWorld } from "../../test/builders.ts";
import type { Command, JournalEntry } from "../decide/decision.ts";
import { VirtualClock } from "../sim/clock.ts";
import { Account } from "./account.ts";

let clock: VirtualClock;
let account: Account;
let written: string[];

beforeEach(() => {
  clock = new VirtualClock(0);
  written = [];
  account = new Account(clock, { out: text => void written.push(text), colour: false });
});

const inService = (name: string): JournalEntry => {
  const change = { labels: { "karpenter.sh/initialized": "true" } };
  const command: Command = { kind: "update-node", node: { name, uid: name }, change, why: "" };
  return { at: 0, event: "ended", command, outcome: { result: "done" } };
};

const refusal = (event: "refused" | "lifted", message: string): JournalEntry => ({
  at: 0,
  event,
  refusal: { subject: "pool/web", code: "backing-off", message, liftedBy: "time" },
});

test("what happens to several within two seconds is one line, at its end", async () => {
  for (const name of ["a", "b", "c", "d", "e"]) account.record(inService(name));
  await clock.runFor(1_999);
  expect(written).toEqual([]);
  await clock.runFor(1);
  expect(written).toEqual(["+00:00:02  + a, b, c and 2 more: in service.\n"]);
  account.record(inService("f"));
  await clock.runFor(2_000);
  expect(written.at(-1)).toBe("+00:00:04  + f: in service.\n");
});

test("up to four are named", async () => {
  for (const name of ["a", "b", "c", "d"]) account.record(inService(name));
  await clock.runFor(2_000);
  expect(written).toEqual(["+00:00:02  + a, b, c, d: in service.\n"]);
});

test("what people do comes after all that was before it", () => {
  account.record(inService("a"));
  account.say("Somebody deletes a claim.");
  expect(written).toEqual(["+00:00:00  + a: in service.\n", "+00:00:00  ▶ Somebody deletes a claim.\n"]);
});

test("a wait is told when it has lasted 45 seconds, in its last words", async () => {
  account.record(refusal("refused", "Held back."));
  await clock.runFor(30_000);
  account.record(refusal("refused", "Held back longer."));
  await clock.runFor(44_999);
  expect(written).toEqual([]);
  await clock.runFor(2_001);
  expect(written).toEqual(["+00:01:17  … pool/web: Held back longer; lifted by time\n"]);
});

test("a wait that is over by then is not told at all", async () => {
  account.record(refusal("refused", "Held back."));
  await clock.runFor(44_000);
  account.record(refusal("lifted", "Held back."));
  await clock.runFor(60_000);
  expect(written).toEqual([]);
});

test("an eviction that is sent twice is told once", async () => {
  const command: Command = { kind: "evict-pod", pod: { namespace: "default", name: "p", uid: "p" }, why: "It goes." };
  for (let sent = 0; sent < 2; sent++) {
    account.record({ at: 0, event: "ended", command, outcome: { result: "done" } });
    await clock.runFor(2_000);
  }
  expect(written).toEqual(["+00:00:02  - default/p: evicted. It goes.\n"]);
});

test("instants are told as times of the story, since its clock is not the reader's", () => {
  account.say("Held since 1970-01-01T00:05:00Z, until 1970-01-01T01:30:00.500Z; made on 1969-12-31T23:59:59Z.");
  expect(written).toEqual(["+00:00:00  ▶ Held since +00:05:00, until +01:30:00; made on +00:00:00.\n"]);
});

test("every five minutes it sums up, where something has changed", async () => {
  const world = aWorld({ nodes: [aNode("a")] });
  const end = account.sumUp(world);
  await clock.runFor(600_000);
  expect(written).toEqual(["+00:05:00    1 node, 0 going away, nothing waits\n"]);
  world.put("node", aNode("b"));
  account.record(refusal("refused", "Held back."));
  await clock.runFor(300_000);
  expect(written.at(-1)).toBe("+00:15:00    2 nodes, 0 going away, 1 waiting\n");
  end();
  world.put("node", aNode("c"));
  await clock.runFor(600_000);
  expect(written.at(-1)).not.toContain("3 nodes");
});
