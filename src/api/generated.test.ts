import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { generatedFiles } from "./generated.ts";

const root = join(import.meta.dirname, "../..");
const files = generatedFiles();

test.each([...files])("%s is what the definitions make; after a change: npm run generate", (path, text) => {
  expect(readFileSync(join(root, path), "utf8") === text).toBe(true);
});

test("no file in deploy/crds and docs/api is left over from a kind that is gone", () => {
  const folders = [...new Set([...files.keys()].map(dirname))];
  const found = folders.flatMap(folder => readdirSync(join(root, folder)).map(name => `${folder}/${name}`));
  expect(found.filter(path => !files.has(path))).toEqual([]);
});
