// A pool of 50 that has drifted, renewed under a budget of 20 % on a real control plane: replacements first, pods told to
// go by eviction alone, and ten times the controller is killed in the middle.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodePools } from "../../../src/api/node-pool.ts";
import { disruptionBudgets } from "../../../src/control/resources.ts";
import { type Claim, isReady, Stage } from "../../spine/world.ts";
import { allRunning, deploy } from "../provisioning/waiting.ts";
import { wideCaps } from "../repair/sick.ts";
import { controllerUser, type Installed, installed, isMissing } from "../spine/installed.ts";
import { type Fate, KilledReplicas, type Moment } from "../spine/killed-replicas.ts";
import { carriedOut, podsMade, type Request } from "../spine/requests.ts";

const poolSize = 50;
/** 20 % of the pool's initialized nodes, to which those that came first belong: of 50 and 13. */
const goingMax = 13;
const unavailableMax = 5;
const deaths: readonly { write: string; moment: Moment }[] = [
  { write: "POST nodeactions", moment: "after" },
  { write: "POST nodeclaims", moment: "before" },
  { write: "POST nodeclaims", moment: "after" },
  { write: "PATCH nodeactions/status", moment: "before" },
  { write: "PATCH nodes", moment: "after" },
  { write: "DELETE nodeclaims", moment: "before" },
  { write: "DELETE nodeclaims", moment: "after" },
  { write: "POST pods/eviction", moment: "before" },
  { write: "POST pods/eviction", moment: "after" },
  { write: "PATCH nodeclaims", moment: "after" },
];
/** So many writes are made between two deaths, so that they come all along the way. */
const between = 40;

describe.skipIf(isMissing)("a drifted pool on a real control plane", () => {
  let cluster: Installed;
  let replicas: KilledReplicas;
  let stage: Stage;

  beforeAll(async () => {
    cluster = await installed();
    replicas = await KilledReplicas.start(cluster);
    stage = new Stage(replicas.world(900_000), "drifted");
    await stage.open();
    await wideCaps(stage, "0s");
  });
  afterAll(async () => {
    await replicas?.stop();
    await cluster?.stop();
  });

  test("is renewed node by node within its budget, PodDisruptionBudgets honoured, whoever dies", async () => {
    const pool = stage.named("workers");
    await stage.create(nodePools.resource, {
      metadata: { name: pool },
      spec: {
        template: { metadata: { labels: stage.labels }, spec: {} },
        disruption: { consolidateAfter: "Never", budgets: [{ nodes: "20%" }] },
      },
    });
    await deploy(stage, "apart", { replicas: poolSize, cpu: "500m", isApart: true });
    const old = await allRunning(stage, poolSize);
    expect(old.length).toBeGreaterThanOrEqual(poolSize);
    expect(old.length).toBeLessThanOrEqual(podsMade(await cluster.requests()));
    await stage.create(disruptionBudgets, {
      metadata: { name: "apart" },
      spec: { maxUnavailable: unavailableMax, selector: { matchLabels: { app: "apart" } } },
    });

    replicas.fate = oneAfterAnother(deaths);
    const labels = { ...stage.labels, image: "second" };
    await stage.patch(nodePools.resource, pool, { spec: { template: { metadata: { labels } } } });
    let readyMin = poolSize;
    const renewed = await stage.world.until("all nodes to be renewed", async () => {
      const [pods, claims] = [await stage.pods(), await stage.claims()];
      readyMin = Math.min(readyMin, pods.filter(({ status }) => isReady({ status })).length);
      const isDone = claims.every(claim => isReady(claim) && isSecond(claim)) && pods.every(isReady);
      return isDone && claims.length === poolSize && pods.length === poolSize ? claims : undefined;
    });
    const actions = await stage.world.until("every action to be over", async () => {
      const found = await stage.actions(...old);
      return found.every(({ status }) => isOver.has(status?.phase ?? "")) ? found : undefined;
    });

    expect(replicas.deaths).toEqual(deaths);
    expect(readyMin).toBeGreaterThanOrEqual(poolSize - unavailableMax);
    const own = (await cluster.requests()).filter(({ user }) => user === controllerUser);
    expect(carriedOut(own, "delete", "pods")).toEqual([]);
    expect(mostAtOnce(own, old)).toBeLessThanOrEqual(goingMax);
    expect(carriedOut(own, "delete", "nodeclaims")).toEqual(expect.arrayContaining(old.map(nameOf).toSorted()));
    const done = actions.filter(({ status }) => status?.phase === "Done");
    expect(done.map(({ spec }) => String(spec.claim?.name)).toSorted()).toEqual(old.map(nameOf).toSorted());
    expect(new Set(done.map(({ spec }) => spec.action))).toEqual(new Set(["Drift"]));
    expect(await stage.instances(...renewed)).toHaveLength(poolSize);
    expect(own.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
  });
});

const isOver = new Set(["Done", "Failed", "Abandoned"]);
const nameOf = ({ metadata }: Claim) => metadata.name;
const isSecond = ({ metadata }: Claim) => metadata.labels?.image === "second";

function oneAfterAnother(all: typeof deaths): Fate {
  const due = [...all];
  let count = 0;
  return write => {
    if (++count < between || write !== due[0]?.write) return undefined;
    count = 0;
    return due.shift()?.moment;
  };
}

/** How many claims were on their way out at the same instant, from their deletes to the last patch that let them go. */
function mostAtOnce(own: readonly Request[], claims: readonly Claim[]): number {
  const edges = claims.flatMap(({ metadata: { name } }) => {
    const first = own.find(one => one.verb === "delete" && one.resource === "nodeclaims" && one.name === name);
    const last = own.findLast(one => one.verb === "patch" && one.resource === "nodeclaims" && one.name === name);
    if (first === undefined || last === undefined) return [];
    return [
      { at: first.at, by: 1 },
      { at: last.at, by: -1 },
    ];
  });
  let going = 0;
  return Math.max(...edges.toSorted((a, b) => a.at - b.at || a.by - b.by).map(({ by }) => (going += by)));
}
