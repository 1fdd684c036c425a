import { spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { flagsFor } from "./compile-less.ts";

const runs = ["brief", "lasting"] as const;

describe("what V8 is told", () => {
  test.each(runs)("a %s run asks Node 20 by bytes of bytecode, and newer ones by calls", run => {
    expect(flagsFor(run, "11.3.244.8-node.33")).toContainEqual(expect.stringMatching(/^--interrupt-budget=\d+$/));
    expect(flagsFor(run, "13.6.233.17-node.49")).toContainEqual(
      expect.stringMatching(/^--invocation-count-for-turbofan=\d+$/),
    );
  });

  test("garbage is collected by one thread where a process lasts", () => {
    expect(flagsFor("lasting", process.versions.v8)).toContain("--no-parallel-scavenge");
    expect(flagsFor("brief", process.versions.v8)).not.toContain("--no-parallel-scavenge");
  });

  // An unknown flag would be an error on the terminal of whoever starts the program.
  test.each(runs)("the V8 of this Node knows every flag of a %s run", run => {
    const { status, stderr } = spawnSync(process.execPath, [...flagsFor(run, process.versions.v8), "-e", "0"]);
    expect([status, stderr.toString()]).toEqual([0, ""]);
  });
});
