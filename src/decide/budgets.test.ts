import { describe, expect, test } from "vitest";
import { aClaim, aNode, anAction, aPool, at, aWorld, type WorldOptions } from "../../test/builders.ts";
import { settings } from "../../test/termination-world.ts";
import { type Budget, type BudgetedAction, budgetedActions } from "../api/budget.ts";
import { effectiveNodePool } from "../api/effective-node-pool.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import { formatTime, type Instant } from "../api/time.ts";
import { arbitrate } from "./arbitrate.ts";
import { HealthCounts } from "./brake-counts.ts";
import { allowed, budgetLimits } from "./budgets.ts";
import type { Context, Proposal } from "./decision.ts";

// The clock and the size of upstream's budget tests.
const noon = Date.parse("2000-06-15T12:30:30Z");

type Disruption = NonNullable<NodePoolSpec["disruption"]>;
type Asked = { at?: Instant; initialized?: number };

function ask(
  disruption: Disruption,
  action: BudgetedAction = "Drift",
  { at: now = noon, initialized = 100 }: Asked = {},
) {
  return allowed(effectiveNodePool({ disruption }), action, { at: now, initialized });
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

describe("budgets as limits of the arbiter", () => {
  function limits(spec: NodePoolSpec, world: WorldOptions = {}, now: Instant = noon) {
    const pool = aPool("web", { spec });
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const claims = names.map(name => aClaim(name, { pool: "web" }));
    const nodes = names.map(name => aNode(name));
    const picture = aWorld({ pools: [pool], claims, nodes, ...world });
    const health = new HealthCounts();
    for (const subject of picture.subjects("node")) health.recount(subject, { picture, now });
    return budgetLimits([pool], health, { picture, now });
  }
  const proposal = (action: Proposal["action"], claim = "n1"): Proposal => ({
    node: { name: claim, uid: `${claim}-uid` },
    claim: { name: claim, uid: `${claim}-claim-uid` },
    action,
    method: "Terminate",
    askedBy: { kind: "NodePool", name: "web" },
    message: "",
    evidence: [],
    dueAt: noon,
  });

  test("what is granted to one action is counted by the budgets of the others", () => {
    const each = (["Drift", "Emptiness", "Repair"] as const).map(action => ({ nodes: 1, action }));
    const pool = aPool("web", { spec: { disruption: budgets(...each) } });
    const names = each.map(({ action }) => action.toLowerCase());
    const nodes = names.map(name => aNode(name));
    const picture = aWorld({ pools: [pool], nodes, claims: names.map(name => aClaim(name, { pool: "web" })) });
    const context = { picture, now: noon, settings, epoch: 1 };
    const proposals = each.map(({ action }, index) => {
      const name = names[index] ?? "";
      return { rule: "any", subject: `node/${name}` as const, proposal: proposal(action, name) };
    });
    const gates = { limits: budgetLimits([pool], HealthCounts.from(context), context) };
    const { commands, refusals } = arbitrate({ proposals, context, gates });
    expect(commands).toMatchObject([{ kind: "open-action", spec: { action: "Repair" } }]);
    expect(refusals.map(({ code }) => code)).toEqual(["budget-spent", "budget-spent"]);
  });

  test("one for each budget, which all its actions spend together", () => {
    const found = limits({ disruption: budgets({ nodes: 3 }, { nodes: 1, action: "Drift" }, { nodes: 0, ...shut }) });
    const held = found.map(limit => ({
      path: limit.place.path,
      allowed: limit.allowed,
      actions: budgetedActions.filter(action => limit.applies(proposal(action))),
    }));
    expect(held).toEqual([
      {
        path: "spec.disruption.budgets[0]",
        allowed: 3,
        actions: ["Consolidation", "Emptiness", "Expiration", "Drift"],
      },
      { path: "spec.disruption.budgets[1]", allowed: 1, actions: ["Drift"] },
      { path: "spec.disruption.budgets", allowed: 2, actions: ["Repair"] },
      { path: "spec.disruption.budgets[2]", allowed: 0, actions: [] },
    ]);
    expect(found.map(({ role }) => role)).toEqual(["budget", "budget", "budget", "budget"]);
  });

  test("one that is not in force yet holds nobody, and says when it will", () => {
    const found = limits({ disruption: budgets({ nodes: 3 }, { nodes: 0, ...shut }) });
    const opensAt = Date.parse("2000-06-16T00:00:00Z");
    expect(found.filter(limit => limit.changesAt !== undefined)).toMatchObject([
      { place: { path: "spec.disruption.budgets[1]" }, changesAt: opensAt },
    ]);
    expect(limits({ disruption: budgets({ nodes: 3 }, { nodes: 0, ...shut }) }, {}, opensAt)[1]?.allowed).toBe(0);
  });

  test("B18 B20 they count nodes that go by any action or by hand, of initialized nodes", () => {
    const claims = Array.from({ length: 20 }, (_, index) => {
      const name = `n${index}`;
      const stage = index < 9 ? "registered" : "initialized";
      return aClaim(name, { pool: "web", stage, ...(name === "n1" ? { deletingSince: noon } : {}) });
    });
    const actions = [anAction("repair-x", { node: "n2", spec: { action: "Repair", nodePool: "web" } })];
    const [all] = limits({ disruption: budgets({ nodes: "50%" }) }, { claims, actions });
    expect(all).toMatchObject({
      allowed: 6,
      counted: 2,
      frees: [],
      place: { kind: "NodePool", name: "web", generation: 1 },
    });
    expect(all?.what).toBe("going away in NodePool web, whoever asked");
  });

  test("B21 a node that is not Ready is not going", () => {
    const nodes = Array.from({ length: 20 }, (_, index) => aNode(`n${index}`, { ready: "False" }));
    expect(limits({ disruption: budgets({ nodes: 5 }) }, { nodes })[0]?.counted).toBe(0);
  });

  test("each counts what the turn grants to others in the pool too, the pace only repairs", () => {
    const [all, pace] = limits({});
    expect([all, pace].map(limit => limit?.counts(proposal("Repair")))).toEqual([true, true]);
    expect([all, pace].map(limit => limit?.counts(proposal("ScaleDown")))).toEqual([true, false]);
    expect([all, pace].map(limit => limit?.counts(proposal("Repair", "elsewhere")))).toEqual([false, false]);
    expect(all?.applies(proposal("Drift", "elsewhere"))).toBe(false);
  });

  test("a window's end is when room comes; one that cannot be read says so", () => {
    const [frozen, unread] = limits({
      disruption: budgets({ nodes: 0, ...open }, { nodes: 1, schedule: "x", duration: "1h" }),
    });
    expect(frozen).toMatchObject({ allowed: 0, frees: [], changesAt: Date.parse("2000-06-15T13:00:00Z") });
    expect(unread).toMatchObject({ allowed: 0, frees: [], what: expect.stringContaining("cannot be read") });
  });

  test("the pace of repair: at least one, 10 % rounded up, with successors", () => {
    const pace = (world: WorldOptions, now?: Instant) =>
      limits({}, world, now).find(limit => limit.applies(proposal("Repair")));
    expect(pace({})).toMatchObject({ allowed: 2, counted: 0, place: { kind: "Default", name: "web" } });
    expect(limits({}, { claims: [], nodes: [] }).map(limit => limit.allowed)).toEqual([0, 1]);
    const done = anAction("repair-x", {
      node: "x",
      phase: "Done",
      spec: { action: "Repair", nodePool: "web", decidedAt: formatTime(at("1h")) },
      status: { finishedAt: formatTime(at("1h10m")) },
    });
    const going = anAction("drift-n3", { node: "n3", spec: { action: "Drift", nodePool: "web" } });
    expect(pace({ actions: [done, going] }, at("1h11m"))).toMatchObject({ counted: 1, frees: [at("1h25m")] });
  });

  test("of a world that does not change they are the same until the next edge", () => {
    const context = (now: Instant): Pick<Context, "picture" | "now"> => ({ picture: aWorld(), now });
    const pool = aPool("web", { spec: { disruption: budgets({ nodes: 1, ...open }) } });
    const texts = [noon, Date.parse("2000-06-15T13:00:00Z") - 1].map(now =>
      JSON.stringify(budgetLimits([pool], new HealthCounts(), context(now))),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});
