// Proposes to repair a node: one whose condition has been sick for longer than it is borne, or which was never Ready in
// time. Whether it may go now, with brake, budgets and caps, is the arbiter's to say.

import type { Evidence, NodeActionSpec } from "../api/node-action.ts";
import { formatTime, type Instant } from "../api/time.ts";
import { terminationFinalizer } from "../api/well-known.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import { conditionOf } from "./conditions.ts";
import {
  type Context,
  type Decision,
  type Notice,
  nothing,
  type Proposal,
  type Refusal,
  type Rule,
} from "./decision.ts";
import { hastens } from "./join.ts";
import { instantOf, reasonsOf } from "./ledger.ts";
import { servedClass } from "./node-class.ts";
import { ownClaimOf } from "./own-node.ts";
import { hasBeenReady, readyBy } from "./readiness.ts";
import { hadItsReboots } from "./reboot-attempts.ts";
import type { Sight } from "./remembered.ts";
import { ofNode, repairHold } from "./repair-hold.ts";
import { type RepairRules, rulesFor, rulesWithoutPool, rulingOn, type Treatment } from "./repair-policy.ts";
import type { Objection } from "./safety.ts";
import { evidenceOf, isTimed, sentenceOf, shortReason, sicknessesOf } from "./sickness.ts";
import { runBegan } from "./sickness-history.ts";
import { tellsSilence } from "./silence.ts";
import { nextOf } from "./termination-step.ts";

/** Whoever has seen nothing before has nothing to say against a condition's own time. */
const nothingSeen: Sight = { history: () => undefined };

export const repair: Rule = {
  name: "repair",
  controller: "repair",
  kind: "node",
  decide: (name, context) => decideRepair(name, context, context.remembered?.sight ?? nothingSeen),
};

/** Judges one node; `sight` is what was seen of its conditions before. */
export function decideRepair(name: string, context: Context, sight: Sight): Decision {
  const { picture } = context;
  const node = picture.node(name);
  const claim = node && ownClaimOf(node, picture);
  if (node === undefined || claim?.isProvisional) return nothing;
  if (claim === undefined) return withoutClaim(node, context);
  const rules = rulesFor(claim, picture);
  if (rules === undefined) return withoutPool(node, claim, context);
  const patient = { node, claim, rules };
  const { ills, doubts, unhealthyAt } = illsOf(patient, sight);
  const wakeAt = nextOf(context.now, [...ills.map(({ dueAt }) => dueAt), unhealthyAt]);
  const running = repairOf(node, context);
  if (running !== undefined) {
    const escalated = escalate(patient, ills, { running, context });
    const notices = begun(running, patient);
    return { ...escalated, notices, wakeAt: nextOf(context.now, [wakeAt, escalated.wakeAt]) };
  }
  const treated = treat(patient, ills, context);
  const refusals = doubts.map(doubt => refusal(node, { code: "due-time-unknown", ...doubt }));
  return {
    ...treated,
    refusals: [...treated.refusals, ...refusals],
    wakeAt: nextOf(context.now, [wakeAt, treated.wakeAt]),
  };
}

type Patient = { readonly node: NodeView; readonly claim: ClaimView; readonly rules: RepairRules };

/** Something for which the node is repaired from `dueAt` on. */
type Ill = {
  readonly dueAt: Instant;
  /** Reboots that failed before then were for another sickness; absent: nobody knows that it was away. */
  readonly wellUntil?: Instant | undefined;
  readonly message: string;
  readonly treatment: Treatment;
  readonly policy: NonNullable<NodeActionSpec["policy"]>;
  readonly evidence: Omit<Evidence, "seenAt">;
};

type Doubt = Pick<Objection, "message" | "liftedBy">;
type Diagnosis = {
  readonly ills: readonly Ill[];
  readonly doubts: readonly Doubt[];
  /** From when on the brake counts it, perhaps before it is due. */
  readonly unhealthyAt?: Instant;
};

/** Until it was Ready for the first time, nothing but its readinessTTL speaks of a node's health. */
function illsOf(patient: Patient, sight: Sight): Diagnosis {
  const { node, claim, rules } = patient;
  if (!hasBeenReady(claim, node)) return neverReady(patient, sight);
  const sicknesses = sicknessesOf(node, rules, { sight, bootedAt: instantOf(claim.status.firstReadyTime) });
  return {
    ills: sicknesses.filter(isTimed).map(sickness => ({
      dueAt: sickness.timing.dueAt,
      wellUntil: sickness.timing.wellUntil,
      message: `Node ${node.name}: ${sentenceOf(sickness)}`,
      treatment: sickness.ruling.treatment,
      policy: sickness.ruling.place,
      evidence: evidenceOf(sickness, node),
    })),
    doubts: sicknesses.flatMap(({ condition: { type, status }, timing }) =>
      "doubt" in timing
        ? {
            message: `Node ${node.name} has ${type}=${status}, but when it is due nobody knows: ${timing.doubt}.`,
            liftedBy: "a text or a time that can be read",
          }
        : [],
    ),
  };
}

/**
 * As we saw it, else by its own word: if that is later than its registration it may have been Ready while nobody watched,
 * and is not taken at once for one that never was.
 */
function notReadySince({ uid, conditions }: NodeView, sight: Sight): Instant | undefined {
  const history = sight.history(uid, "Ready");
  return history
    ? runBegan(history.stretches, ({ status }) => status !== "True")
    : conditionOf(conditions, "Ready")?.since;
}

function neverReady({ node, claim, rules }: Patient, sight: Sight): Diagnosis {
  const limit = readyBy(claim);
  // One that has not registered is its claim's affair.
  if (limit === undefined) return { ills: [], doubts: [] };
  if ("doubt" in limit) return { ills: [], doubts: [{ message: `${limit.doubt}.`, liftedBy: "another claim" }] };
  const { mode, termination, escalateAfter, attempts } = rules.repair;
  const ready = conditionOf(node.conditions, "Ready");
  const state = ready === undefined ? "it says nothing of Ready" : `Ready is ${ready.status} (${shortReason(ready)})`;
  const since = Math.max(limit.since, notReadySince(node, sight) ?? limit.since);
  const dueAt = limit.dueAt + since - limit.since;
  const isSure = since === limit.since;
  const from = isSure ? "its registration" : `${formatTime(since)}, before which it may have been Ready unseen`;
  const message = `Node ${node.name} was not Ready within ${limit.ttl} of ${from}, until ${formatTime(dueAt)}: ${state}.`;
  const ill: Ill = {
    dueAt,
    message,
    treatment: { mode, termination, action: "Replace", escalateAfter, attempts, priority: 0 },
    policy: { kind: "NodeClaim", name: claim.name, path: "spec.readinessTTL", generation: claim.generation },
    evidence: {
      kind: "NeverReady",
      ...(ready && { conditionType: "Ready", conditionStatus: ready.status, conditionReason: shortReason(ready) }),
      message,
      since: formatTime(since),
      clock: "Observer",
      toleration: limit.ttl,
      dueAt: formatTime(dueAt),
      resourceVersion: node.resourceVersion,
    },
  };
  return { ills: [ill], doubts: [], unhealthyAt: limit.dueAt };
}

type Due = { readonly first: Ill; readonly due: readonly Ill[] };

function treat(patient: Patient, ills: readonly Ill[], context: Context): Decision {
  const { node, claim, rules } = patient;
  const due = ills.filter(({ dueAt }) => dueAt <= context.now).sort(moreUrgent);
  const [first] = due;
  if (first === undefined) return { ...nothing, refusals: tolerated(patient, ills) };
  const held = disabled(first, rules) ?? foreign(claim, context) ?? unclear(rules) ?? onHold(patient, context);
  if (held !== undefined) return { ...nothing, refusals: [refusal(node, held)], wakeAt: held.until };
  return { ...nothing, proposals: asked(patient, { first, due }, context) };
}

/** Once; where its policy has a brake of its own, also for what is due beside it, which that brake does not hold. */
function asked(patient: Patient, { first, due }: Due, context: Context): readonly Proposal[] {
  const proposal = proposalOf(patient, { first, due }, context);
  const isOther = ({ policy, treatment }: Ill) =>
    policy.path !== first.policy.path && treatment.mode === first.treatment.mode;
  const rest = hasOwnBrake(first, patient) ? due.filter(isOther) : [];
  const [next] = rest;
  return next === undefined ? [proposal] : [proposal, ...asked(patient, { first: next, due: rest }, context)];
}

function hasOwnBrake({ policy: { path } }: Ill, { rules: { repair } }: Patient): boolean {
  return repair.policies.find(one => one.path === path)?.maxUnhealthy !== undefined;
}

const byWill: readonly Treatment["mode"][] = ["Enabled", "DryRun", "Disabled"];

/** What is only shown never stands before what is meant; then the earliest decides. */
function moreUrgent(a: Ill, b: Ill): number {
  return byWill.indexOf(a.treatment.mode) - byWill.indexOf(b.treatment.mode) || a.dueAt - b.dueAt;
}

/** The next one to be due, and that it is borne until then. Booting is no sickness. */
function tolerated({ node, claim }: Patient, ills: readonly Ill[]): Refusal[] {
  const [next] = [...ills].sort((a, b) => a.dueAt - b.dueAt);
  if (next === undefined || !hasBeenReady(claim, node)) return [];
  return [refusal(node, { code: "tolerated", message: next.message, until: next.dueAt, liftedBy: "its recovery" })];
}

function disabled({ treatment, policy, message }: Ill, { pool, repair }: RepairRules): Objection | undefined {
  if (treatment.mode !== "Disabled") return undefined;
  const whose = pool === undefined ? "for claims of no pool" : `by NodePool ${pool.name}`;
  const isPolicys = policy.kind === "NodePool" && policy.path?.includes("policies") && repair.mode !== "Disabled";
  const field = isPolicys ? `${policy.path}.mode` : "spec.repair.mode";
  const liftedBy = pool === undefined ? "--repair-unset=on" : `another ${field}`;
  return { code: "repair-disabled", message: `Repair is disabled ${whose}. ${message}`, liftedBy };
}

function foreign(claim: ClaimView, { picture, settings }: Context): Objection | undefined {
  if (settings.foreignClaims === "repair" || isServed(claim, picture)) return undefined;
  const message = `NodeClaim ${claim.name} (${claim.spec.nodeClassRef?.kind ?? "no class"}) belongs to another controller.`;
  return { code: "foreign-claim", message, liftedBy: "that controller, or --foreign-claims=repair" };
}

function isServed({ spec }: ClaimView, { provider }: Context["picture"]): boolean {
  return servedClass(spec.nodeClassRef, provider) !== undefined;
}

function unclear({ pool }: RepairRules): Objection | undefined {
  if (pool?.invalid === undefined) return undefined;
  const message = `NodePool ${pool.name} cannot be understood, so nothing of it is repaired: ${pool.invalid}`;
  return { code: "pool-invalid", message, liftedBy: `mending NodePool ${pool.name}` };
}

function onHold({ node, claim, rules }: Patient, { now }: Context): Objection | undefined {
  return repairHold(ofNode({ node, claim, pool: rules.pool }), now);
}

/** As many as the ledger takes, the first first. */
const evidenceMax = 100;

function proposalOf({ node, claim, rules }: Patient, { first, due }: Due, context: Context): Proposal {
  const { treatment, policy, dueAt } = first;
  const canReboot = treatment.action === "Reboot" && isWorthReboot({ node, claim }, context);
  const wellUntil = Math.min(...due.map(ill => ill.wellUntil ?? 0));
  const { attempts } = treatment;
  const had = canReboot ? hadItsReboots(node.uid, { dueAt, wellUntil, attempts }, context.picture) : undefined;
  return {
    node: { name: node.name, uid: node.uid },
    claim: { name: claim.name, uid: claim.uid },
    action: "Repair",
    ...(canReboot && had === undefined
      ? { method: "Reboot", timeout: treatment.escalateAfter }
      : { method: "Terminate", termination: treatment.termination }),
    askedBy: rules.pool
      ? { kind: "NodePool", name: rules.pool.name, uid: rules.pool.uid }
      : { kind: "Controller", name: "repair" },
    message: [first.message, had].filter(Boolean).join(" "),
    policy,
    evidence: due
      .filter(ill => ill.treatment.mode === treatment.mode)
      .slice(0, evidenceMax)
      .map(({ evidence }) => evidence),
    dueAt,
    priority: treatment.priority,
    ...(treatment.mode === "DryRun" ? { dryRun: true } : {}),
  };
}

/** Only through our own provider, where a boot id tells what came of it, and of no node that goes anyway. */
function isWorthReboot({ node, claim }: Pick<Patient, "node" | "claim">, { picture }: Context): boolean {
  const isGoing = claim.deletingSince !== undefined || node.deletingSince !== undefined;
  if (isGoing || picture.openActionOn(node.uid)?.spec.method === "Terminate") return false;
  return node.bootID !== undefined && isServed(claim, picture);
}

/** It was granted already. */
function repairOf({ uid }: NodeView, { picture }: Context): ActionView | undefined {
  const open = picture.openActionOn(uid);
  return open && reasonsOf(open.spec).some(({ action }) => action === "Repair") ? open : undefined;
}

/** Told on node and claim once the live look has borne it out and before its first step is written: so it is said once. */
function begun({ name, spec, status }: ActionView, { node, claim }: Patient): readonly Notice[] {
  if (spec.action !== "Repair" || status.startedAt === undefined || status.steps?.length) return [];
  const does = spec.method === "Reboot" ? "rebooted" : "replaced";
  const message = `Is ${does} by NodeAction ${name}. ${spec.message}`;
  const notice = { type: "Warning", reason: "NodeRepairStarted", message } as const;
  return [
    { about: { kind: "Node", name: node.name, uid: node.uid }, ...notice },
    { about: { kind: "NodeClaim", name: claim.name, uid: claim.uid }, ...notice },
  ];
}

/** What is open goes its way, unless something is due by now that nobody need be gentle for, or its kubelet is silent. */
function escalate(
  patient: Patient,
  ills: readonly Ill[],
  { running: { spec, status }, context }: { running: ActionView; context: Context },
): Decision {
  if (spec.method !== "Terminate") return nothing;
  const due = ills.filter(({ dueAt, treatment }) => dueAt <= context.now && treatment.mode === "Enabled");
  const hasty = due.filter(({ dueAt, treatment: { termination } }) => hastens({ termination, dueAt }, spec));
  // Before it has begun its own evidence may say so.
  const silent = status.startedAt === undefined ? [] : due.filter(({ evidence }) => tellsSilence([evidence], spec));
  const urgent = hasty.length > 0 ? hasty : silent;
  return urgent.length === 0 ? nothing : treat(patient, urgent, context);
}

/** Nobody provisioned it through us, or nobody can tell which claim it has: only the latter is worth a word. */
function withoutClaim(node: NodeView, { picture }: Context): Decision {
  if (!node.finalizers.includes(terminationFinalizer) || !looksSick(node, picture.provider)) return nothing;
  const message = `Node ${node.name} is sick, but no claim has its providerID, or more than one has: it is left alone.`;
  return {
    ...nothing,
    refusals: [refusal(node, { code: "no-single-claim", message, liftedBy: "leaving it one claim" })],
  };
}

function withoutPool(node: NodeView, claim: ClaimView, { picture, now }: Context): Decision {
  if (!looksSick(node, picture.provider)) return nothing;
  const readyAt = bootsUntil(claim, node);
  if (now < readyAt) return { ...nothing, wakeAt: nextOf(now, [readyAt]) };
  const { name, pool } = claim;
  const message = `Node ${node.name} is sick, but NodePool ${pool} of its claim ${name} is not there to say what follows.`;
  return { ...nothing, refusals: [refusal(node, { code: "pool-missing", message, liftedBy: `a NodePool ${pool}` })] };
}

/** Infinity: nobody knows yet. */
function bootsUntil(claim: ClaimView, node: NodeView): Instant {
  if (hasBeenReady(claim, node)) return Number.NEGATIVE_INFINITY;
  const limit = readyBy(claim);
  return limit !== undefined && "dueAt" in limit ? limit.dueAt : Number.POSITIVE_INFINITY;
}

function looksSick({ conditions }: NodeView, provider: RepairRules["provider"]): boolean {
  return conditions.some(condition => rulingOn(condition, rulesWithoutPool(provider)) !== undefined);
}

function refusal({ name }: NodeView, objection: Objection): Refusal {
  return { subject: `node/${name}`, ...objection };
}
