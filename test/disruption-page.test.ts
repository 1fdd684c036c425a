// docs/disruption.md says why a node is still there: with every code that the rules know, and none that they don't; and its
// manifests are ones that we take.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { examplesOn, validated } from "./page-examples.ts";

const root = join(import.meta.dirname, "..");
const page = readFileSync(join(root, "docs/disruption.md"), "utf8");

const source = (path: string) => readFileSync(join(root, path), "utf8");
const sourcesIn = (folder: string) =>
  readdirSync(join(root, folder))
    .filter(name => name.endsWith(".ts") && !name.includes(".test."))
    .map(name => source(join(folder, name)))
    .join("\n");
const codesIn = (text: string) => [...text.matchAll(/\bcode: "([a-z-]+)"/g)].map(([, code]) => code);
const rowsOf = (text: string) => [...text.matchAll(/^\| (`[^|]+) \|/gm)].map(([, codes]) => codes ?? "");
const toldIn = (text: string) =>
  rowsOf(text).flatMap(codes => [...codes.matchAll(/`([a-z-]+)`/g)].map(([, code]) => code));

const [nodes = "", actions = ""] = page.split("What holds a NodeAction that is written");

test("each code of a refusal is told, and only those", () => {
  // What a budget of none is called is the same for nodes and for actions.
  const codes = [...codesIn(sourcesIn("src/decide/disruption")), ...codesIn(source("src/decide/budgets.ts"))];
  expect(new Set(toldIn(nodes))).toEqual(new Set(codes));
});

test("what is told of actions that wait, some rule says", () => {
  const told = toldIn(actions);
  expect(told.length).toBeGreaterThan(0);
  const known = codesIn(sourcesIn("src/decide"));
  for (const code of told) expect(known).toContain(code);
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

test.each(examplesOn(page))("$title", async example => {
  expect(await validated(example)).toEqual({ exitCode: 0, said: "1 checked, 0 errors\n" });
});
