import { afterAll, beforeAll, expect, test } from "vitest";
import { type FaultProxy, faultProxy } from "../../fault-proxy.ts";
import { install, ourDefinitions, type Running, startBox } from "../backends.ts";
import { compareMany, seedFrom } from "./compare-many.ts";
import { gadgetDefinition, widgetDefinition } from "./custom-habits.ts";
import { type ApiAddress, HttpApi } from "./server.ts";

let boxes: Running<ApiAddress>[];
let proxy: FaultProxy;

beforeAll(async () => {
  boxes = await Promise.all([startBox({ controllers: false }), startBox({ controllers: false })]);
  for (const box of boxes) await install(box, [...ourDefinitions(), widgetDefinition, gadgetDefinition]);
  proxy = await faultProxy(boxes[1]!); // two were started
});
afterAll(async () => {
  await proxy?.stop();
  await Promise.all(boxes.map(box => box.close()));
});

const reportOf = async (comparing: Promise<void>) =>
  comparing.then(
    () => "they agree",
    (error: Error) => error.message,
  );

test("servers that are the same agree", async () => {
  const servers = { real: new HttpApi(boxes[0]!), box: new HttpApi(boxes[1]!) };
  await expect(compareMany(servers, { seed: 7 }, 40)).resolves.toBeUndefined();
});

test("a lie is found, told by the fewest steps, and found again at once from what the report says", async () => {
  // One server that does not carry out any deletion of a ConfigMap.
  proxy.script(({ method, path }) =>
    method === "DELETE" && path.includes("/configmaps/") ? { kind: "refuse", code: 500 } : undefined,
  );
  const servers = { real: new HttpApi(boxes[0]!), box: new HttpApi({ ...boxes[1]!, url: proxy.url }) };
  const report = await reportOf(compareMany(servers, { seed: 1 }, 200));
  const steps = report.split("\n").filter(line => /^ {2}\d+\. /.test(line));
  expect(steps.at(-1)).toContain("delete configmaps");
  expect(steps.length).toBeLessThanOrEqual(3);
  expect(report).toContain('"code":500');

  const again = /FETTLE_SEED=(\S+)/.exec(report)?.[1];
  const replayed = await reportOf(compareMany(servers, seedFrom(again, 0), 200));
  expect(replayed).toContain("disagree after 1 sequences");
});

test.each([
  [undefined, { seed: 42 }],
  ["", { seed: 42 }],
  ["123", { seed: 123 }],
  ["-123:4:0:2", { seed: -123, path: "4:0:2" }],
])("FETTLE_SEED=%s", (text, seed) => {
  expect(seedFrom(text, 42)).toEqual(seed);
});

test("a seed that is none is refused with what it must be", () => {
  expect(() => seedFrom("abc", 42)).toThrow("it must begin with a whole number");
});
