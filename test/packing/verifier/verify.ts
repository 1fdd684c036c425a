// Whether an answer to a packing problem is right: every pod is dealt with once, every placement keeps every rule given
// those before it, whatever a new node becomes, and no pod was left out that would fit somewhere. Slow and plain.

import { type Pod, podKey } from "../../../src/api/pod.ts";
import type { Answer, NewNode, Target } from "../../../src/decide/packing/answer.ts";
import type { Problem, UpcomingNode } from "../../../src/decide/packing/problem.ts";
import { type Cluster, existingMachine, isOn, type Machine, type Shape } from "./cluster.ts";
import { blueprintOf, hasRoom, nodeBreaches, overLimit } from "./pools.ts";
import { rules, type RuleSet, troubles, troublesAsAny } from "./rules.ts";
import { type Blueprint, roomyShapesOf, shapesOf } from "./shapes.ts";

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
    const found = troublesAsAny(pod, machine, { cluster: scene.cluster, by });
    if (machine.shapes.length === 0) found.push({ rule: "new node", says: "can be nothing" });
    machine.pods.push(pod);
    return found.map(({ rule, says }) => ({ rule, says: `${podKey(pod)} is on ${machine.name}, which ${says}` }));
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
  const settled = machines.filter(machine => !fresh.includes(machine) && !isOn(machine, pod));
  const found = settled
    .filter(machine => machine.shapes.length > 0 && troublesAsAny(pod, machine, { cluster, by }).length === 0)
    .map(({ name }) => name);
  const fits = (machine: Machine, shape: Shape, all: Cluster) =>
    troubles(pod, { machine, shape }, { cluster: all, by }).length === 0;
  for (const pool of problem.pools) {
    // How one more pod changes the number of values that are left is not looked into.
    if (pool.requirements.some(({ minValues }) => minValues !== undefined)) continue;
    for (const [index, node] of answer.newNodes.entries()) {
      const machine = fresh[index] ?? noMachine;
      const types = pool.instanceTypes.filter(
        ({ name }) => node.pool === pool.name && node.instanceTypes.includes(name),
      );
      const shapes = types.flatMap(type =>
        roomyShapesOf(blueprintOf(machine.name, pool, node.requirements), type, problem),
      );
      // It can still be narrowed, so that one of its shapes is enough.
      if (shapes.some(shape => fits(machine, shape, cluster))) found.push(machine.name);
    }
    const name = "one more node";
    const types = pool.instanceTypes.filter(type => {
      if (!hasRoom(pool, type, answer)) return false;
      return roomyShapesOf(blueprintOf(name, pool, []), type, problem).some(shape => {
        const machine: Machine = { ...noMachine, name, shapes: [shape], taints: pool.taints ?? [], pods: [] };
        return fits(machine, shape, { problem, machines: [...machines, machine] });
      });
    });
    if (types.length > 0) found.push(`${name} of pool ${pool.name}, as ${types.map(type => type.name).join()}`);
  }
  return found.map(where => ({ rule: "left out", says: `${podKey(pod)} would fit on ${where}` }));
}
