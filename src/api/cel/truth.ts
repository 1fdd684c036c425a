// Truth values while errors are values too: what && and || make of them.

import { CelError } from "./error.ts";
import type { Context, Run } from "./function.ts";
import type { Value } from "./values.ts";

export function truth(value: Value): boolean {
  if (typeof value === "boolean") return value;
  throw new CelError("no such overload");
}

/** A truth value, or why there is none. */
export function attempt(run: Run, context: Context): boolean | CelError {
  try {
    return truth(run(context));
  } catch (error) {
    if (error instanceof CelError) return error;
    throw error;
  }
}

/** One side's verdict can make the other side's error irrelevant, whichever comes first; of two errors the first counts. */
export function logical(decisive: boolean, left: Run, right: Run): Run {
  return context => {
    const first = attempt(left, context);
    if (first === decisive) return decisive;
    const second = attempt(right, context);
    if (second === decisive) return decisive;
    if (first instanceof CelError) throw first;
    if (second instanceof CelError) throw second;
    return !decisive;
  };
}
