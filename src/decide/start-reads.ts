// All that could hold a repair or remediation which is written down and free to begin: while it is as it was, it is free
// still, and need not be weighed anew at each turn of a burst. What lies beyond one node is looked at once for all.

import { type BudgetedAction, budgetedActions } from "../api/budget.ts";
import type { CheckView } from "../snapshot/check-views.ts";
import type { ActionView, PoolView } from "../snapshot/views.ts";
import { budgetsInForce } from "./budgets.ts";
import type { Outbreaks } from "./correlated.ts";
import type { Context, Veto } from "./decision.ts";
import { checkHold } from "./health-check/holds.ts";
import { isOfControlPlane } from "./health-check/manifest.ts";
import { launchRecordOf } from "./launch-record.ts";
import { budgetHold } from "./planned-start.ts";
import { classOf } from "./precedence.ts";
import { proposalOf } from "./start-hold.ts";

/** What is remembered, and not in the picture. */
export type RememberedHolds = {
  readonly outbreaks: Outbreaks;
  /** How often something has spread so far. */
  readonly spreadCount: number;
  readonly brake: Veto;
};

export type Reads = readonly unknown[];

/** For one turn. */
export class StartReads {
  readonly #context: Context;
  readonly #remembered: RememberedHolds;
  readonly #sharedByGroup = new Map<string, Reads | undefined>();
  readonly #holdByText = new Map<string, string>();
  readonly #isFailingByPool = new Map<string, boolean>();
  readonly #holdByCheck = new Map<CheckView, string | undefined>();

  constructor(context: Context, remembered: RememberedHolds) {
    this.#context = context;
    this.#remembered = remembered;
  }

  /** Undefined: too much may hold it, so it has to be weighed. */
  of(action: ActionView): Reads | undefined {
    const { picture } = this.#context;
    const { spec } = action;
    const node = picture.nodeByUid(spec.node.uid);
    if (node === undefined || !isPlain(action) || isOfControlPlane(node)) return undefined;
    const shared = this.shared(action);
    if (shared === undefined) return undefined;
    const check = checkOf(action, picture);
    const made = check === undefined ? [] : picture.checks.remediationsOf(check, node.name);
    const [first, second] = made;
    const claim = spec.claim && picture.claim(spec.claim.name);
    return [action, node, claim, made.length, first, second, ...shared];
  }

  /** Those of one pool and check, for the same reason: they have one group until the claim is another. */
  groupOf({ spec: { action, claim, askedBy, policy } }: ActionView): string {
    const pool = claim && this.#context.picture.claim(claim.name)?.pool;
    return [action, pool, policy?.path, askedBy.kind, askedBy.name].join();
  }

  /** What all of a group read alike: `before` itself, if nothing is otherwise. Undefined: each has to be weighed. */
  shared(action: ActionView, group = this.groupOf(action), before?: Reads): Reads | undefined {
    if (!this.#sharedByGroup.has(group)) {
      const reads = this.#sharedBy(action);
      this.#sharedByGroup.set(group, isSameReads(before, reads) ? before : reads);
    }
    return this.#sharedByGroup.get(group);
  }

  #sharedBy(action: ActionView): Reads | undefined {
    const { picture } = this.#context;
    const claim = action.spec.claim && picture.claim(action.spec.claim.name);
    const pool = claim?.pool === undefined ? undefined : picture.pool(claim.pool);
    // Then one that goes may hold the next.
    if (pool !== undefined && this.#isFailing(pool)) return undefined;
    const check = checkOf(action, picture);
    const { outbreaks, spreadCount } = this.#remembered;
    const reads: unknown[] = [picture.safety, picture.rival, picture.clockAheadMs, outbreaks, spreadCount];
    return [...reads, pool?.effective, check, this.#ofPool(action, pool), check && this.#ofCheck(check)];
  }

  #isFailing(pool: PoolView): boolean {
    const isKnown = this.#isFailingByPool.get(pool.name);
    if (isKnown !== undefined) return isKnown;
    const isFailing = launchRecordOf(pool)?.results.at(-1)?.isGood === false;
    this.#isFailingByPool.set(pool.name, isFailing);
    return isFailing;
  }

  #ofPool(action: ActionView, pool: PoolView | undefined): string | undefined {
    const { spec } = action;
    const budgeted = budgetedActions.find(one => one === spec.action);
    const key = `${spec.action} ${pool?.name} ${spec.policy?.path}`;
    if (!this.#holdByText.has(key)) {
      const budgets = pool && budgeted && budgetsInForce(pool.effective, budgeted, this.#context.now);
      this.#holdByText.set(key, [budgets, this.#poolHold(action, budgeted)].join());
    }
    return this.#holdByText.get(key);
  }

  #poolHold(action: ActionView, budgeted: BudgetedAction | undefined): string | undefined {
    const context = this.#context;
    const held =
      (budgeted && budgetHold(action.spec, budgeted, context)) ??
      this.#remembered.brake(proposalOf(action, context), context);
    return held?.message;
  }

  #ofCheck(check: CheckView): string | undefined {
    if (!this.#holdByCheck.has(check)) this.#holdByCheck.set(check, checkHold(check, this.#context)?.message);
    return this.#holdByCheck.get(check);
  }
}

function checkOf({ spec: { askedBy } }: ActionView, { checks }: Context["picture"]): CheckView | undefined {
  return askedBy.kind === "NodeHealthCheck" ? checks.check(askedBy.name) : undefined;
}

/** It waits for nothing but leave, for one reason alone. */
function isPlain({ spec }: ActionView): boolean {
  const { action, termination, joined = [], replacements = [], batch } = spec;
  return (
    classOf(action) === "repair" &&
    termination !== "Graceful" &&
    joined.length + replacements.length === 0 &&
    batch === undefined
  );
}

export function isSameReads(a: Reads | undefined, b: Reads | undefined): boolean {
  if (a === undefined || b === undefined) return false;
  if (a === b) return true;
  return a.length === b.length && a.every((read, index) => read === b[index]);
}
