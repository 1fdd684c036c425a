// A lock between processes, so that two test workers do not build the same thing at once. It saves work and guards
// nothing: what it protects is put in place by a rename. Its owner beats, as a node does; one that went silent is dead,
// also when it died before its first word or another process has its number now.

import { mkdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const pollMs = 200;
const beatMs = 1000;
const silentMs = 15_000;

export async function withLock<T>(path: string, work: () => Promise<T>, waiting?: () => void): Promise<T> {
  await mkdir(dirname(path), { recursive: true });
  for (let asked = false; !(await acquire(path)); asked = true) {
    if (!asked) waiting?.();
    await sleep(pollMs);
  }
  const beat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, beatMs);
  try {
    return await work();
  } finally {
    clearInterval(beat);
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
  const beatenAt = await stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => Date.now(),
  );
  // A beat of the future is from before somebody set the clock back.
  if (Math.abs(Date.now() - beatenAt) > silentMs) await rm(path, { force: true });
  return false;
}
