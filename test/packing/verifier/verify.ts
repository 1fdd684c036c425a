// Whether an answer to a packing problem is right: every pod is dealt with once, every placement keeps every rule given
// those before it, whatever a new node becomes, and no pod was left out that would fit somewhere. Slow and plain.

import { type Pod, podKey } from "../../../src/api/pod.ts";
import type { Answer, NewNode, Target } from "../../../src/decide/packing/answer.ts";
import type { Pool, Problem, UpcomingNode } from "../../../src/decide/packing/problem.ts";
import { type Cluster, existingMachine, isOn, type Machine } from "./cluster.ts";
import { blueprintOf, hasRoom, nodeBreaches, overLimit, tooFewValues } from "./pools.ts";
import { rules, type RuleSet, troubles } from "./rules.ts";
import { type Blueprint, shapesOf } from "./shapes.ts";

export type Breach = { rule: string; says: string };

export function verify(problem: Problem, answer: Answer, by: RuleSet = rules): Breach[] {
  const existing = problem.nodes.map(node => existingMachine(node, problem));
  const upcoming = problem.upcoming.map(one => upcomingMachine(one, problem));
  const fresh = answer.newNodes.map((node, index) => newMachine(node, index, problem));
  const cluster = { problem, machines: [...existing, ...upcoming, ...fresh] };
  return [
    ...bookkeeping(problem, answer),
    ...wrongPlacements({ answer, cluster, existing, upcoming, fresh }, by),
    ...answer.newNodes.flatMap((node, index) =>
      nodeBreaches(node, fresh[index] ?? noMachine, problem).map(says => ({
        rule: "new node",
        says: `${index}: ${says}`,
      })),
    ),
    ...problem.pools.flatMap(pool => overLimit(pool, answer.newNodes).map(says => ({ rule: "limits", says }))),
    ...answer.unplaced.flatMap(({ pod }) => placesFor(pod, { answer, cluster, fresh }, by)),
  ];
}

/** A machine that can be nothing. */
const noMachine: Machine = { name: "", shapes: [], taints: [], isCordoned: false, pods: [], reserved: new Map() };

function upcomingMachine(upcoming: UpcomingNode, problem: Problem): Machine {
  const { name, pool, labels = {}, taints = [], requirements, instanceTypes, pods } = upcoming;
  const blueprint: Blueprint = { name, pool, labels, taints, requirements, narrowed: [] };
  const shapes = instanceTypes.flatMap(type => shapesOf(blueprint, type, problem));
  return { ...noMachine, name, shapes, taints, pods: [...pods] };
}

function newMachine(node: NewNode, index: number, problem: Problem): Machine {
  const pool = problem.pools.find(({ name }) => name === node.pool);
  if (pool === undefined) return { ...noMachine, pods: [] };
  const name = `new node ${index}`;
  const types = pool.instanceTypes.filter(type => node.instanceTypes.includes(type.name));
  const shapes = types.flatMap(type => shapesOf(blueprintOf(name, pool, node.requirements), type, problem));
  return { ...noMachine, name, shapes, taints: pool.taints ?? [], pods: [] };
}

function bookkeeping(problem: Problem, { placements, newNodes, unplaced }: Answer): Breach[] {
  const asked = problem.pods.map(podKey).sort();
  const dealtWith = [...placements, ...unplaced].map(({ pod }) => podKey(pod)).sort();
  const found: Breach[] = [];
  const says = (text: string) => found.push({ rule: "bookkeeping", says: text });
  if (asked.join() !== dealtWith.join()) says(`asked for ${asked.join()}, dealt with ${dealtWith.join()}`);
  for (const [index, node] of newNodes.entries()) {
    const placed = placements.filter(({ target }) => target.kind === "new" && target.index === index);
    const [listed, put] = [node.pods, placed.map(({ pod }) => pod)].map(pods => pods.map(podKey).sort().join());
    if (listed !== put) says(`new node ${index} lists ${listed}, but was given ${put}`);
  }
  for (const { pod, reason } of unplaced) if (reason.what === "") says(`${podKey(pod)} is left out without a reason`);
  return found;
}

type Scene = {
  answer: Answer;
  cluster: Cluster;
  existing: readonly Machine[];
  upcoming: readonly Machine[];
  fresh: readonly Machine[];
};

// All nodes are there from the start, as they will be when the scheduler comes to bind the pods one by one.
function wrongPlacements(scene: Scene, by: RuleSet): Breach[] {
  return scene.answer.placements.flatMap(({ pod, target }) => {
    const machine = machineOf(target, scene);
    if (machine === undefined) return [{ rule: "bookkeeping", says: `${podKey(pod)} is on no node that there is` }];
    const found = new Map(
      machine.shapes
        .flatMap(shape => troubles(pod, { machine, shape }, { cluster: scene.cluster, by }))
        .map(({ rule, says }) => [rule, { rule, says: `${podKey(pod)} is on ${machine.name}, which ${says}` }]),
    );
    if (machine.shapes.length === 0)
      found.set("new node", { rule: "new node", says: `${machine.name} can be nothing` });
    machine.pods.push(pod);
    return [...found.values()];
  });
}

function machineOf(target: Target, { existing, upcoming, fresh }: Scene): Machine | undefined {
  if (target.kind === "existing") return existing.find(({ name }) => name === target.node);
  return target.kind === "upcoming" ? upcoming.find(({ name }) => name === target.claim) : fresh[target.index];
}

type Outcome = Pick<Scene, "answer" | "cluster" | "fresh">;

/** Where a pod that was left out would fit after all. Preferences do not count. */
function placesFor(pod: Pod, { answer, cluster, fresh }: Outcome, by: RuleSet): Breach[] {
  const { problem, machines } = cluster;
  const fits = (machine: Machine, all: Cluster) => ({
    shapes: machine.shapes.filter(shape => troubles(pod, { machine, shape }, { cluster: all, by }).length === 0),
    of: machine.shapes.length,
  });
  const left = (where: string): Breach => ({ rule: "left out", says: `${podKey(pod)} would fit on ${where}` });
  const settled = machines.filter(machine => !fresh.includes(machine) && !isOn(machine, pod));
  const onSettled = settled.flatMap(machine => {
    const { shapes, of } = fits(machine, cluster);
    return of > 0 && shapes.length === of ? [left(machine.name)] : [];
  });
  // A new node can still be narrowed, one of its shapes is enough; how that changes minValues is not looked into.
  const narrowable = fresh.filter((_, index) => !hasMinValues(problem.pools, answer.newNodes[index]?.pool));
  const onFresh = narrowable.flatMap(machine => (fits(machine, cluster).shapes.length > 0 ? [left(machine.name)] : []));
  const onNewer = problem.pools.flatMap(pool => {
    const name = "one more node";
    const types = pool.instanceTypes.filter(type => {
      if (!hasRoom(pool, type, answer)) return false;
      return shapesOf(blueprintOf(name, pool, []), type, problem).some(shape => {
        const machine: Machine = { ...noMachine, name, shapes: [shape], taints: pool.taints ?? [], pods: [] };
        return fits(machine, { problem, machines: [...machines, machine] }).shapes.length > 0;
      });
    });
    const isEnough =
      types.length > 0 && !hasMinValues(problem.pools, pool.name) && tooFewValues(pool, types) === undefined;
    return isEnough ? [left(`${name} of pool ${pool.name}, as ${types.map(type => type.name).join()}`)] : [];
  });
  return [...onSettled, ...onFresh, ...onNewer];
}

function hasMinValues(pools: readonly Pool[], name: string | undefined): boolean {
  return pools.some(pool => pool.name === name && pool.requirements.some(({ minValues }) => minValues !== undefined));
}
