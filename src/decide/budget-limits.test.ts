import { describe, expect, test } from "vitest";
import { aClaim, aNode, anAction, aPool, at, aWorld, type WorldOptions } from "../../test/builders.ts";
import { settings } from "../../test/termination-world.ts";
import { type Budget, budgetedActions } from "../api/budget.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import { formatTime, type Instant } from "../api/time.ts";
import { arbitrate } from "./arbitrate.ts";
import { HealthCounts } from "./brake-counts.ts";
import { allowed, budgetLimits } from "./budget-limits.ts";
import { namesOf } from "./counted.ts";
import type { Proposal } from "./decision.ts";

// The clock and the size of upstream's budget tests.
const noon = Date.parse("2000-06-15T12:30:30Z");

const budgets = (...list: Budget[]): NonNullable<NodePoolSpec["disruption"]> => ({ budgets: list });
/** Open, and shut, at noon. */
const open = { schedule: "@daily", duration: "13h" };
const shut = { schedule: "@daily", duration: "12h" };

describe("how many more may go, by whose word, and what counts against it", () => {
  const spec = { disruption: budgets({ nodes: 4, ...open }, { nodes: 7 }) };
  const drift = anAction("drift-n3", {
    node: "n3",
    spec: { action: "Drift", nodePool: "web", decidedAt: formatTime(noon - 3000) },
  });
  const deletion = anAction("deletion-n1", {
    node: "n1",
    spec: { action: "Deletion", nodePool: "web", decidedAt: formatTime(noon - 2000) },
  });
  const repair = anAction("repair-n2", {
    node: "n2",
    spec: { action: "Repair", nodePool: "web", decidedAt: formatTime(noon - 1000) },
  });

  function ask(action: (typeof budgetedActions)[number], world: WorldOptions, asked: NodePoolSpec = spec) {
    const pool = aPool("web", { spec: asked });
    const names = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const made = { pool: "web", createdAt: noon - 3_600_000 };
    const claims = names.map(name => aClaim(name, { ...made, ...(name === "n9" ? { deletingSince: noon } : {}) }));
    const nodes = names.map(name => aNode(name));
    const picture = aWorld({ pools: [pool], claims, nodes, ...world });
    const health = HealthCounts.from({ picture, now: noon });
    return allowed(pool, action, { picture, now: noon, health });
  }

  test("of a planned action: everything that goes from the pool, the longest first", () => {
    const { against, ...answer } = ask("Drift", { actions: [repair, deletion, drift] });
    expect(answer).toEqual({
      allowed: 4,
      path: "spec.disruption.budgets[0]",
      changesAt: Date.parse("2000-06-15T13:00:00Z"),
      left: 0,
    });
    expect(namesOf(against, [])).toBe("n3 (Drift), n1 (deleted by somebody), n2 (Repair), n9 (is being deleted)");
  });

  test("of a repair at its pace: repairs alone, and those that nobody has followed yet", () => {
    const gone = anAction("repair-x", {
      node: "x",
      phase: "Done",
      spec: { action: "Repair", nodePool: "web", decidedAt: formatTime(noon - 60_000) },
      status: { finishedAt: formatTime(noon - 30_000) },
    });
    const { against, ...answer } = ask("Repair", { actions: [drift, repair, gone] });
    const changesAt = Date.parse("2000-06-15T12:45:00Z");
    expect(answer).toEqual({ allowed: 2, path: "default", left: 0, changesAt });
    expect(namesOf(against, [])).toBe("n2 (Repair), x (Repair, gone since 2000-06-15T12:30:00Z)");
    expect(ask("Repair", { actions: [drift] }).left).toBe(2);
  });

  test("what nothing limits is counted all the same, and another pool's nodes are not", () => {
    const elsewhere = anAction("drift-y", { node: "y", spec: { action: "Drift", nodePool: "db" } });
    const { against, ...answer } = ask(
      "Drift",
      { actions: [drift, elsewhere] },
      { disruption: budgets({ nodes: 1, ...shut }) },
    );
    expect(answer).toEqual({
      allowed: Number.POSITIVE_INFINITY,
      left: Number.POSITIVE_INFINITY,
      changesAt: Date.parse("2000-06-16T00:00:00Z"),
    });
    expect(namesOf(against, [])).toBe("n3 (Drift), n9 (is being deleted)");
  });

  test("of many five are named", () => {
    const actions = [0, 1, 2, 3, 4, 5, 6].map(index =>
      anAction(`drift-n${index}`, {
        node: `n${index}`,
        spec: { ...drift.spec, node: { name: `n${index}`, uid: `n${index}-uid` } },
      }),
    );
    expect(namesOf(ask("Drift", { actions }).against, [])).toBe(
      "n0 (Drift), n1 (Drift), n2 (Drift), n3 (Drift), n4 (Drift) and 3 more",
    );
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
    return budgetLimits([pool], { picture, now, health });
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
    const gates = { limits: budgetLimits([pool], { picture, now: noon, health: HealthCounts.from(context) }) };
    const { commands, refusals } = arbitrate({ proposals, context, gates });
    expect(commands).toMatchObject([{ kind: "open-action", spec: { action: "Repair" } }]);
    expect(refusals.map(({ code, counted }) => `${code}: ${counted}`)).toEqual([
      "budget-spent: repair (Repair)",
      "budget-spent: repair (Repair)",
    ]);
  });

  test("one that lets none go says so, and until when", () => {
    const pool = aPool("web", { spec: { disruption: budgets({ nodes: 0, ...open }, { nodes: 5 }) } });
    const picture = aWorld({ pools: [pool], nodes: [aNode("n1")], claims: [aClaim("n1", { pool: "web" })] });
    const context = { picture, now: noon, settings, epoch: 1 };
    const proposals = [{ rule: "any", subject: "node/n1" as const, proposal: proposal("Drift") }];
    const gates = { limits: budgetLimits([pool], { picture, now: noon, health: HealthCounts.from(context) }) };
    expect(arbitrate({ proposals, context, gates }).refusals).toEqual([
      {
        subject: "node/n1",
        code: "budget-spent",
        message: "No node may be going away in NodePool web, whoever asked (NodePool web spec.disruption.budgets[0]).",
        until: Date.parse("2000-06-15T13:00:00Z"),
        liftedBy: "time, or a greater budget",
      },
    ]);
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
    const at = (now: Instant) => ({ picture: aWorld(), now, health: new HealthCounts() });
    const pool = aPool("web", { spec: { disruption: budgets({ nodes: 1, ...open }) } });
    const texts = [noon, Date.parse("2000-06-15T13:00:00Z") - 1].map(now =>
      JSON.stringify(budgetLimits([pool], at(now))),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});
