// The journal of a simulation as lines that a person reads: what the controller decided, did and refused, and what
// people and faults did meanwhile. A command is one line, at the instant and with the result of its end.

import { formatTime, type Instant, secondMs } from "../../api/time.ts";
import { type Command, type JournalEntry, type Outcome, type Refusal, sentenceOf } from "../../decide/decision.ts";
import { laneOf } from "../../decide/lane.ts";
import { commandText } from "./command-text.ts";

/** What the world did, or what the simulation found. */
export type WorldEntry = {
  readonly at: Instant;
  readonly event: "person" | "fault" | "process" | "violated" | "expected";
  readonly message: string;
};

export type Entry = JournalEntry | WorldEntry;

export class Journal {
  readonly entries: Entry[] = [];
  readonly #startedAt: Instant;

  constructor(startedAt: Instant) {
    this.#startedAt = startedAt;
  }

  add(entry: Entry): void {
    this.entries.push(entry);
  }

  lines(): string[] {
    const ended = new Set(this.entries.flatMap(entry => (entry.event === "ended" ? [entry.command] : [])));
    const isQuiet = quiet();
    // A command that has an end is told then; one that was only decided is a dry run's, or was still going at the end.
    return this.entries
      .filter(entry => (entry.event === "decided" ? !ended.has(entry.command) : !isQuiet(entry)))
      .map(entry => `${elapsed(entry.at - this.#startedAt)}  ${textOf(entry)}`);
  }
}

/** +01:02:03; a day has 24 hours, two have 48. */
export function elapsed(ms: number): string {
  const seconds = Math.floor(Math.abs(ms) / secondMs);
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return (ms < 0 ? "-" : "+") + parts.map(part => String(part).padStart(2, "0")).join(":");
}

function textOf(entry: Entry): string {
  switch (entry.event) {
    case "decided":
      return `${told(entry.command)}  decided: ${entry.command.why}`;
    case "ended":
      return `${told(entry.command)}  ${outcomeText(entry.outcome)}: ${entry.command.why}`;
    case "refused":
      return `${entry.refusal.subject}  refused  ${refusalText(entry.refusal)}`;
    case "lifted":
      return `${entry.refusal.subject}  no longer refused  ${entry.refusal.code}`;
    case "noticed": {
      const { about, reason, message } = entry.notice;
      return `${about.kind}/${about.name}  event ${reason}  ${message}`;
    }
    case "leading":
    case "following":
      return `controller  ${entry.event}  epoch ${entry.epoch}: ${entry.message}`;
    default:
      return `${entry.event}  ${entry.message}`;
  }
}

function told(command: Command): string {
  const text = commandText(command);
  return `${laneOf(command)}  ${command.kind}${text === "" ? "" : `  ${text}`}`;
}

function refusalText(refusal: Refusal): string {
  const { code, until, liftedBy } = refusal;
  const end = until === undefined ? "" : ` (until ${formatTime(until)})`;
  return `${code}: ${sentenceOf(refusal)}${end} [${liftedBy}]`;
}

function outcomeText(outcome: Outcome): string {
  if ("message" in outcome) return `${outcome.result} (${outcome.reason} ${outcome.message})`;
  return outcome.note === undefined ? outcome.result : `${outcome.result} (${outcome.note})`;
}

/** A question that was answered changes nothing that anybody sees, nor does one end asked for again and again. */
function quiet(): (entry: Entry) => boolean {
  const asked = new Set<string>();
  return entry => {
    if (entry.event !== "ended" || entry.outcome.result !== "done") return false;
    const { command } = entry;
    if (command.kind === "list-instances" || command.kind === "look-up-instance") return true;
    if (command.kind !== "delete-instance") return false;
    const wasAsked = asked.has(command.providerID);
    asked.add(command.providerID);
    return wasAsked;
  };
}
