// kill -9 at each write of repairs, before the server has seen it or when its answer is on the way: whoever comes next
// goes on, and no node, no successor and no record is there twice.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pods } from "../../../src/control/resources.ts";
import { seededRandom } from "../../../src/sim/random.ts";
import { type Claim, Stage } from "../../spine/world.ts";
import { controllerUser, type Installed, installed, isMissing } from "../spine/installed.ts";
import { type Fate, KilledReplicas } from "../spine/killed-replicas.ts";
import { carriedOut } from "../spine/requests.ts";
import { aPool, nodeOf, ownCondition, turn, wideCaps } from "./sick.ts";

const poolSize = 6;
const sickCount = 3;
/** What a repair writes, its successor's launch included. */
const writes = [
  "POST nodeactions",
  "PATCH nodeactions/status",
  "DELETE nodeclaims",
  "PATCH nodes",
  "DELETE pods",
  "PATCH configmaps",
  "DELETE nodes",
  "PATCH nodeclaims",
  "POST nodeclaims",
  "POST configmaps",
  "PATCH nodeclaims/status",
];

describe.skipIf(isMissing)("a controller that is killed in the middle of repairs", () => {
  let cluster: Installed;
  let replicas: KilledReplicas;
  let stage: Stage;

  beforeAll(async () => {
    cluster = await installed();
    replicas = await KilledReplicas.start(cluster);
    stage = new Stage(replicas.world(), "killed");
    await stage.open();
    await wideCaps(stage, "0s");
  });
  afterAll(async () => {
    await replicas?.stop();
    await cluster?.stop();
  });

  test("resumes each of them, and nothing is done twice", async () => {
    const claims = await aPool(stage, "workers", { replicas: poolSize, maxUnhealthy: "100%" });
    const sick = claims.slice(0, sickCount);
    for (const claim of sick) await aPodOn(stage, claim);
    replicas.fate = onceAt(writes);
    await turn(stage, sick, [ownCondition, "True"]);
    await stage.gone(...sick);
    const standing = await stage.ready(poolSize);
    const actions = await stage.world.until("every repair to be done", async () => {
      const found = await stage.actions(...sick);
      return found.every(({ status }) => status?.phase === "Done") ? found : undefined;
    });

    expect(replicas.deaths.map(({ write }) => write).toSorted()).toEqual(writes.toSorted());
    expect(actions.map(({ spec }) => spec.node.name).toSorted()).toEqual(sick.map(nodeOf).toSorted());
    expect(new Set(actions.map(({ spec }) => spec.action))).toEqual(new Set(["Repair"]));
    const made = [...claims, ...standing.slice()].map(({ metadata }) => metadata.name);
    const instances = [...claims, ...standing].map(({ metadata }) => `i-${metadata.uid}`);
    const ended = sick.map(({ metadata }) => `i-${metadata.uid}`);
    expect(await done("create", "nodeactions")).toHaveLength(sickCount);
    expect(await done("create", "nodeclaims")).toEqual([...new Set(made)].toSorted());
    expect(await done("create", "configmaps")).toEqual([...new Set(instances)].toSorted());
    expect(await done("delete", "nodeclaims")).toEqual(sick.map(({ metadata }) => metadata.name).toSorted());
    expect(await done("patch", "configmaps")).toEqual(ended.toSorted());
    expect(await done("delete", "nodes")).toEqual(sick.map(nodeOf).toSorted());
    // One that is still there when its machine is gone is deleted once more, without grace.
    const told = await done("delete", "pods");
    expect([...new Set(told)]).toEqual(sick.map(({ metadata }) => metadata.name).toSorted());
    expect(told.length).toBeLessThanOrEqual(2 * sickCount);
  });

  async function done(verb: string, resource: string): Promise<string[]> {
    const own = (await cluster.requests()).filter(({ user }) => user === controllerUser);
    return carriedOut(own, verb, resource);
  }
});

/** Each write is hit once; before or after, seeded chance says. */
function onceAt(all: readonly string[]): Fate {
  const random = seededRandom(5);
  const left = new Set(all);
  return write => {
    if (!left.delete(write)) return undefined;
    return random() % 2 === 0 ? "before" : "after";
  };
}

async function aPodOn(stage: Stage, claim: Claim): Promise<void> {
  const spec = { nodeName: nodeOf(claim), containers: [{ name: "web", image: "web" }] };
  await stage.create(pods, { metadata: { name: claim.metadata.name }, spec });
}
