// Whether the pool still says what a repair was opened for: it may have gone or changed its mode or policies since, and so
// may the reason of the condition. Knows no time: what is borne for longer now has to be due by that, and asked for anew.

import type { Evidence } from "../api/node-action.ts";
import { parseDuration } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf } from "./conditions.ts";
import { type RepairRules, rulesFor, rulingOn, type Treatment } from "./repair-policy.ts";

type Patient = { readonly node: NodeView; readonly claim: ClaimView };

/** Why nothing of the evidence makes it a repair any more; undefined: something does. */
export function noLongerAsked(
  evidence: readonly Evidence[],
  { node, claim }: Patient,
  picture: Picture,
): string | undefined {
  const rules = rulesFor(claim, picture);
  if (rules === undefined) return `NodePool ${claim.pool} is not there to say what follows`;
  if (rules.pool?.invalid !== undefined) return `NodePool ${rules.pool.name} cannot be understood`;
  const whys = evidence.map(one => notAskedFor(one, node, rules));
  return whys.includes(undefined) ? undefined : whys.join("; ");
}

function notAskedFor(evidence: Evidence, node: NodeView, rules: RepairRules): string | undefined {
  if (evidence.kind === "NeverReady") return notEnabled(rules.repair);
  if (evidence.kind !== "Condition" && evidence.kind !== "Flapping") return undefined;
  const condition = conditionOf(node.conditions, evidence.conditionType ?? "");
  // What is not there is the evidence's own affair.
  if (condition === undefined) return undefined;
  const ruling = rulingOn(condition, rules);
  const state = `${condition.type}=${condition.status} (${condition.reason})`;
  if (ruling === undefined) return notEnabled(rules.repair) ?? `nobody says any more that ${state} is sick`;
  const borne = parseDuration(evidence.toleration ?? "0s");
  const isLonger = !ruling.toleration.ok || !borne.ok || ruling.toleration.value > borne.value;
  if (isLonger) return `${state} is borne for longer now (${ruling.place.path ?? ruling.place.kind})`;
  return notEnabled(ruling.treatment);
}

function notEnabled({ mode }: Pick<Treatment, "mode">): string | undefined {
  return mode === "Enabled" ? undefined : `repair is ${mode} now`;
}
