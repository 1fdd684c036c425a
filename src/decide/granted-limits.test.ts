import { describe, expect, test } from "vitest";
import { aClaim, anAction, aNode, aPool, aSafetyPolicy, at, aWorld, t0 } from "../../test/builders.ts";
import type { NodePoolSpec } from "../api/node-pool.ts";
import type { SafetyPolicySpec } from "../api/safety-policy.ts";
import { formatTime } from "../api/time.ts";
import type { ActionView } from "../snapshot/views.ts";
import { HealthCounts } from "./brake-counts.ts";
import type { Context } from "./decision.ts";
import { startHold } from "./start-hold.ts";
import { seenTogether } from "./waiting.ts";

const names = ["a", "b", "c", "d"];
const settings = { cluster: "c", dryRun: false, foreignClaims: "ignore" } as const;
const open: SafetyPolicySpec = { caps: { repair: { cluster: "100%", zone: "100%", perWindow: { nodes: "100%" } } } };
type Budgets = NonNullable<NonNullable<NodePoolSpec["disruption"]>["budgets"]>;
type Options = NonNullable<Parameters<typeof anAction>[1]>;

/** Granted by generation 1 of pool and policy, one a second. */
function repair(name: string, more: Options["spec"] = {}, status: Options["status"] = {}): ActionView {
  return anAction(`repair-${name}-uid`, {
    node: name,
    phase: "Pending",
    status,
    spec: {
      action: "Repair",
      askedBy: { kind: "NodePool", name: "web" },
      nodePool: "web",
      evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown", seenAt: formatTime(t0) }],
      decidedAt: formatTime(t0 + names.indexOf(name) * 1_000),
      budget: {
        kind: "NodePool",
        name: "web",
        path: "spec.disruption.budgets[0]",
        generation: 1,
        allowed: 4,
        counted: 0,
      },
      caps: [
        {
          kind: "SafetyPolicy",
          name: "default",
          path: "spec.caps.repair.cluster",
          generation: 1,
          allowed: 4,
          counted: 0,
        },
      ],
      ...more,
    },
  });
}

type Edited = { budgets?: Budgets; pool?: number; caps?: SafetyPolicySpec; policy?: number; zones?: readonly string[] };

/** Who is held of those that are written down, and why, after pool or policy was edited. */
function held(actions: readonly ActionView[], edited: Edited = {}, now = at("1m")): Record<string, string> {
  const { budgets = [{ nodes: "4", action: "Repair" }], pool = 1, caps = open, policy = 1, zones = [] } = edited;
  const safety = aSafetyPolicy(caps);
  const picture = aWorld({
    nodes: names.map((name, index) => aNode(name, { pool: "web", ...(zones[index] ? { zone: zones[index] } : {}) })),
    claims: names.map(name => aClaim(name, { pool: "web" })),
    pools: [aPool("web", { generation: pool, spec: { disruption: { budgets } } })],
    safety: { ...safety, ...(safety.meta ? { meta: { ...safety.meta, generation: policy } } : {}) },
    actions,
  });
  const health = HealthCounts.from({ picture, now });
  const told: Context = {
    picture,
    now,
    settings,
    epoch: 1,
    remembered: { sight: { history: () => undefined }, health },
  };
  const context = { ...told, waiting: seenTogether(told) };
  return Object.fromEntries(
    actions.flatMap(action => {
      const hold = startHold(action, context);
      return hold === undefined ? [] : [[action.spec.node.name, hold.code]];
    }),
  );
}

const all = names.map(name => repair(name));
const begun = repair("a", {}, { phase: "Running", startedAt: formatTime(t0) });

describe("a budget that was lowered since", () => {
  const one: Budgets = [{ nodes: "1", action: "Repair" }];

  test("lets the earliest begin, and none beside it", () => {
    expect(held(all, { budgets: one, pool: 2 })).toEqual({ b: "budget-spent", c: "budget-spent", d: "budget-spent" });
  });

  test("counts what has begun, which goes on", () => {
    expect(held([begun, repair("b"), repair("c")], { budgets: [{ nodes: "2", action: "Repair" }], pool: 2 })).toEqual({
      c: "budget-spent",
    });
    expect(held([begun, repair("b")], { budgets: one, pool: 2 })).toEqual({ b: "budget-spent" });
  });

  test("is the pace where it was taken out", () => {
    expect(held(all.slice(0, 2), { budgets: [{ nodes: "10%" }], pool: 2 })).toEqual({ b: "budget-spent" });
  });

  test("holds nothing where it stands as it did when they were granted", () => {
    expect(held(all, { budgets: one })).toEqual({});
    const paced = names.map(name => repair(name, { budget: { kind: "Default", name: "web", allowed: 1, counted: 0 } }));
    expect(held(paced, { budgets: [{ nodes: "10%" }], pool: 7 })).toEqual({});
  });

  test.each([
    ["a millisecond before its window", at("1h") - 1, {}],
    ["in its window", at("1h"), { b: "budget-spent", c: "budget-spent", d: "budget-spent" }],
    ["a millisecond before its end", at("2h") - 1, { b: "budget-spent", c: "budget-spent", d: "budget-spent" }],
    ["at its end", at("2h"), {}],
  ])("%s, by time alone", (_, now, expected) => {
    const window = { nodes: "1", action: "Repair", schedule: "0 1 * * *", duration: "1h" } as const;
    expect(held(all, { budgets: [{ nodes: "4", action: "Repair" }, window] }, now)).toEqual(expected);
  });
});

describe("a cap that was lowered since", () => {
  const caps = (repair: NonNullable<NonNullable<SafetyPolicySpec["caps"]>["repair"]>): SafetyPolicySpec => ({
    caps: { repair: { ...open.caps?.repair, ...repair } },
  });

  test("lets the earliest begin", () => {
    expect(held(all, { caps: caps({ cluster: 2 }), policy: 2 })).toEqual({ c: "cap-spent", d: "cap-spent" });
    expect(held([begun, repair("b")], { caps: caps({ cluster: 1 }), policy: 2 })).toEqual({ b: "cap-spent" });
  });

  test("counts in each zone apart", () => {
    const zones = ["x", "x", "y", "y"];
    expect(held(all, { caps: caps({ zone: 1 }), policy: 2, zones })).toEqual({ b: "cap-spent", d: "cap-spent" });
  });

  test("counts what has gone within the window", () => {
    const gone = repair("a", {}, { phase: "Done", startedAt: formatTime(t0), finishedAt: formatTime(t0) });
    const lowered = { caps: caps({ perWindow: { nodes: 2 } }), policy: 2 };
    expect(held([gone, repair("b"), repair("c")], lowered)).toEqual({ c: "cap-spent" });
  });

  test("holds nothing where it stands as it did when they were granted", () => {
    expect(held(all, { caps: caps({ cluster: 1 }) })).toEqual({});
  });
});
