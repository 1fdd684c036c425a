// Bugs in what is decided, on a picture that is right.

import { formatTime } from "../../../src/api/time.ts";
import type { Command, Context, Decision, Proposal } from "../../../src/decide/decision.ts";
import { actionSpec, nextAttempt } from "../../../src/decide/ledger.ts";
import type { PodView } from "../../../src/snapshot/views.ts";
import { altered, blinded, type Change, deciding, withRule } from "./change.ts";
import type { Mutant } from "./mutant.ts";

function withCommands(decision: Decision, commands: readonly Command[]): Decision {
  return { ...decision, commands: [...decision.commands, ...commands] };
}

/** Deletes the surplus itself. */
const withoutLedger = deciding("replicas", decision => {
  const commands = decision.proposals.map(
    ({ node, message }): Command => ({ kind: "delete-node", node, why: message }),
  );
  return withCommands({ ...decision, proposals: [] }, commands);
});

/** Opens its actions itself. */
const withoutArbiter = deciding("replicas", (decision, context) => {
  const commands = decision.proposals.map(proposal => opening(proposal, context));
  return withCommands({ ...decision, proposals: [] }, commands);
});

function opening(proposal: Proposal, context: Context): Command {
  const { name } = nextAttempt(context.picture, proposal, { dryRun: false });
  return { kind: "open-action", why: proposal.message, name, spec: actionSpec(proposal, context), phase: "Pending" };
}

const oneTooMany = withRule("replicas", rule => (name, context) => {
  const pool = (found = context.picture.pool(name)) =>
    found && { ...found, effective: { ...found.effective, replicas: (found.effective.replicas ?? 0) - 1 } };
  const right = rule.decide(name, context);
  if (right.proposals.length === 0) return right;
  return rule.decide(name, { ...context, picture: altered(context.picture, { pool: () => pool() }) });
});

const withoutLimit = blinded("replicas", picture => ({
  pool: name => {
    const found = picture.pool(name);
    return found && { ...found, effective: { ...found.effective, limits: {} } };
  },
}));

const byForce = deciding("termination", (decision, { now }) => ({
  ...decision,
  commands: decision.commands.map(command =>
    command.kind === "evict-pod" ? { kind: "delete-pod", pod: command.pod, deadline: now, why: command.why } : command,
  ),
}));

const instanceFirst = withRule("termination", rule => (name, context) => {
  const decision = rule.decide(name, context);
  const { providerID } = context.picture.claim(name) ?? {};
  const isDraining = decision.commands.some(({ kind }) => kind === "update-action");
  if (providerID === undefined || !isDraining) return decision;
  return withCommands(decision, [{ kind: "delete-instance", providerID, why: "It goes anyhow." }]);
});

const withoutDeadline = blinded("termination", picture => ({
  claim: name => {
    const found = picture.claim(name);
    if (found === undefined) return undefined;
    const { terminationAt: _, ...rest } = found;
    const { terminationGracePeriod: __, ...spec } = found.spec;
    return { ...rest, spec };
  },
}));

const graceOfNobody = blinded("termination", picture => ({
  podsOn: name => [...picture.podsOn(name)].map((pod): PodView => ({ ...pod, graceMs: 3_600_000 })),
}));

/** Each claim by itself, so that nobody sees how many are missing. */
const oneByOne = withRule("garbage", rule => (name, context) => {
  const all = rule.decide(name, context);
  const decisions = [...context.picture.unlistedClaims()].map(claim => {
    const picture = altered(context.picture, { unlistedClaims: () => [claim] });
    return rule.decide(name, { ...context, picture });
  });
  const wakes = [all, ...decisions].flatMap(({ wakeAt }) => wakeAt ?? []);
  return {
    ...all,
    commands: [...all.commands, ...decisions.flatMap(({ commands }) => commands.filter(isLookUp))],
    proposals: decisions.flatMap(({ proposals }) => proposals),
    wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes),
  };
});

function isLookUp({ kind }: Command): boolean {
  return kind === "look-up-instance";
}

const openOnesToo = withRule("retention", rule => (name, context) => {
  const deletions = [...context.picture.openActions()]
    .filter(({ isProvisional, status }) => !isProvisional && status.phase === "Running")
    .map(({ name: action, uid }): Command => {
      return { kind: "delete-action", action: { name: action, uid }, why: "There are too many." };
    });
  return withCommands(rule.decide(name, context), deletions);
});

const nowInWords = deciding("termination", (decision, { now }) => ({
  ...decision,
  notices: decision.notices.map(notice => ({ ...notice, message: `${notice.message} (${formatTime(now)})` })),
}));

const everyNode = withRule("node-deletion", rule => (name, context) => {
  const node = context.picture.node(name);
  const decision = rule.decide(name, context);
  if (node === undefined || node.labels["seen"] !== undefined) return decision;
  const target = { name, uid: node.uid };
  return withCommands(decision, [
    { kind: "update-node", node: target, change: { labels: { seen: "true" } }, why: "Seen." },
  ]);
});

/** Every leader takes itself for the first. */
const oneEpoch: Change = options => {
  const { leadership } = options;
  return {
    ...options,
    leadership: {
      get epoch() {
        return leadership.epoch === undefined ? undefined : 1;
      },
      onChange: changed => leadership.onChange(changed),
    },
  };
};

const withoutDryRun: Change = options => ({ ...options, settings: { ...options.settings, dryRun: false } });

export const ruleMutants: readonly Mutant[] = [
  { name: "a node goes without an entry in the ledger", wrong: withoutLedger, story: "replicas", caughtBy: "I5" },
  { name: "actions begin without the arbiter", wrong: withoutArbiter, story: "caps at once", caughtBy: "I1" },
  {
    name: "one node more than the surplus goes",
    wrong: oneTooMany,
    story: "as many as are too many",
    caughtBy: "expected",
  },
  { name: "limits.nodes is not asked", wrong: withoutLimit, story: "replicas", caughtBy: "expected" },
  { name: "pods go by force before the deadline", wrong: byForce, story: "node-deleted-by-hand", caughtBy: "I6" },
  {
    name: "pods are not waited for",
    wrong: blinded("termination", () => ({ podsOn: () => [] })),
    story: "disruption-budget",
    caughtBy: "expected",
  },
  {
    name: "the instance ends before the drain",
    wrong: instanceFirst,
    story: "disruption-budget",
    caughtBy: "D1",
  },
  {
    name: "a termination grace period is not kept",
    wrong: withoutDeadline,
    story: "grace-period",
    caughtBy: "expected",
  },
  { name: "pods are deleted long before they must be", wrong: graceOfNobody, story: "grace-period", caughtBy: "I6" },
  {
    name: "nobody looks again when it is time",
    wrong: deciding("termination", decision => ({ ...decision, wakeAt: undefined })),
    story: "grace-period",
    caughtBy: "incremental",
  },
  {
    name: "missing instances are judged one by one",
    wrong: oneByOne,
    story: "instances that are missing",
    caughtBy: "expected",
  },
  {
    name: "garbage is not looked for on Ready nodes",
    wrong: blinded("garbage", () => ({ nodesWith: () => [] })),
    story: "claims that are lost",
    caughtBy: "G1",
  },
  { name: "open actions are tidied away", wrong: openOnesToo, story: "a drain that is held", caughtBy: "storm" },
  { name: "an event for every look", wrong: nowInWords, story: "disruption-budget", caughtBy: "incremental" },
  { name: "nodes of others are written to", wrong: everyNode, story: "nodes of others", caughtBy: "U1" },
  { name: "epochs are forgotten", wrong: oneEpoch, story: "an older leader's action", caughtBy: "expected" },
  { name: "--dry-run is not kept", wrong: withoutDryRun, story: "dry run by flag", caughtBy: "expected" },
];
