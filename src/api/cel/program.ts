// Compiles one expression with the libraries that Kubernetes 1.36 gives to the rules of CRDs, and runs it.

import { Checker } from "./check.ts";
import type { Scope } from "./checking.ts";
import { formatIssues } from "./error.ts";
import { tableOf } from "./function.ts";
import { formatLibrary, quantityLibrary, semverLibrary } from "./kubernetes.ts";
import { listLibrary, optionalLibrary, setLibrary } from "./lists.ts";
import { cidrLibrary, ipLibrary, urlLibrary } from "./network.ts";
import { parse } from "./parse.ts";
import { standardLibraries } from "./standard.ts";
import { stringLibrary } from "./strings.ts";
import type { Type } from "./types.ts";
import type { Value } from "./values.ts";

const functions = tableOf([
  ...standardLibraries,
  stringLibrary,
  listLibrary,
  setLibrary,
  optionalLibrary,
  ipLibrary,
  cidrLibrary,
  urlLibrary,
  quantityLibrary,
  semverLibrary,
  formatLibrary,
]);

export type Program = {
  type: Type;
  /** The variables that the expression names. */
  references: ReadonlySet<string>;
  /** Throws CelError when there is no value, StepsExceeded when it takes too long. `steps` is what it took. */
  run(variables: readonly Value[]): { value: Value; steps: number };
};

export type Variable = { name: string; type: Type };

/** A string is what is wrong with the expression, as the API server prints it. */
export function compile(source: string, variables: readonly Variable[]): Program | string {
  const ast = parse(source);
  if (!("op" in ast)) return `compilation failed: ${formatIssues(source, [ast])}`;
  let scope: Scope | undefined;
  for (const [slot, variable] of variables.entries()) scope = { ...variable, slot, outer: scope };
  const checker = new Checker(functions);
  const checked = checker.whole(ast, scope);
  if (typeof checked === "string") return checked;
  return {
    type: checked.type,
    references: checker.references,
    run(values) {
      const context = { slots: [...values], steps: 0 };
      return { value: checked.run(context), steps: context.steps };
    },
  };
}
