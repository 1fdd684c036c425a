// The README's two minutes, typed in as they stand: each command of its console blocks prints what the page shows.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { binary, isUnavailable } from "../control-plane/binaries.ts";

const root = join(import.meta.dirname, "../..");
const fettle = join(root, "bin/fettle.mjs");

type Step = { command: string; shown: string[] };

/** Lines after "$ " are commands; what follows one is what it prints. */
const steps: Step[] = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/```console\n([^]*?)```/g)]
  .flatMap(([, block]) => (block ?? "").trimEnd().split("\n$ "))
  .map(text => {
    const [command = "", ...shown] = text.replace(/^\$ /, "").split("\n");
    return { command, shown };
  })
  .filter(({ command }) => !command.startsWith("export "));

/** "…" stands for whatever comes; ages and spaces vary. */
function pattern(shown: readonly string[]): RegExp {
  const lines = shown.map(line =>
    line
      .split("…")
      .map(part => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\b\d+s$/, "\\d+s"))
      .join("[^]*")
      .replace(/ {2,}/g, " +"),
  );
  return new RegExp(`^${lines.join("\n")}`);
}

describe.skipIf(isUnavailable("kubectl"))("the README's two minutes", () => {
  let folder: string;
  let cluster: ChildProcess;
  let kubectl: string;

  beforeAll(async () => {
    kubectl = await binary("kubectl");
    folder = mkdtempSync(join(tmpdir(), "fettle-readme-"));
    // As npm start does it, once the nodes are there.
    cluster = spawn(process.execPath, [fettle, "up", "--kubeconfig", join(folder, "kubeconfig")]);
    let said = "";
    await new Promise<void>((resolve, reject) => {
      cluster.stdout?.on("data", chunk => {
        said += String(chunk);
        if (/web-\S+: in service/.test(said)) resolve();
      });
      cluster.once("exit", code => reject(new Error(`fettle up ended with ${code}`)));
    });
  });

  afterAll(() => {
    cluster.kill("SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  });

  function run(command: string): Promise<string> {
    const [program, ...args] = command.split(" ");
    const [file, rest] =
      program === "kubectl" ? [kubectl, args] : [process.execPath, [fettle, ...args.filter(arg => arg !== "fettle")]];
    const env = {
      ...process.env,
      KUBECONFIG: join(folder, "kubeconfig"),
      // Else kubectl believes for hours what it once heard on the same port.
      KUBECACHEDIR: join(folder, "cache"),
      // Where some libraries paint whether or not anybody sees it.
      CI: "true",
    };
    return new Promise(resolve => {
      execFile(file, rest, { cwd: root, env }, (_, stdout, stderr) => resolve(stdout + stderr));
    });
  }

  test("has commands to try", () => expect(steps.length).toBeGreaterThan(3));

  test.each(steps)("$command", async ({ command, shown }) => {
    const printed = await run(command);
    expect(printed).not.toBe("");
    if (shown.length > 0) expect(printed).toMatch(pattern(shown));
  });
});
