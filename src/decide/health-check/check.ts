// The rule of a health check itself: what it says of its nodes, the storm it is in, and what remains of remediations whose
// node is gone. Starting, carrying on and letting go are the node's rule.

import type { CheckView } from "../../snapshot/check-views.ts";
import { conditionOf, isTrue } from "../conditions.ts";
import { type Context, nothing, type Notice, type Decision, together } from "../decision.ts";
import type { Objection } from "../safety.ts";
import { nextOf } from "../termination-step.ts";
import { gateOf } from "./gate.ts";
import { checkHold } from "./holds.ts";
import { giveBack } from "./lease.ts";
import { healthOf } from "./node-health.ts";
import { deletions } from "./recovery.ts";
import { type Findings, statusUpdate } from "./status.ts";
import { endsAt, stepOf } from "./step-time.ts";
import { type Storm, stormOf } from "./storm.ts";
import { disablingOf, sightOf } from "./templates.ts";
import { unheededDoubt } from "./upgrade.ts";
import { checkNotice } from "./words.ts";

export function decideCheck(name: string, context: Context): Decision {
  const check = context.picture.checks.check(name);
  if (check === undefined || check.deletingSince !== undefined) return nothing;
  const gate = gateOf(check, context);
  const storm = stormOf(check, gate, context);
  const hold = checkHold(check, context);
  const sight = sightOf(check, context);
  const nodes = context.picture.checks.notHealthy(check);
  const notHealthy = nodes.map(node => ({ node, health: healthOf(node, check, context) }));
  const doubt = unheededDoubt(context);
  const findings: Findings = { disabling: disablingOf(check, context), hold, doubt, storm, sight, notHealthy };
  // What has not been listed yet after a start is no news of the check.
  const isPending = findings.disabling?.reason === "RemediationTemplatePending" || sight === "Pending";
  const update = isPending ? undefined : statusUpdate(check, findings, context);
  const dues = notHealthy.map(({ health }) => health.dueAt);
  const told: Decision = {
    ...nothing,
    commands: update === undefined ? [] : [update],
    refusals: refusalsOf(check, findings),
    notices: isPending ? [] : noticesOf(check, findings),
    wakeAt: nextOf(context.now, [...dues, ...stepEnds(check, context), gate.changesAt, storm.endsAt, hold?.until]),
  };
  return together([told, ...orphans(check, context)]);
}

/** When a step has had its time: another node may then have nothing left to try. */
function stepEnds(check: CheckView, context: Context): readonly number[] {
  return context.picture.checks.remediationsBy(check).flatMap(one => {
    const step = stepOf(one, check);
    return (step && endsAt(one, step, context)) ?? [];
  });
}

function refusalsOf({ name }: CheckView, { disabling, hold }: Findings): Decision["refusals"] {
  const subject = `check/${name}` as const;
  const objections: readonly Objection[] = [
    ...(disabling === undefined ? [] : [{ code: "check-disabled", ...disabling }]),
    ...(hold === undefined ? [] : [hold]),
  ];
  return objections.map(({ code, message, until, liftedBy }) => ({
    subject,
    code,
    message,
    ...(until === undefined ? {} : { until }),
    liftedBy,
  }));
}

/** What is new since the status was last written. */
function noticesOf(check: CheckView, { disabling, hold, doubt, storm }: Findings): readonly Notice[] {
  const wasDisabled = isTrue(check.conditions, "Disabled");
  const notices = stormNotices(check, storm);
  if (disabling !== undefined && !wasDisabled) {
    notices.push(checkNotice(check, { type: "Warning", reason: "Disabled", message: disabling.message }));
  }
  if (disabling === undefined && wasDisabled) {
    notices.push(checkNotice(check, { type: "Normal", reason: "Enabled", message: "The check is enabled." }));
  }
  if (hold !== undefined && isTrue(check.conditions, "RemediationAllowed")) {
    const type = hold.code === "paused" || hold.code === "cluster-upgrading" ? "Normal" : "Warning";
    notices.push(checkNotice(check, { type, reason: "RemediationSkipped", message: hold.message }));
  }
  const isAllowed = disabling === undefined && hold === undefined;
  if (isAllowed && doubt !== undefined && conditionOf(check.conditions, "RemediationAllowed")?.message !== doubt) {
    notices.push(checkNotice(check, { type: "Warning", reason: "UpgradeUnknown", message: doubt }));
  }
  return notices;
}

function stormNotices(check: CheckView, storm: Storm): Notice[] {
  const wasActive = isTrue(check.conditions, "StormActive");
  const wasCooling = isTrue(check.conditions, "StormCooldownActive");
  const say = (type: "Normal" | "Warning", reason: string, message: string) =>
    checkNotice(check, { type, reason, message });
  if (storm.isActive && !wasActive) return [say("Warning", "StormRecoveryStarted", "Too many nodes are not healthy.")];
  if (storm.isCooling && !wasCooling) {
    return [say("Warning", "StormRecoveryCooldownStarted", "Enough nodes are healthy again; the cooldown begins.")];
  }
  return wasActive && !storm.isActive ? [say("Normal", "StormRecoveryEnded", "The storm is over.")] : [];
}

/** Remediations of nodes that are gone: per contract, those that took the node away stay until they have succeeded. */
function orphans(check: CheckView, context: Context): readonly Decision[] {
  const { picture } = context;
  const { checks } = picture;
  return checks.remediatedNodes(check).flatMap(nodeName => {
    if (picture.node(nodeName) !== undefined) return [];
    const made = checks.remediationsOf(check, nodeName).filter(({ deletingSince }) => deletingSince === undefined);
    const busy = made.find(one => one.takesNodeAway && one.succeeded?.status !== "True");
    if (busy !== undefined) {
      const message = `Node ${nodeName} is gone; ${busy.kind} ${busy.name} of NodeHealthCheck ${check.name} has not said yet that it has succeeded.`;
      const liftedBy = `Succeeded=True on ${busy.kind} ${busy.name}, or its deletion`;
      return {
        ...nothing,
        refusals: [{ subject: `check/${check.name}`, code: "waits-for-remediator", message, liftedBy }],
      };
    }
    const commands = deletions(made, `Node ${nodeName} is gone.`, context);
    return { ...nothing, commands: [...commands, ...giveBack(nodeName, check.name, context)] };
  });
}
