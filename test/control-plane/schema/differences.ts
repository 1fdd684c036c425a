// Where our schema engine may say something else than a real API server, and why. All else must be equal.

import type { Finding } from "./server.ts";

export type Difference = {
  why: string;
  /** Makes both sides' messages equal; undefined leaves the finding out. */
  accept: (finding: Finding) => Finding | undefined;
};

const reworded = (form: RegExp, by: string): Difference["accept"] => {
  return finding => ({ ...finding, message: finding.message.replace(form, by) });
};

export const acceptedDifferences: readonly Difference[] = [
  {
    why: "The server estimates what a rule may cost before it takes the CRD; we only count what a rule did cost.",
    accept: finding => (finding.reason === "FieldValueForbidden" && /cost/.test(finding.message) ? undefined : finding),
  },
  {
    why: "The server gives the type of self a new random name each time, so that nobody can use it.",
    accept: reworded(/selfType\d*/g, "selfType"),
  },
  {
    why: "Go tells eight ways of misreading an address apart; that it is none is what matters.",
    accept: reworded(/(ParseAddr|ParsePrefix)\((.*?)\): .*? evaluating/, "$1($2): … evaluating"),
  },
  {
    why: "Go says which part of a time it could not read; a rule on such a value fails either way.",
    accept: reworded(
      /(Invalid (?:date|date-time|byte) formatted string [^]*?)(?:: (?:parsing time|illegal)[^]*?)? evaluating/,
      "$1 evaluating",
    ),
  },
  {
    why: "The words of a syntax error are those of the parser, and the server has another; the place is the same.",
    accept: reworded(/(ERROR: <input>:\d+:\d+: Syntax error: ).*\n/, "$1…\n"),
  },
];

export function settled(findings: readonly Finding[]): string[] {
  return findings
    .flatMap(finding => {
      let left: Finding | undefined = finding;
      for (const { accept } of acceptedDifferences) left = left && accept(left);
      return left ? [`${left.reason} ${left.field}: ${left.message}`] : [];
    })
    .sort();
}
