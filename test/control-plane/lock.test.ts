import { access, mkdtemp, rm, stat, utimes, writeFile } from "node:fs/promises";
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

test.each([
  { what: "long ago", beatenAt: Date.now() - 60_000 },
  { what: "by a clock that was set back since", beatenAt: Date.now() + 3_600_000 },
])("a lock last beaten $what is taken over, whatever it says", async ({ what, beatenAt }) => {
  const path = join(dir, `${what}.lock`);
  await writeFile(path, "");
  await utimes(path, new Date(beatenAt), new Date(beatenAt));
  await expect(withLock(path, async () => "built")).resolves.toBe("built");
});

test("a lock is beaten while the work goes on", async () => {
  const path = join(dir, "beaten.lock");
  const long = new Date(0);
  await withLock(path, async () => {
    await utimes(path, long, long);
    await expect.poll(async () => (await stat(path)).mtimeMs, { timeout: 30_000 }).toBeGreaterThan(0);
  });
});
