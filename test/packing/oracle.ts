// Asks kube-scheduler's own filters, through the program in control-plane/cmd/scheduler-oracle, which it builds first
// if need be. Knows nothing about scheduling itself.

import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Problem } from "../../src/decide/packing/problem.ts";
import { cacheDir, whyUnavailable } from "../control-plane/binaries.ts";
import { withLock } from "../control-plane/lock.ts";

const moduleDir = join(import.meta.dirname, "..", "control-plane");
const sourceDir = join(moduleDir, "cmd", "scheduler-oracle");

/** What keeps a pod ("namespace/name") from each node, "" for nothing. */
export type OracleAnswer = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A sentence; undefined when the oracle can be had. Assets alone are not enough: this needs Go itself. */
export function whyNoOracle(): string | undefined {
  return whyUnavailable(["kube-scheduler"], {});
}

export async function askOracle(problems: readonly Problem[]): Promise<OracleAnswer[]> {
  const program = await oracleProgram();
  const questions = problems.map(problem => `${JSON.stringify(asObjects(problem))}\n`).join("");
  const output = await answersOf(program, questions);
  const lines = output.split("\n").filter(line => line !== "");
  return lines.map((line, index) => {
    const answer = JSON.parse(line) as { pods?: OracleAnswer; error?: string };
    if (answer.error !== undefined) throw new Error(`The oracle cannot read world ${index}: ${answer.error}`);
    return answer.pods ?? {};
  });
}

async function oracleProgram(): Promise<string> {
  const sources = readdirSync(sourceDir).sort();
  const hash = createHash("sha256");
  for (const name of sources) hash.update(readFileSync(join(sourceDir, name)));
  const program = join(cacheDir(), `scheduler-oracle-${hash.digest("hex").slice(0, 16)}`);
  await mkdir(cacheDir(), { recursive: true });
  await withLock(join(cacheDir(), "build.lock"), async () => {
    if (existsSync(program)) return;
    const temporary = `${program}.${process.pid}.tmp`;
    // The flags of the control plane's programs, so that Go finds their parts compiled already.
    const args = ["build", "-trimpath", "-ldflags", "-s -w", "-o", temporary, "./cmd/scheduler-oracle"];
    await promisify(execFile)("go", args, { cwd: moduleDir });
    await rename(temporary, program);
  });
  return program;
}

function asObjects({ nodes, pods, bound, namespaces, claims, volumes, storageClasses, csiNodes }: Problem): object {
  return { nodes: nodes.map(({ node }) => node), pods, bound, namespaces, claims, volumes, storageClasses, csiNodes };
}

function answersOf(program: string, input: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, ["-workers", "16"], { stdio: ["pipe", "pipe", "pipe"] });
    const output: Buffer[] = [];
    let errors = "";
    child.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => (errors = (errors + chunk.toString()).slice(-4000)));
    child.on("error", reject);
    child.on("close", code => {
      if (code === 0) resolve(Buffer.concat(output).toString());
      else reject(new Error(`The oracle ended with ${code}:\n${errors}`));
    });
    child.stdin.end(input);
  });
}
