// The findings about one value while it is judged, and how well it did: branches of anyOf and oneOf are compared by it.

import { invalid } from "./field-error.ts";
import type { FieldError } from "./schema.ts";

/** Collects findings without repeating a message, and counts passed checks: the measure of the best failed branch. */
export class Report {
  readonly findings: FieldError[] = [];
  readonly #prefix: string;
  readonly #texts: string[] = [];
  matches = 0;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** `text` is the server's inner message: two findings with the same text are one. */
  add(finding: FieldError, text: string): void {
    if (this.#texts.includes(text)) return;
    this.#texts.push(text);
    const path = finding.path.replace(/^\./, "");
    const joint = this.#prefix === "" || path === "" || path.startsWith("[") ? "" : ".";
    this.findings.push({ ...finding, path: `${this.#prefix}${joint}${path}` });
  }

  /** A finding that the server reports about no field in particular. */
  addUnplaced(text: string): void {
    this.add(invalid("", "", text), text);
  }

  branch(): Report {
    return new Report("");
  }

  merge(branch: Report): void {
    for (const [i, finding] of branch.findings.entries()) this.add(finding, branch.#texts[i] ?? "");
    this.matches += branch.matches;
  }
}
