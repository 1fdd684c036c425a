import { afterEach, beforeEach, expect, test } from "vitest";
import { request } from "undici";
import { serve, type Serving } from "./server.ts";

let serving: Serving;
let missing: string | undefined;

beforeEach(async () => {
  missing = undefined;
  const metrics = async () => ({ contentType: "text/plain; version=0.0.4", text: "fettle_leader 1\n" });
  const refusals = (question: object) => ({ question });
  serving = await serve({ notReady: () => missing, metrics, refusals }, { host: "127.0.0.1", port: 0 });
});
afterEach(() => serving.close());

async function ask(path: string, method: "GET" | "HEAD" | "POST" = "GET") {
  const { statusCode, headers, body } = await request(`http://127.0.0.1:${serving.port}${path}`, { method });
  return { code: statusCode, type: headers["content-type"], text: await body.text() };
}

test("is alive", async () => {
  expect(await ask("/healthz")).toEqual({ code: 200, type: "text/plain", text: "ok\n" });
  expect(await ask("/healthz", "HEAD")).toMatchObject({ code: 200, text: "" });
});

test("is ready once nothing is missing, and says what is", async () => {
  missing = "Not listed yet: nodes.";
  expect(await ask("/readyz?verbose")).toEqual({ code: 503, type: "text/plain", text: "Not listed yet: nodes.\n" });
  missing = undefined;
  expect(await ask("/readyz")).toMatchObject({ code: 200, text: "ok\n" });
});

test("gives its metrics in Prometheus' text", async () => {
  expect(await ask("/metrics")).toEqual({
    code: 200,
    type: "text/plain; version=0.0.4",
    text: "fettle_leader 1\n",
  });
});

test("says what it refuses, to all or about one object", async () => {
  const json = (question: object) => `${JSON.stringify({ question }, undefined, 2)}\n`;
  expect(await ask("/refusals")).toEqual({ code: 200, type: "application/json", text: json({}) });
  const { text } = await ask("/refusals?kind=Node&name=worker%2D1");
  expect(text).toBe(json({ kind: "Node", name: "worker-1" }));
  expect(await ask("/refusals?node=worker-1")).toMatchObject({ code: 400, text: expect.stringContaining("kind=Node") });
});

test("has nothing else and takes nothing", async () => {
  expect(await ask("/")).toMatchObject({ code: 404, text: "There are /healthz, /readyz, /metrics and /refusals.\n" });
  expect(await ask("/metrics", "POST")).toMatchObject({ code: 405 });
});
