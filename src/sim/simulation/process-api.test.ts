import { expect, test } from "vitest";
import type { KubeApi } from "../../control/ports.ts";
import { ApiServer } from "../api-server.ts";
import { VirtualClock } from "../clock.ts";
import { InProcessApi } from "../in-process.ts";
import { builtInKinds } from "../kinds/built-in-kinds.ts";
import { seededRandom } from "../random.ts";
import { nodeResource } from "../world/resources.ts";
import { ActiveFaults } from "./active-faults.ts";
import { Process } from "./process.ts";
import { type ApiFault, ProcessApi } from "./process-api.ts";
import { WatchLines } from "./watch-lines.ts";

const node = { apiVersion: "v1", kind: "Node", metadata: { name: "a" } };

function setUp() {
  const clock = new VirtualClock(Date.parse("2026-01-01T00:00:00Z"));
  const random = seededRandom(1);
  const server = new ApiServer({ clock, random, kinds: builtInKinds });
  const direct = new InProcessApi(server, clock);
  const process = new Process(clock, 1);
  const faults = new ActiveFaults<ApiFault>(clock, random);
  const watches = new WatchLines(clock, random, { delayMaxMs: 0 });
  const api: KubeApi = new ProcessApi({ api: direct, clock, process, random, faults, watches, latencyMaxMs: 20 });
  const strike = (fault: ApiFault["fault"], more: Partial<ApiFault> = {}) =>
    faults.add({ fault, until: clock.monotonic() + 60_000, delayMs: 30_000, ...more });
  /** How a call ended within so long: its result, its error's message, or that nobody heard. */
  const ended = async (call: Promise<unknown>, withinMs = 10_000) => {
    let outcome = "no answer";
    void call.then(
      () => (outcome = "done"),
      (error: Error) => (outcome = error.message),
    );
    await clock.runFor(withinMs);
    return outcome;
  };
  const exists = async () => (await ended(direct.get(nodeResource, { name: "a" }))) === "done";
  return { clock, process, api, strike, ended, exists };
}

test("without a fault a call is answered", async () => {
  const { api, ended, exists } = setUp();
  expect(await ended(api.create(nodeResource, {}, node))).toBe("done");
  expect(await exists()).toBe(true);
});

test.each([
  ["TooManyRequests", /too many requests/, false],
  ["InternalError", /an error on the server/, false],
  ["Forbidden", /not allowed/, false],
  ["LostRequest", /reset/, false],
  ["LostAnswer", /reset/, true],
  ["Garbled", /cut off/, true],
  ["Slow", /no answer/, true],
] as const)("%s: the process hears %s; written: %s", async (fault, heard, isWritten) => {
  const { api, strike, ended, exists } = setUp();
  strike(fault);
  expect(await ended(api.create(nodeResource, {}, node))).toMatch(heard);
  expect(await exists()).toBe(isWritten);
});

test("a conflict strikes changes of what exists, and neither reads nor creations", async () => {
  const { api, strike, ended } = setUp();
  strike("Conflict");
  expect(await ended(api.create(nodeResource, {}, node))).toBe("done");
  expect(await ended(api.get(nodeResource, { name: "a" }))).toBe("done");
  const patch = { type: "merge", body: { metadata: { labels: { a: "b" } } } } as const;
  expect(await ended(api.patch(nodeResource, { name: "a" }, patch))).toMatch(/modified/);
});

test("a fault strikes only the verbs and resources it names, and only for its time", async () => {
  const { api, clock, strike, ended } = setUp();
  strike("InternalError", { verbs: ["create"], resources: ["nodes"] });
  expect(await ended(api.list(nodeResource))).toBe("done");
  expect(await ended(api.create(nodeResource, {}, node))).toMatch(/server/);
  await clock.runFor(60_000);
  expect(await ended(api.create(nodeResource, {}, node))).toBe("done");
});

test.each([
  ["before", false],
  ["after", true],
] as const)("a process that dies %s its write hears nothing; written: %s", async (cut, isWritten) => {
  const { api, process, ended, exists } = setUp();
  let isDead = false;
  process.crashAt(1, cut, () => (isDead = true));
  expect(await ended(api.get(nodeResource, { name: "a" }))).toMatch(/not found/);
  expect(await ended(api.create(nodeResource, {}, node))).toBe("no answer");
  expect([isDead, process.isDead]).toEqual([true, true]);
  expect(await exists()).toBe(isWritten);
});

test("a process that has lost its lease reads but writes nothing", async () => {
  const { api, process, ended, exists } = setUp();
  process.fence();
  expect(await ended(api.create(nodeResource, {}, node))).toMatch(/lease/);
  expect(await ended(api.list(nodeResource))).toBe("done");
  expect(await exists()).toBe(false);
});

test("a signal ends the waiting at once", async () => {
  const { api, strike, ended } = setUp();
  strike("Slow");
  const abort = new AbortController();
  const call = api.create(nodeResource, {}, node, { signal: abort.signal });
  abort.abort(new Error("no patience"));
  expect(await ended(call, 0)).toBe("no patience");
});
