#!/usr/bin/env node
// Starts Fettle. In a checkout the bundle is made anew whenever a source file is newer than it.
import { existsSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

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
await import(bundle);
