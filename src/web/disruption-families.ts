// Which nodes are due to go by our own choice, and how many of them something blocks.

import type { PlannedAction } from "../api/budget.ts";
import { plannedActions } from "../api/budget.ts";
import { candidateOf, dueOf } from "../decide/disruption/candidate.ts";
import { reasonByAction } from "../view/life-effects.ts";
import { breath, type Family, type Sample } from "./family.ts";
import type { Asked, Of } from "./measured.ts";

export function disruptionFamilies(of: Of): Family[] {
  return [
    {
      name: "karpenter_voluntary_disruption_eligible_nodes",
      help: "Nodes that are due to go by our own choice and that nothing blocks, by reason; when they go is up to budgets.",
      type: "gauge",
      labels: ["reason"],
      samples: of(asked => dueNodes(asked, "free")),
    },
    {
      name: "fettle_disruption_blocked_nodes",
      help: "Nodes that are due to go by our own choice and that something blocks, by reason.",
      type: "gauge",
      labels: ["reason"],
      samples: of(asked => dueNodes(asked, "blocked")),
    },
  ];
}

function* dueNodes(asked: Asked, which: "free" | "blocked"): Iterable<Sample | typeof breath> {
  const { picture, settings, now, epoch = 0 } = asked;
  const counts = new Map<PlannedAction, number>(plannedActions.map(action => [action, 0]));
  for (const node of picture.nodes()) {
    const context = { picture, settings, now, epoch };
    const candidate = candidateOf(node, context);
    const due = candidate && dueOf(candidate, context);
    if (due !== undefined && (due.block === undefined) === (which === "free")) {
      counts.set(due.reason.action, (counts.get(due.reason.action) ?? 0) + 1);
    }
    yield breath;
  }
  for (const [action, value] of counts) yield { labels: { reason: reasonByAction[action] }, value };
}
