// Carries a claim that is being deleted to its end: taint, drain, volumes, instance, objects, one after another, and each
// only when the picture shows that the one before is over. Keeps no memory: whoever comes next goes on from the objects.

import { formatTime, type Instant, parseDuration } from "../api/time.ts";
import { terminationFinalizer, terminationTimestampKey } from "../api/well-known.ts";
import type { Staleness, Subject } from "../snapshot/picture.ts";
import type { ActionView, ClaimView, NodeView } from "../snapshot/views.ts";
import { claimParts, conditionOf, isTrue, sameConditions, withCondition, withReady } from "./conditions.ts";
import type { Command, ConditionChange, Context, Decision, MetadataChange, Refusal, Rule } from "./decision.ts";
import { nothing } from "./decision.ts";
import { laneOf } from "./lane.ts";
import { entriesOf } from "./departing.ts";
import { drain } from "./drain.ts";
import { instanceEnd, lookUp } from "./instance-end.ts";
import { instantOf } from "./ledger.ts";
import { servedClass } from "./node-class.ts";
import { finalize, taint } from "./node-end.ts";
import { isOwnNode } from "./own-node.ts";
import { progress } from "./progress.ts";
import { saysSilent } from "./silence.ts";
import { disruptionBegun, disruptionReason } from "./disruption-reason.ts";
import { type Departing, nextOf, saidOf, type Step, type StepResult, type Wait } from "./termination-step.ts";
import { volumes } from "./volumes.ts";

export const termination: Rule = {
  name: "termination",
  controller: "termination",
  kind: "claim",
  decide: decideTermination,
};

const steps: readonly Step[] = [taint, drain, volumes, instanceEnd, finalize];

function decideTermination(name: string, context: Context): Decision {
  const { picture } = context;
  const claim = picture.claim(name);
  if (claim?.deletingSince === undefined || claim.isProvisional) return nothing;
  if (!claim.finalizers.includes(terminationFinalizer)) return nothing;
  if (servedClass(claim.spec.nodeClassRef, picture.provider) === undefined) return nothing;
  if (picture.staleness !== undefined) return stale(claim, picture.staleness);
  const found = picture.nodesOf(claim);
  const doubtful = found.find(node => picture.claimOf(node)?.uid !== claim.uid);
  if (doubtful !== undefined) return sharedNode(claim, doubtful);
  const nodes = found.filter(node => isOwnNode(node, claim));
  const entries = entriesOf(claim, nodes, { ...context, terminationAt: terminationAtOf(claim, []) });
  if ("missing" in entries) return entries.missing;
  const strangers = found.filter(node => !nodes.includes(node));
  return carriedOn(departingOf(claim, { nodes, strangers, actions: entries.actions }, context), context);
}

function departingOf(
  claim: ClaimView,
  { nodes, strangers, actions }: Pick<Departing, "nodes" | "strangers" | "actions">,
  { picture }: Context,
): Departing {
  const isEnding = isTrue(claim.conditions, "InstanceTerminating");
  const isGone = claim.providerID !== undefined && picture.instance(claim.providerID)?.state === "gone";
  const why = actions[0]?.spec.message ?? `Claim ${claim.name} was deleted at ${formatTime(claim.deletingSince ?? 0)}.`;
  return {
    claim,
    nodes,
    strangers,
    drained: isTrue(claim.conditions, "Registered") ? nodes : [],
    actions,
    ...(claim.terminationAt === undefined ? {} : { terminationAt: claim.terminationAt }),
    isDead: isGone && !isEnding && nodes.length > 0 && nodes.every(node => !isTrue(node.conditions, "Ready")),
    isSilent: !isEnding && nodes.length > 0 && nodes.every(isUnknown) && actions.every(({ spec }) => saysSilent(spec)),
    isEnding,
    why,
  };
}

function isUnknown({ conditions }: NodeView): boolean {
  return conditionOf(conditions, "Ready")?.status === "Unknown";
}

/** The nearest of what the claim says already, what its own grace period gives, and the deadlines of its actions. */
function terminationAtOf(claim: ClaimView, actions: readonly ActionView[]): Instant | undefined {
  const { terminationGracePeriod } = claim.spec;
  const grace = terminationGracePeriod === undefined ? undefined : parseDuration(terminationGracePeriod);
  const own = grace?.ok ? wholeSeconds((claim.deletingSince ?? 0) + grace.value) : undefined;
  const all = [claim.terminationAt ?? own, ...actions.map(({ spec }) => instantOf(spec.deadline))];
  const nearest = Math.min(...all.map(instant => instant ?? Number.POSITIVE_INFINITY));
  return Number.isFinite(nearest) ? nearest : undefined;
}

/** As the annotation will read. */
function wholeSeconds(instant: Instant): Instant {
  return Math.floor(instant / 1000) * 1000;
}

function carriedOn(departing: Departing, context: Context): Decision {
  const taken: { step: Step; result: StepResult }[] = [];
  for (const step of steps) {
    const result = step.take(departing, context);
    taken.push({ step, result });
    if (!result.isDone) break;
  }
  const results = [...taken.map(({ result }) => result), lookUp(departing, context)];
  const steered = results.flatMap(({ commands = [] }) => commands);
  const commands = [...claimUpdate(departing, results, context.now), ...steered];
  const waits = [...failedWrites(commands, context), ...results.flatMap(({ waits: held = [] }) => held)];
  return {
    commands: [...commands, ...progress(departing, { names: taken.map(({ step }) => step.name), wait: waits[0] })],
    proposals: [],
    refusals: waits.map(wait => refusal(`claim/${departing.claim.name}`, wait)),
    notices: [...disruptionBegun(departing), ...results.flatMap(({ notices = [] }) => notices)],
    wakeAt: nextOf(context.now, [departing.claim.terminationAt, ...results.map(({ wakeAt }) => wakeAt)]),
  };
}

/** Everything that the claim shall say, in one write; nothing if it says so already. */
function claimUpdate(departing: Departing, results: readonly StepResult[], now: Instant): Command[] {
  const { claim, why } = departing;
  const target = { name: claim.name, uid: claim.uid };
  const head = { kind: "update-claim", claim: target, resourceVersion: claim.resourceVersion, why } as const;
  const last = results.find(({ metadata }) => metadata !== undefined)?.metadata;
  if (last !== undefined) return [{ ...head, metadata: last }];
  const metadata = timestamped(departing, now);
  const [condition] = departing.actions.flatMap(({ spec }) => disruptionReason(spec) ?? []);
  const before = condition === undefined ? claim.conditions : withCondition(claim.conditions, condition);
  const conditions = results.reduce<readonly ConditionChange[]>(withResult, before);
  const isSame = sameConditions(claim.conditions, conditions);
  if (metadata === undefined && isSame) return [];
  return [{ ...head, ...(metadata ? { metadata } : {}), ...(isSame ? {} : { status: { conditions } }) }];
}

/** While a condition is open its message says who holds it. */
function withResult(conditions: readonly ConditionChange[], { condition, isDone, waits }: StepResult) {
  if (condition === undefined) return conditions;
  const message = isDone ? condition.message : (waits?.[0]?.message ?? condition.message);
  return withCondition(conditions, { ...condition, message });
}

/** One that has come stays as it is: an earlier one would say nothing more. */
function timestamped({ claim, actions }: Departing, now: Instant): MetadataChange | undefined {
  const terminationAt = terminationAtOf(claim, actions);
  if (terminationAt === undefined || terminationAt === claim.terminationAt) return undefined;
  if (claim.terminationAt !== undefined && claim.terminationAt <= now) return undefined;
  return { annotations: { [terminationTimestampKey]: formatTime(terminationAt) } };
}

/** What was tried for this decision and did not succeed. Evictions and the instance tell their own. */
function failedWrites(commands: readonly Command[], { picture }: Context): Wait[] {
  return commands.flatMap(command => {
    const lane = laneOf(command);
    const failure = ownWords.has(command.kind) ? undefined : picture.failure(lane);
    // An eviction that a budget refused before, on the same pod, is no failure of what is done now.
    if (failure === undefined || (command.kind === "delete-pod" && failure.reason === "TooManyRequests")) return [];
    return {
      code: "write-failed",
      message: `The last command on ${lane} failed: ${saidOf(failure)}`,
      retryAt: failure.retryAt,
      liftedBy: "What the API server asks for; it is tried again.",
    };
  });
}

const ownWords: ReadonlySet<Command["kind"]> = new Set(["evict-pod", "delete-instance", "look-up-instance"]);

function refusal(subject: Subject, { code, message, until, retryAt, liftedBy }: Wait): Refusal {
  const end = until ?? retryAt;
  return { subject, code, message, ...(end === undefined ? {} : { until: end }), liftedBy };
}

function stale(claim: ClaimView, { message }: Staleness): Decision {
  const refused: Refusal = {
    subject: `claim/${claim.name}`,
    code: "picture-stale",
    message: `Claim ${claim.name} is being deleted, but nothing is done on an old picture: ${message}`,
    liftedBy: "The watch catching up.",
  };
  return { ...nothing, refusals: [refused] };
}

function sharedNode(claim: ClaimView, node: NodeView): Decision {
  const refused: Refusal = {
    subject: `claim/${claim.name}`,
    code: "node-shared",
    message: `Node ${node.name} has the providerID of more than one claim, ${claim.name} among them: none of them is ended.`,
    liftedBy: "Leaving the instance one claim: take the finalizer off the others by hand.",
  };
  const conditions = withReady(claim.conditions, claimParts, { reason: "NodeShared", message: refused.message });
  if (sameConditions(claim.conditions, conditions)) return { ...nothing, refusals: [refused] };
  const { name, uid, resourceVersion } = claim;
  const told: Command = {
    kind: "update-claim",
    claim: { name, uid },
    resourceVersion,
    status: { conditions },
    why: refused.message,
  };
  return { ...nothing, commands: [told], refusals: [refused] };
}
