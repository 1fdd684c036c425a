import { setImmediate as nextTurn } from "node:timers/promises";
import { inspect } from "node:util";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import {
  type Answer,
  json,
  reset,
  type ScriptedServer,
  scriptedServer,
  status,
} from "../../test/kube/scripted-server.ts";
import type { Resource } from "../api/meta.ts";
import { ApiError } from "../api/status.ts";
import type { Clock, Fence } from "../control/ports.ts";
import { withoutSecrets } from "./answer.ts";
import { type ConnectOptions, type Connection, connect } from "./client.ts";
import { callConnectionsMax } from "./connections.ts";
import { ConnectionError, FencedError, TimeoutError } from "./errors.ts";
import { identitySource } from "./identity.ts";
import type { ClusterConfig } from "./kubeconfig.ts";
import { systemClock } from "./system-clock.ts";

const pods: Resource = { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true };
const pools: Resource = {
  group: "karpenter.sh",
  version: "v1",
  plural: "nodepools",
  kind: "NodePool",
  namespaced: false,
};
const pool = { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name: "a" } };
const patience = { timeout: 20_000 };

/** The short waits before a retry take no time; time-outs do. */
const impatient: Clock = { ...systemClock, after: (ms, run) => systemClock.after(ms < 2_000 ? 0 : ms, run) };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function serve(
  answers: readonly Answer[],
  options: Partial<ConnectOptions> & { config?: Partial<ClusterConfig>; tls?: boolean } = {},
): Promise<{ server: ScriptedServer; api: Connection }> {
  const server = await scriptedServer(answers, { tls: options.tls ?? false });
  const api = connect({ ...server.config, ...options.config }, { clock: impatient, random: () => 0.5, ...options });
  open.push(server, api);
  return { server, api };
}

async function failure(of: Promise<unknown>): Promise<Error> {
  try {
    await of;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("It should have failed.");
}

describe("verbs", () => {
  test.each<[string, (api: Connection) => Promise<unknown>, string, unknown?]>([
    [
      "get",
      api => api.get(pools, { name: "a" }, { resourceVersion: "0" }),
      "GET /apis/karpenter.sh/v1/nodepools/a?resourceVersion=0",
    ],
    [
      "get of a subresource",
      api => api.get(pods, { namespace: "web", name: "a" }, { subresource: "status" }),
      "GET /api/v1/namespaces/web/pods/a/status?",
    ],
    [
      "create",
      api => api.create(pods, { namespace: "web" }, pool),
      "POST /api/v1/namespaces/web/pods?fieldManager=fettle",
      pool,
    ],
    [
      "create with everything",
      api => api.create(pools, {}, pool, { dryRun: true, fieldManager: "me", fieldValidation: "Strict" }),
      "POST /apis/karpenter.sh/v1/nodepools?fieldManager=me&fieldValidation=Strict&dryRun=All",
      pool,
    ],
    [
      "evict",
      api => api.create(pods, { namespace: "web", name: "a" }, pool, { subresource: "eviction" }),
      "POST /api/v1/namespaces/web/pods/a/eviction?fieldManager=fettle",
      pool,
    ],
    [
      "update",
      api => api.update(pools, { name: "a" }, pool, { subresource: "status" }),
      "PUT /apis/karpenter.sh/v1/nodepools/a/status?fieldManager=fettle",
      pool,
    ],
    [
      "patch",
      api => api.patch(pools, { name: "a" }, { type: "merge", body: { spec: null } }),
      "PATCH /apis/karpenter.sh/v1/nodepools/a?fieldManager=fettle",
      { spec: null },
    ],
    [
      "delete",
      api =>
        api.delete(
          pools,
          { name: "a" },
          {
            preconditions: { uid: "u", resourceVersion: "7" },
            gracePeriodSeconds: 0,
            propagationPolicy: "Foreground",
            dryRun: true,
          },
        ),
      "DELETE /apis/karpenter.sh/v1/nodepools/a?",
      {
        kind: "DeleteOptions",
        apiVersion: "v1",
        preconditions: { uid: "u", resourceVersion: "7" },
        gracePeriodSeconds: 0,
        propagationPolicy: "Foreground",
        dryRun: ["All"],
      },
    ],
    [
      "delete collection",
      api => api.deleteCollection(pods, { namespace: "web", labelSelector: "a=b" }),
      "DELETE /api/v1/namespaces/web/pods?labelSelector=a%3Db",
      { kind: "DeleteOptions", apiVersion: "v1" },
    ],
    ["raw", api => api.raw("/version"), "GET /version?"],
  ])("%s", async (_, act, request, body) => {
    const { server, api } = await serve([json(200, { ...pool, metadata: {}, items: [] })]);
    await act(api);
    const { method, path, query, body: sent } = server.asked[0] ?? {};
    expect(`${method} ${path}?${query}`).toBe(request);
    expect(sent === "" ? undefined : JSON.parse(sent ?? "")).toEqual(body);
  });

  test.each([
    ["merge", "application/merge-patch+json"],
    ["json", "application/json-patch+json"],
    ["strategic", "application/strategic-merge-patch+json"],
  ] as const)("a %s patch says what it is", async (type, contentType) => {
    const { server, api } = await serve([json(200, pool)]);
    await api.patch(pools, { name: "a" }, { type, body: [] });
    expect(server.asked[0]?.headers["content-type"]).toBe(contentType);
  });

  test("list: the items of built-in kinds get the kind that only the list has", async () => {
    const page = {
      kind: "PodList",
      metadata: { resourceVersion: "9", continue: "more", remainingItemCount: 3 },
      items: [{ metadata: { name: "a" } }],
    };
    const { server, api } = await serve([json(200, page)]);
    const list = await api.list(pods, {
      namespace: "web",
      limit: 1,
      labelSelector: "a=b",
      fieldSelector: "spec.nodeName=n",
    });
    expect(list).toEqual({
      items: [{ apiVersion: "v1", kind: "Pod", metadata: { name: "a" } }],
      resourceVersion: "9",
      continue: "more",
      remainingItemCount: 3,
    });
    expect(String(server.asked[0]?.query)).toBe("limit=1&labelSelector=a%3Db&fieldSelector=spec.nodeName%3Dn");
  });

  test("an empty list is null in Go and empty here", async () => {
    const { api } = await serve([json(200, { metadata: { resourceVersion: "9" }, items: null })]);
    expect((await api.list(pods)).items).toEqual([]);
  });

  test("an empty name never reaches the server as the whole collection", async () => {
    const { server, api } = await serve([json(200, pool)]);
    await expect((async () => api.delete(pools, { name: "" }))()).rejects.toThrow("is not a name");
    expect(server.asked).toEqual([]);
  });

  test("the server's path prefix stays in front", async () => {
    const { server, api } = await serve([json(200, pool)]);
    const behind = connect({ ...server.config, server: `${server.url}/k8s/clusters/c-1/` }, { clock: systemClock });
    open.push(behind);
    await behind.get(pools, { name: "a" });
    expect(server.asked[0]?.path).toBe("/k8s/clusters/c-1/apis/karpenter.sh/v1/nodepools/a");
    expect(api).toBeDefined();
  });

  test("it says who it is, and asks for compression only when told to", async () => {
    const { server, api } = await serve([json(200, pool)], { userAgent: "fettle/1.2.3" });
    await api.get(pools, { name: "a" });
    expect(server.asked[0]?.headers).toMatchObject({ "user-agent": "fettle/1.2.3", accept: "application/json" });
    expect(server.asked[0]?.headers["accept-encoding"]).toBeUndefined();
  });

  test("a compressed answer is unpacked", async () => {
    const packed: Answer = response => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync(JSON.stringify(pool)));
    };
    const { server, api } = await serve([packed], { gzip: true });
    expect(await api.get(pools, { name: "a" })).toEqual(pool);
    expect(server.asked[0]?.headers["accept-encoding"]).toBe("gzip");
  });

  test("many calls share few connections", async () => {
    const { server, api } = await serve([json(200, pool)]);
    for (let round = 0; round < 5; round++) {
      await Promise.all(Array.from({ length: 100 }, () => api.get(pools, { name: "a" })));
    }
    expect(server.asked).toHaveLength(500);
    expect(server.connectionCount()).toBeLessThanOrEqual(callConnectionsMax);
  });
});

describe("refusals", () => {
  test("the server's Status is the error", async () => {
    const { api } = await serve([status(409, "Conflict")]);
    const error = await failure(api.update(pools, { name: "a" }, pool));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: 409, reason: "Conflict", message: "Conflict!" });
  });

  test("a proxy's page becomes a Status with the code's reason, without the page", async () => {
    const { api } = await serve([json(403, "<html>go away</html>")]);
    const error = await failure(api.get(pools, { name: "a" }));
    expect(error).toMatchObject({
      code: 403,
      reason: "Forbidden",
      message: "the server answered 403 without saying why",
    });
  });

  test("Retry-After is kept in the Status", async () => {
    const { api } = await serve([status(429, "TooManyRequests", { "retry-after": "7" })]);
    const error = await failure(api.create(pods, { namespace: "web", name: "a" }, pool, { subresource: "eviction" }));
    expect((error as ApiError).status.details?.retryAfterSeconds).toBe(7);
  });

  test("an answer that is not JSON is an error, not an object", async () => {
    const { api } = await serve([json(200, '{"kind": "NodePo')]);
    await expect(api.get(pools, { name: "a" })).rejects.toThrow("The server's answer (16 bytes) is not JSON.");
  });

  test("when the server answered, by its own clock, is handed on with when it was asked by ours", async () => {
    const dates: (string | undefined)[] = [];
    const { api } = await serve([json(200, pool, { date: "Thu, 01 Jan 2026 00:00:00 GMT" })], {
      onDate: date => dates.push(date),
    });
    await api.get(pools, { name: "a" });
    expect(dates).toEqual(["Thu, 01 Jan 2026 00:00:00 GMT"]);
  });

  test("warnings are handed on, with commas, quotes and several to a line", async () => {
    const warnings: string[] = [];
    const header = '299 - "v1beta1 is old, use v1", 299 - "say \\"please\\""';
    const { api } = await serve([json(200, pool, { warning: header })], {
      onWarning: (text, path) => warnings.push(`${path}: ${text}`),
    });
    await api.get(pools, { name: "a" });
    const path = "/apis/karpenter.sh/v1/nodepools/a";
    expect(warnings).toEqual([`${path}: v1beta1 is old, use v1`, `${path}: say "please"`]);
  });
});

describe("trying again", () => {
  test("429 with Retry-After, also for a write", async () => {
    const { server, api } = await serve([status(429, "TooManyRequests", { "retry-after": "1" }), json(201, pool)]);
    expect(await api.create(pools, {}, pool)).toEqual(pool);
    expect(server.asked).toHaveLength(2);
  });

  test("not beyond five times", async () => {
    const { server, api } = await serve([status(429, "TooManyRequests", { "retry-after": "1" })]);
    expect(await failure(api.get(pools, { name: "a" }))).toMatchObject({ code: 429 });
    expect(server.asked).toHaveLength(5);
  });

  test("not where the wait is longer than the caller's time", async () => {
    const { server, api } = await serve([status(429, "TooManyRequests", { "retry-after": "9" })], {
      clock: systemClock,
    });
    expect(await failure(api.get(pools, { name: "a" }, { timeoutMs: 5_000 }))).toMatchObject({ code: 429 });
    expect(server.asked).toHaveLength(1);
  });

  test("not the 429 of an eviction: that is the disruption budget's answer", async () => {
    const { server, api } = await serve([status(429, "TooManyRequests", { "retry-after": "1" })]);
    const eviction = api.create(pods, { namespace: "web", name: "a" }, pool, { subresource: "eviction" });
    expect(await failure(eviction)).toMatchObject({ code: 429 });
    expect(server.asked).toHaveLength(1);
  });

  test("a read after a reset and a 503", async () => {
    const { server, api } = await serve([reset, status(503, "ServiceUnavailable"), json(200, pool)]);
    expect(await api.get(pools, { name: "a" })).toEqual(pool);
    expect(server.asked).toHaveLength(3);
  });

  test("not a write whose connection was reset: nobody knows whether it was carried out", async () => {
    const { server, api } = await serve([reset]);
    const error = await failure(api.delete(pools, { name: "a" }));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: true });
    expect(error.message).toMatch(/^DELETE \/apis\/karpenter.sh\/v1\/nodepools\/a: the connection failed/);
    expect(error.cause).toBeInstanceOf(Error);
    expect(server.asked).toHaveLength(1);
  });

  test("not a write that was answered 500", async () => {
    const { server, api } = await serve([status(500, "InternalError")]);
    expect(await failure(api.update(pools, { name: "a" }, pool))).toMatchObject({ code: 500 });
    expect(server.asked).toHaveLength(1);
  });

  test("a server that is not there: not sent, and said so", async () => {
    const { server, api } = await serve([]);
    await server.close();
    const error = await failure(api.create(pools, {}, pool));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ sent: false });
    expect(error.message).toContain("no connection (connect ECONNREFUSED");
  });
});

describe("time-outs and cancelling", () => {
  test("no answer within the caller's time", async () => {
    const clock = new ManualClock();
    // Time passes once the request has arrived.
    const { api } = await serve([() => void clock.advance(50)], { clock });
    const error = await failure(api.update(pools, { name: "a" }, pool, { timeoutMs: 50 }));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toMatchObject({
      sent: true,
      message: "PUT /apis/karpenter.sh/v1/nodepools/a: no answer within 50 ms.",
    });
  });

  test("a caller's signal ends the wait with its reason", async () => {
    const abort = new AbortController();
    const { api } = await serve([() => abort.abort(new Error("shutting down"))]);
    await expect(api.get(pools, { name: "a" }, { signal: abort.signal })).rejects.toThrow("shutting down");
  });

  test("a signal that has already fired sends nothing", async () => {
    const { server, api } = await serve([json(200, pool)]);
    await failure(api.get(pools, { name: "a" }, { signal: AbortSignal.abort() }));
    expect(server.asked).toEqual([]);
  });

  test("what was given up while it waited for a connection is never sent", async () => {
    const held: (() => void)[] = [];
    const { server, api } = await serve([response => held.push(() => response.end(JSON.stringify(pool)))]);
    const first = Array.from({ length: callConnectionsMax }, () => api.update(pools, { name: "a" }, pool));
    await expect.poll(() => held.length, patience).toBe(callConnectionsMax);
    const abort = new AbortController();
    const waiting = failure(api.update(pools, { name: "b" }, pool, { signal: abort.signal }));
    await nextTurn();
    abort.abort(new Error("no longer wanted"));
    expect((await waiting).message).toBe("no longer wanted");
    for (const answer of held.splice(0)) answer();
    await Promise.all(first);
    const last = api.update(pools, { name: "c" }, pool);
    await expect.poll(() => held.length, patience).toBe(1);
    for (const answer of held) answer();
    await last;
    expect(server.asked.map(({ path }) => path.at(-1))).not.toContain("b");
  });

  test("closing fails what is under way", async () => {
    let asked = (): void => {};
    const arrived = new Promise<void>(resolve => (asked = resolve));
    const { api } = await serve([() => asked()]);
    const pending = failure(api.update(pools, { name: "a" }, pool));
    await arrived;
    await api.close();
    expect(await pending).toBeInstanceOf(ConnectionError);
  });
});

describe("a fenced client", () => {
  class PlayedFence implements Fence {
    epoch: number | undefined = 1;
    leftMs = 15_000;
    entered = 0;
    answered = 0;
    /** Called each time somebody asks what is left. */
    onLook = (): void => {};
    remainingMs(): number {
      this.onLook();
      return this.leftMs;
    }
    enter(): () => void {
      this.entered++;
      return () => this.answered++;
    }
  }

  test("writes while the lease lasts, and tells the server a limit shorter than what is left of it", async () => {
    const fence = new PlayedFence();
    fence.leftMs = 4_500;
    const { server, api } = await serve([json(200, pool)], { fence });
    await api.update(pools, { name: "a" }, pool);
    expect(server.asked[0]?.query.get("timeout")).toBe("3000ms");
    expect(fence).toMatchObject({ entered: 1, answered: 1 });
  });

  test("sends nothing without a lease, and reads all the same", async () => {
    const fence = new PlayedFence();
    fence.leftMs = 0;
    const { server, api } = await serve([json(200, pool)], { fence });
    for (const write of [
      () => api.create(pools, {}, pool),
      () => api.update(pools, { name: "a" }, pool),
      () => api.patch(pools, { name: "a" }, { type: "merge", body: {} }),
      () => api.delete(pools, { name: "a" }),
      () => api.deleteCollection(pools, {}),
    ]) {
      expect(await failure(write())).toBeInstanceOf(FencedError);
    }
    await api.get(pools, { name: "a" });
    expect(server.asked.map(({ method }) => method)).toEqual(["GET"]);
  });

  test("a process paused between the decision and the socket sends nothing", async () => {
    const fence = new PlayedFence();
    const looks: number[] = [];
    fence.onLook = () => {
      looks.push(fence.leftMs);
      // The second look is the one at the socket: a minute has passed since the first.
      if (looks.length === 2) fence.leftMs -= 60_000;
    };
    const { server, api } = await serve([json(200, pool)], { fence });
    expect(await failure(api.delete(pools, { name: "a" }))).toBeInstanceOf(FencedError);
    expect(server.asked).toEqual([]);
    expect(fence.entered).toBe(0);
    expect(looks).toHaveLength(2);
  });

  test("a write that waits for a connection is judged when it gets one, not when it was asked for", async () => {
    const fence = new PlayedFence();
    const held: (() => void)[] = [];
    const hold: Answer = response => held.push(() => response.end(JSON.stringify(pool)));
    const { server, api } = await serve([hold], { fence });
    const first = Array.from({ length: callConnectionsMax }, () => api.update(pools, { name: "a" }, pool));
    await expect.poll(() => held.length, patience).toBe(callConnectionsMax);
    const late = failure(api.update(pools, { name: "late" }, pool));
    // It has been given its time-out and waits for one of them.
    await nextTurn();
    fence.leftMs = 1_000;
    for (const answer of held) answer();
    expect(await late).toBeInstanceOf(FencedError);
    await Promise.all(first);
    expect(server.asked).toHaveLength(callConnectionsMax);
  });

  test("a write decided in an earlier term is not sent in a later one", async () => {
    const fence = new PlayedFence();
    let looks = 0;
    fence.onLook = () => {
      if (++looks === 2) fence.epoch = 3;
    };
    const { server, api } = await serve([json(200, pool)], { fence });
    expect(await failure(api.delete(pools, { name: "a" }))).toBeInstanceOf(FencedError);
    expect(server.asked).toEqual([]);
  });

  test("a retry after 429 is judged again", async () => {
    const fence = new PlayedFence();
    const loseIt: Answer = (response, asked) => {
      fence.leftMs = 0;
      status(429, "TooManyRequests", { "retry-after": "1" })(response, asked);
    };
    const { server, api } = await serve([loseIt, json(200, pool)], { fence });
    expect(await failure(api.delete(pools, { name: "a" }))).toBeInstanceOf(FencedError);
    expect(server.asked).toHaveLength(1);
  });

  test("gives a write up before its lease is over, and counts it as unanswered", async () => {
    const fence = new PlayedFence();
    const clock = new ManualClock();
    let asked = (): void => {};
    const arrived = new Promise<void>(resolve => (asked = resolve));
    const { api } = await serve([() => asked()], { fence, clock });
    const pending = failure(api.update(pools, { name: "a" }, pool));
    await arrived;
    await clock.advance(9_999);
    await clock.advance(1);
    expect(await pending).toBeInstanceOf(TimeoutError);
    expect(fence).toMatchObject({ entered: 1, answered: 0 });
  });

  test("a 5xx leaves the write unanswered too", async () => {
    const fence = new PlayedFence();
    const { api } = await serve([status(504, "Timeout")], { fence });
    await failure(api.update(pools, { name: "a" }, pool));
    expect(fence).toMatchObject({ entered: 1, answered: 0 });
  });
});

describe("secrets", () => {
  const SENTINEL = "sentinel-token-0123456789abcdef";
  const echo =
    (code: number, body: (authorization: string) => string): Answer =>
    (response, asked) => {
      response.writeHead(code);
      response.end(body(asked.headers.authorization ?? "none"));
    };
  const statusSaying = (code: number) =>
    echo(code, said =>
      JSON.stringify({
        kind: "Status",
        status: "Failure",
        code,
        message: said,
        details: { causes: [{ message: said }] },
      }),
    );

  test.each<[string, Answer]>([
    ["a Status that repeats the token", statusSaying(403)],
    ["a Status that repeats it with 401", statusSaying(401)],
    ["a page that repeats it", echo(502, said => `<html>${said}</html>`)],
    ["an answer that is not JSON", echo(200, said => `{"token": "${said}`)],
    ["a reset", reset],
    ["no answer", () => {}],
    [
      "broken HTTP that repeats it",
      (response, asked) =>
        response.socket?.end(`HTTP/1.1 200 OK\r\ncontent-length: x\r\n${asked.headers.authorization}`),
    ],
    [
      "an event of the watch that repeats it",
      echo(200, said => `${JSON.stringify({ type: "ERROR", object: { kind: "Status", message: said } })}\n`.repeat(2)),
    ],
  ])("%s: the token is in no error", async (_, answer) => {
    const { server, api } = await serve([answer], {
      tls: true,
      clock: systemClock,
      config: { user: { token: SENTINEL } },
    });
    const events: unknown[] = [];
    const ended = new Promise<Error | undefined>(end => api.watch(pools, {}, { event: one => events.push(one), end }));
    const errors = [
      await failure(api.get(pools, { name: "a" }, { timeoutMs: 200 })),
      await failure(api.delete(pools, { name: "a" }, { timeoutMs: 200 })),
    ];
    await expect.poll(() => server.asked.length, patience).toBeGreaterThan(0);
    await api.close();
    errors.push((await ended) ?? new Error("closed"));
    expect(server.asked[0]?.headers.authorization).toBe(`Bearer ${SENTINEL}`);
    expect(JSON.stringify(events)).not.toContain(SENTINEL);
    for (const error of errors) {
      const shown = inspect(error, { depth: 10, showHidden: true }) + JSON.stringify(error) + error.stack;
      expect(shown).not.toContain(SENTINEL);
    }
  });

  test("with quotes in them, or empty, are cut out all the same", () => {
    expect(withoutSecrets('{"message":"pass\\"word of ann"}', ['pass"word', ""])).toBe(
      '{"message":"[redacted] of ann"}',
    );
  });

  test("are not sent to another machine without TLS", async () => {
    const { server } = await serve([json(200, pool)]);
    const config = { ...server.config, user: { token: SENTINEL } };
    const context = { clock: systemClock, env: {} };
    const near = await identitySource({ ...config, server: "http://127.0.0.1:1" }, context).current();
    const far = await identitySource({ ...config, server: "http://10.0.0.1:1" }, context).current();
    expect(near.headers["authorization"]).toBe(`Bearer ${SENTINEL}`);
    expect(far.headers["authorization"]).toBeUndefined();
  });
});
