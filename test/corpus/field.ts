// Fields of a manifest by their path: "spec.disruption.budgets[0].nodes".

import type { Manifest } from "../../src/api/meta.ts";

/** As a value: the field is not there. */
export const absent: unique symbol = Symbol("absent");

type Container = Record<string | number, unknown>;

const stepsOf = (path: string): (string | number)[] =>
  path
    .split(/\.|(?=\[)/)
    .filter(step => step !== "")
    .map(step => (step.startsWith("[") ? Number(step.slice(1, -1)) : step));

export function join(path: string, relative: string): string {
  return path === "" || relative === "" || relative.startsWith("[") ? path + relative : `${path}.${relative}`;
}

/** A copy of the manifest with the value at the path; what is missing on the way is made. The empty path is the whole. */
export function withField(manifest: Manifest, path: string, value: unknown): Manifest {
  const copy = structuredClone(manifest);
  const steps = stepsOf(path);
  const last = steps.pop();
  if (last === undefined) return structuredClone(value) as Manifest;
  let container = copy as Container;
  for (const [index, step] of steps.entries()) {
    container[step] ??= typeof (steps[index + 1] ?? last) === "number" ? [] : {};
    container = container[step] as Container;
  }
  if (value === absent) delete container[last];
  else container[last] = structuredClone(value);
  return copy;
}
