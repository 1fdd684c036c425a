// A pool with more nodes than its `replicas` ends those first: what would be exchanged one for one meanwhile might be
// among them, and its replacement one more that is too many. What has been granted before goes on.

import type { PlannedAction } from "../../api/budget.ts";
import type { Veto } from "../decision.ts";
import { surplusOf } from "../scale-down.ts";

const exchanging: ReadonlySet<string> = new Set<PlannedAction>(["Drift", "Expiration"]);

/** For one look: each pool is counted once. */
export function surplusVeto(): Veto {
  const surplusByPool = new Map<string, number>();
  return ({ action, claim, node }, { picture }) => {
    const pool = picture.pool(picture.claim(claim?.name ?? "")?.pool ?? "");
    if (!exchanging.has(action) || pool?.effective.replicas === undefined) return undefined;
    const { name, effective } = pool;
    const surplus = surplusByPool.get(name) ?? surplusOf(pool, picture);
    surplusByPool.set(name, surplus);
    if (surplus <= 0) return undefined;
    return {
      code: "surplus-first",
      message: `NodePool ${name} has ${surplus} more than its replicas of ${effective.replicas}, and those go before node ${node.name} is exchanged.`,
      liftedBy: `the end of the scale-down of NodePool ${name}`,
    };
  };
}
