import type { ServerResponse } from "node:http";
import { afterEach, describe, expect, test } from "vitest";
import { type Answer, json, scriptedServer, status } from "../../test/kube/scripted-server.ts";
import type { KubeObject, Resource } from "../api/meta.ts";
import { ApiError } from "../api/status.ts";
import type { WatchEvent, WatchOptions } from "../control/ports.ts";
import { connect } from "./client.ts";
import { ConnectionError, DecodeError } from "./errors.ts";
import { systemClock } from "./system-clock.ts";

const nodes: Resource = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

function event(type: string, name: string, more: object = {}): string {
  return `${JSON.stringify({ type, object: { kind: "Node", metadata: { name, resourceVersion: "1" }, ...more } })}\n`;
}

function stream(...chunks: (string | Buffer)[]): Answer {
  return response => {
    response.writeHead(200);
    // Each chunk goes out by itself, once the one before it has.
    const send = ([chunk, ...rest]: (string | Buffer)[]): void => {
      if (chunk === undefined) response.end();
      else response.write(chunk, () => send(rest));
    };
    send(chunks);
  };
}

type Handler = (event: WatchEvent<KubeObject>, close: () => void) => void;

/** Watches to the end: what came, and what it ended with. */
async function watched(answer: Answer, handler: Handler = () => {}, options: WatchOptions = {}) {
  const server = await scriptedServer([answer]);
  const api = connect(server.config, { clock: systemClock });
  open.push(server, api);
  const names: string[] = [];
  const error = await new Promise<Error | undefined>(resolve => {
    const watch = api.watch(nodes, options, {
      event(event) {
        if (event.type !== "ERROR") names.push(`${event.type} ${(event.object as KubeObject).metadata.name}`);
        else names.push(`ERROR ${event.object.code}`);
        handler(event, () => watch.close());
      },
      end: resolve,
    });
  });
  return { names, error, server, api };
}

describe("events", () => {
  test("come in order, whatever the chunks, and the stream ends in good order", async () => {
    const all = event("ADDED", "a") + event("MODIFIED", "bü") + event("DELETED", "c") + event("BOOKMARK", "d");
    const bytes = Buffer.from(all);
    const middle = bytes.indexOf("ü") + 1;
    const { names, error } = await watched(
      stream(bytes.subarray(0, 30), bytes.subarray(30, middle), bytes.subarray(middle)),
    );
    expect(names).toEqual(["ADDED a", "MODIFIED bü", "DELETED c", "BOOKMARK d"]);
    expect(error).toBeUndefined();
  });

  test("one object may have megabytes", async () => {
    let length = 0;
    const { error } = await watched(stream(event("ADDED", "a", { data: "é".repeat(1_600_000) })), one => {
      length = String((one.object as KubeObject)["data"]).length;
    });
    expect(length).toBe(1_600_000);
    expect(error).toBeUndefined();
  });

  test("come whole but for the owners of their fields, and whole where these are not as they should be", async () => {
    const seen: unknown[] = [];
    const owned = (fieldsV1: object) => {
      const managedFields = [{ manager: "m", fieldsType: "FieldsV1", fieldsV1 }];
      return event("ADDED", "a", { metadata: { name: "a", resourceVersion: "1", managedFields }, spec: {} });
    };
    const { error } = await watched(stream(owned({ "f:spec": {} }), owned({ list: [{}], more: {} })), one =>
      seen.push((one.object as KubeObject).metadata.managedFields),
    );
    expect(error).toBeUndefined();
    const fieldsV1 = { list: [{}], more: {} };
    expect(seen).toEqual([[], [{ manager: "m", fieldsType: "FieldsV1", fieldsV1 }]]);
  });

  test("a burst of thousands is cut into slices without losing its order", async () => {
    const names = Array.from({ length: 20_000 }, (_, index) => `n${index}`);
    const { names: seen } = await watched(
      stream(names.map(name => event("ADDED", name, { pad: "x".repeat(200) })).join("")),
    );
    expect(seen).toEqual(names.map(name => `ADDED ${name}`));
  });

  test("an error inside the stream is an event", async () => {
    const expired = { kind: "Status", status: "Failure", code: 410, reason: "Expired" };
    const { names, error } = await watched(stream(`${JSON.stringify({ type: "ERROR", object: expired })}\n`));
    expect(names).toEqual(["ERROR 410"]);
    expect(error).toBeUndefined();
  });

  test("the request says what is wanted", async () => {
    const { server } = await watched(stream(""), () => {}, {
      resourceVersion: "7",
      allowWatchBookmarks: true,
      timeoutSeconds: 300,
      labelSelector: "a=b",
    });
    expect(server.asked[0]?.path).toBe("/api/v1/nodes");
    expect(String(server.asked[0]?.query)).toBe(
      "resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds=300&labelSelector=a%3Db&watch=true",
    );
  });
});

describe("a watch that may gather", () => {
  const windowMs = 200;

  /** Whoever waits is called by `wake`. */
  function stoppedClock() {
    const waiting = new Map<number, () => void>();
    const after = (delayMs: number, run: () => void) => {
      waiting.set(delayMs, run);
      return () => void waiting.delete(delayMs);
    };
    return { clock: { ...systemClock, monotonic: () => 1_000, after }, waiting };
  }

  async function gathering(headers: Record<string, string> = {}) {
    const { clock, waiting } = stoppedClock();
    const responses: ServerResponse[] = [];
    const stays: Answer = response => {
      responses.push(response);
      response.writeHead(200, headers);
      response.write(event("ADDED", "a"));
    };
    const server = await scriptedServer([stays, json(200, {}), json(200, {})]);
    const api = connect(server.config, { clock });
    open.push(server, api);
    const names: string[] = [];
    const errors: (Error | undefined)[] = [];
    const watch = api.watch(
      nodes,
      { gatherMs: windowMs },
      {
        event: ({ object }) => names.push((object as KubeObject).metadata.name),
        end: error => errors.push(error),
      },
    );
    await expect.poll(() => names).toEqual(["a"]);
    /** What the server has sent before its answer has come by then. */
    const roundTrip = () => api.get(nodes, { name: "other" });
    return { server, names, errors, watch, waiting, response: responses[0]!, roundTrip };
  }

  test("hands the first events over at once, and what comes until the window ends together", async () => {
    const { server, names, waiting, response, roundTrip } = await gathering();
    response.write(event("ADDED", "b"));
    await expect.poll(() => names).toEqual(["a", "b"]);
    for (const name of ["c", "d"]) {
      response.write(event("ADDED", name));
      await roundTrip();
    }
    expect(names).toEqual(["a", "b"]);
    waiting.get(windowMs)?.();
    await expect.poll(() => names).toEqual(["a", "b", "c", "d"]);
    expect(String(server.asked[0]?.query)).toBe("watch=true");
  });

  test("hands everything over at once where the server will end the connection, and sees it reset", async () => {
    const { names, errors, response } = await gathering({ connection: "close" });
    for (const name of ["b", "c", "d"]) {
      response.write(event("ADDED", name));
      await expect.poll(() => names.at(-1)).toBe(name);
    }
    response.socket?.resetAndDestroy();
    await expect.poll(() => errors.length).toBe(1);
    expect(errors[0]).toBeInstanceOf(ConnectionError);
  });

  /** It rests, and what was written is in the socket. */
  async function resting(...written: readonly string[]) {
    const all = await gathering();
    const { names, waiting, response, roundTrip } = all;
    response.write(event("ADDED", "b"));
    await expect.poll(() => names).toEqual(["a", "b"]);
    await expect.poll(() => waiting.has(windowMs)).toBe(true);
    for (const text of written) response.write(text);
    await roundTrip();
    expect(names).toEqual(["a", "b"]);
    return all;
  }

  test("sees a connection that is reset while it rests, when the window ends at the latest", async () => {
    const { errors, waiting, response } = await resting();
    response.socket?.resetAndDestroy();
    waiting.get(windowMs)?.();
    await expect.poll(() => errors.length).toBe(1);
    expect(errors[0]).toBeInstanceOf(ConnectionError);
  });

  test("has all that the server has said when it ends the stream meanwhile, a 410 too", async () => {
    const expired = { kind: "Status", status: "Failure", metadata: { name: "expired" }, code: 410, reason: "Expired" };
    const { names, errors, waiting, response } = await resting(
      event("ADDED", "c"),
      `${JSON.stringify({ type: "ERROR", object: expired })}\n`,
    );
    response.end();
    waiting.get(windowMs)?.();
    await expect.poll(() => errors).toEqual([undefined]);
    expect(names).toEqual(["a", "b", "c", "expired"]);
  });

  test("loses nothing of a flood that comes while it rests", async () => {
    const { names, errors, waiting, response } = await resting();
    const many = Array.from({ length: 5_000 }, (_, index) => `n${index}`);
    for (const name of many) response.write(event("ADDED", name, { pad: "x".repeat(200) }));
    response.end();
    waiting.get(windowMs)?.();
    await expect.poll(() => errors, { timeout: 10_000 }).toEqual([undefined]);
    expect(names.slice(2)).toEqual(many);
  });

  test("can be closed while it rests", async () => {
    const { names, errors, watch, waiting, response, roundTrip } = await gathering();
    await expect.poll(() => waiting.has(windowMs)).toBe(true);
    watch.close();
    response.write(event("ADDED", "b"));
    await roundTrip();
    expect(errors).toEqual([undefined]);
    expect(names).toEqual(["a"]);
    expect(waiting.has(windowMs)).toBe(false);
  });
});

describe("how a watch ends badly", () => {
  test("a refusal is the server's Status", async () => {
    const { error } = await watched(status(410, "Expired"));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 410, reason: "Expired" });
  });

  test("429 carries how long to wait", async () => {
    const { error } = await watched(json(429, "slow down", { "retry-after": "3" }));
    expect((error as ApiError).status.details?.retryAfterSeconds).toBe(3);
  });

  test.each([
    [
      "a line that was cut off",
      stream(event("ADDED", "a"), '{"type":"ADDED","object":{"metad'),
      "The stream was cut off 32 bytes into a line.",
    ],
    [
      "a line that is not JSON",
      stream(event("ADDED", "a"), "{secret}\n", event("ADDED", "b")),
      "A line of the watch (8 characters) is not an event.",
    ],
    [
      "JSON that is not an event",
      stream(event("ADDED", "a"), "[]\n"),
      "A line of the watch (2 characters) is not an event.",
    ],
    [
      "an unknown type",
      stream(event("ADDED", "a"), event("RENAMED", "b")),
      "The watch sent an event of an unknown type or without an object.",
    ],
    [
      "an object without metadata",
      stream(event("ADDED", "a"), '{"type":"DELETED","object":{}}\n'),
      "The watch sent DELETED without metadata.",
    ],
  ])("%s is an error and nothing after it is heard", async (_, answer, message) => {
    const { names, error } = await watched(answer);
    expect(names).toEqual(["ADDED a"]);
    expect(error).toBeInstanceOf(DecodeError);
    expect(error?.message).toBe(message);
  });

  test("a broken connection is told from a good end", async () => {
    const { names, error } = await watched(response => {
      response.writeHead(200);
      response.write(event("ADDED", "a"), () => response.socket?.destroy());
    });
    expect(names).toEqual(["ADDED a"]);
    expect(error).toBeInstanceOf(ConnectionError);
  });

  test("an exception in the handler ends the watch with it", async () => {
    const { names, error } = await watched(stream(event("ADDED", "a") + event("ADDED", "b")), () => {
      throw new RangeError("a bug");
    });
    expect(names).toEqual(["ADDED a"]);
    expect(error).toBeInstanceOf(RangeError);
  });

  test("credentials that cannot be had end it with the reason", async () => {
    const server = await scriptedServer([]);
    const api = connect({ ...server.config, user: { tokenFile: "/nonexistent/token" } }, { clock: systemClock });
    open.push(server, api);
    const error = await new Promise<Error | undefined>(end => api.watch(nodes, {}, { event: () => {}, end }));
    expect(error?.message).toBe("The token file /nonexistent/token (the test) cannot be read: check path and rights.");
  });
});

describe("closing", () => {
  test("from inside a handler stops in the middle of a chunk, in good order and once", async () => {
    const { names, error } = await watched(stream(event("ADDED", "a") + event("ADDED", "b")), (_, close) => close());
    expect(names).toEqual(["ADDED a"]);
    expect(error).toBeUndefined();
  });

  test("ends the request at the server", async () => {
    const closed = new Promise<ServerResponse>(resolve => {
      void watched(
        response => {
          response.on("close", () => resolve(response));
          response.writeHead(200);
          response.write(event("ADDED", "a"));
        },
        (_, close) => close(),
      );
    });
    expect((await closed).writableFinished).toBe(false);
  });

  test("before the request went out sends nothing", async () => {
    const server = await scriptedServer([stream("")]);
    const api = connect(server.config, { clock: systemClock });
    open.push(server, api);
    const ends: unknown[] = [];
    const watch = api.watch(nodes, {}, { event: () => {}, end: error => ends.push(error) });
    watch.close();
    watch.close();
    await api.raw("/version").catch(() => {});
    expect(ends).toEqual([undefined]);
    expect(server.asked.map(({ path }) => path)).toEqual(["/version"]);
  });

  test("of the client ends its watches in good order", async () => {
    const server = await scriptedServer([response => response.writeHead(200).write(event("ADDED", "a"))]);
    const api = connect(server.config, { clock: systemClock });
    open.push(server);
    const ends: unknown[] = [];
    await new Promise<void>(resolve => {
      api.watch(nodes, {}, { event: () => resolve(), end: error => ends.push(error) });
    });
    await api.close();
    expect(ends).toEqual([undefined]);
  });
});
