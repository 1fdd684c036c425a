// Writes what is made from the definitions in src/api, what fettle install prints, and the pages of commands and
// metrics: npm run generate. Files that no definition makes are removed.

import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { generatedFiles } from "../src/api/generated.ts";
import { commandsPage } from "../src/cli/commands-page.ts";
import { installationYaml } from "../src/cli/install.ts";
import { metricsPage } from "../src/web/metrics-page.ts";

const root = join(import.meta.dirname, "..");
const files = generatedFiles();
for (const folder of new Set([...files.keys()].map(dirname))) {
  mkdirSync(join(root, folder), { recursive: true });
  for (const name of readdirSync(join(root, folder))) {
    if (!files.has(`${folder}/${name}`)) rmSync(join(root, folder, name));
  }
}
for (const [path, text] of files) writeFileSync(join(root, path), text);
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
writeFileSync(join(root, "deploy/fettle.yaml"), installationYaml(version));
writeFileSync(join(root, "docs/metrics.md"), metricsPage());
writeFileSync(join(root, "docs/commands.md"), commandsPage(version));
process.stdout.write(`${files.size + 3} files written\n`);
