// docs/repair.md says why a node was not repaired: with every code that the rules know, and none that they don't; and its
// manifests are ones that we take.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { minuteMs } from "../src/api/time.ts";
import { dryRunCode } from "../src/decide/dry-run.ts";
import { agents, repairStatements } from "../src/provider/repair-statements.ts";
import { examplesOn, validated } from "./page-examples.ts";

const root = join(import.meta.dirname, "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const page = read("docs/repair.md");

/** Where what holds a repair is said. */
const rules = [
  "repair",
  "repair-hold",
  "readiness",
  "brake",
  "safety",
  "settle",
  "correlated",
  "successors",
  "arbitrate",
  "caps",
];

test("each code of a refusal is told, and only those", () => {
  const sources = rules.map(name => read(`src/decide/${name}.ts`)).join("\n");
  const written = [...sources.matchAll(/\bcode(?::| =) ([^,;\n]*)/g)].map(([, value]) => value);
  const codes = [...written.join().matchAll(/"([a-z-]+)"/g)].map(([, code]) => code);
  // Put together from a limit's role.
  expect(written).toContain("`${role}-spent`");
  const told = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, code]) => code);
  expect(new Set(told)).toEqual(new Set([...codes, "budget-spent", "budget-closed", "cap-spent", dryRunCode]));
});

test.each(agents)("the conditions of %s are told, with their bad status and how long they are borne", agent => {
  const [, row = ""] = new RegExp(`^\\| ${agent} \\| (.*) \\|$`, "m").exec(page) ?? [];
  const told = row.split("; ").flatMap(part => {
    const [, types = "", status, minutes] = /^(.*) (\w+) for (\d+)m$/.exec(part) ?? [];
    return types.split(", ").map(type => `${type}=${status} ${minutes}`);
  });
  const asked = repairStatements([agent]).slice(repairStatements().length);
  const words = asked.map(one => `${one.conditionType}=${one.conditionStatus} ${one.toleration / minuteMs}`);
  expect(new Set(told)).toEqual(new Set(words));
});

test.each(examplesOn(page))("$title", async example => {
  expect(await validated(example)).toEqual({ exitCode: 0, said: "1 checked, 0 errors\n" });
});
