import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { instanceTypesIn } from "./instance-types.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fettle-types-"));
});
afterAll(() => rm(folder, { recursive: true }));

test("a list of types is read with the defaults of the schema", async () => {
  const file = join(folder, "types.yaml");
  await writeFile(file, "- name: small\n  capacity: { cpu: 2, memory: 4Gi }\n");
  expect(await instanceTypesIn(file)).toEqual([
    { name: "small", capacity: { cpu: 2, memory: "4Gi" }, operatingSystem: "linux", architecture: "amd64" },
  ]);
});

test("a file that is not there is named", async () => {
  await expect(instanceTypesIn(join(folder, "absent"))).rejects.toThrow(
    /^the file of --instance-types, .*absent, cannot be read: there is no such file or directory$/,
  );
});
