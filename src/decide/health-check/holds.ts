// What may hold back the start of a remediation beyond its node: the gate, a storm, a pause, an upgrade, an edit while
// others run, and the rules for the control plane. None of it stops what has begun.

import type { CheckView, RemediationView } from "../../snapshot/check-views.ts";
import { formatTime, type Instant } from "../../api/time.ts";
import { isOfEtcd } from "../../snapshot/etcd.ts";
import type { NodeView } from "../../snapshot/views.ts";
import type { Limit } from "../caps.ts";
import type { Context, Proposal, Veto } from "../decision.ts";
import type { Objection } from "../safety.ts";
import { controlPlaneCap, controlPlaneGone, wasOfControlPlane } from "./control-plane-gone.ts";
import { type Gate, gateOf, gateSentence } from "./gate.ts";
import { isMadeBy, isOfControlPlane } from "./manifest.ts";
import { endsAt, stepOf } from "./step-time.ts";
import { type Storm, stormOf } from "./storm.ts";
import { clusterUpgrade, configuring } from "./upgrade.ts";

/** For one pass of the arbiter: each start is judged anew, and each check is looked at once. */
export function remediationVeto(context: Context): Veto {
  const holdByCheck = new Map<CheckView, Objection | undefined>();
  return proposal => {
    const check = checkOf(proposal, context);
    const node = context.picture.nodeByUid(proposal.node.uid);
    if (proposal.action !== "Remediation" || node === undefined) return undefined;
    // What a person wants of our own remediators.
    if (check === undefined) return etcdGuard(node, context);
    // What is there already has begun; only its entry in the ledger is new. What our own remediators do for it begins now,
    // and may have waited long: by now another member of etcd may lack.
    if (isUnderWay(check, node, context)) {
      return proposal.method === "Remediate" ? undefined : etcdGuard(node, context);
    }
    if (!holdByCheck.has(check)) holdByCheck.set(check, checkHold(check, context));
    return holdByCheck.get(check) ?? etcdGuard(node, context);
  };
}

export function isUnderWay(
  check: CheckView,
  { name }: Pick<NodeView, "name">,
  { picture: { checks } }: Pick<Context, "picture">,
): boolean {
  return checks.remediationsOf(check, name).some(one => isGoingOn(one, check));
}

/** It runs, or the step after it is still to come: one that was added since, when all others were over, is a new start. */
export function isGoingOn(one: RemediationView, { madeUnder }: CheckView): boolean {
  return isAtWork(one) || one.madeUnder === undefined || one.madeUnder === madeUnder;
}

/** What has failed or was told that its time is up does nothing more, and stands until the node is well. */
function isAtWork({ timedOut, succeeded }: RemediationView): boolean {
  return timedOut === undefined && succeeded?.status !== "False";
}

/** What holds back every start of the check. */
export function checkHold(check: CheckView, context: Context): Objection | undefined {
  const gate = gateOf(check, context);
  return (
    paused(check) ??
    clusterUpgrade(context) ??
    configuring(check, context) ??
    edited(check, context) ??
    closed(check, gate) ??
    stormHold(check, stormOf(check, gate, context))
  );
}

function checkOf({ action, askedBy }: Proposal, { picture: { checks } }: Context): CheckView | undefined {
  if (action !== "Remediation" || askedBy.kind !== "NodeHealthCheck") return undefined;
  const check = checks.check(askedBy.name);
  return check?.uid === askedBy.uid ? check : undefined;
}

function paused({ name, effective: { pauseRequests } }: CheckView): Objection | undefined {
  if (pauseRequests.length === 0) return undefined;
  const message = `NodeHealthCheck ${name} is paused: ${pauseRequests.join("; ")}`;
  return { code: "paused", message, liftedBy: "taking the entries out of spec.pauseRequests" };
}

/** Selector and remediations are locked while something is remediated: what is written now holds after that. */
export function edited(check: CheckView, context: Context): Objection | undefined {
  const { checks } = context.picture;
  const made = checks.remediationsBy(check).filter(one => isUnderAnother(one, check, context));
  const under = [...new Set(made.map(({ nodeName }) => nodeName))].sort();
  const [first] = under;
  if (first === undefined) return undefined;
  const others = under.length === 1 ? "" : ` and ${under.length - 1} more`;
  const until = Math.max(...made.map(one => endOf(one, check, context)));
  return {
    code: "edited-while-remediating",
    message: `Selector or remediations of NodeHealthCheck ${check.name} were edited while node ${first}${others} was remediated: what was written before holds until that is over.`,
    ...(Number.isFinite(until) ? { until } : {}),
    liftedBy: `the end of the remediation of node ${first}${others}, or the spec as it was`,
  };
}

export function isMadeUnderAnother(check: CheckView, nodeName: string, context: Context): boolean {
  return context.picture.checks.remediationsOf(check, nodeName).some(one => isUnderAnother(one, check, context));
}

export function isUnderAnother(one: RemediationView, check: CheckView, context: Context): boolean {
  if (one.madeUnder === undefined || one.madeUnder === check.madeUnder || !isAtWork(one)) return false;
  // It has done what it could: how long that is waited for is what its step says now, where it has one.
  if (check.steps.some(step => isMadeBy(step, one))) return one.succeeded?.status !== "True";
  // Nobody else would end it: without a step of its own it must not hold the check for ever.
  return endOf(one, check, context) > context.now;
}

/** When its time is up; infinite: that has no end, or nobody can tell. */
function endOf(one: RemediationView, check: CheckView, context: Context): Instant {
  const step = stepOf(one, check);
  return (step && endsAt(one, step, context)) ?? Number.POSITIVE_INFINITY;
}

function closed(check: CheckView, gate: Gate): Objection | undefined {
  if (gate.isOpen) return undefined;
  const followed = gate.taken === 0 ? "" : "Ready successors, deleting the NodeActions of what was taken away, ";
  return {
    code: "too-many-unhealthy",
    message: gateSentence(check, gate),
    ...(gate.opensAt === undefined ? {} : { until: gate.opensAt }),
    liftedBy: `${followed}recovery of nodes, or another spec.maxUnhealthy or spec.minHealthy`,
  };
}

function stormHold({ name }: CheckView, { isActive, endsAt }: Storm): Objection | undefined {
  if (!isActive) return undefined;
  const end = endsAt === undefined ? "" : ` until ${formatTime(endsAt)}`;
  return {
    code: "storm-cooldown",
    message: `NodeHealthCheck ${name} waits${end} after a storm (spec.stormCooldownDuration).`,
    ...(endsAt === undefined ? {} : { until: endsAt }),
    liftedBy: "time",
  };
}

/** Where a PodDisruptionBudget stands over etcd, its word holds: unless this member does not serve anyway. */
function etcdGuard(node: NodeView, { picture }: Context): Objection | undefined {
  if (!isOfControlPlane(node)) return undefined;
  for (const pod of [...picture.podsOn(node.name)].filter(isOfEtcd)) {
    if (!pod.isReady) continue;
    const budget = picture
      .budgetsOver(pod)
      .find(({ disruptionsAllowed, isObserved }) => disruptionsAllowed < 1 || !isObserved);
    if (budget === undefined) continue;
    const who = `PodDisruptionBudget ${budget.namespace}/${budget.name}`;
    const message = `${who} allows no disruption of etcd, and pod ${pod.namespace}/${pod.name} on node ${node.name} is ready.`;
    return { code: "etcd-quorum", message, liftedBy: `${who} allowing one` };
  }
  return undefined;
}

/**
 * One node of the control plane at a time, over all checks and persons, and whoever takes one away, until a Ready one has
 * followed it; one on which all was tried in vain is still lacking, and may be taken up again as long as no other is. None
 * where nobody asks for one: in a burst of others all that goes away would be looked through at each turn.
 */
export function controlPlaneLimits(proposals: readonly Proposal[], context: Context): readonly Limit[] {
  return proposals.some(proposal => isForControlPlane(proposal, context)) ? [controlPlaneLimit(context)] : [];
}

function controlPlaneLimit(context: Context): Limit {
  const { picture } = context;
  const { checks } = picture;
  const busy = new Set(checks.controlPlaneRemediations().map(({ nodeName }) => nodeName));
  for (const { node } of picture.departures()) {
    const view = picture.nodeByUid(node.uid);
    if (view === undefined ? wasOfControlPlane(node.uid, context) : isOfControlPlane(view)) busy.add(node.name);
  }
  const gone = controlPlaneGone(context);
  const frees = gone === undefined || busy.has(gone.name) ? [] : [gone.until];
  if (gone !== undefined) busy.add(gone.name);
  return {
    role: "cap",
    place: { kind: "Default", path: controlPlaneCap },
    what: `of the control plane and under remediation, going away or gone without a Ready successor${busy.size === 0 ? "" : ` (${[...busy].sort().join(", ")})`}`,
    allowed: 1,
    counted: busy.size,
    frees,
    applies: proposal => {
      const { name } = proposal.node;
      if (!isForControlPlane(proposal, context)) return false;
      // One of that name which has come in its place, and is sick too, is what lacks.
      const isNew = isNewOnControlPlane(proposal, context) && gone?.name !== name;
      return isNew || [...busy].some(one => one !== name);
    },
  };
}

function isForControlPlane({ action, node }: Proposal, { picture }: Context): boolean {
  const view = picture.nodeByUid(node.uid);
  return action === "Remediation" && view !== undefined && isOfControlPlane(view);
}

/** One that has a remediation, also one that is over or another check's, is counted by it. */
function isNewOnControlPlane(proposal: Proposal, context: Context): boolean {
  const { name } = proposal.node;
  const { checks } = context.picture;
  const check = checkOf(proposal, context);
  if (check !== undefined && checks.remediationsOf(check, name).length > 0) return false;
  return checks.controlPlaneRemediations().every(({ nodeName }) => nodeName !== name);
}
