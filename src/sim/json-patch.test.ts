import { describe, expect, test } from "vitest";
import { JsonPatchError, jsonPatch } from "./json-patch.ts";

describe("JSON patch", () => {
  // The examples of RFC 6902, appendix A, and the corners where the server's library has its own way.
  test.each([
    ["adds a field", { a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
    ["replaces on add", { a: 1 }, [{ op: "add", path: "/a", value: 2 }], { a: 2 }],
    ["inserts into a list", { l: [1, 3] }, [{ op: "add", path: "/l/1", value: 2 }], { l: [1, 2, 3] }],
    ["appends at the end by index", { l: [1] }, [{ op: "add", path: "/l/1", value: 2 }], { l: [1, 2] }],
    ["appends with a dash", { l: [1] }, [{ op: "add", path: "/l/-", value: [2] }], { l: [1, [2]] }],
    ["counts from the end", { l: [1, 2] }, [{ op: "remove", path: "/l/-1" }], { l: [1] }],
    ["removes", { a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
    ["replaces", { a: { b: 1 } }, [{ op: "replace", path: "/a/b", value: 2 }], { a: { b: 2 } }],
    ["creates what replace does not find", { a: {} }, [{ op: "replace", path: "/a/b", value: 2 }], { a: { b: 2 } }],
    ["moves", { a: { b: 1 }, c: {} }, [{ op: "move", from: "/a/b", path: "/c/d" }], { a: {}, c: { d: 1 } }],
    ["moves within a list", { l: [1, 2, 3] }, [{ op: "move", from: "/l/0", path: "/l/2" }], { l: [2, 3, 1] }],
    ["copies", { a: [1] }, [{ op: "copy", from: "/a", path: "/b" }], { a: [1], b: [1] }],
    ["tests", { a: [1, { b: "c" }] }, [{ op: "test", path: "/a", value: [1, { b: "c" }] }], { a: [1, { b: "c" }] }],
    ["finds null where nothing is", { a: 1 }, [{ op: "test", path: "/b", value: null }], { a: 1 }],
    ["unescapes pointers", { "a/b": 1, "m~n": 2 }, [{ op: "remove", path: "/a~1b" }], { "m~n": 2 }],
    ["unescapes tildes last", { "~1": 1 }, [{ op: "test", path: "/~01", value: 1 }], { "~1": 1 }],
    ["replaces the document", { a: 1 }, [{ op: "replace", path: "", value: { b: 2 } }], { b: 2 }],
    ["takes a missing value for null", { a: 1 }, [{ op: "add", path: "/b" }], { a: 1, b: null }],
  ])("%s", (_, document, operations, result) => {
    const before = structuredClone(document);
    expect(jsonPatch(document, operations)).toEqual(result);
    expect(document).toEqual(before);
  });

  test.each([
    ["another value", [{ op: "test", path: "/a", value: 2 }]],
    ["a missing field to remove", [{ op: "remove", path: "/b" }]],
    ["a missing parent", [{ op: "add", path: "/b/c", value: 1 }]],
    ["a parent that holds nothing", [{ op: "add", path: "/a/c", value: 1 }]],
    ["an index behind the end", [{ op: "add", path: "/l/3", value: 1 }]],
    ["an index to replace that is not there", [{ op: "replace", path: "/l/1", value: 1 }]],
    ["an index that is none", [{ op: "add", path: "/l/x", value: 1 }]],
    ["a missing source", [{ op: "move", from: "/b", path: "/c" }]],
    ["an unknown operation", [{ op: "frob", path: "/a" }]],
    ["no path", [{ op: "add", value: 1 }]],
    ["no pointer", [{ op: "add", path: "a", value: 1 }]],
    ["no operation", ["add"]],
  ])("refuses %s", (_, operations) => {
    expect(() => jsonPatch({ a: 1, l: [1] }, operations)).toThrow(JsonPatchError);
  });

  test("copies 3 MiB in all, and not a byte more", () => {
    const document = { mebibyte: "x".repeat(2 ** 20 - 2), byte: 1 };
    const copies = ["b", "c", "d"].map(name => ({ op: "copy", from: "/mebibyte", path: `/${name}` }));
    expect(jsonPatch(document, copies)).toMatchObject({ d: document.mebibyte });
    const oneMore = { op: "copy", from: "/byte", path: "/e" };
    expect(() => jsonPatch(document, [...copies, oneMore])).toThrow(JsonPatchError);
  });

  test("a field copied into itself again and again is refused before it fills the memory", () => {
    const copies = Array.from({ length: 27 }, (_, i) => ({ op: "copy", from: "/a", path: `/a/k${i}` }));
    expect(() => jsonPatch({ a: {} }, copies)).toThrow("copies more than");
  });
});
