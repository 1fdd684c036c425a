import { expect, test } from "vitest";
import { countRequests } from "./audit.ts";

const line = (fields: Record<string, unknown>) =>
  `${JSON.stringify({ stage: "ResponseComplete", verb: "list", userAgent: "fettle", user: { username: "admin" }, objectRef: { resource: "nodes" }, responseStatus: { code: 200 }, ...fields })}\n`;

const asked = { user: "admin", userAgent: "fettle", verb: "list", resource: "nodes", subresource: "", code: 200 };

test("requests are counted by client, verb, resource and answer", () => {
  const log = line({}) + line({}) + line({ user: { username: "kubelet" } }) + line({ responseStatus: { code: 410 } });
  expect(countRequests(log)).toEqual([
    { ...asked, count: 2 },
    { ...asked, user: "kubelet", count: 1 },
    { ...asked, code: 410, count: 1 },
  ]);
});

test("a watch counts when it starts, and once", () => {
  const log = line({ verb: "watch", stage: "ResponseStarted" }) + line({ verb: "watch" });
  expect(countRequests(log)).toEqual([{ ...asked, verb: "watch", count: 1 }]);
});

test("a request outside the resources has no resource", () => {
  const log = line({ verb: "get", objectRef: undefined });
  expect(countRequests(log)).toEqual([{ ...asked, verb: "get", resource: "", count: 1 }]);
});

test("a line that is still being written waits for the next reading", () => {
  expect(countRequests(line({}) + line({}).slice(0, 40))).toEqual([{ ...asked, count: 1 }]);
});
