// Random sequences: a few objects first, then anything. Kinds that act on each other share a sequence.

import fc from "fast-check";
import { configMaps, deployments, disruptionBudgets, leases, namespaces, nodes, pods } from "./built-in-habits.ts";
import { gadgets, nodeClaims, nodeHealthChecks, nodePools, widgets } from "./custom-habits.ts";
import { creates, type Habits, operationsOn } from "./generate.ts";
import type { Sequence } from "./operation.ts";

const worlds: readonly (readonly Habits[])[] = [
  [configMaps],
  [configMaps, widgets],
  [pods],
  [pods, disruptionBudgets],
  [nodes],
  [leases, configMaps],
  [deployments],
  [namespaces],
  [widgets],
  [gadgets],
  [nodePools, nodeClaims],
  [nodeHealthChecks],
];

export function sequences(): fc.Arbitrary<Sequence> {
  return fc.oneof(...worlds.map(world => ({ weight: weightOf(world), arbitrary: sequencesIn(world) })));
}

const weightOf = (world: readonly Habits[]) => Math.max(...world.map(({ weight = 1 }) => weight));

function sequencesIn(world: readonly Habits[]): fc.Arbitrary<Sequence> {
  const first = fc.array(fc.oneof(...world.map(creates)), { minLength: 1, maxLength: 4 });
  const rest = fc.array(fc.oneof(...world.map(operationsOn)), { maxLength: 18, size: "max" });
  return fc.tuple(first, rest).map(([one, other]) => ({ operations: [...one, ...other] }));
}
