// What may differ between two servers that behave the same: versions, uids, times, ages, ports, and the widths of
// columns that follow from them. Everything else that a person reads must be equal.

import type { Outcome } from "./run.ts";
import type { Step } from "./scenarios.ts";

const replacements: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  [/(resource ?version"?:\s+)"?\d+"?/gi, "$1<version>"],
  [/https:\/\/127\.0\.0\.1:\d+/g, "<server>"],
  // Of this year, that is: those in manifests are of January.
  [/\b20\d\d-(?!01-02T03)\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "<time>"],
  [/\b[A-Z][a-z]{2}, \d\d (?!Jan 2026)[A-Z][a-z]{2} 20\d\d \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [/(?<=\s|^)(\d+[smhdy])+(?=\s|$)/gm, "<age>"],
  [/\/\S*\/fettle-kubectl-\S+|\/tmp\/kubectl-edit-\S+|\/tmp\/(LIVE|MERGED)-\d+\S*/g, "<file>"],
  // What client-go logs about its own watches depends on who is faster.
  [/^[IWE]\d{4} \d\d:\d\d:\d\d\.\d+ .*\n/gm, ""],
  [/[ \t]+/g, " "],
  [/ $/gm, ""],
];

export function normalised(
  { code, stdout, stderr }: Outcome,
  { only, isUnordered, onlyCode }: Pick<Step, "only" | "isUnordered" | "onlyCode">,
): Outcome {
  if (onlyCode === true) return { code, stdout: "", stderr: "" };
  const lines = stdout.split("\n").filter(line => only === undefined || only.test(line));
  const kept = (isUnordered === true ? lines.sort() : lines).join("\n");
  return { code, stdout: replaced(kept), stderr: replaced(stderr) };
}

function replaced(text: string): string {
  return replacements.reduce((result, [pattern, by]) => result.replaceAll(pattern, by), text);
}
