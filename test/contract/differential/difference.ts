// The first place where two JSON values differ.

import type { Json } from "./operation.ts";

export type Difference = { path: string; real: Json | undefined; box: Json | undefined };

export function firstDifference(real: Json | undefined, box: Json | undefined, path = ""): Difference | undefined {
  if (real === box) return undefined;
  if (!isContainer(real) || !isContainer(box) || Array.isArray(real) !== Array.isArray(box)) return { path, real, box };
  for (const field of new Set([...Object.keys(real), ...Object.keys(box)])) {
    const found = firstDifference(childOf(real, field), childOf(box, field), `${path}/${field}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Container = Extract<Json, object>;

function isContainer(value: Json | undefined): value is Container {
  return typeof value === "object" && value !== null;
}

function childOf(value: Container, field: string): Json | undefined {
  return (value as { [field: string]: Json })[field];
}
