import { EventEmitter } from "node:events";
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { KubeObject } from "../../api/meta.ts";
import type { Status } from "../../api/status.ts";
import type { ApiResponse, Stored, StoredEvent } from "../request.ts";
import { EventLines, streamWatch } from "./watch-stream.ts";

/** A response whose reader takes what it is given until told to stop. */
class FakeResponse extends EventEmitter {
  readonly chunks: string[] = [];
  destroyed = false;
  writableEnded = false;
  writableNeedDrain = false;
  flushHeaders(): void {}
  write(chunk: Buffer): boolean {
    this.chunks.push(chunk.toString());
    return !this.writableNeedDrain;
  }
  end(chunk?: Buffer): void {
    if (chunk !== undefined) this.chunks.push(chunk.toString());
    this.writableEnded = true;
  }
  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
  drain(): void {
    this.writableNeedDrain = false;
    this.emit("drain");
  }
  get lines(): unknown[] {
    return this.chunks
      .join("")
      .split("\n")
      .filter(line => line !== "")
      .map(line => JSON.parse(line) as unknown);
  }
}

type Sink = Parameters<Extract<ApiResponse, { kind: "watch" }>["start"]>[0];

function aStored(name: string): Stored {
  const object = { apiVersion: "v1", kind: "Node", metadata: { name } } as KubeObject;
  return { object, json: Buffer.from(JSON.stringify(object)) };
}
const added = (name: string): StoredEvent => ({ type: "ADDED", stored: aStored(name) });
const nextTurn = () => new Promise(resolve => setImmediate(resolve));

function watching(initial: readonly StoredEvent[] = []) {
  const response = new FakeResponse();
  let sink: Sink | undefined;
  let isStopped = false;
  const start = (given: Sink) => {
    sink = given;
    if (initial.length > 0) given.events(initial);
    return () => {
      isStopped = true;
    };
  };
  streamWatch(response as unknown as ServerResponse, { kind: "watch", start }, new EventLines().encode);
  return { response, sink: sink as Sink, isStopped: () => isStopped };
}

test("each event is one line of JSON, and those of one turn go out together", async () => {
  const { response, sink } = watching();
  sink.events([added("a")]);
  sink.events([added("b"), added("c")]);
  await nextTurn();
  expect(response.chunks).toHaveLength(1);
  expect(response.lines).toMatchObject(
    ["a", "b", "c"].map(name => ({ type: "ADDED", object: { kind: "Node", metadata: { name } } })),
  );
});

test("an end in good order is the end of the stream; with a status its last event is an ERROR", async () => {
  const good = watching();
  good.sink.events([added("a")]);
  good.sink.end(undefined);
  await nextTurn();
  expect(good.response.lines).toHaveLength(1);
  expect(good.response.writableEnded).toBe(true);

  const bad = watching();
  const status: Status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason: "Expired",
    code: 410,
  };
  bad.sink.end(status);
  await nextTurn();
  expect(bad.response.lines).toEqual([{ type: "ERROR", object: status }]);
  expect(bad.response.writableEnded).toBe(true);
});

test("while the reader does not read, events wait and then come in order", async () => {
  const { response, sink } = watching();
  response.writableNeedDrain = true;
  sink.events([added("a")]);
  await nextTurn();
  sink.events([added("b")]);
  await nextTurn();
  expect(response.chunks).toEqual([]);
  response.drain();
  expect(response.lines).toMatchObject([
    { object: { metadata: { name: "a" } } },
    { object: { metadata: { name: "b" } } },
  ]);
});

test("a reader more than ten thousand events behind is cut off, and the store is told", async () => {
  const { response, sink, isStopped } = watching();
  response.writableNeedDrain = true;
  const event = added("a");
  for (let count = 0; count < 10_000; count++) sink.events([event]);
  await nextTurn();
  expect(response.destroyed).toBe(false);
  sink.events([event]);
  expect(response.destroyed).toBe(true);
  expect(isStopped()).toBe(true);
});

test("what a watch begins with does not count as being behind, but what follows does", async () => {
  const initial = Array.from({ length: 30_000 }, () => added("a"));
  const { response, sink } = watching(initial);
  response.writableNeedDrain = true;
  for (let count = 0; count < 10_000; count++) sink.events([added("b")]);
  expect(response.destroyed).toBe(false);
  sink.events([added("b")]);
  expect(response.destroyed).toBe(true);
});

test("all watchers of an event are handed the same bytes", () => {
  const { encode } = new EventLines();
  const event = added("a");
  expect(encode({ ...event })).toBe(encode({ ...event }));
  expect(encode({ ...event, type: "DELETED" }).toString()).toContain(`"type":"DELETED"`);
});
