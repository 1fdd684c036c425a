// Runs kubectl against one of the two servers, with nothing of the user's own configuration in reach.

import { spawn } from "node:child_process";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type Outcome = { code: number; stdout: string; stderr: string };

export type Call = {
  args: readonly string[];
  /** What stands on standard input. */
  input?: string;
  /** A sed script that plays the person in front of `kubectl edit`. */
  editor?: string;
  /** Ended with Ctrl-C once this many lines have been printed. */
  lines?: number;
};

export type Kubectl = { run(call: Call): Running; remove(): Promise<void> };

export type Running = {
  /** Resolves once the first line is out: then a watch stands. */
  firstLine: Promise<void>;
  outcome: Promise<Outcome>;
};

export async function kubectlFor(program: string, kubeconfig: string): Promise<Kubectl> {
  const home = await mkdtemp(join(tmpdir(), "fettle-kubectl-"));
  const config = join(home, "config");
  await writeFile(config, kubeconfig, { mode: 0o600 });
  return {
    run: call => start(program, { call, home, config }),
    remove: () => rm(home, { recursive: true, force: true }),
  };
}

function start(program: string, { call, home, config }: { call: Call; home: string; config: string }): Running {
  let sawFirstLine = () => {};
  const firstLine = new Promise<void>(resolve => (sawFirstLine = resolve));
  const outcome = (async () => {
    const editor = call.editor === undefined ? {} : { KUBE_EDITOR: await editorScript(home, call.editor) };
    const env = { HOME: home, KUBECONFIG: config, PATH: process.env["PATH"], TZ: "UTC", ...editor };
    return collect(spawn(program, call.args, { env }), call, () => sawFirstLine());
  })();
  return { firstLine, outcome };
}

function collect(child: ReturnType<typeof spawn>, call: Call, sawFirstLine: () => void): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      stdout += chunk.toString();
      if (stdout.includes("\n")) sawFirstLine();
      if (call.lines !== undefined && stdout.split("\n").length > call.lines) child.kill("SIGKILL");
    });
    child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.once("error", reject);
    child.once("close", code => {
      sawFirstLine();
      resolve({ code: code ?? 0, stdout, stderr });
    });
    child.stdin?.end(call.input ?? "");
  });
}

async function editorScript(home: string, sed: string): Promise<string> {
  const path = join(await mkdtemp(join(home, "editor-")), "edit");
  await writeFile(path, `#!/bin/sh\nsed -i -e '${sed}' "$1"\n`);
  await chmod(path, 0o700);
  return path;
}
