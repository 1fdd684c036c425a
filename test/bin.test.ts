import { spawn, spawnSync } from "node:child_process";
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

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("whoever ends a simulation by %s ends what it runs in", async (signal, code) => {
  // With the bundle made first, the only child is the simulation.
  ended("--version");
  const outer = spawn(process.execPath, [fettle, "simulate", scenario, "--until", "8000000h"]);
  onTestFinished(() => void outer.kill("SIGTERM"));
  const end = new Promise(resolve => outer.once("exit", (status, by) => resolve(status ?? by)));
  const inner = await childOf(outer.pid ?? 0);
  outer.kill(signal);
  expect(await end).toBe(code);
  expect(() => process.kill(inner, 0)).toThrow("ESRCH");
});

async function childOf(pid: number): Promise<number> {
  for (;;) {
    const { stdout, error } = spawnSync("pgrep", ["-P", `${pid}`], { encoding: "utf8" });
    if (error !== undefined) throw error;
    const found = Number.parseInt(stdout, 10);
    if (found > 0) return found;
    await sleep(20);
  }
}
