import * as fc from "fast-check";
import { expect, test } from "vitest";
import { DecodeError } from "./errors.ts";
import { lineSplitter } from "./lines.ts";

function split(chunks: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = lineSplitter(line => lines.push(line));
  for (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  return lines;
}

test("lines do not depend on where the chunks are cut, not even inside a character", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1 }).map(one => `${one.replaceAll("\n", "")}x`);
  fc.assert(
    fc.property(fc.array(text), fc.array(fc.nat()), (lines, cuts) => {
      const bytes = Buffer.from(lines.map(line => `${line}\n`).join(""));
      const places = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b);
      const chunks = [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
      expect(split(chunks)).toEqual(lines);
    }),
  );
});

test("an object of several megabytes arrives whole", () => {
  const line = JSON.stringify({ data: "ü".repeat(2_000_000) });
  const bytes = Buffer.from(`${line}\n`);
  const chunks = Array.from({ length: Math.ceil(bytes.length / 65_536) }, (_, index) =>
    bytes.subarray(index * 65_536, (index + 1) * 65_536),
  );
  expect(split(chunks)).toEqual([line]);
});

test("empty lines are not events", () => {
  expect(split([Buffer.from("a\n\n\nb\n")])).toEqual(["a", "b"]);
});

test("a stream that ends inside a line says so", () => {
  expect(() => split([Buffer.from('{"a":1}\n{"b"')])).toThrow(
    new DecodeError("The stream was cut off 4 bytes into a line."),
  );
});

test("a line without end is given up before it has eaten the memory", () => {
  const splitter = lineSplitter(() => {});
  const chunk = Buffer.alloc(1024 * 1024, "x");
  expect(() => {
    for (let count = 0; count < 100; count++) splitter.push(chunk);
  }).toThrow("over 67108864 bytes");
});
