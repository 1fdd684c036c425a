// Whether a node that a check finds unhealthy is left to the repair of its pool: else the check's time would undercut the
// pool's toleration. Only what repair would act on is left to it; what a person holds back from repair is held back from
// our own remediators too, for they do the same.

import type { StepView } from "../../snapshot/check-views.ts";
import type { ClaimView, NodeView } from "../../snapshot/views.ts";
import type { Context } from "../decision.ts";
import { servedClass } from "../node-class.ts";
import { ownClaimOf } from "../own-node.ts";
import { hasBeenReady } from "../readiness.ts";
import { ofNode, repairHold } from "../repair-hold.ts";
import { type RepairRules, rulesFor, rulingOn, type State } from "../repair-policy.ts";
import type { Objection } from "../safety.ts";
import { healthOf } from "./node-health.ts";
import type { Patient } from "./words.ts";

type Case = Pick<Patient, "node" | "check">;
type Step = { readonly template: Pick<StepView["template"], "apiVersion" | "kind"> };

export function leftToRepair(patient: Case, { template }: Step, context: Context): Objection | undefined {
  if (!template.apiVersion.startsWith("fettle.dev/")) return undefined;
  const { picture } = context;
  const { node, check } = patient;
  const claim = ownClaimOf(node, picture);
  const rules = claim && rulesFor(claim, picture);
  const held = heldFromRepair(node, context);
  if (held !== undefined) {
    return { ...held, message: `${held.message} So NodeHealthCheck ${check.name} does not touch it either.` };
  }
  if (template.kind !== "ReplaceRemediationTemplate" || claim === undefined || rules === undefined) return undefined;
  return isRepairedByUs(claim, context) ? leftFor(patient, { claim, rules }, context) : undefined;
}

/** By a person's word on the node, its claim or its pool. */
export function heldFromRepair(node: NodeView, { picture, now }: Context): Objection | undefined {
  const claim = ownClaimOf(node, picture);
  const pool = claim?.pool === undefined ? undefined : picture.pool(claim.pool);
  return repairHold(ofNode({ node, claim, pool }), now);
}

function isRepairedByUs({ spec }: ClaimView, { picture, settings }: Context): boolean {
  if (settings.repairs === false) return false;
  return servedClass(spec.nodeClassRef, picture.provider) !== undefined || settings.foreignClaims === "repair";
}

type Word = { readonly claim: ClaimView; readonly rules: RepairRules };

function leftFor({ node, check }: Case, { claim, rules }: Word, context: Context): Objection | undefined {
  const { matches } = healthOf(node, check, context);
  const others = matches.filter(({ condition }) => !isRepaired(node, condition, { claim, rules }));
  const dues = others.flatMap(({ spell }) => spell?.dueAt ?? []);
  if (matches.length === others.length || dues.some(at => at <= context.now)) return undefined;
  const whose = rules.pool === undefined ? `NodeClaim ${claim.name}` : `NodePool ${rules.pool.name}`;
  return {
    code: "left-to-repair",
    message: `Node ${node.name} is left to the repair of ${whose}: NodeHealthCheck ${check.name} counts it and does not replace it.`,
    ...(dues.length === 0 ? {} : { until: Math.min(...dues) }),
    liftedBy: `spec.repair.mode: Disabled in ${whose}, or another template`,
  };
}

/** Some time. A node that was never Ready goes by its readinessTTL, whatever else is wrong with it. */
function isRepaired(node: NodeView, condition: State, { claim, rules }: Word): boolean {
  const mode = hasBeenReady(claim, node) ? rulingOn(condition, rules)?.treatment.mode : rules.repair.mode;
  return mode === "Enabled";
}
