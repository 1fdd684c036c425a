import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Agent, request } from "undici";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FaultProxy, faultProxy, first, type Script } from "./fault-proxy.ts";

const patience = { timeout: 20_000 };
const stream = '{"n":1}\n{"n":2}\n{"n":3}\n';

let reached: string[];
let answer: (incoming: IncomingMessage, outgoing: ServerResponse) => unknown;
let proxy: FaultProxy;
let agent: Agent;
let stopUpstream: () => void;

beforeEach(async () => {
  reached = [];
  answer = (_, outgoing) => outgoing.end(stream);
  const upstream = createServer((incoming, outgoing) => {
    reached.push(`${incoming.method} ${incoming.url}`);
    answer(incoming, outgoing);
  });
  await new Promise<void>(resolve => upstream.listen(0, "127.0.0.1", resolve));
  stopUpstream = () => {
    upstream.closeAllConnections();
    upstream.close();
  };
  proxy = await faultProxy({ url: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}` });
  agent = new Agent();
});

afterEach(async () => {
  await agent.destroy();
  await proxy.stop();
  stopUpstream();
});

/** What the client read before the answer ended or broke. */
async function read(script: Script, path = "/api"): Promise<{ code: number; text: string; broken: boolean }> {
  proxy.script(script);
  const response = await request(proxy.url + path, { dispatcher: agent });
  let text = "";
  try {
    for await (const chunk of response.body) text += String(chunk);
    return { code: response.statusCode, text, broken: false };
  } catch {
    return { code: response.statusCode, text, broken: true };
  }
}

test("without a fault request and answer pass unchanged, body and headers included", async () => {
  answer = async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    outgoing.writeHead(201, { "x-answer": "yes", "content-type": "application/json" });
    outgoing.end(`${incoming.headers.authorization} ${Buffer.concat(chunks).toString()}`);
  };
  const response = await request(`${proxy.url}/api?x=1`, {
    dispatcher: agent,
    method: "POST",
    body: "body",
    headers: { authorization: "Bearer t" },
  });
  expect(response.statusCode).toBe(201);
  expect(response.headers["x-answer"]).toBe("yes");
  expect(await response.body.text()).toBe("Bearer t body");
  expect(reached).toEqual(["POST /api?x=1"]);
  expect(proxy.seen[0]).toMatchObject({ method: "POST", path: "/api", index: 0, isWatch: false });
});

describe("faults of the connection", () => {
  test("a reset never reaches the server", async () => {
    await expect(read(() => ({ kind: "reset" }))).rejects.toThrow(/closed|ECONNRESET/);
    expect(reached).toEqual([]);
  });

  test("a lost answer does reach it", async () => {
    await expect(read(() => ({ kind: "lose-answer" }))).rejects.toThrow(/closed|ECONNRESET/);
    expect(reached).toEqual(["GET /api"]);
  });

  test("a kept answer reaches nobody, though the request did and its end is told", async () => {
    let reading: Promise<unknown> = Promise.resolve();
    await new Promise<void>(answered => {
      reading = read(() => ({ kind: "keep-answer", answered }));
    });
    expect(reached).toEqual(["GET /api"]);
    proxy.resetAll();
    await expect(reading).rejects.toThrow(/closed|ECONNRESET/);
  });

  test("a kept answer's end is told also when the client gave up before the server answered", async () => {
    let finish: () => void = () => {};
    answer = (_, outgoing) => {
      finish = () => outgoing.end(stream);
      proxy.resetAll();
    };
    let reading: Promise<unknown> = Promise.resolve();
    const answered = new Promise<void>(resolve => {
      reading = read(() => ({ kind: "keep-answer", answered: resolve }));
    });
    await expect(reading).rejects.toThrow(/closed|ECONNRESET/);
    finish();
    await answered;
  });

  test("half open: accepted, never answered, not passed on", async () => {
    const reading = read(() => ({ kind: "half-open" }));
    await expect.poll(() => proxy.seen.length, patience).toBe(1);
    proxy.resetAll();
    await expect(reading).rejects.toThrow(/closed|ECONNRESET/);
    expect(reached).toEqual([]);
  });
});

test("refusals carry a Status and Retry-After, and never reach the server", async () => {
  proxy.script(() => ({ kind: "refuse", code: 429, retryAfterSeconds: 3 }));
  const response = await request(`${proxy.url}/api`, { dispatcher: agent });
  expect(response.statusCode).toBe(429);
  expect(response.headers["retry-after"]).toBe("3");
  expect(await response.body.json()).toMatchObject({ kind: "Status", code: 429, reason: "TooManyRequests" });
  expect(reached).toEqual([]);
});

describe("faults of the answer", () => {
  test.each([
    ["truncated, it ends as if complete", { kind: "truncate", afterLines: 1 }, '{"n":1}\n{"n"', false],
    ["cut, it breaks off in the middle of a line", { kind: "cut", afterLines: 2 }, '{"n":1}\n{"n":2}\n{"n"', true],
    ["slow, it comes whole", { kind: "slow", bytes: 3, pauseMs: 1 }, stream, false],
    ["duplicated, it has each line twice", { kind: "duplicate" }, stream.replaceAll(/.*\n/g, "$&$&"), false],
  ] as const)("%s", async (_, fault, text, broken) => {
    expect(await read(() => fault)).toEqual({ code: 200, text, broken });
  });

  test("lines are found however the server's chunks lie", async () => {
    answer = (_, outgoing) => {
      outgoing.write('{"n"');
      setImmediate(() => outgoing.end(':1}\n{"n":2}\nrest'));
    };
    expect((await read(() => ({ kind: "truncate", afterLines: 2 }))).text).toBe('{"n":1}\n{"n":2}\nre');
  });

  test("stalled, it falls silent in the middle of a line and stays open", async () => {
    proxy.script(() => ({ kind: "stall", afterLines: 1 }));
    const response = await request(`${proxy.url}/api?watch=true`, { dispatcher: agent });
    let text = "";
    const reading = (async () => {
      for await (const chunk of response.body) text += String(chunk);
    })();
    await expect.poll(() => text, patience).toBe('{"n":1}\n{"n"');
    proxy.resetAll();
    await expect(reading).rejects.toThrow(/aborted|terminated|closed/);
    expect(proxy.seen[0]?.isWatch).toBe(true);
  });
});

test("the first so many that match have the fault, others and later ones have none", async () => {
  const script = first(2, seen => seen.path === "/api", { kind: "refuse", code: 500 });
  const codes = [];
  for (const path of ["/other", "/api", "/api", "/api"]) codes.push((await read(script, path)).code);
  expect(codes).toEqual([200, 500, 500, 200]);
});

test("a client that leaves ends the request to the server", async () => {
  const left = new Promise<void>(resolve => {
    answer = (incoming, outgoing) => {
      outgoing.write(stream);
      incoming.socket.once("close", () => resolve());
    };
  });
  proxy.script(() => undefined);
  const response = await request(`${proxy.url}/api?watch=1`, { dispatcher: agent });
  response.body.on("error", () => {});
  response.body.destroy();
  await expect(left).resolves.toBeUndefined();
});
