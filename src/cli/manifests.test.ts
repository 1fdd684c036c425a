import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Io } from "./io.ts";
import { readManifests } from "./manifests.ts";

describe("files and folders", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "fettle-manifests-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const io = { stdin: async () => new TextEncoder().encode("from: stdin") } as unknown as Io;
  const read = (paths: string[], recursive = false) => readManifests(paths, recursive, io);

  test("a folder gives its manifests in order of name, its folders only when asked", async () => {
    await mkdir(join(folder, "inner"));
    await writeFile(join(folder, "b.yaml"), "name: b");
    await writeFile(join(folder, "a.json"), '{"name": "a"}');
    await writeFile(join(folder, "notes.txt"), "no: manifest");
    await writeFile(join(folder, "inner/c.yml"), "name: c");
    expect(await read([folder])).toMatchObject([{ value: { name: "a" } }, { value: { name: "b" } }]);
    expect(await read([folder], true)).toHaveLength(3);
  });

  test("a dash is standard input", async () => {
    expect(await read(["-"])).toMatchObject([{ file: "<stdin>", value: { from: "stdin" } }]);
  });

  test.each([
    ["a file that is not there", "missing.yaml", /^cannot be read: there is no such file or directory$/],
    ["a folder without manifests", "empty", /^holds no \.yaml, \.yml or \.json file \(add -R/],
  ])("%s is a problem of its own and hides no other", async (_, path, problem) => {
    await mkdir(join(folder, "empty"));
    await writeFile(join(folder, "good.yaml"), "name: good");
    const objects = await read([join(folder, path), join(folder, "good.yaml")]);
    expect(objects).toMatchObject([{ problem: expect.stringMatching(problem) }, { value: { name: "good" } }]);
  });
});
