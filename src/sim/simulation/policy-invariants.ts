// What the SafetyPolicy holds back whatever is counted (S1): under a freeze, or on a node never to touch, nothing starts
// but what a person's own delete asks for.

import { effectiveSafetyPolicy } from "../../api/effective-safety-policy.ts";
import { matches, selectorOf } from "../../api/selector.ts";
import { type Action, isOfClass } from "./ledger.ts";
import { isUnseen, silentMs, type WriteContext } from "./write-context.ts";

export function policyViolations(context: WriteContext, { spec }: Action): string[] {
  const { ledger, process } = context;
  const unseen = ["safetypolicies.fettle.dev default", `nodes ${spec.node.name}`];
  if (spec.action === "Deletion" || unseen.some(key => isUnseen(context, key, silentMs))) return [];
  const { freeze, untouchable } = effectiveSafetyPolicy(ledger.policy?.spec);
  const isMeant = freeze !== undefined && (freeze.scope === "Everything" || isOfClass("disruption", spec.action));
  const isFrozen = isMeant && !(Date.parse(freeze.until ?? "") <= process.now());
  const selector = untouchable && selectorOf(untouchable);
  const labels = ledger.nodeByName.get(spec.node.name)?.metadata.labels;
  const isUntouchable = selector !== undefined && (!selector.ok || matches(selector.value, labels));
  return [
    ...(isFrozen ? [`S1 ${spec.action} of ${spec.node.name} starts under a freeze: ${freeze.reason}`] : []),
    ...(isUntouchable ? [`S1 ${spec.action} of ${spec.node.name} starts, a node never to touch`] : []),
  ];
}
