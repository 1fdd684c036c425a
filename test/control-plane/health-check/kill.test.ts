// kill -9 before and after each write of remediations by a stranger's remediator, escalation and recovery included:
// whoever comes next goes on, and nothing is made twice, forgotten or left behind.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { confirmedHealthyKey, nodeLeaseName } from "../../../src/api/node-health-check-contract.ts";
import { nodes } from "../../../src/control/resources.ts";
import { wideCaps } from "../repair/sick.ts";
import { controllerUser, type Installed, installed, isMissing } from "../spine/installed.ts";
import { type Fate, KilledReplicas, type Moment } from "../spine/killed-replicas.ts";
import { carriedOut } from "../spine/requests.ts";
import { aStranger, type Stranger, strangers } from "./stranger.ts";
import { Ward } from "./ward.ts";

const names = ["a", "b", "c", "d", "e", "f"];
/** What is written from the failure of a node to its recovery, and by a new leader on what it finds. */
const writes = [
  "POST nodeactions",
  "PATCH nodeactions/status",
  "PATCH nodeactions",
  "POST leases",
  "PATCH leases",
  "POST strangerremediations",
  "PATCH strangerremediations",
  "PATCH nodehealthchecks/status",
  "DELETE strangerremediations",
  "PATCH nodes",
  "DELETE leases",
];

describe.skipIf(isMissing)("a controller that is killed in the middle of remediations", () => {
  let cluster: Installed;
  let stranger: Stranger;
  let replicas: KilledReplicas;
  let ward: Ward;

  beforeAll(async () => {
    cluster = await installed();
    stranger = await aStranger(cluster.plane);
    replicas = await KilledReplicas.start(cluster);
    ward = await Ward.open(replicas.world(), "killed");
    await wideCaps(ward, "0s");
  });
  afterAll(async () => {
    await stranger?.stop();
    await replicas?.stop();
    await cluster?.stop();
  });

  test("each goes on to its end: the first step fails, the second cures, and all is removed, once", async () => {
    await ward.template("soft", "Fail");
    await ward.template("hard", "Cure");
    const patients = await ward.admit(...names);
    // The later step has more time, so that the lease has to be renewed for it.
    const step = (order: number, name: string) => {
      return { order, timeout: `${5 * order}m`, remediationTemplate: ward.reference(name) };
    };
    await ward.check({ healthyDelay: "3s", escalatingRemediations: [step(1, "soft"), step(2, "hard")] });
    await ward.status("Enabled", ({ phase, healthyNodes }) => phase === "Enabled" && healthyNodes === names.length);
    replicas.fate = onceBeforeAndAfter(writes);
    for (const node of patients) {
      await ward.sicken(node);
      // To be taken off by the controller when nothing is left to confirm.
      await ward.patch(nodes, node, { metadata: { annotations: { [confirmedHealthyKey]: "by hand" } } });
    }
    const entries = await ward.entriesDone(names.length);
    await ward.noneLeft();
    await ward.status("all well", ({ phase, healthyNodes }) => phase === "Enabled" && healthyNodes === names.length);
    await ward.world.until("leases and confirmations to be gone", async () => {
      const left = await Promise.all(
        patients.map(async node => [
          await ward.lease(node),
          (await ward.get(nodes, node))?.metadata.annotations?.[confirmedHealthyKey],
        ]),
      );
      return left.flat().every(one => one === undefined) ? true : undefined;
    });

    const deaths = replicas.deaths.map(({ write, moment }) => `${moment} ${write}`);
    const wanted = writes.flatMap(write => [`before ${write}`, `after ${write}`]);
    expect(deaths.toSorted()).toEqual(wanted.toSorted());
    expect(entries.map(({ spec }) => spec.node.name).toSorted()).toEqual(patients);
    const steps = entries.map(({ status }) => status?.steps?.map(({ name }) => name));
    expect(new Set(steps.map(String))).toEqual(new Set(["remediation-1,remediation-2,ended"]));
    const made = await done("create", strangers.plural);
    expect(made).toHaveLength(2 * names.length);
    expect(new Set(made).size).toBe(made.length);
    expect(await done("delete", strangers.plural)).toEqual(made);
    expect(await done("create", "nodeactions")).toHaveLength(names.length);
    const held = patients.map(nodeLeaseName).toSorted();
    expect((await done("create", "leases")).filter(name => held.includes(name))).toEqual(held);
    expect((await done("delete", "leases")).filter(name => held.includes(name))).toEqual(held);
  });

  async function done(verb: string, resource: string): Promise<string[]> {
    const own = (await cluster.requests()).filter(({ user }) => user === controllerUser);
    return carriedOut(own, verb, resource);
  }
});

function onceBeforeAndAfter(all: readonly string[]): Fate {
  const left = new Map<string, Moment[]>(all.map(write => [write, ["before", "after"]]));
  return write => left.get(write)?.shift();
}
