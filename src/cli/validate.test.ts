import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Io } from "./io.ts";
import { run } from "./program.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "fettle-validate-"));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs the command on standard input, or on a file where one is named. */
async function validate(text: string, ...args: string[]) {
  const printed = { out: "", err: "" };
  const io: Io = {
    out: part => void (printed.out += part),
    err: part => void (printed.err += part),
    stdin: async () => new TextEncoder().encode(text),
    colour: false,
    env: {},
    signal: new AbortController().signal,
  };
  const code = await run(["validate", ...(args.length > 0 ? args : ["-"])], io, "0");
  return { code, ...printed };
}

const pool = (spec: string) => `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: p}\nspec:\n${spec}\n`;

describe("fettle validate", () => {
  test("is silent about a good manifest but for the count", async () => {
    expect(await validate(pool("  repair:\n    defaultTolerationDuration: 30m"))).toEqual({
      code: 0,
      out: "",
      err: "1 checked, 0 errors\n",
    });
  });

  test("places each finding: file, line, column, path, message", async () => {
    const path = join(folder, "pool.yaml");
    await writeFile(path, pool("  disruption:\n    budgets:\n    - nodes: 10\n    - nodes: 101%"));
    const { code, out } = await validate("", path);
    expect(code).toBe(1);
    expect(out).toMatch(/pool\.yaml:8:7 spec\.disruption\.budgets\[1\]\.nodes: Invalid value: /);
  });

  test("knows the field that was meant", async () => {
    const { code, out } = await validate(pool("  disruption:\n    budget: []"));
    expect([code, out]).toEqual([
      1,
      '<stdin>:6:5 spec.disruption.budget: unknown field "spec.disruption.budget"; did you mean "budgets"?\n',
    ]);
  });

  test("shows a hundred unknown fields and counts the rest", async () => {
    const fields = Array.from({ length: 2_000 }, (_, i) => `  unknown${i}: 1`).join("\n");
    const { code, out } = await validate(pool(fields));
    expect(code).toBe(1);
    expect(out.split("\n")).toHaveLength(102);
    expect(out).toContain("<stdin>:1:1 1900 more unknown fields\n");
  });

  test.each([
    ["karpenter.sh/v1", "NodePol", /:2:1 kind: karpenter\.sh has no kind "NodePol"; did you mean "NodePool"\?/],
    ["karpenter.sh/v1alpha5", "NodePool", /:1:1 apiVersion: .* use karpenter\.sh\/v1, karpenter\.sh\/v1beta1/],
    ["fettle.dev/v1alpha1", "Widget", /has no kind "Widget"; it has NodeAction, /],
  ])("refuses %s %s", async (apiVersion, kind, line) => {
    const { code, out } = await validate(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: x}\n`);
    expect(code).toBe(1);
    expect(out).toMatch(line);
  });

  test("does not judge kinds of others", async () => {
    expect(await validate("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nnonsense: 1\n")).toEqual({
      code: 0,
      out: "",
      err: "0 checked, 0 errors, 1 of other kinds not judged\n",
    });
  });

  test("marks what no API server would refuse", async () => {
    const { code, out } = await validate(
      pool('  disruption:\n    budgets:\n    - {nodes: 0, schedule: "61 * * * *", duration: 1h}'),
    );
    expect(code).toBe(1);
    expect(out).toMatch(/^<stdin>:7:18 spec\.disruption\.budgets\[0\]\.schedule: .*61.* \(offline\)\n$/);
  });

  test("warns without failing", async () => {
    const { code, out } = await validate(
      pool('  disruption:\n    budgets:\n    - {nodes: 0, schedule: "0 9 * * *", duration: 1h}'),
    );
    expect(code).toBe(0);
    expect(out).toContain("warning:");
  });

  test("gives the same as JSON", async () => {
    const { code, out } = await validate(pool("  weight: 101"), "-o", "json", "-");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject([
      {
        file: "<stdin>",
        line: 5,
        column: 3,
        path: "spec.weight",
        severity: "error",
        offline: false,
        object: "NodePool/p",
      },
    ]);
  });

  test.each([
    ["nothing at all", "", /^<stdin>:1:1 there is no object in it/],
    ["a text that is no YAML", "a: [", /<stdin>:\d+:\d+ /],
    ["a list where an object belongs", "- 1", /an object is expected/],
    ["a number for apiVersion", "apiVersion: 5\nkind: NodePool", /apiVersion: Invalid value: 5: must be a string/],
    ["an object without a kind", "apiVersion: karpenter.sh/v1", /kind: Required value/],
  ])("says in a sentence what is wrong with %s", async (_, text, sentence) => {
    const { code, out, err } = await validate(text);
    expect(code).toBe(1);
    expect(out + err).toMatch(sentence);
    expect(out + err).not.toMatch(/\bat .*:\d+:\d+\)/);
  });

  test("without a path it is wrong usage", async () => {
    const printed = { err: "" };
    const io = { out: () => {}, err: (part: string) => void (printed.err += part) } as unknown as Io;
    expect(await run(["validate"], io, "0")).toBe(2);
    expect(printed.err).toContain("missing required argument 'path'");
  });
});
