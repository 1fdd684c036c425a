// A storm begins when the gate of a check closes and is over a while after it has opened again. It is read off the count
// alone, also when no node is unhealthy any more, and remembered in the check's own conditions.

import type { Instant } from "../../api/time.ts";
import type { CheckView } from "../../snapshot/check-views.ts";
import { conditionOf, isTrue } from "../conditions.ts";
import type { ConditionChange } from "../decision.ts";
import type { Gate } from "./gate.ts";

export const stormTypes = ["StormActive", "StormCooldownActive"] as const;
const reason = "HealthyNodeThresholdChange";

export type Storm = {
  readonly isActive: boolean;
  readonly isCooling: boolean;
  /** When it is over, where that is known. */
  readonly endsAt?: Instant;
};

const none: Storm = { isActive: false, isCooling: false };

/** As it shall be told from now on. */
export function stormOf({ stormCooldownMs, conditions }: CheckView, { isOpen }: Gate, now: Instant): Storm {
  if (stormCooldownMs <= 0) return none;
  if (!isOpen) return { isActive: true, isCooling: false };
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
