// A storm begins when the gate of a check closes and is over a while after it has opened again. It is read off the count
// alone, also when no node is unhealthy any more, and remembered in the check's own conditions; until those are written, by
// whoever saw the gate closed.

import type { Instant } from "../../api/time.ts";
import type { CheckView } from "../../snapshot/check-views.ts";
import { conditionOf, isTrue } from "../conditions.ts";
import type { ConditionChange, Context } from "../decision.ts";
import { type Gate, gateOf } from "./gate.ts";

export const stormTypes = ["StormActive", "StormCooldownActive"] as const;
const reason = "HealthyNodeThresholdChange";

export type Storm = {
  readonly isActive: boolean;
  readonly isCooling: boolean;
  /** When it is over, where that is known. */
  readonly endsAt?: Instant;
};

const none: Storm = { isActive: false, isCooling: false };

/** Checks whose gate was seen closed since their status last said so: it is written at most once a second. */
export class StormMemory {
  readonly #uidByName = new Map<string, string>();

  /** For every check that is about to be asked. */
  look(name: string, context: Context): void {
    const check = context.picture.checks.check(name);
    if (check === undefined || check.stormCooldownMs <= 0 || saysClosed(check)) this.#uidByName.delete(name);
    else if (!gateOf(check, context).isOpen) this.#uidByName.set(name, check.uid);
  }

  wasClosed({ name, uid }: CheckView): boolean {
    return this.#uidByName.get(name) === uid;
  }

  clear(): void {
    this.#uidByName.clear();
  }
}

function saysClosed({ conditions }: CheckView): boolean {
  return isTrue(conditions, "StormActive") && !isTrue(conditions, "StormCooldownActive");
}

/** As it shall be told from now on: one that was seen is told first, and cools down after that, however short it was. */
export function stormOf(check: CheckView, { isOpen }: Gate, { now, storms }: Pick<Context, "now" | "storms">): Storm {
  const { stormCooldownMs, conditions } = check;
  if (stormCooldownMs <= 0) return none;
  if (!isOpen || storms?.wasClosed(check)) return { isActive: true, isCooling: false };
  if (!isTrue(conditions, "StormActive")) return none;
  const cooling = conditionOf(conditions, "StormCooldownActive");
  // The time at which it began to cool is written with the condition.
  if (cooling?.status !== "True") return { isActive: true, isCooling: true };
  if (cooling.since === undefined) return { isActive: true, isCooling: true };
  const endsAt = cooling.since + stormCooldownMs;
  return endsAt <= now ? none : { isActive: true, isCooling: true, endsAt };
}

export function stormConditions(check: CheckView, { isActive, isCooling }: Storm): readonly ConditionChange[] {
  const isKnown = stormTypes.some(type => conditionOf(check.conditions, type) !== undefined);
  if (check.stormCooldownMs <= 0 && !isKnown) return [];
  const word = (is: boolean) => (is ? "True" : "False");
  return [
    { type: "StormActive", status: word(isActive), reason, message: "" },
    { type: "StormCooldownActive", status: word(isCooling), reason, message: "" },
  ];
}
