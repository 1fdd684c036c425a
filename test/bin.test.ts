import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";

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

test("whoever ends a simulation ends what it runs in", async () => {
  const outer = spawn(process.execPath, [fettle, "simulate", scenario, "--until", "8000000h"]);
  const end = new Promise(resolve => outer.once("exit", (code, signal) => resolve(code ?? signal)));
  const inner = await childOf(outer.pid ?? 0);
  outer.kill("SIGTERM");
  expect(await end).toBe(143);
  expect(() => process.kill(inner, 0)).toThrow("ESRCH");
});

async function childOf(pid: number): Promise<number> {
  for (;;) {
    const found = Number(spawnSync("pgrep", ["-P", `${pid}`], { encoding: "utf8" }).stdout.trim());
    if (found > 0) return found;
    await sleep(20);
  }
}
