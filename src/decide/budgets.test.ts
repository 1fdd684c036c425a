import { describe, expect, test } from "vitest";
import { type Budget, type BudgetedAction, budgetedActions } from "../api/budget.ts";
import { effectiveNodePool } from "../api/effective-node-pool.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import type { Instant } from "../api/time.ts";
import { ceilingOf } from "./budgets.ts";

// The clock and the size of upstream's budget tests.
const noon = Date.parse("2000-06-15T12:30:30Z");

type Disruption = NonNullable<NodePoolSpec["disruption"]>;
type Asked = { at?: Instant; initialized?: number };

function ask(
  disruption: Disruption,
  action: BudgetedAction = "Drift",
  { at: now = noon, initialized = 100 }: Asked = {},
) {
  return ceilingOf(effectiveNodePool({ disruption }), action, { at: now, initialized });
}

const budgets = (...list: Budget[]): Disruption => ({ budgets: list });
/** Open, and shut, at noon. */
const open = { schedule: "@daily", duration: "13h" };
const shut = { schedule: "@daily", duration: "12h" };
const free = Number.POSITIVE_INFINITY;

describe("budgets as upstream tests them", () => {
  test("B1 one active budget of 0 for all: 0 for every planned action, and none for Repair (H10)", () => {
    const counts = budgetedActions.map(action => ask(budgets({ nodes: "0" }), action).allowed);
    // Repair has its own pace of 10 %.
    expect(counts).toEqual([0, 0, 0, 0, 10]);
  });

  test("B2 B8 no active budget: nothing holds", () => {
    expect(ask(budgets({ nodes: "1", ...shut }))).toMatchObject({ allowed: free });
  });

  test("B3 B4 B5 the smallest of the action's own and of those for all", () => {
    const list = budgets(
      { nodes: "10", reasons: ["Drifted", "Underutilized"] },
      { nodes: "5", ...open },
      { nodes: "4", reasons: ["Underutilized"] },
      { nodes: "1", reasons: ["Empty"], ...shut },
    );
    expect(ask(list, "Drift")).toMatchObject({ allowed: 5, path: "spec.disruption.budgets[1]" });
    expect(ask(list, "Consolidation")).toMatchObject({ allowed: 4, path: "spec.disruption.budgets[2]" });
    expect(ask(list, "Emptiness")).toMatchObject({ allowed: 5, path: "spec.disruption.budgets[1]" });
  });

  test.each([
    ["B6 B16 a schedule", { nodes: "10", schedule: "@never", duration: "1h" }, /@never/],
    ["B7 B16 a count", { nodes: "1000000000000000000000%" }, /is not an amount/],
    ["a time zone", { nodes: "10", schedule: "@daily", duration: "1h", timeZone: "Mars/Olympus" }, /Mars/],
    ["a duration", { nodes: "10", schedule: "@daily", duration: "30s" }, /shorter than a minute/],
  ])("%s that cannot be read: none, and why", (_what, budget, doubt) => {
    expect(ask(budgets(budget as Budget, { nodes: "50" }))).toMatchObject({
      allowed: 0,
      doubt: expect.stringMatching(doubt),
    });
  });

  test.each([
    ["B9 a count", 7, 100, 7],
    ["B10 a percentage", "10%", 100, 10],
    ["rounded up", "10%", 11, 2],
    ["of one node", "1%", 1, 1],
    ["of none", "10%", 0, 0],
    ["all", "100%", 30, 30],
  ])("%s", (_what, nodes, initialized, count) => {
    expect(ask(budgets({ nodes }), "Drift", { initialized }).allowed).toBe(count);
  });

  test("B11 in UTC where nobody names a zone", () => {
    const night = { nodes: "0", schedule: "0 20 * * *", duration: "1h" };
    const at20 = Date.parse("2000-06-15T20:00:00Z");
    expect(ask(budgets(night), "Drift", { at: at20 }).allowed).toBe(0);
    const tokyo = { ...night, timeZone: "Asia/Tokyo" };
    expect(ask(budgets(tokyo), "Drift", { at: at20 }).allowed).toBe(free);
    expect(ask(budgets(tokyo), "Drift", { at: Date.parse("2000-06-15T11:00:00Z") }).allowed).toBe(0);
  });

  test("B12 always active without a schedule", () => {
    expect(ask(budgets({ nodes: "3" }))).toEqual({ allowed: 3, path: "spec.disruption.budgets[0]" });
  });

  test("B13 B15 from the hit until its duration ends, to the millisecond", () => {
    const hour = budgets({ nodes: "0", schedule: "0 9 * * *", duration: "8h" });
    const counts = ["08:59:59.999", "09:00:00.000", "16:59:59.999", "17:00:00.000"].map(
      time => ask(hour, "Drift", { at: Date.parse(`2000-06-15T${time}Z`) }).allowed,
    );
    expect(counts).toEqual([free, 0, 0, free]);
  });

  test("B14 a duration longer than the period: always active", () => {
    expect(ask(budgets({ nodes: "2", schedule: "@hourly", duration: "2h" })).allowed).toBe(2);
  });
});

describe("whose word counts", () => {
  test("the default of 10 % where nobody says anything, also for an empty list", () => {
    expect(ask({})).toEqual({ allowed: 10, path: "default" });
    expect(ask(budgets())).toEqual({ allowed: 10, path: "default" });
  });

  test("both places together, the default only for what neither names", () => {
    const both: Disruption = {
      budgets: [{ nodes: 7, action: "Drift" }],
      actionControls: { Drift: { budgets: [{ nodes: 3 }] } },
    };
    expect(ask(both, "Drift")).toEqual({ allowed: 3, path: "spec.disruption.actionControls.Drift.budgets[0]" });
    expect(ask(both, "Emptiness")).toEqual({ allowed: 10, path: "default" });
  });

  test("ActionOverridesAll: an action's own budget replaces those for all, while it is active", () => {
    const list: Budget[] = [
      { nodes: 2 },
      { nodes: 15, action: "Drift", ...open },
      { nodes: 9, action: "Emptiness", ...shut },
    ];
    const overriding: Disruption = { budgets: list, budgetPrecedence: "ActionOverridesAll" };
    expect(ask(overriding, "Drift")).toMatchObject({ allowed: 15, path: "spec.disruption.budgets[1]" });
    expect(ask(overriding, "Emptiness")).toMatchObject({ allowed: 2, path: "spec.disruption.budgets[0]" });
    expect(ask(budgets(...list), "Drift")).toMatchObject({ allowed: 2 });
  });

  test("Repair is held by a budget that names it, and then its pace is nobody's", () => {
    expect(ask(budgets({ nodes: "0", action: "Repair" }), "Repair")).toMatchObject({ allowed: 0 });
    expect(ask(budgets({ nodes: "0", reasons: ["Unhealthy"] }), "Repair")).toMatchObject({ allowed: 0 });
    expect(ask(budgets({ nodes: "0", action: "Repair", ...shut }), "Repair")).toMatchObject({ allowed: free });
    expect(ask({}, "Repair", { initialized: 0 })).toEqual({ allowed: 1, path: "default" });
  });

  test("planned disruption happens only inside the pool's windows", () => {
    const windows = [
      { schedule: "0 2 * * *", duration: "2h" },
      { schedule: "0 13 * * *", duration: "1h" },
    ];
    expect(ask({ windows })).toEqual({
      allowed: 0,
      path: "spec.disruption.windows",
      changesAt: Date.parse("2000-06-15T13:00:00Z"),
    });
    expect(ask({ windows }, "Drift", { at: Date.parse("2000-06-15T13:00:00Z") })).toMatchObject({
      allowed: 10,
      path: "default",
    });
    expect(ask({ windows }, "Repair").allowed).toBe(10);
    const unread = [{ schedule: "sometimes", duration: "2h" }];
    expect(ask({ windows: unread })).toMatchObject({ allowed: 0, doubt: expect.stringContaining("sometimes") });
  });
});

describe("when the answer changes", () => {
  test("at the edge of a window", () => {
    expect(ask(budgets({ nodes: "0", ...open }, { nodes: 5 })).changesAt).toBe(Date.parse("2000-06-15T13:00:00Z"));
    expect(ask(budgets({ nodes: "0", ...shut }, { nodes: 5 })).changesAt).toBe(Date.parse("2000-06-16T00:00:00Z"));
  });

  test("not at an edge behind which the same budget decides", () => {
    expect(ask(budgets({ nodes: 9, ...open }, { nodes: 5 })).changesAt).toBeUndefined();
    const often = { nodes: 9, schedule: "*/10 * * * *", duration: "5m" };
    const freeze = { nodes: 0, schedule: "0 0 15 6 *", duration: "240h" };
    expect(ask(budgets(often, freeze)).changesAt).toBe(Date.parse("2000-06-25T00:00:00Z"));
    const list = budgets(
      { nodes: 9, schedule: "0 13 15 6 *", duration: "1h" },
      { nodes: 0, schedule: "0 18 15 6 *", duration: "1h" },
      { nodes: 5 },
    );
    expect(ask(list).changesAt).toBe(Date.parse("2000-06-15T18:00:00Z"));
  });

  test("never without windows, and whatever it says is so until then", () => {
    expect(ask(budgets({ nodes: 5 })).changesAt).toBeUndefined();
    const { changesAt = noon, ...now } = ask(budgets({ nodes: "0", ...open }, { nodes: 5 }));
    expect(ask(budgets({ nodes: "0", ...open }, { nodes: 5 }), "Drift", { at: changesAt - 1 })).toEqual({
      ...now,
      changesAt,
    });
    expect(ask(budgets({ nodes: "0", ...open }, { nodes: 5 }), "Drift", { at: changesAt })).toMatchObject({
      allowed: 5,
    });
  });
});
