// The journal as an account for somebody who watches: what is done to which node and why, in plain words. Steps that
// only keep books are left out.

import { formatTime, type Instant } from "../api/time.ts";
import { initializedKey, terminationFinalizer } from "../api/well-known.ts";
import type { Command, JournalEntry, Outcome } from "../decide/decision.ts";

export type AccountLine = {
  /** A node comes, goes, is held, or something failed. */
  readonly tone: "comes" | "goes" | "held" | "failed" | "plain";
  /** Whom it is about. Lines that differ in nothing else can be told as one. */
  readonly object: string;
  readonly message: string;
};

export function accountLine(entry: JournalEntry): AccountLine | undefined {
  switch (entry.event) {
    case "ended":
      return entry.outcome.result === "done"
        ? (insteadLine(entry.command, entry.outcome) ?? doneLine(entry.command))
        : failedLine(entry.command, entry.outcome);
    case "refused": {
      const { subject, message, until, liftedBy } = entry.refusal;
      return {
        tone: "held",
        object: subject,
        message: `${asPart(message)}; ${endOf(message, until)}${asClause(liftedBy)}`,
      };
    }
    case "leading":
    case "following":
      return { tone: "plain", object: "controller", message: entry.message };
    default:
      return undefined;
  }
}

function insteadLine(command: Command, { note }: { readonly note?: string }): AccountLine | undefined {
  if (command.kind !== "start-action" || note === undefined) return undefined;
  return { tone: "failed", object: command.action.name, message: `not begun, ${note}.` };
}

function doneLine(command: Command): AccountLine | undefined {
  const { why } = command;
  switch (command.kind) {
    case "create-claim":
      return { tone: "comes", object: command.manifest.metadata.name, message: `asked for. ${why}` };
    case "update-node":
      return nodeLine(command);
    case "open-action": {
      const { spec, phase } = command;
      const verb = phase === "DryRun" ? "would leave" : "leaving";
      return { tone: "goes", object: spec.node.name, message: `${verb} (${spec.action}). ${spec.message}` };
    }
    case "evict-pod":
      return { tone: "goes", object: podName(command.pod), message: `evicted. ${why}` };
    case "delete-pod":
      return { tone: "goes", object: podName(command.pod), message: `deleted by force. ${why}` };
    case "delete-claim":
      return { tone: "goes", object: command.claim.name, message: `given up. ${why}` };
    case "update-action": {
      const { phase, outcome = "" } = command.progress ?? {};
      // That one is done shows in its node, which is gone.
      const isBroken = phase === "Failed" || phase === "Abandoned";
      return isBroken ? { tone: "failed", object: command.action.name, message: `${phase}. ${outcome}` } : undefined;
    }
    default:
      return undefined;
  }
}

function nodeLine({ node, change }: Extract<Command, { kind: "update-node" }>): AccountLine | undefined {
  if (change.labels?.[initializedKey] === "true") {
    return { tone: "comes", object: node.name, message: "in service." };
  }
  if (change.removeFinalizers?.includes(terminationFinalizer)) {
    return { tone: "goes", object: node.name, message: "gone." };
  }
  return undefined;
}

function failedLine(command: Command, outcome: Outcome): AccountLine | undefined {
  // A disruption budget that says no is told as what holds the drain.
  if (!("message" in outcome) || command.kind === "evict-pod") return undefined;
  return { tone: "failed", object: command.kind, message: `${outcome.message} ${command.why}` };
}

/** When a refusal ends by itself, where its sentence does not say so. */
function endOf(message: string, until: Instant | undefined): string {
  if (until === undefined || message.includes(formatTime(until))) return "";
  return / until /.test(message) ? `at the latest ${formatTime(until)}, or ` : `until ${formatTime(until)}, or `;
}

/** What lifts a refusal, in the middle of a sentence. A name at its beginning, of a kind or an object, stays as it is. */
function asClause(liftedBy: string): string {
  const clause = liftedBy.replace(/^[A-Z](?=[a-z]*\b[^=-])/, letter => letter.toLowerCase());
  return `lifted by ${asPart(clause)}`;
}

function asPart(sentence: string): string {
  return sentence.replace(/\.$/, "");
}

function podName({ namespace, name }: { namespace: string; name: string }): string {
  return `${namespace}/${name}`;
}
