#!/usr/bin/env node
// Starts Fettle. In a checkout the bundle is made anew whenever a source file is newer than it.
import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { constants } from "node:os";
import { fileURLToPath } from "node:url";
import { nodeFlagsFor } from "./node-flags.mjs";

const root = new URL("..", import.meta.url);
const bundle = new URL("dist/fettle.mjs", root);
const source = new URL("src/", root);

function newest(folder) {
  let at = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const url = new URL(entry.isDirectory() ? `${entry.name}/` : entry.name, folder);
    at = Math.max(at, entry.isDirectory() ? newest(url) : statSync(url).mtimeMs);
  }
  return at;
}

if (existsSync(source)) {
  const builtAt = existsSync(bundle) ? statSync(bundle).mtimeMs : 0;
  if (newest(source) > builtAt) {
    const { build } = await import(new URL("scripts/build.mjs", root));
    await build(fileURLToPath(root));
  }
}

const args = process.argv.slice(2);
const flags = nodeFlagsFor(args[0]);
if (flags.length === 0) await import(bundle);
else inChild([...flags, ...process.execArgv, fileURLToPath(bundle), ...args]);

/** Flags hold from the start of a process on. It ends as the child does, and the child with it. */
function inChild(nodeArgs) {
  const child = spawn(process.execPath, nodeArgs, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal];
  });
}
