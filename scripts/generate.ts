// Writes what is made from the definitions in src/api: npm run generate. Files that no definition makes are removed.

import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generatedFiles } from "../src/api/generated.ts";

const root = join(import.meta.dirname, "..");
const files = generatedFiles();
for (const folder of new Set([...files.keys()].map(dirname))) {
  mkdirSync(join(root, folder), { recursive: true });
  for (const name of readdirSync(join(root, folder))) {
    if (!files.has(`${folder}/${name}`)) rmSync(join(root, folder, name));
  }
}
for (const [path, text] of files) writeFileSync(join(root, path), text);
process.stdout.write(`${files.size} files written\n`);
