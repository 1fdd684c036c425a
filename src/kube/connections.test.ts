import { createServer, type IncomingMessage, request as httpRequest } from "node:http";
import { setImmediate as nextTask } from "node:timers/promises";
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { json, scriptedServer } from "../../test/kube/scripted-server.ts";
import { connect } from "./client.ts";
import { systemClock } from "./system-clock.ts";

const open: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

/** An HTTP proxy that remembers what it was asked to reach. */
async function aProxy() {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming: IncomingMessage, outgoing) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const { method, headers } = incoming;
    const onward = httpRequest(incoming.url ?? "", { method: method ?? "GET", headers }, answer => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url} ${incoming.headers["proxy-authorization"] ?? ""}`.trim());
    const [host, port] = (incoming.url ?? "").split(":");
    const onward = connectTcp(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      onward.pipe(socket).pipe(onward);
    });
    for (const one of [socket, onward]) {
      sockets.add(one);
      one.on("error", () => one.destroy());
    }
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  open.push({
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      return new Promise(resolve => server.close(resolve));
    },
  });
  return { port: (server.address() as AddressInfo).port, asked };
}

describe("through a proxy", () => {
  test.each([true, false])("TLS: %s", async tls => {
    const proxy = await aProxy();
    const server = await scriptedServer([json(200, { ok: true })], { tls, user: { token: "t" } });
    const api = connect({ ...server.config, proxyUrl: `http://127.0.0.1:${proxy.port}` }, { clock: systemClock });
    open.push(server, api);
    expect(await api.raw("/version")).toEqual({ ok: true });
    const host = server.url.replace(/^https?:\/\//, "");
    expect(proxy.asked).toEqual([tls ? `CONNECT ${host}` : `GET http://${host}/version`]);
    expect(server.asked[0]?.headers.authorization).toBe("Bearer t");
  });

  test("with a password of its own, which the server does not see", async () => {
    const proxy = await aProxy();
    const server = await scriptedServer([json(200, {})], { tls: true });
    const api = connect({ ...server.config, proxyUrl: `http://ann:p@127.0.0.1:${proxy.port}` }, { clock: systemClock });
    open.push(server, api);
    await api.raw("/");
    expect(proxy.asked[0]).toMatch(/^CONNECT \S+ Basic YW5uOnA=$/);
    expect(server.asked[0]?.headers["proxy-authorization"]).toBeUndefined();
  });

  test("that is not there: the error names neither its password nor the server's", async () => {
    const server = await scriptedServer([json(200, {})], { tls: true });
    const api = connect({ ...server.config, proxyUrl: "http://ann:sentinel@127.0.0.1:1" }, { clock: systemClock });
    open.push(server, api);
    const error: unknown = await api.raw("/").catch((one: unknown) => one);
    expect(String(error)).toContain("no connection");
    expect(String(error)).not.toContain("sentinel");
  });
});

test("watches do not take the connections of calls", async () => {
  const server = await scriptedServer([
    (response, asked) => {
      response.writeHead(200);
      if (asked.query.get("watch") === "true") response.write("\n");
      else response.end("{}");
    },
  ]);
  const api = connect(server.config, { clock: systemClock });
  open.push(server, api);
  const nodes = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
  for (let count = 0; count < 40; count++) api.watch(nodes, {}, { event: () => {}, end: () => {} });
  await expect.poll(() => server.asked.length, { timeout: 20_000 }).toBe(40);
  await api.raw("/version");
  expect(server.asked).toHaveLength(41);
});

test("a burst of calls goes on with the session of the first connection, however long ago that was", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const held: (() => void)[] = [];
  const answer = json(200, {});
  const server = await scriptedServer([answer, (response, asked) => held.push(() => answer(response, asked))], {
    tls: true,
  });
  const api = connect(server.config, { clock: systemClock });
  open.push(server, api);
  await api.raw("/version");
  // What nothing but a weak reference holds goes once its task is over.
  await nextTask();
  collectGarbage();
  const calls = Array.from({ length: 5 }, () => api.raw("/version"));
  await expect.poll(() => held.length).toBe(5);
  for (const go of held) go();
  await Promise.all(calls);
  // The first call's, and of the others that which takes its connection, came without one.
  expect(server.asked.filter(({ tls }) => tls?.isResumed)).toHaveLength(4);
});

/** Passes on what comes, but for handshakes that go on with a session, once it is told to. */
async function aBoxThatRefusesSessions(target: URL) {
  const box = { isRefusing: false, refusedCount: 0 };
  const server = createTcpServer(socket => {
    socket.on("error", () => socket.destroy());
    socket.once("data", (hello: Buffer) => {
      if (box.isRefusing && goesOnWithSession(hello)) {
        box.refusedCount++;
        socket.destroy();
        return;
      }
      const onward = connectTcp(Number(target.port), target.hostname);
      onward.on("error", () => socket.destroy());
      onward.write(hello);
      socket.pipe(onward).pipe(socket);
    });
  });
  await new Promise<void>(resolve => server.listen(0, "127.0.0.1", resolve));
  open.push({ close: () => new Promise(resolve => server.close(resolve)) });
  return { box, port: (server.address() as AddressInfo).port };
}

/** The extension pre_shared_key is the last one of a hello: its number, and a length that goes to the end. */
function goesOnWithSession(hello: Buffer): boolean {
  const lengths = Array.from({ length: hello.length - 3 }, (_, at) => at);
  return lengths.some(at => hello.readUInt16BE(at) === 0x29 && hello.readUInt16BE(at + 2) === hello.length - at - 4);
}

test("where a session is refused the next connection comes without one: no call fails for it", async () => {
  const server = await scriptedServer([json(200, {}, { connection: "close" })], { tls: true });
  const target = new URL(server.config.server);
  const { box, port } = await aBoxThatRefusesSessions(target);
  const api = connect({ ...server.config, server: `https://127.0.0.1:${port}` }, { clock: systemClock });
  open.push(server, api);
  await api.raw("/version");
  await nextTask();
  box.isRefusing = true;
  for (let count = 0; count < 3; count++) await api.raw("/version");
  expect(server.asked.map(({ tls }) => tls?.isResumed)).toEqual([false, false, false, false]);
  expect(box.refusedCount).toBeGreaterThan(0);
});
