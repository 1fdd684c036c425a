import { expect, test } from "vitest";
import { aClaim, anAction, aNode, aPool, at, aWorld } from "../../test/builders.ts";
import { settings } from "../../test/termination-world.ts";
import { HealthCounts } from "./brake-counts.ts";
import { budgetLimits } from "./budget-limits.ts";
import { decideSpent } from "./budget-spent.ts";
import type { Proposal } from "./decision.ts";

const names = ["a", "b", "c", "d"];
const pools = [
  aPool("web", { spec: { disruption: { budgets: [{ nodes: 1 }, { nodes: 0, action: "Expiration" }] } } }),
  aPool("db"),
];

const asked = (node: string, action: Proposal["action"], more: Partial<Proposal> = {}): Proposal => ({
  node: { name: node, uid: `${node}-uid` },
  claim: { name: node, uid: `${node}-claim-uid` },
  action,
  method: "Terminate",
  askedBy: { kind: "NodePool", name: "web" },
  message: "",
  evidence: [],
  dueAt: at("1h"),
  ...more,
});

function told(proposals: readonly Proposal[], going: readonly string[] = ["a"]): string[] {
  const picture = aWorld({
    pools,
    nodes: names.map(name => aNode(name)),
    claims: names.map(name => aClaim(name, { pool: name === "d" ? "db" : "web" })),
    actions: going.map(node => anAction(`x-${node}`, { node, spec: { action: "Drift", nodePool: "web" } })),
  });
  const context = { picture, now: at("1h"), settings, epoch: 1 };
  const budgets = budgetLimits(pools, { picture, now: at("1h"), health: HealthCounts.from(context) });
  const { notices } = decideSpent(proposals, budgets, context);
  return notices.map(({ about, reason, message }) => `${about.kind} ${about.name} ${reason}: ${message}`);
}

const byDrift =
  "No more of its nodes may go by Drift now: at most 1 may be going at once (spec.disruption.budgets[0]).";

test("a pool tells once for each action that its budgets let no more go", () => {
  const proposals = [asked("b", "Drift"), asked("c", "Drift"), asked("c", "Expiration"), asked("d", "Drift")];
  expect(told(proposals)).toEqual([
    `NodePool web DisruptionBlocked: ${byDrift}`,
    "NodePool web DisruptionBlocked: No more of its nodes may go by Expiration now: at most 0 may be going at once (spec.disruption.budgets[1]).",
  ]);
});

test("and nothing while there is room, of repairs, or of what is only shown", () => {
  expect(told([asked("b", "Drift")], [])).toEqual([]);
  expect(told([asked("b", "Repair"), asked("b", "Drift", { dryRun: true })])).toEqual([]);
  expect(told([])).toEqual([]);
});
