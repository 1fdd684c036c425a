// Whether an answer to a packing problem is right: every pod is dealt with once, every placement keeps every rule given
// those before it, whatever a new node becomes, and no pod was left out that would fit somewhere. Slow and plain.

import { hostnameKey } from "../../../src/api/node.ts";
import { type Pod, podKey } from "../../../src/api/pod.ts";
import type { Answer, NewNode, Target } from "../../../src/decide/packing/answer.ts";
import type { Pool, Problem, UpcomingNode } from "../../../src/decide/packing/problem.ts";
import { existingMachine, isOn, type Machine, type Shape } from "./cluster.ts";
import { Cluster } from "./crowds.ts";
import { blueprintOf, hasRoom, nodeBreaches, overLimit } from "./pools.ts";
import { rules, type RuleSet, troubles, troublesAsAny } from "./rules.ts";
import { type Blueprint, roomyShapesOf, shapesOf } from "./shapes.ts";

export type Breach = { rule: string; says: string };

export function verify(problem: Problem, answer: Answer, by: RuleSet = rules): Breach[] {
  const existing = problem.nodes.map(node => existingMachine(node, problem));
  const upcoming = problem.upcoming.map(one => upcomingMachine(one, problem));
  const fresh = newMachines(answer, problem);
  const cluster = new Cluster(problem, [...existing, ...upcoming, ...fresh]);
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
const noMachine: Machine = {
  name: "",
  shapes: [],
  own: {},
  taints: [],
  isCordoned: false,
  pods: [],
  reserved: new Map(),
};

function upcomingMachine(upcoming: UpcomingNode, problem: Problem): Machine {
  const { name, pool, labels = {}, taints = [], requirements, instanceTypes, pods } = upcoming;
  const blueprint: Blueprint = { pool, labels, taints, requirements, narrowed: [] };
  const shapes = instanceTypes.flatMap(type => shapesOf(blueprint, type, problem));
  return { ...noMachine, name, own: { [hostnameKey]: name }, shapes, taints, pods: [...pods] };
}

/** Nodes of one pool that may become the same have the same shapes. */
function newMachines({ newNodes }: Answer, problem: Problem): Machine[] {
  const shapesByContent = new Map<string, Shape[]>();
  return newNodes.map((node, index) => {
    const pool = problem.pools.find(({ name }) => name === node.pool);
    if (pool === undefined) return { ...noMachine, pods: [] };
    const content = JSON.stringify([node.pool, node.requirements, node.instanceTypes]);
    const shapes = shapesByContent.get(content) ?? shapesOfNode(node, pool, problem);
    shapesByContent.set(content, shapes);
    const name = `new node ${index}`;
    return { ...noMachine, name, own: { [hostnameKey]: name }, shapes, taints: pool.taints ?? [], pods: [] };
  });
}

function shapesOfNode(node: NewNode, pool: Pool, problem: Problem): Shape[] {
  const names = new Set(node.instanceTypes);
  const types = pool.instanceTypes.filter(({ name }) => names.has(name));
  return types.flatMap(type => shapesOf(blueprintOf(pool, node.requirements), type, problem));
}

function bookkeeping(problem: Problem, { placements, newNodes, unplaced }: Answer): Breach[] {
  const asked = problem.pods.map(podKey).sort();
  const dealtWith = [...placements, ...unplaced].map(({ pod }) => podKey(pod)).sort();
  const found: Breach[] = [];
  const says = (text: string) => found.push({ rule: "bookkeeping", says: text });
  if (asked.join() !== dealtWith.join()) says(`asked for ${asked.join()}, dealt with ${dealtWith.join()}`);
  const putOn = newNodes.map((): Pod[] => []);
  for (const { pod, target } of placements) if (target.kind === "new") putOn[target.index]?.push(pod);
  for (const [index, node] of newNodes.entries()) {
    const [listed, put] = [node.pods, putOn[index] ?? []].map(pods => pods.map(podKey).sort().join());
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
  const settled = [...scene.existing, ...scene.upcoming];
  const machineByName = new Map(settled.map(machine => [machine.name, machine]));
  return scene.answer.placements.flatMap(({ pod, target }) => {
    const machine = machineOf(target, scene, machineByName);
    if (machine === undefined) return [{ rule: "bookkeeping", says: `${podKey(pod)} is on no node that there is` }];
    const found = troublesAsAny(pod, machine, { cluster: scene.cluster, by });
    if (machine.shapes.length === 0) found.push({ rule: "new node", says: "can be nothing" });
    scene.cluster.put(pod, machine);
    return found.map(({ rule, says }) => ({ rule, says: `${podKey(pod)} is on ${machine.name}, which ${says}` }));
  });
}

function machineOf(target: Target, { fresh }: Scene, byName: ReadonlyMap<string, Machine>): Machine | undefined {
  if (target.kind === "new") return fresh[target.index];
  return byName.get(target.kind === "existing" ? target.node : target.claim);
}

type Outcome = Pick<Scene, "answer" | "cluster" | "fresh">;

/** Where a pod that was left out would fit after all. Preferences do not count. */
function placesFor(pod: Pod, { answer, cluster, fresh }: Outcome, by: RuleSet): Breach[] {
  const { problem, machines } = cluster;
  const settled = machines.filter(machine => !fresh.includes(machine) && !isOn(machine, pod));
  const found = settled
    .filter(machine => machine.shapes.length > 0 && troublesAsAny(pod, machine, { cluster, by }).length === 0)
    .map(({ name }) => name);
  const fits = (machine: Machine, bare: Shape, all: Cluster) => {
    const shape = { ...bare, labels: { ...bare.labels, ...machine.own } };
    return troubles(pod, { machine, shape }, { cluster: all, by }).length === 0;
  };
  for (const pool of problem.pools) {
    // How one more pod changes the number of values that are left is not looked into.
    if (pool.requirements.some(({ minValues }) => minValues !== undefined)) continue;
    for (const [index, node] of answer.newNodes.entries()) {
      const machine = fresh[index] ?? noMachine;
      const types = pool.instanceTypes.filter(
        ({ name }) => node.pool === pool.name && node.instanceTypes.includes(name),
      );
      const shapes = types.flatMap(type => roomyShapesOf(blueprintOf(pool, node.requirements), type, problem));
      // It can still be narrowed, so that one of its shapes is enough.
      if (shapes.some(shape => fits(machine, shape, cluster))) found.push(machine.name);
    }
    const name = "one more node";
    const types = pool.instanceTypes.filter(type => {
      if (!hasRoom(pool, type, answer)) return false;
      return roomyShapesOf(blueprintOf(pool, []), type, problem).some(shape => {
        const own = { [hostnameKey]: name };
        const machine: Machine = { ...noMachine, name, own, shapes: [shape], taints: pool.taints ?? [], pods: [] };
        return fits(machine, shape, new Cluster(problem, [...machines, machine]));
      });
    });
    if (types.length > 0) found.push(`${name} of pool ${pool.name}, as ${types.map(type => type.name).join()}`);
  }
  return found.map(where => ({ rule: "left out", says: `${podKey(pod)} would fit on ${where}` }));
}
