// The committed vectors are what Go and Kubernetes answer today, at the pins of go.mod.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { whyUnavailable } from "./binaries.ts";

// Assets alone cannot write vectors: this needs Go itself.
const whyNot = whyUnavailable(["etcd"], {});
if (whyNot !== undefined && process.env["FETTLE_REQUIRE_CONTROL_PLANE"] === "1") throw new Error(whyNot);

const committedDir = join(import.meta.dirname, "..", "vectors");
const filesIn = (dir: string) => readdirSync(dir).filter(name => name.endsWith(".json"));

describe.skipIf(whyNot !== undefined)("the vectors", () => {
  let fresh = "";
  beforeAll(() => {
    fresh = mkdtempSync(join(tmpdir(), "fettle-vectors-"));
    const { status, stderr } = spawnSync("go", ["run", "./cmd/vectors", fresh], {
      cwd: import.meta.dirname,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`go run ./cmd/vectors failed:\n${stderr}`);
  });
  afterAll(() => rmSync(fresh, { recursive: true, force: true }));

  test("are all there, and no other", () => {
    expect(filesIn(committedDir)).toEqual(filesIn(fresh));
  });

  test.each(filesIn(committedDir))(
    "in %s are as a fresh run writes them (if not: go run ./cmd/vectors ../vectors)",
    name => {
      const isSame = readFileSync(join(fresh, name)).equals(readFileSync(join(committedDir, name)));
      expect(isSame).toBe(true);
    },
  );
});
