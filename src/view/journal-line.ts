// One entry of the journal as a line for people and machines who read along: how much it matters, a sentence, and the
// facts in fields. A look that changes nothing has no line.

import { formatTime } from "../api/time.ts";
import { type Command, type JournalEntry, type Outcome, type Refusal, sentenceOf } from "../decide/decision.ts";
import { laneOf } from "../decide/lane.ts";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogLine = {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: Readonly<Record<string, string | number>>;
};

export function journalLine(entry: JournalEntry): LogLine {
  switch (entry.event) {
    case "decided": {
      const { command, rule, subject, isShown } = entry;
      const fields = { event: "decided", rule, subject, command: command.kind, object: laneOf(command) };
      // What is only shown has no end to be told.
      return isShown
        ? {
            level: "info",
            message: `Would ${wordsOf(command).join(" ")}: ${command.why}`,
            fields: { ...fields, dryRun: "true" },
          }
        : { level: "debug", message: command.why, fields };
    }
    case "ended":
      return ended(entry.command, entry.outcome);
    case "refused":
      return { level: "info", message: sentenceOf(entry.refusal), fields: refusalFields("refused", entry.refusal) };
    case "lifted":
      return { level: "debug", message: entry.refusal.message, fields: refusalFields("lifted", entry.refusal) };
    case "noticed": {
      const { about, reason, message } = entry.notice;
      return { level: "debug", message, fields: { event: "noticed", reason, subject: `${about.kind}/${about.name}` } };
    }
    case "leading":
    case "following":
      return { level: "info", message: entry.message, fields: { event: entry.event, epoch: entry.epoch } };
  }
}

function ended(command: Command, outcome: Outcome): LogLine {
  const { result } = outcome;
  const fields = { event: "ended", command: command.kind, object: laneOf(command), result };
  if (result === "retry" || result === "refused") {
    const { reason, message } = outcome;
    const failed = `Could not ${wordsOf(command).join(" ")}: ${message}`;
    return {
      level: failureLevel(command, outcome),
      message: `${failed} ${command.why}`,
      fields: { ...fields, reason },
    };
  }
  const message = result === "done" ? doneMessage(command, outcome.note) : command.why;
  return { level: result === "done" && isNews(command) ? "info" : "debug", message, fields };
}

/** A provider that knows of no list of its machines is no failure: it is the one by default. */
function failureLevel({ kind }: Command, { result, reason }: Extract<Outcome, { reason: string }>): LogLevel {
  if (kind === "list-instances" && reason === "NotSupported") return "debug";
  return result === "retry" ? "warn" : "error";
}

/** `note`: what was done instead. */
function doneMessage(command: Command, note: string | undefined): string {
  if (command.kind === "open-action" && command.phase === "DryRun") {
    return `Would begin ${command.spec.action} of node ${command.spec.node.name}: ${command.why}`;
  }
  const [verb, object] = wordsOf(command);
  if (note !== undefined) return `Did not ${verb} ${object}, ${note}. It was to be: ${command.why}`;
  const past = verb.replace(/^(\w+?)e?\b/, "$1ed");
  return `${past.charAt(0).toUpperCase()}${past.slice(1)} ${object}: ${command.why}`;
}

/** A verb and what it is done to: "create", "claim/web-1"; "launch", "instance of claim/web-1". */
function wordsOf(command: Command): [verb: string, object: string] {
  if (command.kind === "search") return ["search", `for ${command.for}`];
  const words = command.kind.split("-");
  const noun = words.at(command.kind === "update-safety-policy" ? 1 : -1) ?? "";
  const verb = command.kind.slice(0, command.kind.lastIndexOf(`-${noun}`)).replaceAll("-", " ");
  const lane = laneOf(command);
  return [verb, lane.startsWith(noun) ? lane : `${noun} of ${lane}`];
}

/** Questions change nothing, and a status only tells what other lines have told. */
function isNews(command: Command): boolean {
  switch (command.kind) {
    case "list-instances":
    case "look-up-instance":
    case "update-pool":
    case "update-safety-policy":
    case "update-check":
    case "take-node-lease":
    case "release-node-lease":
    case "nominate-pod":
      return false;
    case "update-claim":
      return command.metadata !== undefined;
    case "update-action":
      return command.spec !== undefined || command.progress?.phase !== undefined;
    default:
      return true;
  }
}

function refusalFields(event: string, { subject, code, until, liftedBy }: Refusal): LogLine["fields"] {
  return { event, subject, code, liftedBy, ...(until === undefined ? {} : { until: formatTime(until) }) };
}
