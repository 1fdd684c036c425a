// Literals that can be judged before there is any data: patterns, durations and timestamps written into a rule.

import { parseTime } from "../time.ts";
import { compilePattern, PatternError } from "../pattern.ts";
import type { Ast } from "./parse.ts";
import { parseCelDuration } from "./time.ts";

export function literalComplaint(name: string, args: readonly Ast[]): { at: number; message: string } | undefined {
  const last = args.at(-1);
  if (last === undefined || last.op !== "value" || typeof last.args !== "string") return undefined;
  const text = last.args;
  const refused =
    (name === "matches" && args.length === 2 && !isPattern(text)) ||
    (name === "duration" && args.length === 1 && parseCelDuration(text) === undefined) ||
    (name === "timestamp" && args.length === 1 && !parseTime(text).ok);
  return refused ? { at: last.start, message: `invalid ${name} argument` } : undefined;
}

function isPattern(text: string): boolean {
  try {
    compilePattern(text);
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}
