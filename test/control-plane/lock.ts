// A lock between processes, so that two test workers do not build the same thing at once. It saves work and guards
// nothing: what it protects is put in place by a rename. A lock whose process is dead is taken over.

import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 200;

export async function withLock<T>(path: string, work: () => Promise<T>, waiting?: () => void): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  for (let asked = false; !(await acquire(path)); asked = true) {
    if (!asked) waiting?.();
    await sleep(pollMs);
  }
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function acquire(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const owner = Number(await readFile(path, "utf8").catch(() => ""));
  // An empty file is one that its owner has not filled yet.
  if (owner > 0 && !isAlive(owner)) await rm(path, { force: true });
  return false;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
