// kill -9 before and after each write of a launch and of a termination, the latter 50 times by seeded chance: whoever
// comes next goes on, and nothing is lost or done twice (F1, I5).

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeClaims } from "../../../src/api/node-claim.ts";
import { pods } from "../../../src/control/resources.ts";
import { seededRandom } from "../../../src/sim/random.ts";
import { type Claim, Stage } from "../../spine/world.ts";
import { controllerUser, type Installed, installed, isMissing } from "./installed.ts";
import { type Fate, KilledReplicas, type Moment } from "./killed-replicas.ts";
import { carriedOut, isWrite, type Request } from "./requests.ts";

const killsMin = 50;
const claimCount = 20;
const atOnce = 4;
const launch = ["PATCH nodeclaims", "POST configmaps", "PATCH nodeclaims/status", "PATCH nodes"];
/** What a termination writes, and a new leader on what it finds. */
const termination = [
  "POST nodeactions",
  "PATCH nodeactions/status",
  "PATCH nodeactions",
  "PATCH nodes",
  "DELETE nodes",
  "POST pods/eviction",
  "PATCH nodeclaims/status",
  "PATCH configmaps",
  "PATCH nodeclaims",
];
const chances = {
  none: () => undefined,
  launch: chance(1, 1),
  termination: chance(2, Math.ceil(killsMin / (2 * termination.length))),
};

describe.skipIf(isMissing)("a controller that is killed before and after its writes", () => {
  let cluster: Installed;
  let replicas: KilledReplicas;
  let stage: Stage;

  beforeAll(async () => {
    cluster = await installed();
    replicas = await KilledReplicas.start(cluster);
    // The first to go meet most of the deaths.
    stage = new Stage(replicas.world(480_000), "killed");
    await stage.open();
  });
  afterAll(async () => {
    await replicas?.stop();
    await cluster?.stop();
  });

  test("carries every termination to its end, each with one record, one instance and one eviction", async () => {
    replicas.fate = chances.launch;
    for (let index = 0; index < claimCount; index++) await stage.claim(`c${index}`);
    const claims = await stage.ready(claimCount);
    expectDeaths(replicas.deaths.splice(0), launch);
    for (const claim of claims) await aPodOn(stage, claim);

    replicas.fate = chances.termination;
    for (let from = 0; from < claims.length; from += atOnce) {
      const batch = claims.slice(from, from + atOnce);
      await Promise.all(batch.map(({ metadata }) => stage.delete(nodeClaims.resource, metadata.name)));
      await stage.gone(...batch);
      if (from + atOnce === claims.length) replicas.fate = chances.none;
    }
    await stage.world.until("every action to be done", async () => {
      const actions = await stage.actions(...claims);
      return actions.every(({ status }) => status?.phase === "Done") ? true : undefined;
    });

    const actions = await stage.actions(...claims);
    expect(actions.map(({ spec }) => spec.claim?.name ?? "").toSorted()).toEqual(claims.map(nameOf).toSorted());
    const order = ["taint", "drain", "volumes", "instance", "finalize"];
    for (const { status } of actions) {
      const steps = status?.steps?.map(({ name }) => name) ?? [];
      // What a dead process did last but could not write down stays unwritten: the next one found it done.
      expect(steps).toEqual(order.filter(name => steps.includes(name)));
      expect(steps).toContain("instance");
    }
    expect([await stage.nodes(), await stage.pods(), await stage.instances(...claims)]).toEqual([[], [], []]);
    expect(replicas.deaths.length).toBeGreaterThanOrEqual(killsMin);
    expectDeaths(replicas.deaths, termination);
    expectNothingTwice(await ownWrites(cluster), claims);
  });
});

/** Each write is hit before and after, so often at most and the rarer first; whether now, seeded chance says. */
function chance(seed: number, hitsMax: number): Fate {
  const random = seededRandom(seed);
  const hits = new Map<string, number>();
  const hitsOf = (write: string, moment: Moment) => hits.get(`${moment} ${write}`) ?? 0;
  return write => {
    const moment = hitsOf(write, "before") <= hitsOf(write, "after") ? "before" : "after";
    if (hitsOf(write, moment) >= hitsMax || random() % 2 === 0) return undefined;
    hits.set(`${moment} ${write}`, hitsOf(write, moment) + 1);
    return moment;
  };
}

async function aPodOn(stage: Stage, { metadata, status }: Claim): Promise<void> {
  await stage.create(pods, {
    metadata: { name: metadata.name },
    spec: {
      nodeName: status?.nodeName,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: "web", image: "web" }],
    },
  });
}

const nameOf = ({ metadata }: Claim) => metadata.name;

async function ownWrites(cluster: Installed): Promise<Request[]> {
  return (await cluster.requests()).filter(request => request.user === controllerUser && isWrite(request));
}

function expectDeaths(deaths: KilledReplicas["deaths"], writes: readonly string[]): void {
  const told = new Set(deaths.map(({ write, moment }) => `${moment} ${write}`));
  const wanted = writes.flatMap(write => [`before ${write}`, `after ${write}`]);
  expect([...told].toSorted()).toEqual(wanted.toSorted());
}

function expectNothingTwice(writes: readonly Request[], claims: readonly Claim[]): void {
  const done = (verb: string, resource: string) => carriedOut(writes, verb, resource);
  const instances = claims.map(({ metadata }) => `i-${metadata.uid}`).toSorted();
  const nodes = claims.map(({ status }) => status?.nodeName ?? "").toSorted();
  expect(done("create", "configmaps")).toEqual(instances);
  expect(done("patch", "configmaps")).toEqual(instances);
  expect(done("create", "pods/eviction")).toEqual(claims.map(nameOf).toSorted());
  expect(done("delete", "nodes")).toEqual(nodes);
  const actions = done("create", "nodeactions");
  expect(actions).toHaveLength(claims.length);
  const own = new Set([...claims.map(nameOf), ...instances, ...nodes, ...actions]);
  const elsewhere = writes.filter(({ resource, name }) => !["leases", "events"].includes(resource) && !own.has(name));
  expect(elsewhere).toEqual([]);
}
