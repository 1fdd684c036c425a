import { expect, test } from "vitest";
import { firstDifference } from "./difference.ts";
import { Normaliser } from "./normalise.ts";
import type { Json } from "./operation.ts";

const names = { prefix: "s1", namespace: "s1" };
const request = { method: "POST", path: "/api/v1/namespaces/s1/configmaps", query: {} } as const;
const answer = (body: Json, more: { code?: number; warnings?: string[] } = {}) => ({
  request,
  answer: { code: 200, warnings: [], retryAfter: "", body, ...more },
});

const uid = (digit: number) => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const object = (metadata: { [field: string]: Json }): Json => ({ apiVersion: "v1", kind: "ConfigMap", metadata });

/** What two servers said in the same order, compared as the suite compares it. */
function difference(real: Json[], box: Json[]) {
  const [one, other] = [new Normaliser(names), new Normaliser(names)];
  return firstDifference(
    real.map(body => one.exchange(answer(body))),
    box.map(body => other.exchange(answer(body))),
  );
}

test("versions, uids, times and generated names may differ", () => {
  const from = (version: string, digit: number, suffix: string, hour: string) =>
    object({
      name: `s1-g1-${suffix}`,
      uid: uid(digit),
      resourceVersion: version,
      creationTimestamp: `2026-11-15T${hour}:00:00Z`,
    });
  expect(difference([from("812", 1, "bcdfg", "10")], [from("3", 2, "xz245", "11")])).toBeUndefined();
});

test("but the same version must stay the same, and a new one must be new", () => {
  const versions = (...all: string[]) => all.map(resourceVersion => object({ resourceVersion }));
  expect(difference(versions("5", "5"), versions("7", "7"))).toBeUndefined();
  expect(difference(versions("5", "6"), versions("7", "7"))).toMatchObject({
    path: "/1/body/metadata/resourceVersion",
    real: "<version 2>",
    box: "<version 1>",
  });
});

test("uids are told apart inside sentences too", () => {
  const says = (digit: number): Json => ({ kind: "Status", message: `UID in precondition: ${uid(digit)}` });
  const both = (first: number, second: number) => [object({ uid: uid(first) }), says(second)];
  expect(difference(both(1, 1), both(2, 2))).toBeUndefined();
  expect(difference(both(1, 1), both(2, 3))?.path).toBe("/1/body/message");
});

test("times that the client wrote must come back as they were", () => {
  const lease = (renewTime: string): Json => ({ kind: "Lease", spec: { renewTime } });
  expect(difference([lease("2020-01-01T00:00:00.000000Z")], [lease("2020-01-02T00:00:00.000000Z")])).toBeDefined();
});

test("a list's own version and token may differ, not whether there is one", () => {
  const list = (metadata: { [field: string]: Json }): Json => ({ items: [], metadata });
  const page = { resourceVersion: "5", continue: "abc" };
  expect(difference([list(page)], [list({ resourceVersion: "9", continue: "xyz" })])).toBeUndefined();
  expect(difference([list(page)], [list({ resourceVersion: "9" })])?.path).toBe("/0/body/metadata/continue");
});

test.each([
  ["managed fields", object({ managedFields: [{ manager: "x" }] }), object({})],
  [
    "the order and number of equal findings",
    invalid(["spec.b: wrong", "spec.a: wrong", "spec.a: wrong"]),
    invalid(["spec.a: wrong", "spec.b: wrong"]),
  ],
  [
    "the order of unknown fields",
    { message: 'strict decoding error: unknown field "b", unknown field "a"' },
    { message: 'strict decoding error: unknown field "a", unknown field "b"' },
  ],
  [
    "the Go types of a body of another kind",
    { message: 'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret): unknown conversion' },
    { message: 'Secret in version "v1" cannot be handled as a ConfigMap: no kind "Secret" is registered' },
  ],
])("accepted: %s", (_, real, box) => {
  expect(difference([real], [box])).toBeUndefined();
});

test.each([
  ["a finding that only one has", invalid(["spec.a: wrong", "spec.b: wrong"]), invalid(["spec.a: wrong"])],
  ["another sentence", { message: "no" }, { message: "No" }],
  ["another field", object({ labels: { a: "b" } }), object({ labels: {} })],
  ["another type", object({ generation: 1 }), object({ generation: "1" })],
])("not accepted: %s", (_, real, box) => {
  expect(difference([real], [box])).toBeDefined();
});

function invalid(findings: string[]): Json {
  const causes = findings.map(finding => {
    const [field = "", message = ""] = finding.split(": ");
    return { reason: "FieldValueInvalid", field, message };
  });
  const why = findings.length > 1 ? `[${findings.join(", ")}]` : findings.join();
  return { kind: "Status", reason: "Invalid", message: `Widget "a" is invalid: ${why}`, details: { causes } };
}
