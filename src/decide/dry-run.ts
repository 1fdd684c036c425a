// What is decided and only shown: who says so, the record of what would be done, and its end when nobody asks for it any
// more. A dry run holds no node, spends nothing of what is real, and is never carried out.

import type { ClaimView } from "../snapshot/views.ts";
import { reasonOf } from "./conditions.ts";
import type { Command, Context, Proposal } from "./decision.ts";
import { actionSpec, nextAttempt, type Permission } from "./ledger.ts";
import { isPersonsDelete, type Objection } from "./safety.ts";

export const dryRunCode = "dry-run";

/** Whether it only says on an action that a dry run holds it. */
export function saysDryRun(command: Command): boolean {
  if (command.kind !== "update-action" || command.spec !== undefined) return false;
  const { waitingFor, ...others } = command.progress ?? {};
  return waitingFor?.reason === reasonOf(dryRunCode) && Object.keys(others).length === 0;
}

/** Who wants everything only shown; undefined: nobody. */
export function dryRunOfAll({ picture, settings }: Pick<Context, "picture" | "settings">): string | undefined {
  if (settings.dryRun) return "the controller runs with --dry-run";
  if (picture.safety.policy.dryRun) return "SafetyPolicy default has spec.dryRun";
  const { rival } = picture;
  return (
    rival && `another controller of the karpenter.sh kinds is alive (${rival.holder}, lease in ${rival.namespace})`
  );
}

/** Who wants it only shown; undefined: it is meant. */
export function dryRunWord(proposal: Proposal, context: Context): string | undefined {
  const { picture } = context;
  const word = dryRunOfAll(context);
  if (word !== undefined) return word;
  // A pool's or check's own word is about what we would start; a person's delete has begun.
  if (isPersonsDelete(proposal, context)) return undefined;
  const pool = proposal.claim && picture.claim(proposal.claim.name)?.pool;
  if (pool !== undefined && picture.pool(pool)?.effective.dryRun) return `NodePool ${pool} has spec.dryRun`;
  return proposal.dryRun ? `${proposal.askedBy.kind} ${proposal.askedBy.name} asks for a dry run` : undefined;
}

/** Of a claim that goes without an action. `why`: a sentence. */
export function claimShownOnly({ name, pool }: ClaimView, why: string, context: Context): Objection | undefined {
  const isPools = pool !== undefined && context.picture.pool(pool)?.effective.dryRun;
  const word = dryRunOfAll(context) ?? (isPools ? `NodePool ${pool} has spec.dryRun` : undefined);
  if (word === undefined) return undefined;
  const message = `Claim ${name} would be deleted, but that is only shown, because ${word}: ${why}`;
  return { code: dryRunCode, message, liftedBy: "ending the dry run" };
}

export function shownOnly(word: string, { action, message }: Proposal): Objection {
  return {
    code: dryRunCode,
    message: `${action} would begin, but is only shown, because ${word}: ${message}`,
    liftedBy: "ending the dry run",
  };
}

/** The record, unless it stands already. */
export function openDryRun(proposal: Proposal, context: Context, permission: Permission): readonly Command[] {
  const { picture } = context;
  if (picture.dryRunsOn(proposal.node.uid).some(({ spec }) => spec.action === proposal.action)) return [];
  const { name } = nextAttempt(picture, proposal, { dryRun: true });
  const spec = actionSpec(proposal, context, { ...permission, dryRun: true });
  return [{ kind: "open-action", why: proposal.message, name, spec, phase: "DryRun" }];
}

/** Those that stand although nobody asks for them any more. */
export function closedDryRuns(asked: readonly Proposal[], { picture }: Context): readonly Command[] {
  const isAsked = new Set(asked.map(({ action, node }) => `${action} ${node.uid}`));
  const closed: Command[] = [];
  for (const { name, uid, resourceVersion, spec, isProvisional } of picture.dryRuns()) {
    if (isProvisional || isAsked.has(`${spec.action} ${spec.node.uid}`)) continue;
    const outcome = "Its reason is gone, or is no longer only shown. Nothing was done.";
    const progress = { phase: "Abandoned", outcome } as const;
    closed.push({ kind: "update-action", why: outcome, action: { name, uid }, resourceVersion, progress });
  }
  return closed;
}
