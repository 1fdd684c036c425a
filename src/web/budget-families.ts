// What each pool may still lose, what it is losing, and how many of its nodes are sick.

import { budgetedActions } from "../api/budget.ts";
import { allowed } from "../decide/budgets.ts";
import { reasonByAction } from "../view/life-effects.ts";
import { type Family, type Sample, tally } from "./family.ts";
import type { Asked, Of } from "./measured.ts";

export function budgetFamilies(of: Of): Family[] {
  const labels = ["nodepool", "reason"];
  return [
    {
      name: "karpenter_nodepools_allowed_disruptions",
      help: "How many more nodes of a pool its active budgets let go now, by reason; no series: nothing limits it.",
      type: "gauge",
      labels,
      samples: of(allowances),
    },
    {
      name: "karpenter_nodepools_nodes_consuming_budgets",
      help: "Nodes of a pool that are going away, by reason: what its budgets count.",
      type: "gauge",
      labels,
      samples: of(asked => tally(departing(asked), labels)),
    },
    {
      name: "fettle_nodepools_sick_nodes",
      help: "Nodes of a pool with a condition that is a reason to repair them, tolerated or not, as the leader counts.",
      type: "gauge",
      labels: ["nodepool"],
      samples: of(({ picture, health }) =>
        [...picture.pools()].map(({ name }) => ({
          labels: { nodepool: name },
          value: health.count(name).unhealthy,
        })),
      ),
    },
  ];
}

function* allowances({ picture, health, now }: Asked): Iterable<Sample> {
  const goingByPool = new Map<string, number>();
  for (const { pool = "" } of picture.departures()) goingByPool.set(pool, (goingByPool.get(pool) ?? 0) + 1);
  for (const { name, effective } of picture.pools()) {
    const { initialized } = health.count(name);
    for (const action of budgetedActions) {
      const { allowed: most } = allowed(effective, action, { at: now, initialized });
      const value = Math.max(0, most - (goingByPool.get(name) ?? 0));
      if (Number.isFinite(value)) yield { labels: { nodepool: name, reason: reasonByAction[action] }, value };
    }
  }
}

function* departing({ picture }: Asked): Iterable<string> {
  for (const { pool = "", action } of picture.departures()) {
    yield `${pool} ${reasonByAction[action?.spec.action ?? "Deletion"]}`;
  }
}
