import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, test } from "vitest";

// A program that says in its log who it is and then waits, deaf to a polite end.
const deaf = "process.on('SIGTERM', () => {}); console.log(process.pid); setInterval(() => {}, 1000)";
const guardianPath = join(import.meta.dirname, "guardian.mjs");

function startParent(dir: string, programs: readonly string[]): ChildProcess {
  const lines = programs.map((code, index) => ({
    name: `p${index}`,
    file: process.execPath,
    args: ["-e", code],
    log: join(dir, `p${index}.log`),
  }));
  const parent = `
    const guardian = require("node:child_process").spawn(process.execPath, ${JSON.stringify([guardianPath, dir])}, {
      stdio: ["pipe", "inherit", "inherit"], detached: true,
    });
    for (const line of ${JSON.stringify(lines)}) guardian.stdin.write(JSON.stringify(line) + "\\n");
    process.on("SIGUSR2", () => guardian.stdin.end());
    guardian.on("exit", () => process.exit(0));
  `;
  return spawn(process.execPath, ["-e", parent], { stdio: ["ignore", "pipe", "inherit"] });
}

const pidIn = (log: string) => (existsSync(log) ? Number(readFileSync(log, "utf8")) : 0);

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test.each([
  ["is killed", "SIGKILL"],
  ["asks for the end", "SIGUSR2"],
] as const)("programs and directory go when the test process %s", async (_, signal) => {
  const dir = mkdtempSync(join(tmpdir(), "fettle-guardian-"));
  const parent = startParent(dir, [deaf, deaf]);
  const logs = [join(dir, "p0.log"), join(dir, "p1.log")];
  await expect.poll(() => logs.every(log => pidIn(log) > 0), { timeout: 20_000 }).toBe(true);
  const pids = logs.map(pidIn);
  parent.kill(signal);
  await expect.poll(() => existsSync(dir), { timeout: 20_000 }).toBe(false);
  expect(pids.filter(isAlive)).toEqual([]);
});

test("the parent hears of a program that ends by itself or is killed", async () => {
  const dir = mkdtempSync(join(tmpdir(), "fettle-guardian-"));
  const parent = startParent(dir, ["process.exit(7)", "process.kill(process.pid, 'SIGKILL')"]);
  const heard: unknown[] = [];
  // Piped by startParent.
  createInterface({ input: parent.stdout! }).on("line", line => heard.push(JSON.parse(line)));
  await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(2);
  expect(heard).toEqual(
    expect.arrayContaining([
      { name: "p0", code: 7 },
      { name: "p1", code: -1 },
    ]),
  );
  parent.kill("SIGKILL");
  await expect.poll(() => existsSync(dir), { timeout: 20_000 }).toBe(false);
});
