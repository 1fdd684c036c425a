// The life of nodes as people know it, told once for every world: on virtual time, in the box over HTTPS and on a real
// control plane.

import { expect } from "vitest";
import { type Resource, apiVersionOf } from "../../src/api/meta.ts";
import { nodeClaims } from "../../src/api/node-claim.ts";
import { nodePools } from "../../src/api/node-pool.ts";
import { simulatedInstances, simulatedNamespace } from "../../src/api/simulated-instance.ts";
import { simulatedNodeClasses } from "../../src/api/simulated-node-class.ts";
import { secondMs } from "../../src/api/time.ts";
import {
  cordonedByKey,
  disruptedTaint,
  doNotDisruptKey,
  initializedKey,
  registeredKey,
  terminationFinalizer,
  terminationTimestampKey,
} from "../../src/api/well-known.ts";
import { disruptionBudgets, nodes } from "../../src/control/resources.ts";
import { simulateAnnotation } from "../../src/sim/world/simulated-faults.ts";
import { type Action, type Claim, isReady, type Stage } from "./world.ts";

export type Story = {
  title: string;
  name: string;
  /** It waits for minutes, which only virtual time has. */
  isLong?: true;
  play: (stage: Stage) => Promise<void>;
};

const deployments: Resource = {
  group: "apps",
  version: "v1",
  plural: "deployments",
  kind: "Deployment",
  namespaced: true,
};
const stepNames = ["taint", "drain", "volumes", "instance", "finalize"];

export const stories: readonly Story[] = [
  {
    title: "a claim made by hand becomes a node, and both go in order when it is deleted",
    name: "by-hand",
    play: byHand,
  },
  { title: "a pool is kept at its replicas, from 3 to 5 to 2", name: "replicas", play: replicas },
  { title: "a drain is held by a budget, says so, and goes on once it is freed", name: "held", play: heldByBudget },
  { title: "terminationGracePeriod ends what a budget holds, no sooner than it must", name: "forced", play: forced },
  {
    title: "a node that is deleted takes its claim along, drained as any other",
    name: "node-deleted",
    play: nodeDeleted,
  },
  { title: "two nodes that a person deletes go side by side", name: "two", play: twoAtOnce },
  {
    title: "a sick machine is rebooted once, out of service, and comes back with its pods",
    name: "rebooted",
    play: rebooted,
  },
  {
    title:
      "a kubelet falls silent: its node is Unknown, repaired at its toleration's end and replaced, its pods elsewhere",
    name: "silent",
    play: fellSilent,
  },
  {
    title: "an instance that vanishes is missed, and its pool replaces it",
    name: "vanished",
    isLong: true,
    play: vanished,
  },
];

async function byHand(stage: Stage): Promise<void> {
  await stage.claim("a");
  const [claim] = (await stage.ready(1)) as [Claim];
  expect(conditionsOf(claim)).toMatchObject({ Launched: "True", Registered: "True", Initialized: "True" });
  const [node] = await stage.nodes();
  expect(node?.metadata).toMatchObject({
    name: claim.status?.nodeName,
    labels: { [registeredKey]: "true", [initializedKey]: "true" },
    finalizers: [terminationFinalizer],
    ownerReferences: [{ apiVersion: apiVersionOf(nodeClaims.resource), kind: "NodeClaim", uid: claim.metadata.uid }],
  });
  expect(node?.spec).toMatchObject({ providerID: claim.status?.providerID });
  expect(node?.spec.taints ?? []).toEqual([]);
  expect(await stage.instances(claim)).toMatchObject([{ nodeName: node?.metadata.name }]);
  expect(await stage.actions(claim)).toEqual([]);

  await stage.delete(nodeClaims.resource, claim.metadata.name);
  await stage.gone(claim);
  const action = await theActionDone(stage, claim);
  expect(action.spec).toMatchObject({
    action: "Deletion",
    askedBy: { kind: "Person" },
    node: { uid: node?.metadata.uid },
  });
  expect(action.spec.evidence).toMatchObject([{ kind: "DeletionTimestamp" }]);
}

async function replicas(stage: Stage): Promise<void> {
  const template = { metadata: { labels: stage.labels }, spec: {} };
  const pool = stage.named("workers");
  await stage.create(nodePools.resource, { metadata: { name: pool }, spec: { replicas: 3, template } });
  const three = await stage.ready(3);
  await stage.patch(nodePools.resource, pool, { spec: { replicas: 5 } });
  const five = await stage.ready(5);
  expect(namesOf(five)).toEqual(expect.arrayContaining(namesOf(three)));

  await stage.patch(nodePools.resource, pool, { spec: { replicas: 2 } });
  const two = await stage.world.until("the scale-down", async () => {
    const claims = await stage.claims();
    expect(claims.filter(({ metadata }) => metadata.deletionTimestamp === undefined).length).toBeGreaterThanOrEqual(2);
    return claims.length === 2 ? claims : undefined;
  });
  expect(two.every(isReady)).toBe(true);
  const taken = five.filter(({ metadata }) => !namesOf(two).includes(metadata.name));
  await stage.gone(...taken);
  for (const claim of taken) expect((await theActionDone(stage, claim)).spec.action).toBe("ScaleDown");
  expect(await stage.actions(...two)).toEqual([]);
  const stayed = new Set((await stage.nodes()).map(({ metadata }) => metadata.name));
  expect(stayed).toEqual(new Set(two.map(({ status }) => status?.nodeName)));
  // It is not made good: nobody comes for those who were sent away.
  await stage.world.pass(5);
  expect(new Set(namesOf(await stage.claims()))).toEqual(new Set(namesOf(two)));

  await stage.delete(nodePools.resource, pool);
  await stage.gone(...two);
}

async function heldByBudget(stage: Stage): Promise<void> {
  await stage.claim("a");
  const [claim] = (await stage.ready(1)) as [Claim];
  await someWork(stage);
  await stage.delete(nodeClaims.resource, claim.metadata.name);
  const held = await stage.world.until("the drain to be held", async () => {
    const [action] = await stage.actions(claim);
    return action?.status?.waitingFor?.message.includes("PodDisruptionBudget web") ? action : undefined;
  });
  expect(held.status).toMatchObject({ phase: "Running", steps: [{ name: "taint" }, { name: "drain" }] });
  await stage.world.pass(8);
  const [pod, ...more] = await stage.pods();
  expect([pod?.metadata.deletionTimestamp, pod?.status.phase, more]).toEqual([undefined, "Running", []]);
  expect((await stage.nodes())[0]?.spec.taints).toContainEqual(expect.objectContaining(disruptedTaint));
  const [waiting] = await stage.claims();
  const drained = waiting?.status?.conditions?.find(({ type }) => type === "Drained");
  expect(drained).toMatchObject({
    status: "Unknown",
    message: expect.stringContaining("PodDisruptionBudget web") as string,
  });

  await stage.patch(disruptionBudgets, "web", { spec: { maxUnavailable: 1 } });
  await stage.gone(claim);
  await theActionDone(stage, claim);
}

async function forced(stage: Stage): Promise<void> {
  const podGraceMs = 5 * secondMs;
  await stage.claim("a", { terminationGracePeriod: "20s" });
  const [claim] = (await stage.ready(1)) as [Claim];
  await someWork(stage, { annotations: { [doNotDisruptKey]: "true" }, grace: podGraceMs / secondMs });
  const [pod] = await stage.pods();
  await stage.delete(nodeClaims.resource, claim.metadata.name);
  const stopping = await stage.world.until("the pod to be stopped", async () => {
    const found = (await stage.pods()).find(({ metadata }) => metadata.uid === pod?.metadata.uid);
    if (found === undefined) throw new Error("The pod went unseen.");
    return found.metadata.deletionTimestamp === undefined ? undefined : found;
  });
  const [going] = await stage.claims();
  const deletedAt = Date.parse(going?.metadata.deletionTimestamp ?? "");
  const terminationAt = Date.parse(going?.metadata.annotations?.[terminationTimestampKey] ?? "");
  expect(terminationAt).toBe(deletedAt + 20 * secondMs);
  const endsAt = Date.parse(stopping.metadata.deletionTimestamp ?? "");
  const graceMs = (stopping.metadata["deletionGracePeriodSeconds"] as number) * secondMs;
  // Times are written in whole seconds.
  expect(endsAt - graceMs).toBeGreaterThanOrEqual(terminationAt - podGraceMs - secondMs);
  expect(endsAt).toBeLessThanOrEqual(terminationAt + 2 * secondMs);
  await stage.gone(claim);
  await theActionDone(stage, claim);
}

async function nodeDeleted(stage: Stage): Promise<void> {
  await stage.claim("a");
  const [claim] = (await stage.ready(1)) as [Claim];
  await someWork(stage, { budget: 1 });
  const nodeName = claim.status?.nodeName ?? "";
  await stage.delete(nodes, nodeName);
  await stage.gone(claim);
  const action = await theActionDone(stage, claim);
  expect(action.spec.message).toMatch(`Node ${nodeName} was deleted at`);
}

async function twoAtOnce(stage: Stage): Promise<void> {
  for (const name of ["a", "b"]) await stage.claim(name);
  const claims = await stage.ready(2);
  await Promise.all(claims.map(({ status }) => stage.delete(nodes, status?.nodeName ?? "")));
  await stage.gone(...claims);
  const [one, other] = (await Promise.all(claims.map(claim => theActionDone(stage, claim)))) as [Action, Action];
  expect(startedAt(one)).toBeLessThan(finishedAt(other));
  expect(startedAt(other)).toBeLessThan(finishedAt(one));
}

async function rebooted(stage: Stage): Promise<void> {
  const { group, kind } = simulatedNodeClasses.resource;
  const nodeClass = stage.named("quick");
  const quick = (median: string) => ({ median });
  await stage.create(simulatedNodeClasses.resource, {
    metadata: { name: nodeClass },
    spec: { boot: quick("2s"), join: quick("1s"), reboot: { time: quick("5s") } },
  });
  await stage.create(nodePools.resource, {
    metadata: { name: stage.named("workers") },
    spec: {
      replicas: 1,
      repair: {
        action: "Reboot",
        policies: [{ conditionType: "KernelDeadlock", conditionStatus: "True", toleration: "1s" }],
      },
      template: {
        metadata: { labels: stage.labels },
        spec: { nodeClassRef: { group, kind, name: nodeClass } },
      },
    },
  });
  const [claim] = (await stage.ready(1)) as [Claim];
  await someWork(stage);
  const [before] = await stage.pods();
  await stage.patch(nodes, claim.status?.nodeName ?? "", {
    metadata: { annotations: { [simulateAnnotation]: "KernelDeadlock=True" } },
  });
  await stage.world.until("the node to be cordoned", async () => {
    const [node] = await stage.nodes();
    return node?.spec.unschedulable === true ? true : undefined;
  });
  const action = await stage.world.until("the reboot to be done", async () => {
    const [found] = await stage.actions(claim);
    return found?.status?.phase === "Done" ? found : undefined;
  });
  expect(action.spec).toMatchObject({ action: "Repair", method: "Reboot", evidence: [{ kind: "Condition" }] });
  const steps = action.status?.steps?.map(({ name }) => name);
  expect(steps).toEqual(["cordon", "reboot", "recover", "uncordon"]);
  const [node] = await stage.nodes();
  expect(node?.spec.unschedulable ?? false).toBe(false);
  expect(node?.metadata.annotations ?? {}).not.toHaveProperty(cordonedByKey);
  expect(await stage.instances(claim)).toMatchObject([{ rebootCount: 1 }]);
  expect((await stage.pods()).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid]);
  expect((await stage.claims()).map(({ metadata }) => metadata.uid)).toEqual([claim.metadata.uid]);
}

async function fellSilent(stage: Stage): Promise<void> {
  // So many that one is within every cap, whatever other stories have used of them.
  const replicas = 6;
  const tolerationSeconds = 12;
  await stage.create(nodePools.resource, {
    metadata: { name: stage.named("workers") },
    spec: {
      replicas,
      repair: { policies: [{ conditionType: "Ready", toleration: `${tolerationSeconds}s` }] },
      template: { metadata: { labels: stage.labels }, spec: {} },
    },
  });
  const claims = await stage.ready(replicas);
  await someWork(stage);
  const [before] = await stage.pods();
  const sick = claims.find(({ status }) => status?.nodeName === before?.spec.nodeName) as Claim;
  await stage.patch(nodes, before?.spec.nodeName ?? "", {
    metadata: { annotations: { [simulateAnnotation]: "silent" } },
  });
  await stage.gone(sick);
  const action = await theActionDone(stage, sick);
  expect(action.spec).toMatchObject({ action: "Repair", method: "Terminate", termination: "Forceful" });
  const evidence = { kind: "Condition", conditionType: "Ready", conditionStatus: "Unknown" };
  expect(action.spec.evidence).toMatchObject([evidence]);
  const since = Date.parse(action.spec.evidence[0]?.since ?? "");
  expect(Date.parse(action.spec.decidedAt)).toBeGreaterThanOrEqual(since + tolerationSeconds * secondMs);
  // Its budget lets none go: a dead node's pods are not asked.
  await stage.world.until("the pod to run elsewhere", async () => {
    const standing = (await stage.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
    const isElsewhere = standing.every(({ spec }) => spec.nodeName !== before?.spec.nodeName);
    return isElsewhere && standing.length === 1 && standing.every(isReady) ? true : undefined;
  });
  const standing = await stage.ready(replicas);
  expect(namesOf(standing)).not.toContain(sick.metadata.name);
  expect(await stage.actions(...standing)).toEqual([]);
}

async function vanished(stage: Stage): Promise<void> {
  const template = { metadata: { labels: stage.labels }, spec: {} };
  const pool = stage.named("workers");
  await stage.create(nodePools.resource, { metadata: { name: pool }, spec: { replicas: 1, template } });
  const [claim] = (await stage.ready(1)) as [Claim];
  await stage.world.pass(120);
  const key = { namespace: simulatedNamespace, name: `i-${claim.metadata.uid}` };
  await stage.world.settle(stage.world.api.delete(simulatedInstances, key));
  await stage.gone(claim);
  const action = await theActionDone(stage, claim);
  expect(action.spec).toMatchObject({ action: "GarbageCollection", evidence: [{ kind: "InstanceGone" }] });
  const [successor] = (await stage.ready(1)) as [Claim];
  expect(successor.metadata.name).not.toBe(claim.metadata.name);
}

type Work = { annotations?: Record<string, string>; grace?: number; budget?: number };

/** One pod on the story's node, under a budget that lets so many go; waits until it runs and is counted. */
async function someWork(stage: Stage, { annotations = {}, grace = 2, budget = 0 }: Work = {}): Promise<void> {
  const labels = { app: "web" };
  await stage.create(disruptionBudgets, {
    metadata: { name: "web" },
    spec: { maxUnavailable: budget, selector: { matchLabels: labels } },
  });
  const spec = {
    nodeSelector: stage.labels,
    terminationGracePeriodSeconds: grace,
    containers: [{ name: "web", image: "web", resources: { requests: { cpu: "100m" } } }],
  };
  await stage.create(deployments, {
    metadata: { name: "web" },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels, annotations }, spec } },
  });
  await stage.world.until("the pod to run and its budget to know it", async () => {
    const [pod] = await stage.pods();
    const found = await stage.get<Budget>(disruptionBudgets, "web");
    return pod !== undefined && isReady(pod) && found?.status?.currentHealthy === 1 ? true : undefined;
  });
}

type Budget = Awaited<ReturnType<Stage["create"]>> & { status?: { currentHealthy?: number } };

/** The one action that there ever was on the claim's node: done, with all its steps in order and nothing awaited. */
async function theActionDone(stage: Stage, claim: Claim): Promise<Action> {
  // Its last word follows the end of the claim.
  const action = await stage.world.until(`the action on ${claim.metadata.name} to be done`, async () => {
    const [found] = await stage.actions(claim);
    return found?.status?.phase === "Done" ? found : undefined;
  });
  expect(await stage.actions(claim)).toHaveLength(1);
  expect(action.status?.waitingFor).toBeUndefined();
  const steps = action.status?.steps ?? [];
  expect(steps.map(({ name }) => name)).toEqual(stepNames);
  const instants = steps.flatMap(step => [step.startedAt, step.finishedAt].map(time => Date.parse(time ?? "")));
  expect(instants).toEqual(instants.toSorted((a, b) => a - b));
  return action;
}

const conditionsOf = ({ status }: Claim) =>
  Object.fromEntries((status?.conditions ?? []).map(({ type, status: word }) => [type, word]));
const namesOf = (claims: readonly Claim[]) => claims.map(({ metadata }) => metadata.name);
const startedAt = ({ status }: Action) => Date.parse(status?.startedAt ?? "");
const finishedAt = ({ status }: Action) => Date.parse(status?.finishedAt ?? "");
