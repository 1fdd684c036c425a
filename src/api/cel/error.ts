// What can go wrong with an expression: it cannot be understood, or it has no value for these inputs.

import { runes } from "../go-text.ts";

/** No value: "no such key: x", "division by zero". The message is the API server's. */
export class CelError extends Error {
  override readonly name = "CelError";
}

/** Evaluation was stopped because it took more steps than one rule may. */
export class StepsExceeded extends Error {
  override readonly name = "StepsExceeded";
}

export type Issue = { at: number; message: string };

/** The issues of an expression as the API server prints them, each with its line and a caret below its place. */
export function formatIssues(source: string, issues: readonly Issue[]): string {
  return [...issues]
    .sort((a, b) => a.at - b.at)
    .map(({ at, message }) => {
      const before = source.slice(0, at).split("\n");
      const column = runes(before.at(-1) ?? "").length;
      const line = source.split("\n")[before.length - 1] ?? "";
      return `ERROR: <input>:${before.length}:${column + 1}: ${message}\n | ${line}\n | ${".".repeat(column)}^`;
    })
    .join("\n");
}
