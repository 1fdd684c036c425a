// What each pool may still lose, what it is losing, and how many of its nodes are sick.

import { budgetedActions } from "../api/budget.ts";
import { allowed } from "../decide/budget-limits.ts";
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
  for (const pool of picture.pools()) {
    for (const action of budgetedActions) {
      const { left } = allowed(pool, action, { picture, now, health });
      if (Number.isFinite(left)) yield { labels: { nodepool: pool.name, reason: reasonByAction[action] }, value: left };
    }
  }
}

function* departing({ picture }: Asked): Iterable<string> {
  for (const { pool = "", action } of picture.departures()) {
    yield `${pool} ${reasonByAction[action?.spec.action ?? "Deletion"]}`;
  }
}
