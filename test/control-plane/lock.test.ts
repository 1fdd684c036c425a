import { spawnSync } from "node:child_process";
import { access, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withLock } from "./lock.ts";

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "fettle-lock-"));
});
afterAll(() => rm(dir, { recursive: true }));

test("those who want the same lock go one after the other", async () => {
  const path = join(dir, "deep", "one.lock");
  let inside = 0;
  let most = 0;
  let waited = 0;
  const work = async () => {
    most = Math.max(most, ++inside);
    await new Promise(resolve => setImmediate(resolve));
    inside--;
  };
  await Promise.all([1, 2, 3].map(() => withLock(path, work, () => waited++)));
  expect(most).toBe(1);
  expect(waited).toBe(2);
});

test("the lock is given back when the work fails", async () => {
  const path = join(dir, "fails.lock");
  await expect(withLock(path, () => Promise.reject(new Error("no compiler")))).rejects.toThrow("no compiler");
  await expect(access(path)).rejects.toThrow("ENOENT");
});

test("the lock of a process that died is taken over", async () => {
  const path = join(dir, "dead.lock");
  const { pid } = spawnSync(process.execPath, ["--version"]);
  await writeFile(path, String(pid));
  await expect(withLock(path, async () => "built")).resolves.toBe("built");
});
