// Bugs in how plans that wait are judged again: each of what holds them overlooked.

import type { Waiting } from "../../../src/decide/decision.ts";
import { blinded, type Change, withRule } from "./change.ts";
import type { Mutant } from "./mutant.ts";

const free = () => undefined;

/** The ledger sees those that wait otherwise than they are. */
function waitingAs(members: Partial<Waiting>): Change {
  return withRule("ledger", rule => (name, context) => {
    const waiting = { overBudget: free, heldWith: free, ...context.waiting, ...members };
    return rule.decide(name, { ...context, waiting });
  });
}

const forPlacesAlone = blinded("ledger", picture => ({
  moveOf(uid) {
    const { unpaid: _, ...move } = picture.moveOf(uid) ?? {};
    return "batch" in move ? move : undefined;
  },
}));

export const disruptionMutants: readonly Mutant[] = [
  {
    name: "a batch goes in part",
    wrong: waitingAs({ heldWith: free }),
    story: "disruption-batch-whole",
    caughtBy: "expected",
  },
  {
    name: "the second look asks for places alone",
    wrong: forPlacesAlone,
    story: "disruption-second-look",
    caughtBy: "expected",
  },
  {
    name: "what waits does not count against a lowered budget",
    wrong: waitingAs({ overBudget: free }),
    story: "a budget that is lowered while plans wait",
    caughtBy: "expected",
  },
];
