// The worked examples of budgets, hour by hour over a month: how many of 100 nodes may be going away, by which action.
// The tables lie in test/calendar for people to read; FETTLE_UPDATE=1 writes them anew.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { plannedActions } from "../src/api/budget.ts";
import { civilDate, daysInMonth, weekday } from "../src/api/calendar.ts";
import { type EffectiveNodePool, effectiveNodePool } from "../src/api/effective-node-pool.ts";
import type { NodePoolSpec } from "../src/api/node-pool.ts";
import { dayMs, hourMs, type Instant, minuteMs } from "../src/api/time.ts";
import { timeZone } from "../src/api/time-zone.ts";
import { type Ceiling, ceilingOf } from "../src/decide/budgets.ts";

const nodeCount = 100;

type Calendar = { readonly spec: NodePoolSpec; readonly zone?: string; readonly months: readonly string[] };

function seed(file: string): NodePoolSpec {
  const text = readFileSync(join(import.meta.dirname, "corpus/seeds", file), "utf8");
  return (parse(text) as { spec: NodePoolSpec }).spec;
}

/** The same budgets by another clock. */
function inBerlin(spec: NodePoolSpec): NodePoolSpec {
  const text = JSON.stringify(spec).replaceAll(/("duration":"[^"]+")/g, '$1,"timeZone":"Europe/Berlin"');
  return JSON.parse(text) as NodePoolSpec;
}

// As it stands it breaks the rule that schedule and duration come together: a working day is what its comment speaks of.
const byAction: NodePoolSpec = JSON.parse(
  JSON.stringify(seed("002-budget-by-action.yaml")).replace('"schedule":', '"duration":"8h","schedule":'),
) as NodePoolSpec;
const controls = seed("002-controls-by-action.yaml");
// Of "a || b" the first; budgets do not care.
const businessHours = {
  ...seed("004-budgets.yaml"),
  consolidationPolicy: "WhenUnderutilized",
  consolidateAfter: "10m",
} as const;
const overriding = {
  ...byAction,
  disruption: { ...byAction.disruption, budgetPrecedence: "ActionOverridesAll" },
} as const;
const gap: NodePoolSpec = {
  disruption: { budgets: [{ nodes: "0", schedule: "30 2 * * *", duration: "1h" }, { nodes: "5" }] },
};
const nights: NodePoolSpec = {
  disruption: {
    windows: [
      { schedule: "30 2 * * *", duration: "1h" },
      { schedule: "0 23 * * sat", duration: "6h" },
    ],
    budgets: [{ nodes: "5" }],
  },
};
const changes = { zone: "Europe/Berlin", months: ["2026-03", "2026-10"] };

const calendars: Readonly<Record<string, Calendar>> = {
  "002-budget-by-action": { spec: byAction, months: ["2026-03"] },
  "002-budget-by-action-overriding": { spec: overriding, months: ["2026-03"] },
  "002-controls-by-action": { spec: controls, months: ["2026-03"] },
  "002-controls-by-action-berlin": { spec: inBerlin(controls), ...changes },
  "004-business-hours": { spec: businessHours, months: ["2026-03"] },
  "004-business-hours-berlin": { spec: inBerlin(businessHours), ...changes },
  "004-defaults": { spec: seed("004-defaults.yaml"), months: ["2026-03"] },
  "freeze-inside-the-gap-berlin": { spec: inBerlin(gap), ...changes },
  "only-in-windows-berlin": { spec: inBerlin(nights), ...changes },
};

const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

/** The instants of the hours of a local day: 23, 24 or 25 of them. */
function hoursOf(date: string, zone: string): Instant[] {
  const found = timeZone(zone);
  if (!found.ok) throw new Error(found.error);
  const offsetAt = (instant: Instant) => found.value.stretchAt(instant).offsetMs;
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // A zone's clock never changes at midnight here, so that the offset of the guess is that of the midnight.
  const start = midnight - offsetAt(midnight - offsetAt(midnight));
  const end = midnight + dayMs - offsetAt(midnight + dayMs - offsetAt(midnight + dayMs));
  return Array.from({ length: Math.round((end - start) / hourMs) }, (_, hour) => start + hour * hourMs);
}

function datesOf(month: string): string[] {
  const [year = 0, number = 0] = month.split("-").map(Number);
  return Array.from({ length: daysInMonth(year, number) }, (_, day) => `${month}-${String(day + 1).padStart(2, "0")}`);
}

function row(pool: EffectiveNodePool, action: (typeof plannedActions)[number], hours: readonly Instant[]): string {
  return hours
    .map(at => ceilingOf(pool, action, { at, initialized: nodeCount }).allowed)
    .map(count => (Number.isFinite(count) ? String(count) : "·").padStart(3))
    .join("");
}

function table({ spec, zone = "UTC", months }: Calendar): string {
  const pool = effectiveNodePool(spec);
  const lines = months.flatMap(month => {
    const byRows = new Map<string, string[]>();
    for (const action of plannedActions) {
      const rows = datesOf(month).map(date => {
        const name = days[weekday(Date.parse(`${date}T00:00:00Z`) / dayMs)] ?? "";
        return `${date} ${name} ${row(pool, action, hoursOf(date, zone))}`;
      });
      const text = rows.join("\n");
      byRows.set(text, [...(byRows.get(text) ?? []), action]);
    }
    return [...byRows].map(([rows, actions]) => `${month}, ${zone}: ${actions.join(", ")}\n${rows}\n`);
  });
  const head = `Of ${nodeCount} nodes so many may be going away, from each full hour of the local day on; ·: nothing limits it.`;
  return `${head}\n\n${lines.join("\n")}`;
}

describe.each(Object.entries(calendars))("%s", (name, calendar) => {
  const file = join(import.meta.dirname, "calendar", `${name}.txt`);

  test("allows what it allowed", () => {
    const text = table(calendar);
    if (process.env["FETTLE_UPDATE"] === "1") writeFileSync(file, text);
    expect(text).toBe(readFileSync(file, "utf8"));
  });

  test("changes when it says before, and never in between", () => {
    const pool = effectiveNodePool(calendar.spec);
    const [from = 0] = hoursOf(`${calendar.months[0]}-26`, calendar.zone ?? "UTC");
    for (const action of plannedActions) {
      const at = (instant: Instant) => ceilingOf(pool, action, { at: instant, initialized: nodeCount });
      const wordOf = ({ allowed: count, path = "" }: Ceiling) => `${count} ${path}`;
      let now = at(from);
      for (let instant = from; instant < from + 7 * dayMs; instant += 30 * minuteMs) {
        if (now.changesAt !== undefined && now.changesAt <= instant) {
          expect(wordOf(at(now.changesAt - 1))).toBe(wordOf(now));
          now = at(now.changesAt);
        }
        expect(wordOf(at(instant))).toBe(wordOf(now));
      }
    }
  });
});

test("the calendars cover whole months, and both changes of the clock", () => {
  expect(civilDate(Date.parse("2026-03-29T00:00:00Z") / dayMs)).toEqual({ year: 2026, month: 3, day: 29 });
  expect(hoursOf("2026-03-29", "Europe/Berlin")).toHaveLength(23);
  expect(hoursOf("2026-10-25", "Europe/Berlin")).toHaveLength(25);
  expect(hoursOf("2026-03-28", "Europe/Berlin")).toHaveLength(24);
});
