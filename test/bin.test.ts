import { spawn, spawnSync } from "node:child_process";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";

const root = join(import.meta.dirname, "..");
const fettle = join(root, "bin/fettle.mjs");
const scenario = join(root, "scenarios/disruption-budget.yaml");

function ended(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [fettle, ...args], { encoding: "utf8" });
  return { status, said: stdout + stderr };
}

test("a simulation says what it has to say, and ends with its own answer", () => {
  expect(ended("simulate", scenario)).toMatchObject({ status: 0, said: expect.stringContaining("All held.") });
  const cutShort = ended("simulate", scenario, "--until", "10m");
  expect(cutShort).toMatchObject({ status: 1, said: expect.stringContaining("Failed: ") });
});

test("a command line that makes no sense is told so through it, too", () => {
  const { status, said } = ended("simulate", scenario, "--until", "soon");
  expect(status).toBe(2);
  expect(said).toContain("--until");
});

/** This Node puts what it starts anew in its own place; an older one has a child for it. */
const replaces = "execve" in process;

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("whoever ends a simulation by %s ends what it runs in", async (signal, code) => {
  // With the bundle made first, nothing else is started.
  ended("--version");
  const outer = spawn(process.execPath, [fettle, "simulate", scenario, "--until", "8000000h"]);
  onTestFinished(() => void outer.kill("SIGTERM"));
  const end = new Promise(resolve =>
    outer.once("exit", (status, by) => resolve(status ?? 128 + constants.signals[by!])),
  );
  const inner = await startedAnew(outer.pid ?? 0, "--max-semi-space-size=64");
  outer.kill(signal);
  expect(await end).toBe(code);
  expect(() => process.kill(inner, 0)).toThrow("ESRCH");
});

test("a controller stays one process, and its young generation small: an older Node keeps that so by itself", () => {
  const telling = "data:text/javascript,console.log(`pid ${process.pid} ${process.execArgv.join(' ')}`)";
  const { stdout } = spawnSync(process.execPath, ["--import", telling, fettle, "run", "--help"], { encoding: "utf8" });
  expect(new Set(stdout.match(/pid \d+/g)).size).toBe(1);
  expect(stdout.includes(" --max-semi-space-size=16 ")).toBe(replaces);
  expect(stdout).toContain("Usage: fettle run");
});

/** The process that has been told so. */
async function startedAnew(pid: number, flag: string): Promise<number> {
  for (;;) {
    const found = replaces ? pid : childOf(pid);
    if (found > 0 && commandOf(found).includes(flag)) return found;
    await sleep(20);
  }
}

const commandOf = (pid: number) => said("ps", "-o", "args=", "-p", `${pid}`);
const childOf = (pid: number) => Number.parseInt(said("pgrep", "-P", `${pid}`), 10);

function said(program: string, ...args: readonly string[]): string {
  const { stdout, error } = spawnSync(program, args, { encoding: "utf8" });
  if (error !== undefined) throw error;
  return stdout;
}
