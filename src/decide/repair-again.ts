// Whether the pool still says what a repair was opened for: it may have gone or changed its mode or policies since, and so
// may the reason of the condition. Knows no time: what is borne for longer now has to be due by that, and asked for anew.

import type { Evidence } from "../api/node-action.ts";
import { parseDuration } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf } from "./conditions.ts";
import { type RepairRules, type Ruling, rulesFor, rulingOn, type Treatment } from "./repair-policy.ts";

type Patient = {
  readonly node: NodeView;
  readonly claim: ClaimView;
  /** It was to go by force: what is to go gently by now has to be asked for anew. */
  readonly isForced: boolean;
};

/** Why nothing of the evidence makes it a repair any more; undefined: something does. */
export function noLongerAsked(
  evidence: readonly Evidence[],
  { node, claim, isForced }: Patient,
  picture: Picture,
): string | undefined {
  const rules = rulesFor(claim, picture);
  if (rules === undefined) return `NodePool ${claim.pool} is not there to say what follows`;
  if (rules.pool?.invalid !== undefined) return `NodePool ${rules.pool.name} cannot be understood`;
  const whys = evidence.map(one => notAskedFor(one, { node, isForced }, rules));
  return whys.includes(undefined) ? undefined : whys.join("; ");
}

function notAskedFor(
  evidence: Evidence,
  { node, isForced }: Omit<Patient, "claim">,
  rules: RepairRules,
): string | undefined {
  if (evidence.kind === "NeverReady") return notSo(rules.repair, isForced);
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
  if (evidence.kind === "Flapping" && !isAddedUp(ruling)) return `${state} is not added up any more`;
  return notSo(ruling.treatment, isForced);
}

function isAddedUp({ toleration, flappingWindow }: Ruling): boolean {
  return flappingWindow.ok && toleration.ok && flappingWindow.value >= toleration.value;
}

function notSo(treatment: Pick<Treatment, "mode" | "termination">, isForced: boolean): string | undefined {
  const isGentle = isForced && treatment.termination === "Graceful";
  return notEnabled(treatment) ?? (isGentle ? "it is to go gently now" : undefined);
}

function notEnabled({ mode }: Pick<Treatment, "mode">): string | undefined {
  return mode === "Enabled" ? undefined : `repair is ${mode} now`;
}
