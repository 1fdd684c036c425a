import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { bodyLimit, parseObject, parsePatch, patchTypeOf, readBody } from "./body.ts";

const json = (text: string | Buffer) => parseObject(Buffer.from(text), "application/json", "NodePool");

function reading(chunks: readonly Buffer[]): Promise<Buffer> {
  const stream = Object.assign(new PassThrough(), { headers: {} });
  const body = readBody(stream as unknown as IncomingMessage);
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  return body;
}

describe("the limit", () => {
  const chunk = Buffer.alloc(bodyLimit / 4, "a");

  test("a body of exactly the limit is read whole", async () => {
    expect((await reading([chunk, chunk, chunk, chunk])).length).toBe(bodyLimit);
  });

  test("one byte more is 413, with the limit named", async () => {
    await expect(reading([chunk, chunk, chunk, chunk, Buffer.from("a")])).rejects.toMatchObject({
      status: {
        code: 413,
        reason: "RequestEntityTooLarge",
        message: `Request entity too large: limit is ${bodyLimit}`,
      },
    });
  });
});

describe("objects", () => {
  test("are JSON unless the content type says YAML", () => {
    expect(json(`{"a":[1]}`)).toEqual({ a: [1] });
    expect(parseObject(Buffer.from("a: [1]"), "application/yaml", "NodePool")).toEqual({ a: [1] });
    expect(parseObject(Buffer.from(`{"a":1}`), undefined, "NodePool")).toEqual({ a: 1 });
    expect(parseObject(Buffer.from(`{"a":1}`), "application/json; charset=utf-8", "NodePool")).toEqual({ a: 1 });
  });

  test("YAML is read as Kubernetes reads it: 1.1", () => {
    expect(
      parseObject(Buffer.from("on: yes\nmode: 0777\n'quoted': 'no'\nday: 2026-11-15"), "application/yaml", "X"),
    ).toEqual({
      true: true,
      mode: 511,
      quoted: "no",
      day: "2026-11-15",
    });
  });

  test("what is no JSON gets the kind that was expected and the reason", () => {
    const refused = "the object provided is unrecognized (must be of type NodePool): couldn't get version/kind";
    expect(() => json("{bad")).toThrow(refused);
    expect(() => json("")).toThrow(`${refused}; json parse error: unexpected end of JSON input`);
  });

  test("broken YAML gets its line", () => {
    expect(() => parseObject(Buffer.from("a: 1\nb: [c"), "application/yaml", "NodePool")).toThrow(/yaml: .*line 2/);
  });

  test("bytes that are no UTF-8 are refused with a sentence, not replaced", () => {
    expect(() => json(Buffer.from([0x22, 0xff, 0xfe, 0x22]))).toThrow("the body is not valid UTF-8");
  });

  test.each(["text/plain", "application/cbor"])("%s is 415", type => {
    expect(() => parseObject(Buffer.from("{}"), type, "NodePool")).toThrow(
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  });
});

describe("patches", () => {
  test.each([
    ["application/json-patch+json", "json"],
    ["application/merge-patch+json", "merge"],
    ["application/strategic-merge-patch+json", "strategic"],
    ["Application/Merge-Patch+JSON; charset=utf-8", "merge"],
  ])("%s is a %s patch", (type, patchType) => {
    expect(patchTypeOf(type, true)).toBe(patchType);
  });

  test("custom kinds have no strategic merge", () => {
    expect(() => patchTypeOf("application/strategic-merge-patch+json", false)).toThrow(
      "accepted media types include: application/json-patch+json, application/merge-patch+json",
    );
  });

  test("plain JSON is no patch", () => {
    expect(() => patchTypeOf("application/json", true)).toThrow("in an unknown format");
    expect(() => patchTypeOf(undefined, true)).toThrow("in an unknown format");
  });

  test("server-side apply is refused with what to do instead", () => {
    expect(() => patchTypeOf("application/apply-patch+yaml", true)).toThrow("without --server-side");
  });

  test("a patch that is no JSON says so", () => {
    expect(() => parsePatch(Buffer.from("{"))).toThrow("error decoding patch: ");
    expect(parsePatch(Buffer.from("[]"))).toEqual([]);
  });
});
