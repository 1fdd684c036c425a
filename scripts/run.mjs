// Runs a TypeScript program of this repository: node scripts/run.mjs [--node-flag …] bench/store.ts [arguments …]
import { spawn } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const args = process.argv.slice(2);
const flags = args.splice(
  0,
  args.findIndex(arg => arg.endsWith(".ts")),
);
const [entry, ...rest] = args;
if (entry === undefined) {
  console.error("run.mjs: name a .ts file to run");
  process.exit(2);
}

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "dist/run");
mkdirSync(folder, { recursive: true });
const outfile = join(folder, `${basename(entry, ".ts")}-${process.pid}.mjs`);
// Beside the sources' own dependencies, so that packages resolve; import.meta.dirname is that of the source file.
await build({
  entryPoints: [join(root, entry)],
  outfile,
  bundle: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20.19",
  logLevel: "error",
  sourcemap: "inline",
  plugins: [sourceFolders()],
});

const child = spawn(process.execPath, ["--enable-source-maps", ...flags, outfile, ...rest], { stdio: "inherit" });
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
child.on("exit", code => {
  rmSync(outfile, { force: true });
  process.exitCode = code ?? 1;
});

/** A bundled file still finds what lies beside its source. */
function sourceFolders() {
  return {
    name: "source-folders",
    setup(pass) {
      pass.onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        const contents = text
          .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)))
          .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href));
        return { contents, loader: "ts" };
      });
    },
  };
}
