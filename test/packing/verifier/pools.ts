// What holds for a pool and for each new node as a whole: that its types are the pool's, that limits and minValues
// are kept, that its price is right, and that no type was left out which would do as well.

import type { InstanceType } from "../../../src/api/instance-type.ts";
import type { Answer, NewNode } from "../../../src/decide/packing/answer.ts";
import type { Pool, Problem } from "../../../src/decide/packing/problem.ts";
import type { Machine, Shape } from "./cluster.ts";
import { allows, isWanted } from "./matching.ts";
import { type Amounts, added, amountsOf, requestsOf } from "./requests.ts";
import { type Blueprint, roomyShapesOf } from "./shapes.ts";

export function blueprintOf(pool: Pool, narrowed: NewNode["requirements"]): Blueprint {
  const { labels = {}, taints = [] } = pool;
  return { pool: pool.name, labels, taints, requirements: pool.requirements, narrowed };
}

export function nodeBreaches(node: NewNode, machine: Machine, problem: Problem): string[] {
  const pool = problem.pools.find(({ name }) => name === node.pool);
  if (pool === undefined) return [`there is no pool ${node.pool}`];
  const found: string[] = [];
  if (node.instanceTypes.length === 0) found.push("it can become nothing");
  for (const name of node.instanceTypes) {
    if (!pool.instanceTypes.some(type => type.name === name)) found.push(`${name} is no type of the pool`);
    else if (!machine.shapes.some(shape => shape.instanceType === name)) found.push(`${name} cannot be had there`);
  }
  const cheapest = Math.min(...machine.shapes.map(({ price = 0 }) => price));
  if (machine.shapes.length > 0 && cheapest !== node.price) found.push(`it costs ${cheapest}, not ${node.price}`);
  const types = pool.instanceTypes.filter(({ name }) => node.instanceTypes.includes(name));
  const key = tooFewValues(pool, types);
  if (key !== undefined) found.push(`too few values of ${key} are left`);
  return [...found, ...leftOut(node, { pool, machine, problem })];
}

/** The key of which a pool wants more different values than these types have. */
function tooFewValues({ requirements }: Pool, types: readonly InstanceType[]): string | undefined {
  return requirements.find(({ key, operator, values, minValues = 0 }) => {
    const possible = types.flatMap(type => type.requirements.filter(one => one.key === key && one.operator === "In"));
    const distinct = new Set(possible.flatMap(one => one.values ?? []));
    const allowed = [...distinct].filter(value => allows({ operator, ...(values && { values }) }, value));
    return allowed.length < minValues;
  })?.key;
}

type Whole = { pool: Pool; machine: Machine; problem: Problem };

// The more it may become, the likelier and cheaper it is had. Of a limited pool the large ones may be kept out.
function leftOut(node: NewNode, { pool, machine, problem }: Whole): string[] {
  if (pool.limits !== undefined) return [];
  const blueprint = blueprintOf(pool, node.requirements);
  const asked = added(...node.pods.map(requestsOf));
  const others = pool.instanceTypes.filter(({ name }) => !node.instanceTypes.includes(name));
  return others.flatMap(type => {
    if (!isWithin(asked, amountsOf(type.allocatable))) return [];
    const shapes = roomyShapesOf(blueprint, type, problem);
    const isRight = (shape: Shape) =>
      isWithin(added(asked, ...shape.daemons.map(requestsOf)), shape.allocatable) &&
      node.pods.every(pod => isWanted(pod, { ...machine, ...shape }));
    return shapes.length > 0 && shapes.every(isRight) ? [`${type.name} would do as well`] : [];
  });
}

/** Each new node may become the largest of its types. */
export function overLimit({ limits, usage, name, instanceTypes }: Pool, nodes: readonly NewNode[]): string[] {
  if (limits === undefined) return [];
  const own = nodes.filter(({ pool }) => pool === name);
  const largest = own.map(node => largestOf(instanceTypes.filter(type => node.instanceTypes.includes(type.name))));
  const used = added(amountsOf(usage), ...largest, new Map([["nodes", BigInt(own.length)]]));
  return [...amountsOf(limits)].flatMap(([resource, limit]) => {
    const total = used.get(resource) ?? 0n;
    return own.length > 0 && total > limit ? [`pool ${name} uses ${total} of ${resource}, more than ${limit}`] : [];
  });
}

function largestOf(types: readonly InstanceType[]): Amounts {
  const most = new Map<string, bigint>();
  for (const { capacity } of types) {
    for (const [name, value] of amountsOf(capacity)) if (value > (most.get(name) ?? 0n)) most.set(name, value);
  }
  return most;
}

function isWithin(asked: Amounts, room: Amounts): boolean {
  return [...asked].every(([name, value]) => value <= (room.get(name) ?? 0n));
}

/** Whether one more node of this type would keep the pool within its limits. */
export function hasRoom(pool: Pool, type: InstanceType, { newNodes }: Pick<Answer, "newNodes">): boolean {
  const extra: NewNode = {
    pool: pool.name,
    instanceTypes: [type.name],
    requirements: [],
    requests: {},
    price: 0,
    pods: [],
  };
  return overLimit(pool, [...newNodes, extra]).length === 0;
}
