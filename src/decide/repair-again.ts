// Whether the pool still says what a repair was opened for: its mode and its policies may have changed since, and so may
// the reason of the condition. Knows no time.

import type { Evidence, NodeActionSpec } from "../api/node-action.ts";
import { parseDuration } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf } from "./conditions.ts";
import { type RepairRules, rulesFor, rulingOn, type Treatment } from "./repair-policy.ts";

type Patient = { readonly node: NodeView; readonly claim: ClaimView };

/** Why nothing of the evidence makes it a repair any more; undefined: something does. */
export function noLongerAsked(
  { evidence, policy }: Pick<NodeActionSpec, "evidence" | "policy">,
  { node, claim }: Patient,
  picture: Picture,
): string | undefined {
  const rules = rulesFor(claim, picture);
  // Without its pool nobody has said otherwise.
  if (rules === undefined) return undefined;
  const whys = evidence.map(one => notAskedFor(one, { node, rules, policy }));
  return whys.includes(undefined) ? undefined : whys.join("; ");
}

type Asked = { readonly node: NodeView; readonly rules: RepairRules; readonly policy: NodeActionSpec["policy"] };

function notAskedFor(evidence: Evidence, { node, rules, policy }: Asked): string | undefined {
  if (evidence.kind === "NeverReady") return notEnabled(rules.repair);
  if (evidence.kind !== "Condition" && evidence.kind !== "Flapping") return undefined;
  const condition = conditionOf(node.conditions, evidence.conditionType ?? "");
  // What is not there is the evidence's own affair.
  if (condition === undefined) return undefined;
  const ruling = rulingOn(condition, rules);
  const state = `${condition.type}=${condition.status} (${condition.reason})`;
  if (ruling === undefined) return notEnabled(rules.repair);
  const borne = parseDuration(evidence.toleration ?? "0s");
  const isLonger = !ruling.toleration.ok || !borne.ok || ruling.toleration.value > borne.value;
  // Another policy may well have it now; what it bears for longer has to be due by that one.
  if (policy?.path !== undefined && ruling.place.path !== policy.path && isLonger) {
    return `${state} is ${ruling.place.path ?? ruling.place.kind}'s now, which bears it for longer`;
  }
  return notEnabled(ruling.treatment);
}

function notEnabled({ mode }: Pick<Treatment, "mode">): string | undefined {
  return mode === "Enabled" ? undefined : `repair is ${mode} now`;
}
