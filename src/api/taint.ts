// Taints and the tolerations that answer them, as Kubernetes 1.36 matches the two.

import { int64 } from "./int64.ts";

export type TaintEffect = "NoSchedule" | "PreferNoSchedule" | "NoExecute";

export type Taint = { key: string; value?: string; effect: TaintEffect; timeAdded?: string };

export type Toleration = {
  /** Empty with `Exists` tolerates every key. */
  key?: string;
  operator?: "Equal" | "Exists" | "Lt" | "Gt";
  value?: string;
  /** Empty tolerates every effect. */
  effect?: TaintEffect | "";
  tolerationSeconds?: number;
};

export type TolerationOptions = {
  /**
   * Whether Lt and Gt compare. In 1.36 that is the gate TaintTolerationComparisonOperators, alpha and off: a toleration
   * that uses them then tolerates nothing, which is what the scheduler would do too.
   */
  comparison?: boolean;
};

export function tolerates(toleration: Toleration, taint: Taint, options: TolerationOptions = {}): boolean {
  const { key = "", value = "", effect = "" } = toleration;
  const operator = toleration.operator || "Equal"; // empty counts as absent
  if (effect !== "" && effect !== taint.effect) return false;
  if (key !== "" && key !== taint.key) return false;
  switch (operator) {
    case "Equal":
      return value === (taint.value ?? "");
    case "Exists":
      return true;
    case "Lt":
    case "Gt":
      return options.comparison === true && compares(operator, value, taint.value ?? "");
    default:
      return false; // an operator of a later Kubernetes
  }
}

/** The first taint that no toleration answers. `counts` leaves out taints that do not matter here, e.g. by effect. */
export function untoleratedTaint(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  { counts = () => true, ...options }: TolerationOptions & { counts?: (taint: Taint) => boolean } = {},
): Taint | undefined {
  return taints.find(taint => counts(taint) && !tolerations.some(one => tolerates(one, taint, options)));
}

/** Two taints are one if key and effect agree: a node holds each pair once. */
export function isSameTaint(a: Taint, b: Taint): boolean {
  return a.key === b.key && a.effect === b.effect;
}

/** `key=value:Effect`, as kubectl writes it. */
export function formatTaint({ key, value = "", effect }: Taint): string {
  const pair = value === "" ? key : `${key}=${value}`;
  return (effect as string) === "" ? pair : `${pair}:${effect}`;
}

function compares(operator: "Lt" | "Gt", tolerated: string, actual: string): boolean {
  const bound = canonicalInt64(tolerated);
  const value = canonicalInt64(actual);
  if (bound === undefined || value === undefined) return false;
  return operator === "Lt" ? value < bound : value > bound;
}

// Stricter than the numbers of selectors: no plus sign, no leading zero, no "-0".
function canonicalInt64(text: string): bigint | undefined {
  return /^(0|-?[1-9][0-9]*)$/.test(text) ? int64(text) : undefined;
}
