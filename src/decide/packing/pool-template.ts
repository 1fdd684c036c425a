// A pool as a template of nodes, and what is left of its limits.

import { nodePoolKey } from "../../api/node.ts";
import type { Effort } from "./effort.ts";
import type { Pool } from "./problem.ts";
import { joined, setsOfLabels, setsOfRequirements } from "./requirements.ts";
import type { Amounts, ResourceSpace } from "./resources.ts";
import { makeTemplate, type Tables, type Template } from "./template.ts";
import { oneOf } from "./value-set.ts";

/** `limits`: what may still be launched, infinite where nothing limits it; undefined: no limits at all. */
export type PoolTemplate = { pool: Pool; template: Template; limits: Amounts | undefined; limitedNodes: number };

export function* poolTemplate(pool: Pool, tables: Tables, effort: Effort): Generator<void, PoolTemplate> {
  const sets = joined(setsOfLabels(pool.labels), setsOfRequirements(pool.requirements));
  const input = {
    name: pool.name,
    base: joined(sets, new Map([[nodePoolKey, oneOf([pool.name])]])),
    taints: pool.taints ?? [],
    instanceTypes: pool.instanceTypes,
    minValues: pool.requirements.filter(({ minValues }) => minValues !== undefined),
  };
  const template = yield* makeTemplate(input, tables, effort);
  return { pool, template, limits: limitsOf(pool, tables.space), limitedNodes: nodesOf(pool, tables.space) };
}

function limitsOf({ limits, usage }: Pool, space: ResourceSpace): Amounts | undefined {
  const names = Object.keys(limits ?? {}).filter(name => name !== "nodes");
  if (names.length === 0) return undefined;
  for (const name of names) space.index(name);
  const rest = new Float64Array(space.names.length).fill(Number.POSITIVE_INFINITY);
  for (const name of names) {
    rest[space.index(name)] = space.value(name, limits?.[name] ?? "0") - space.value(name, usage?.[name] ?? "0");
  }
  return rest;
}

function nodesOf({ limits, usage }: Pool, space: ResourceSpace): number {
  const limit = limits?.["nodes"];
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  return space.value("nodes", limit) - space.value("nodes", usage?.["nodes"] ?? "0");
}
