// docs/disruption.md says why a node is still there: with every code that the rules know, and none that they don't; and its
// manifests are ones that we take.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { run } from "../src/cli/program.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/disruption.md"), "utf8");

test("each code of a refusal is told, and only those", () => {
  const folder = join(root, "src/decide/disruption");
  const files = readdirSync(folder).filter(name => name.endsWith(".ts") && !name.includes(".test."));
  const sources = files.map(name => readFileSync(join(folder, name), "utf8")).join("\n");
  const codes = [...sources.matchAll(/\bcode: "([a-z-]+)"/g)].map(([, code]) => code);
  const told = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code);
  expect(new Set(told)).toEqual(new Set(codes));
});

test("each reason of drift is told", () => {
  const drift = readFileSync(join(root, "src/decide/disruption/drift.ts"), "utf8");
  const reasons = [...drift.matchAll(/reason(?::| =) "([A-Za-z]+)"/g)].map(([, reason]) => reason);
  const told = [...page.matchAll(/^\| `([A-Z][A-Za-z]+)` \|/gm)].map(([, reason]) => reason);
  expect(told).toEqual(reasons);
});

test("the calendar is the one that the tests hold", () => {
  const rows = [...page.matchAll(/^(2026-.*)$/gm)].map(([, row]) => row);
  const held = readFileSync(join(root, "test/calendar/004-business-hours.txt"), "utf8").split("\n");
  expect(rows).toHaveLength(4);
  for (const row of rows) expect(held).toContain(row);
});

test.each([...page.matchAll(/^```yaml\n(#[^\n]*)\n([^]*?)^```/gm)].map(([, title, text]) => ({ title, text })))(
  "$title",
  async ({ text = "" }) => {
    const said: string[] = [];
    const io = {
      out: (line: string) => void said.push(line),
      err: (line: string) => void said.push(line),
      stdin: async () => Buffer.from(text),
      colour: false,
      env: {},
      signal: new AbortController().signal,
    };
    expect([await run(["validate", "-"], io, "0"), said.join("")]).toEqual([0, "1 checked, 0 errors\n"]);
  },
);
