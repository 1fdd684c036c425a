import { expect, test } from "vitest";
import { kinds } from "./kinds.ts";
import { nodeHealthChecks } from "./node-health-check.ts";
import { nodePools } from "./node-pool.ts";
import { referenceIndex, referencePage } from "./reference.ts";
import type { Schema } from "./schema/schema.ts";

const pool = referencePage(nodePools);
const rowOf = (page: string, field: string) => page.split("\n").find(line => line.startsWith(`| \`${field}\` |`));

test("a field's row has its type with bounds, its default and its meaning", () => {
  expect(rowOf(pool, "replicas")).toMatch(/integer 0–2147483647 \|  \| Keep exactly this many nodes/);
  expect(rowOf(pool, "escalateAfter")).toMatch(/duration \| `10m` \|/);
});

test("a default that no CRD carries is shown as well", () => {
  expect(rowOf(referencePage(nodeHealthChecks), "maxUnhealthy")).toMatch(/count or percentage \| `49%` \|/);
  expect(rowOf(pool, "weight")).toMatch(/\| `0` \|/);
});

test("what must be there says so", () => {
  expect(rowOf(pool, "conditionType")).toMatch(/\| required \|/);
});

test("a shape that occurs twice is told once, and both places point to it", () => {
  expect(pool.match(/^## .*[tT]aints\[\]$/gm)).toEqual(["## spec.template.spec.taints[]"]);
  expect(rowOf(pool, "startupTaints")).toContain("[spec.template.spec.taints[]](#spectemplatespectaints)");
  expect(rowOf(pool, "genericPerActionControls")).toContain("(#specdisruptionactioncontrols)");
});

test("every link leads to a heading of the page", () => {
  for (const page of kinds.map(referencePage)) {
    const anchors = [...page.matchAll(/^## (.*)$/gm)].map(([, heading = ""]) =>
      heading.toLowerCase().replaceAll(/[^a-z0-9]/g, ""),
    );
    const links = [...page.matchAll(/\]\(#([^)]*)\)/g)].map(([, link]) => link);
    expect(links.filter(link => !anchors.includes(link ?? ""))).toEqual([]);
  }
});

test("rules stand where they hold, in the words of the refusal", () => {
  const [, budgets = ""] = pool.split("## spec.disruption.budgets[]\n");
  expect(budgets.split("\n## ")[0]).toContain("- schedule and duration come together or not at all\n");
});

function fieldNames({ properties = {}, items, additionalProperties }: Schema): string[] {
  const inner = [items, additionalProperties].filter(schema => typeof schema === "object");
  return [...Object.keys(properties), ...[...Object.values(properties), ...inner].flatMap(fieldNames)];
}

test.each(kinds)("every field of $resource.kind is on its page", kind => {
  const { spec = {}, status = {} } = kind.schema.properties ?? {};
  const page = referencePage(kind);
  const missing = [...fieldNames(spec), ...fieldNames(status)].filter(name => rowOf(page, name) === undefined);
  expect(missing).toEqual([]);
});

test("the index names every kind and every finding that only we can make", () => {
  const index = referenceIndex(kinds);
  for (const { resource } of kinds) expect(index).toContain(`[${resource.kind}]`);
  expect(index).toContain("| `unlimited-at-times` | warning |");
});
