// The image is not built here: there is no container engine. What can be held without one is held: what the Dockerfile
// copies exists, it runs as the Deployment says, and what is packed runs where nothing else is.

import { execFile, spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync } from "node:fs";
import module from "node:module";
import { cp, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installation } from "./installation.ts";
import type { Io } from "./io.ts";
import { program } from "./program.ts";

const root = join(import.meta.dirname, "../..");
const packed = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string; files: string[] };
const ignored = readFileSync(join(root, ".dockerignore"), "utf8").split("\n");
const lines = readFileSync(join(root, "Dockerfile"), "utf8")
  .replaceAll("\\\n", " ")
  .split("\n")
  .filter(line => line !== "" && !line.startsWith("#"));
const [build = [], image = []] = lines.reduce<string[][]>((stages, line) => {
  if (line.startsWith("FROM ")) stages.push([]);
  stages.at(-1)?.push(line);
  return stages;
}, []);
const argumentsOf = (stage: readonly string[], word: string) =>
  stage.filter(line => line.startsWith(`${word} `)).map(line => line.slice(word.length + 1));

const options = { namespace: "fettle-system", provider: "none", image: "fettle:1", replicas: 2 } as const;
type Container = { args: string[]; command?: string[]; ports: { containerPort: number }[]; securityContext: object };
type Pod = { securityContext: { runAsUser: number }; containers: [Container] };
const pod = (
  installation(options).find(({ kind }) => kind === "Deployment") as unknown as { spec: { template: { spec: Pod } } }
).spec.template.spec;

test("everything that is copied exists, and is not kept from the build", () => {
  const sources = argumentsOf(build, "COPY").flatMap(text => text.split(" ").slice(0, -1));
  expect(sources.filter(source => !existsSync(join(root, source)))).toEqual([]);
  expect(sources.filter(source => !ignored.includes(`!${source}`))).toEqual([]);
});

test("all that the package holds is there when it is packed, and dist is made", () => {
  const copied = argumentsOf(build, "COPY").join(" ").split(" ");
  const held = packed.files.filter(file => file !== "dist" && !file.startsWith("!"));
  expect(held.filter(file => !copied.includes(file))).toEqual([]);
  const made = argumentsOf(build, "RUN").join(" ");
  expect(made).toMatch(/scripts\/build\.mjs.*npm pack/);
});

test("it runs as the Deployment has it run: user, port, entry point", () => {
  const uid = pod.securityContext.runAsUser;
  expect(argumentsOf(image, "USER")).toEqual([`${uid}:${uid}`]);
  expect(argumentsOf(image, "EXPOSE")).toEqual([String(pod.containers[0].ports[0]?.containerPort)]);
  // The Deployment gives arguments only.
  expect(pod.containers[0].command).toBeUndefined();
  expect(JSON.parse(argumentsOf(image, "ENTRYPOINT")[0] ?? "")).toEqual(["node", "/fettle/bin/fettle.mjs"]);
  expect(argumentsOf(image, "COPY")).toEqual(["--from=build /fettle /fettle"]);
});

test("the Deployment's arguments are a command line that fettle takes", () => {
  const [command = "", ...flags] = pod.containers[0].args;
  const known = program({ env: {} } as unknown as Io, "0").commands.find(each => each.name() === command);
  expect(known?.parseOptions(flags).unknown).toEqual([]);
});

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fettle-image-"));
});
afterAll(() => rm(folder, { recursive: true }));

test("what is packed runs alone: no sources, no node_modules", async () => {
  await mkdir(join(folder, "dist"));
  await symlink(join(root, "src"), join(folder, "src"));
  const { build: bundle } = (await import(join(root, "scripts/build.mjs"))) as {
    build: (from: string) => Promise<void>;
  };
  await bundle(folder);
  await rm(join(folder, "src"));
  for (const file of ["bin", "package.json"]) await cp(join(root, file), join(folder, file), { recursive: true });
  expect(await readdir(join(folder, "dist"))).toEqual(["fettle.mjs"]);
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "bin/fettle.mjs"), "--version"], {
    env: {},
  });
  expect(stdout).toBe(`${packed.version}\n`);
  // Whoever starts it next finds what was compiled; Node 20 cannot keep it.
  const kept = "enableCompileCache" in module ? ["compiled"] : [];
  expect(await readdir(join(folder, "dist"))).toEqual([...kept, "fettle.mjs"]);
});

test("what is compiled is kept in the image by the user who runs it, in a folder that is theirs", () => {
  const own = image.findIndex(line => line.startsWith("RUN install") && line.endsWith(" /fettle/dist/compiled"));
  const user = image.findIndex(line => line.startsWith("USER "));
  const started = image.findIndex(line => line.startsWith("RUN ") && line.includes("/fettle/bin/fettle.mjs"));
  expect([own > 0, own < user, user < started]).toEqual([true, true, true]);
});

test.runIf(existsSync("/dev/full"))("a disk that is full is told in a sentence", () => {
  const full = openSync("/dev/full", "w");
  const { status, stderr } = spawnSync(process.execPath, [join(folder, "bin/fettle.mjs"), "crds"], {
    stdio: ["ignore", full, "pipe"],
    env: {},
  });
  closeSync(full);
  expect([status, String(stderr)]).toEqual([1, "fettle: cannot print: no space is left on the device\n"]);
});
