// Repair on a real control plane, the controller under the rights that `fettle install` prints: a sick node is replaced
// and leaves its record, and the brake holds in a burst, however the events arrive.

import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeObject } from "../../../src/api/meta.ts";
import { nodePools } from "../../../src/api/node-pool.ts";
import { doNotRepairKey } from "../../../src/api/well-known.ts";
import { events, nodes } from "../../../src/control/resources.ts";
import { simulateAnnotation } from "../../../src/sim/world/simulated-faults.ts";
import { processWorld } from "../../spine/process-world.ts";
import { type Action, type Claim, isReady, Stage, type World } from "../../spine/world.ts";
import { controllerUser, type Installed, installed, isMissing } from "../spine/installed.ts";
import { isWrite } from "../spine/requests.ts";
import { aPool, brake, deployments, nodeOf, ownCondition, turn, wideCaps } from "./sick.ts";

const poolSize = 25;
/** ceil(20 %) of it. */
const sickMax = 5;
const rounds = 20;
const quietSeconds = 2;
const podCount = 6;

describe.skipIf(isMissing)("repair on a real control plane", () => {
  let cluster: Installed;
  let world: World;
  let metricsPort: number;

  beforeAll(async () => {
    cluster = await installed();
    metricsPort = await freePort();
    const flags = [`--metrics-bind-address=127.0.0.1:${metricsPort}`];
    const controller = await cluster.run(await cluster.identity(), { flags });
    const { api } = cluster;
    const stop = () => cluster.stop();
    world = processWorld({ name: "a real control plane", api, account: () => controller.lines, stop });
    await wideCaps(new Stage(world, "policy"), `${quietSeconds}s`);
  });
  afterAll(() => cluster?.stop());

  const answerTo = async (path: string) => (await fetch(`http://127.0.0.1:${metricsPort}${path}`)).text();

  /** What the controller has deleted of the pool since it was made, by the audit log. */
  const deletedOf = async (claims: readonly Claim[]) => {
    const own = new Set(claims.flatMap(claim => [claim.metadata.name, nodeOf(claim)]));
    const writes = (await cluster.requests()).filter(request => request.user === controllerUser && isWrite(request));
    return writes.filter(({ verb, resource, name }) => verb === "delete" && resource !== "leases" && own.has(name));
  };

  test("a node that is not ready is replaced at its toleration's end and leaves its record; one that says do-not-repair stays", async () => {
    const stage = new Stage(world, "sick");
    await stage.open();
    const claims = await aPool(stage, "workers", {
      replicas: 3,
      conditionType: "Ready",
      toleration: "4s",
      maxUnhealthy: "100%",
    });
    await somePods(stage, podCount);
    const [sick, held] = claims as [Claim, Claim];
    await stage.patch(nodes, nodeOf(held), { metadata: { annotations: { [doNotRepairKey]: "true" } } });
    await turn(stage, [sick, held], ["Ready", "False"]);
    await stage.gone(sick);

    const action = await theActionDone(stage, sick);
    expect(action.spec).toMatchObject({
      action: "Repair",
      method: "Terminate",
      termination: "Forceful",
      askedBy: { kind: "NodePool", name: stage.named("workers") },
      node: { name: nodeOf(sick) },
      evidence: [{ kind: "Condition", conditionType: "Ready", conditionStatus: "False", toleration: "4s" }],
      policy: { kind: "NodePool", path: "spec.repair.policies[0]" },
    });
    const [evidence] = action.spec.evidence;
    // Times are written in whole seconds.
    expect(Date.parse(action.spec.decidedAt)).toBeGreaterThanOrEqual(Date.parse(evidence?.since ?? "") + 4000);
    expect(await reasonsOn(stage, nodeOf(sick))).toContain("NodeRepairStarted");
    expect(await answerTo("/metrics")).toMatch(
      /^karpenter_nodeclaims_disrupted_total\{reason="unhealthy",nodepool="sick-workers",.*\} 1$/m,
    );

    await world.until("a successor beside the others, and every pod on a node that is well", async () => {
      const standing = await stage.claims();
      const isWhole = standing.length === claims.length && standing.filter(isReady).length >= claims.length - 1;
      return isWhole && (await areUp(stage, podCount, [sick])) ? true : undefined;
    });
    expect(await stage.actions(held)).toEqual([]);
    const why = JSON.parse(await answerTo(`/refusals?kind=Node&name=${nodeOf(held)}`)) as unknown;
    expect(JSON.stringify(why)).toContain('"do-not-repair"');
  });

  test(`20 % and one of ${poolSize} nodes that turn sick at once and are due at once all stay, ${rounds} times; with one less they go, in the budget's pace`, async () => {
    const stage = new Stage(world, "burst");
    await stage.open();
    const claims = await aPool(stage, "workers", { replicas: poolSize });
    for (let round = 0; round < rounds; round++) {
      // All are well again at once when the pool judges by another condition: healed one by one, all but the first would
      // rightly go.
      await judgeBy(stage, `Broken${round}`);
      await brake(stage, "workers", "False");
      await turn(stage, taken(claims, round * (sickMax + 1), sickMax + 1), [`Broken${round}`, "True"]);
      await brake(stage, "workers", "True");
      // Long enough for whoever waits for quiet and then does not count.
      await world.pass(quietSeconds + 0.5);
      expect(await stage.actions(...claims), `round ${round}`).toEqual([]);
    }
    expect(await deletedOf(claims)).toEqual([]);

    const budgets = [{ nodes: 2, action: "Repair" }];
    await stage.patch(nodePools.resource, stage.named("workers"), { spec: { disruption: { budgets } } });
    await judgeBy(stage, ownCondition);
    await brake(stage, "workers", "False");
    const [lucky, ...rest] = taken(claims, 0, sickMax + 1) as [Claim, ...Claim[]];
    await turn(stage, [lucky, ...rest], [ownCondition, "True"]);
    await brake(stage, "workers", "True");
    await world.pass(quietSeconds + 0.5);
    expect(await stage.actions(...claims)).toEqual([]);
    await turn(stage, [lucky], [ownCondition, "False"]);
    await stage.gone(...rest);
    const actions = await Promise.all(rest.map(claim => theActionDone(stage, claim)));
    for (const { spec } of actions) expect(spec.budget).toMatchObject({ allowed: 2 });
    expect(actions.map(({ spec }) => spec.budget?.counted ?? 0).filter(counted => counted > 1)).toEqual([]);
    const others = claims.filter(claim => !rest.includes(claim));
    expect([await stage.actions(...others), await deletedOf(others)]).toEqual([[], []]);
    await stage.ready(poolSize);
  });

  test("exactly 20 % of a pool go", async () => {
    const stage = new Stage(world, "fifth");
    await stage.open();
    const claims = await aPool(stage, "workers", { replicas: 10 });
    const sick = claims.slice(0, 2);
    await turn(stage, sick, [ownCondition, "True"]);
    await stage.gone(...sick);
    const successors = await stage.ready(10);
    expect(successors.filter(claim => isOneOf(sick, claim))).toEqual([]);
    expect(await stage.actions(...claims)).toHaveLength(sick.length);
  });

  test("a kubelet that falls silent: node lifecycle says Unknown, and at its toleration's end its node is replaced and its pods run elsewhere", async () => {
    const stage = new Stage(world, "silent");
    await stage.open();
    const pool = { replicas: 3, conditionType: "Ready", toleration: "5s", maxUnhealthy: "100%" };
    const claims = await aPool(stage, "workers", pool);
    await somePods(stage, podCount);
    const [dead] = claims as [Claim];
    await stage.patch(nodes, nodeOf(dead), { metadata: { annotations: { [simulateAnnotation]: "silent" } } });
    await world.until("node lifecycle to call it Unknown", async () => {
      const node = await world.api.get<Sick>(nodes, { name: nodeOf(dead) });
      return node.status.conditions.find(({ type }) => type === "Ready")?.status === "Unknown" ? true : undefined;
    });
    await stage.gone(dead);
    const { spec } = await theActionDone(stage, dead);
    const [evidence] = spec.evidence;
    expect(evidence).toMatchObject({ conditionType: "Ready", conditionStatus: "Unknown", toleration: "5s" });
    expect(Date.parse(spec.decidedAt)).toBeGreaterThanOrEqual(Date.parse(evidence?.since ?? "") + 5000);
    expect(await stage.actions(...claims)).toHaveLength(1);
    await stage.ready(pool.replicas);
    await world.until("every pod on another node", async () => (await areUp(stage, podCount, [dead])) || undefined);
  });

  test("nothing that the controller wanted was forbidden", async () => {
    const own = (await cluster.requests()).filter(({ user }) => user === controllerUser);
    expect(own.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
  });
});

const isOneOf = (claims: readonly Claim[], { metadata }: Claim) =>
  claims.some(claim => claim.metadata.uid === metadata.uid);

async function judgeBy(stage: Stage, conditionType: string): Promise<void> {
  const policies = [{ conditionType, conditionStatus: "True", toleration: "0s" }];
  await stage.patch(nodePools.resource, stage.named("workers"), { spec: { repair: { policies } } });
}

/** Each time others. */
function taken(claims: readonly Claim[], from: number, count: number): Claim[] {
  return Array.from({ length: count }, (_, index) => claims[(from + index) % claims.length] as Claim);
}

async function somePods(stage: Stage, replicas: number): Promise<void> {
  const labels = { app: "web" };
  const spec = {
    nodeSelector: stage.labels,
    containers: [{ name: "web", image: "web", resources: { requests: { cpu: "100m" } } }],
  };
  await stage.create(deployments, {
    metadata: { name: "web" },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
  await stage.world.until("the pods to run", async () => {
    const found = await stage.pods();
    return found.length === replicas && found.every(isReady) ? true : undefined;
  });
}

/** Whether so many pods run, and all on nodes other than these. What is left of those before is not counted. */
async function areUp(stage: Stage, count: number, gone: readonly Claim[]): Promise<boolean> {
  const found = (await stage.pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const isElsewhere = ({ spec }: (typeof found)[number]) => !gone.map(nodeOf).includes(spec.nodeName ?? "");
  return found.length === count && found.every(pod => pod.status.phase === "Running" && isElsewhere(pod));
}

async function theActionDone(stage: Stage, claim: Claim): Promise<Action> {
  const action = await stage.world.until(`the repair of ${claim.metadata.name} to be done`, async () => {
    const [found] = await stage.actions(claim);
    return found?.status?.phase === "Done" ? found : undefined;
  });
  expect(await stage.actions(claim)).toHaveLength(1);
  return action;
}

type Sick = KubeObject & { status: { conditions: readonly { type: string; status: string }[] } };

type Event = KubeObject & { reason: string; involvedObject: { kind: string; name: string } };

async function reasonsOn(stage: Stage, nodeName: string): Promise<string[]> {
  const fieldSelector = `involvedObject.kind=Node,involvedObject.name=${nodeName}`;
  const { items } = await stage.world.api.list<Event>(events, { fieldSelector });
  return items.map(({ reason }) => reason);
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>(resolve => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise(resolve => probe.close(resolve));
  return port;
}
