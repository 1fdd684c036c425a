// Finds the programs of the control plane: in KUBEBUILDER_ASSETS, in the cache, or by building them with Go.

import { spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { accessSync, constants, readFileSync } from "node:fs";
import { access, mkdir, rename } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { type Component, recipes } from "./components.ts";
import { withLock } from "./lock.ts";

const moduleDir = import.meta.dirname;

type Environment = Readonly<Record<string, string | undefined>>;

/** One key for all five: they come from one go.sum, and a change of flags is rare. */
export function cacheKey(pins: { goMod: string; goSum: string }, platform = `${process.platform}-${process.arch}`) {
  return createHash("sha256")
    .update(JSON.stringify([pins.goMod, pins.goSum, recipes, platform]))
    .digest("hex")
    .slice(0, 16);
}

export function cacheDir(environment: Environment = process.env): string {
  const base = environment["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const read = (name: string) => readFileSync(join(moduleDir, name), "utf8");
  return join(base, "fettle", "control-plane", cacheKey({ goMod: read("go.mod"), goSum: read("go.sum") }));
}

/** Why these programs cannot be had here, as a sentence; undefined when they can. */
export function whyUnavailable(
  components: readonly Component[],
  environment: Environment = process.env,
  hasGo: () => boolean = goIsInstalled,
): string | undefined {
  const missing = components.filter(component => !inAssets(component, environment));
  if (missing.length === 0 || hasGo()) return undefined;
  return `No real control plane here (${missing.join(", ")}): install Go 1.26 or set KUBEBUILDER_ASSETS to a directory that holds them.`;
}

/**
 * For `describe.skipIf`: true when the suite has nothing to run on. With FETTLE_REQUIRE_CONTROL_PLANE=1 that is an
 * error instead. The one line that says so is printed by global-setup.ts.
 */
export function isUnavailable(...components: readonly Component[]): boolean {
  const reason = whyUnavailable(components);
  if (reason !== undefined && process.env["FETTLE_REQUIRE_CONTROL_PLANE"] === "1") throw new Error(reason);
  return reason !== undefined;
}

/** The path of the program, built first if need be. */
export async function binary(component: Component): Promise<string> {
  const asset = inAssets(component, process.env);
  if (asset !== undefined) return asset;
  const dir = cacheDir();
  const path = join(dir, component);
  if (await exists(path)) return path;
  const reason = whyUnavailable([component]);
  if (reason !== undefined) throw new Error(reason);
  await withLock(
    join(dir, "build.lock"),
    async () => {
      if (!(await exists(path))) await build(component, path);
    },
    () => say(`waiting for another process that builds ${component}`),
  );
  return path;
}

async function build(component: Component, path: string): Promise<void> {
  const { package: goPackage, flags } = recipes[component];
  const temporary = `${path}.${process.pid}.tmp`;
  await mkdir(join(path, ".."), { recursive: true });
  say(`building ${component} with Go (minutes the first time, seconds once Go has its parts)`);
  const started = Date.now();
  const beat = setInterval(() => say(`still building ${component}, ${elapsed(started)}`), 30_000);
  try {
    await run("go", ["build", ...flags, "-o", temporary, goPackage]);
    await rename(temporary, path);
    say(`built ${component} in ${elapsed(started)}`);
  } finally {
    clearInterval(beat);
  }
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: moduleDir, stdio: ["ignore", "ignore", "pipe"] });
    let errors = "";
    child.stderr.on("data", (chunk: Buffer) => {
      errors = (errors + chunk.toString()).slice(-4000);
    });
    child.on("error", reject);
    child.on("close", code =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args.join(" ")} failed:\n${errors}`)),
    );
  });
}

function inAssets(component: Component, environment: Environment): string | undefined {
  const assets = environment["KUBEBUILDER_ASSETS"];
  if (assets === undefined || assets === "") return undefined;
  const path = join(assets, component);
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}

const exists = (path: string) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

function goIsInstalled(): boolean {
  return spawnSync("go", ["version"], { stdio: "ignore" }).status === 0;
}

const elapsed = (since: number) => `${Math.round((Date.now() - since) / 1000)} s`;

/** Past the reporter, which would hold it back until the test ends. */
const say = (line: string) => process.stderr.write(`control-plane: ${line}\n`);
