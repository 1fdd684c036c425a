// The log of a running controller: pino's JSON lines, or the same lines as text for a terminal.

import pc from "picocolors";
import { type Logger, pino } from "pino";
import type { LogLevel } from "../view/journal-line.ts";
import type { Io } from "./io.ts";

export type LogFormat = "json" | "text";
export type Log = Pick<Logger, LogLevel>;

export function log({ level, format }: { level: LogLevel; format: LogFormat }, io: Pick<Io, "out" | "colour">): Log {
  const write = format === "json" ? io.out : (line: string) => io.out(textOf(line, io.colour));
  return pino(
    {
      level,
      // The process and its host are the collector's to add.
      base: null,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: label => ({ level: label }) },
    },
    { write },
  );
}

type Line = { level: LogLevel; time: string; message: string; [field: string]: unknown };

function textOf(json: string, colour: boolean): string {
  const { level, time, message, ...fields } = JSON.parse(json) as Line;
  const colours = pc.createColors(colour);
  const paint = { debug: colours.dim, info: colours.cyan, warn: colours.yellow, error: colours.red }[level];
  const facts = Object.entries(fields).map(([key, value]) => `${key}=${quotedIfNeeded(value)}`);
  const tail = facts.length === 0 ? "" : `  ${colours.dim(facts.join(" "))}`;
  return `${colours.dim(time.slice(11, 23))} ${paint(level.toUpperCase().padEnd(5))} ${message}${tail}\n`;
}

function quotedIfNeeded(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}
