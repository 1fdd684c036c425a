import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/meta.ts";
import type { WatchHandlers } from "../../control/ports.ts";
import { VirtualClock } from "../clock.ts";
import { seededRandom } from "../random.ts";
import { Process } from "./process.ts";
import { type WatchFault, WatchLines } from "./watch-lines.ts";

function opened({ delayMaxMs = 0, plural = "nodes" } = {}) {
  const clock = new VirtualClock(0);
  const process = new Process(clock, 1);
  const errors = { cut: (said: string) => new Error(said), garbled: (said: string) => new Error(`?! ${said}`) };
  const watches = new WatchLines(clock, seededRandom(1), { delayMaxMs, errors });
  const heard: string[] = [];
  let source: WatchHandlers<KubeObject> | undefined;
  let isSourceClosed = false;
  const handlers: WatchHandlers<KubeObject> = {
    event: ({ type, object }) =>
      heard.push(type === "ERROR" ? `ERROR ${object.code}` : (object as KubeObject).metadata.name),
    end: error => heard.push(error === undefined ? "end" : error.message),
  };
  const line = watches.open({ process, plural, handlers }, inner => {
    source = inner;
    return { close: () => (isSourceClosed = true) };
  });
  const send = (name: string) => {
    const object = { apiVersion: "v1", kind: "Node", metadata: { name } } as KubeObject;
    source?.event({ type: "ADDED", object });
  };
  const bookmark = () => {
    const object = { apiVersion: "v1", kind: "Node", metadata: { name: "bookmark" } } as KubeObject;
    source?.event({ type: "BOOKMARK", object });
  };
  const strike = (fault: WatchFault["fault"], forMs: number, resources?: string[]) => {
    const since = clock.monotonic();
    watches.strike({ fault, since, until: since + forMs, delayMs: 30_000, ...(resources && { resources }) });
  };
  return { clock, process, watches, heard, line, send, bookmark, strike, isSourceClosed: () => isSourceClosed };
}

test("events come late by an amount of their kind, and in their order", async () => {
  const { clock, heard, send } = opened({ delayMaxMs: 2000 });
  send("a");
  send("b");
  await clock.runFor(0);
  expect(heard).toEqual([]);
  await clock.runFor(2000);
  expect(heard).toEqual(["a", "b"]);
});

test("a stalled line brings nothing and does not end; when it is free all comes in its order", async () => {
  const { clock, heard, send, strike, watches } = opened();
  strike("Stall", 600_000, ["nodes"]);
  send("a");
  await clock.runFor(599_999);
  send("b");
  expect(heard).toEqual([]);
  expect(watches.stalledSince("nodes")).toBe(0);
  expect(watches.stalledSince("pods")).toBeUndefined();
  await clock.runFor(1);
  expect(heard).toEqual(["a", "b"]);
  expect(watches.stalledSince("nodes")).toBeUndefined();
});

test("a fault of another kind does not concern the line", async () => {
  const { clock, heard, send, strike } = opened();
  strike("Stall", 600_000, ["pods"]);
  strike("Gone", 0, ["pods"]);
  send("a");
  await clock.runFor(0);
  expect(heard).toEqual(["a"]);
});

test("a place that is too old is told as 410, and the line ends", async () => {
  const { clock, heard, send, strike, isSourceClosed } = opened();
  strike("Gone", 0);
  await clock.runFor(0);
  send("too late");
  await clock.runFor(1000);
  expect(heard).toEqual(["ERROR 410", "end"]);
  expect(isSourceClosed()).toBe(true);
});

test("a connection that breaks loses what was on its way", async () => {
  const { clock, heard, send, strike } = opened({ delayMaxMs: 2000 });
  send("lost");
  strike("Drop", 0);
  await clock.runFor(5000);
  expect(heard).toEqual(["The connection of the watch was reset."]);
});

test("repeated events come twice, delayed ones late", async () => {
  const { clock, heard, send, strike } = opened();
  strike("Repeat", 1000);
  send("a");
  await clock.runFor(1000);
  expect(heard).toEqual(["a", "a"]);
  strike("Delay", 1000);
  send("b");
  await clock.runFor(29_999);
  expect(heard).toEqual(["a", "a"]);
  await clock.runFor(1);
  expect(heard).toEqual(["a", "a", "b"]);
});

test("bytes that make no sense end the line, and are told apart from a connection that breaks", async () => {
  const { clock, heard, strike } = opened();
  strike("Garbled", 0);
  await clock.runFor(1000);
  expect(heard).toEqual(["?! A line of the watch is cut off."]);
});

test("in disorder the one before comes once more behind each event, but never behind a bookmark", async () => {
  const { clock, heard, send, bookmark, strike } = opened();
  send("a");
  strike("Disorder", 1000);
  for (const name of ["b", "c"]) send(name);
  bookmark();
  for (const name of ["d", "e"]) send(name);
  await clock.runFor(1000);
  expect(heard).toEqual(["a", "b", "a", "c", "b", "bookmark", "d", "e", "d"]);
  send("f");
  await clock.runFor(0);
  expect(heard.slice(9)).toEqual(["f"]);
});

describe("a server that tells of the past", () => {
  const from = (resourceVersion: string) => ({ resourceVersion, allowWatchBookmarks: true });

  async function told() {
    const all = opened();
    const { clock, watches } = all;
    for (const version of ["98", "100", "102"]) {
      watches.mark(version);
      await clock.runFor(10_000);
    }
    return all;
  }

  test("breaks the connections, and begins so far back with those that go on where they were", async () => {
    const { heard, strike, watches, clock } = await told();
    strike("Past", 60_000, ["nodes"]);
    expect(heard).toEqual(["The connection of the watch was reset."]);
    // At the last mark that is half a minute old, and not beyond where it was.
    expect(watches.begun("nodes", from("105"))).toEqual(from("98"));
    expect(watches.begun("nodes", from("97"))).toEqual(from("97"));
    expect(watches.begun("pods", from("105"))).toEqual(from("105"));
    const list = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" } as const;
    expect(watches.begun("nodes", list)).toEqual(list);
    await clock.runFor(60_000);
    expect(watches.begun("nodes", from("105"))).toEqual(from("105"));
  });

  test("takes its time, so that what it tells is seen one by one", async () => {
    const { clock, watches, process, heard, strike } = await told();
    strike("Past", 60_000);
    const handlers: WatchHandlers<KubeObject> = { event: ({ object }) => void names.push(object), end: () => {} };
    const names: unknown[] = [];
    watches.open({ process, plural: "nodes", handlers }, inner => {
      for (const name of ["a", "b", "c"]) {
        inner.event({ type: "ADDED", object: { apiVersion: "v1", kind: "Node", metadata: { name } } as KubeObject });
      }
      return { close: () => {} };
    });
    expect(heard).toHaveLength(1);
    await clock.runFor(200);
    expect(names).toHaveLength(2);
    await clock.runFor(200);
    expect(names).toHaveLength(3);
  });

  test("has none before its first mark", () => {
    const { strike, watches } = opened();
    strike("Past", 60_000);
    expect(watches.begun("nodes", from("105"))).toEqual(from("105"));
  });
});

test("a dead process hears neither events nor the end", async () => {
  const { clock, process, heard, send, line } = opened();
  send("a");
  process.kill();
  send("b");
  line.close();
  await clock.runFor(1000);
  expect(heard).toEqual([]);
});

test("the one who closes a line is told that it has ended, once", () => {
  const { heard, line, isSourceClosed } = opened();
  line.close();
  line.close();
  expect(heard).toEqual(["end"]);
  expect(isSourceClosed()).toBe(true);
});
