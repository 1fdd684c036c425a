import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { KubeObject } from "../api/meta.ts";
import { deepCopy, deepEqual, deepFreeze } from "./json-value.ts";
import { Written } from "./written.ts";

afterEach(() => void vi.restoreAllMocks());

const metadata = { name: "web-1", uid: "u", resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z" };
const env = Array.from({ length: 40 }, (_, i) => ({ name: `VARIABLE_${i}`, value: `value-${i}` }));
const pod = { apiVersion: "v1", kind: "Pod", metadata, spec: { nodeName: "a", containers: [{ env }] }, status: {} };

const annotations = { note: "x".repeat(400) };
const marked = { fieldsV1: { annotations: 0 } };
const noted = { ...pod, metadata: { ...metadata, annotations, labels: { a: "b" } } };

const parsed = (written: Written): unknown => JSON.parse(written.bytes.toString("utf8"));
const specOf = (object: KubeObject) => object.spec as typeof pod.spec;

describe("an object that is written out", () => {
  test.each([
    ["a large field in the middle", pod],
    ["a large field at the end", { apiVersion: "v1", kind: "Pod", metadata, spec: pod.spec }],
    ["a large field first", { spec: pod.spec, apiVersion: "v1", kind: "Pod", metadata }],
    ["two large fields", { ...pod, status: { containers: [{ env }, { env }] } }],
    ["a large field without a name", { ...pod, spec: {}, "": pod.spec }],
    ["nothing large", { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "b" } }],
    ["large metadata", { ...pod, metadata: { ...metadata, annotations: { a: "x".repeat(4_000) } }, spec: {} }],
    ["large annotations in the middle", noted],
    ["large annotations first", { ...pod, metadata: { annotations, ...metadata } }],
    ["large annotations alone", { ...pod, metadata: { annotations } }],
    [
      "large annotations behind the large field",
      { spec: pod.spec, apiVersion: "v1", kind: "Pod", metadata: noted.metadata },
    ],
    [
      "large annotations of several bytes",
      { ...noted, metadata: { ...metadata, annotations: { a: "é".repeat(400) } } },
    ],
    ["large annotations behind several bytes", { ...noted, metadata: { ...noted.metadata, name: "é" } }],
    ["annotations that are none", { ...pod, metadata: { ...metadata, annotations: null } }],
    ["another field that reads like them", { ...noted, metadata: { managedFields: [marked], ...noted.metadata } }],
    ["a text that reads like them", { ...noted, metadata: { ...noted.metadata, generateName: '"annotations":0' } }],
    ["a large list", { apiVersion: "v1", kind: "ServiceAccount", metadata, secrets: env }],
    ["characters of several bytes in the large field", { ...pod, spec: { ...pod.spec, hostname: "grüß 🙂" } }],
    ["characters of several bytes before it", { ...pod, metadata: { ...metadata, annotations: { a: "日本" } } }],
    ["characters of several bytes behind it", { ...pod, status: { message: "é" } }],
    ["a name that must be escaped", { ...pod, 'a"b\\': pod.spec }],
    ["no value for a field", { ...pod, status: undefined }],
  ])("reads the same in parts and whole: %s", (_, object) => {
    const written = new Written(object as KubeObject);
    expect(written.bytes.toString("utf8")).toBe(JSON.stringify(object));
    expect(written.whole()).toEqual(parsed(written));
    const inParts = written.inParts();
    expect(Object.keys(inParts)).toEqual(Object.keys(written.whole()));
    expect(inParts).toEqual(written.whole());
  });

  test("is the same bytes again where a part of it was handed on, whatever is in it", () => {
    const field = fc.jsonValue({ maxDepth: 1 });
    const objects = fc.dictionary(fc.string(), field, { maxKeys: 5 });
    fc.assert(
      fc.property(objects, fc.string({ unit: "binary" }), (fields, text) => {
        const filler = { text: "x".repeat(500) };
        const object = {
          apiVersion: "v1",
          kind: "Any",
          metadata: { ...metadata, annotations: { ...annotations, text }, labels: { text } },
          ...fields,
          large: { ...filler, fields },
        } as KubeObject;
        const changed = { ...new Written(object).inParts(), status: text };
        const again = new Written(changed);
        expect(again.bytes.toString("utf8")).toBe(JSON.stringify({ ...object, status: text }));
        expect(JSON.stringify(again.inParts())).toBe(JSON.stringify(again.whole()));
      }),
    );
  });

  test("what is handed on is neither parsed nor written again", () => {
    const written = new Written(noted);
    const parse = vi.spyOn(JSON, "parse");
    const stringify = vi.spyOn(JSON, "stringify");
    const object = written.inParts();
    const changed = { ...object.metadata, resourceVersion: "8" };
    const next = new Written({ ...object, metadata: changed, status: { phase: "Running" } });
    for (const unread of ["VARIABLE_1", "xxx"]) {
      for (const [text] of parse.mock.calls) expect(text).not.toContain(unread);
      for (const { value } of stringify.mock.results) expect(value).not.toContain(unread);
    }
    vi.restoreAllMocks();
    const status = { phase: "Running" };
    expect(parsed(next)).toEqual({ ...noted, metadata: { ...noted.metadata, resourceVersion: "8" }, status });
  });

  test("the field that is wanted is read at once", () => {
    const object = new Written(pod).inParts("spec");
    const parse = vi.spyOn(JSON, "parse");
    expect(specOf(object).nodeName).toBe("a");
    expect(parse).not.toHaveBeenCalled();
  });
});

describe("a field that is kept unread", () => {
  const unread = () => specOf(new Written(pod).inParts());

  test("is parsed once, at the first look", () => {
    const spec = unread();
    const parse = vi.spyOn(JSON, "parse");
    expect(parse).not.toHaveBeenCalled();
    expect(spec.nodeName).toBe("a");
    expect(spec.containers).toBe(spec.containers);
    expect(parse).toHaveBeenCalledTimes(1);
  });

  test.each<[string, (spec: typeof pod.spec) => unknown]>([
    ["spread", spec => ({ ...spec })],
    ["copied", deepCopy],
    ["written as JSON", spec => JSON.parse(JSON.stringify(spec))],
    ["read key by key", spec => Object.fromEntries(Object.entries(spec))],
    ["frozen", deepFreeze],
  ])("is what it stands for when it is %s", (_, look) => {
    expect(look(unread())).toEqual(pod.spec);
  });

  test("is equal to what it stands for, and to nothing else", () => {
    expect(deepEqual(unread(), pod.spec)).toBe(true);
    expect(deepEqual(pod.spec, unread())).toBe(true);
    expect(deepEqual(unread(), { ...pod.spec, nodeName: "b" })).toBe(false);
    expect("nodeName" in unread()).toBe(true);
    expect("hostname" in unread()).toBe(false);
  });

  test("is loud, once frozen, where somebody changes it", () => {
    const spec = deepFreeze(unread());
    expect(() => (spec.nodeName = "b")).toThrow(TypeError);
    expect(() => spec.containers.push({ env })).toThrow(TypeError);
  });

  test("is written anew if somebody has changed it all the same", () => {
    const object = new Written(pod).inParts();
    specOf(object).nodeName = "b";
    expect(parsed(new Written(object))).toEqual({ ...pod, spec: { ...pod.spec, nodeName: "b" } });
    const other = new Written(pod).inParts();
    delete (specOf(other) as { nodeName?: string }).nodeName;
    expect(parsed(new Written(other))).toEqual({ ...pod, spec: { containers: pod.spec.containers } });
  });

  test("keeps a field called __proto__", () => {
    const spec = JSON.parse(`{"__proto__":{"a":1},"text":"${"x".repeat(600)}"}`) as object;
    const read = new Written({ ...pod, spec }).inParts().spec as object;
    expect(JSON.stringify(read)).toBe(JSON.stringify(spec));
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype);
  });
});
