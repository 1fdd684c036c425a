// What comes with Fettle itself, on a real control plane under the rights that `fettle install` prints: the check by
// default, and Replace, by which it remediates.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeHealthChecks } from "../../../src/api/node-health-check.ts";
import { nodePools } from "../../../src/api/node-pool.ts";
import { replaceRemediations, replaceRemediationTemplates } from "../../../src/api/remediation.ts";
import type { FettleProcess } from "../../spine/fettle-process.ts";
import { processWorld } from "../../spine/process-world.ts";
import type { Claim, World } from "../../spine/world.ts";
import { nodeOf, wideCaps } from "../repair/sick.ts";
import { controllerUser, type Installed, installed, isMissing, shortLease } from "../spine/installed.ts";
import { ailment } from "./stranger.ts";
import { type Check, Ward } from "./ward.ts";

const checks = nodeHealthChecks.resource;
const templates = replaceRemediationTemplates.resource;
const byDefault = "nhc-worker-default";

describe.skipIf(isMissing)("what comes with Fettle", () => {
  let cluster: Installed;
  let controller: FettleProcess;
  let world: World;
  let ward: Ward;

  beforeAll(async () => {
    cluster = await installed();
    const { api } = cluster;
    world = processWorld({ name: "real", api, account: () => controller.lines, stop: () => cluster.stop() });
    ward = await Ward.open(world, "usual");
    await wideCaps(ward, "0s");
  });
  afterAll(() => cluster?.stop());

  /** Another process in place of the last one, once it leads and has looked at everything. */
  async function restart(...flags: readonly string[]): Promise<void> {
    await controller?.stop();
    controller = await cluster.run(await cluster.identity(), { flags: [...shortLease, ...flags] });
    await world.until("the controller to lead", async () =>
      controller.lines.some(line => line.includes('"event":"leading"')) ? true : undefined,
    );
    await world.pass(2);
  }

  const allChecks = async () => (await world.api.list<Check>(checks)).items.map(({ metadata }) => metadata.name);

  test("the check by default is made once: not where it is not wanted, and never again once somebody deleted it", async () => {
    await restart("--default-health-check=off");
    expect(await allChecks()).toEqual([]);

    await restart("--default-health-check=on");
    const check = await world.until("the check by default", async () => {
      const found = await ward.get<Check>(checks, byDefault);
      return found?.status?.phase === "Enabled" ? found : undefined;
    });
    expect(check).toMatchObject({
      spec: {
        selector: { matchExpressions: [{ key: "node-role.kubernetes.io/worker", operator: "Exists" }] },
        remediationTemplate: { kind: "ReplaceRemediationTemplate", name: byDefault },
        unhealthyConditions: [
          { type: "Ready", status: "False", duration: "300s" },
          { type: "Ready", status: "Unknown", duration: "300s" },
        ],
      },
      status: { observedNodes: 0 },
    });
    expect(await ward.get(templates, byDefault)).toBeDefined();

    await ward.delete(checks, byDefault);
    await world.pass(2);
    expect(await allChecks()).toEqual([]);
    await restart("--default-health-check=on");
    expect(await allChecks()).toEqual([]);
    const made = (await cluster.requests()).filter(
      ({ user, verb, resource, code }) =>
        user === controllerUser && verb === "create" && resource === checks.plural && code < 300,
    );
    expect(made).toHaveLength(1);
  });

  test("Replace deletes the claim and the pool makes another; the check forgets the node when its successor is there", async () => {
    const replaced = await Ward.open(world, "replaced");
    const [sick] = (await aPool(replaced, { mode: "Disabled" })) as [Claim];
    await checkByReplace(replaced);
    await replaced.sicken(nodeOf(sick));
    await replaced.gone(sick);
    const standing = await replaced.ready(2);
    expect(standing.map(nodeOf)).not.toContain(nodeOf(sick));
    const actions = await world.until("both actions to be done", async () => {
      const found = await replaced.actions(sick);
      return found.length === 2 && found.every(({ status }) => status?.phase === "Done") ? found : undefined;
    });
    expect(new Set(actions.map(({ spec }) => `${spec.action} ${spec.method}`))).toEqual(
      new Set(["Remediation Remediate", "Remediation Terminate"]),
    );
    await replaced.status("all well", ({ phase, healthyNodes }) => phase === "Enabled" && healthyNodes === 2);
    expect((await world.api.list(replaceRemediations.resource)).items).toEqual([]);
    expect(await replaced.lease(nodeOf(sick))).toBeUndefined();
  });

  test("a node whose pool repairs what it has is counted and left to it", async () => {
    const left = await Ward.open(world, "left");
    const policy = { conditionType: ailment, conditionStatus: "True", toleration: "1h" };
    const [sick] = (await aPool(left, { policies: [policy] })) as [Claim];
    await checkByReplace(left);
    await left.sicken(nodeOf(sick));
    const told = await left.status("one unhealthy", ({ unhealthyNodes = [] }) => unhealthyNodes.length === 1);
    expect(told).toMatchObject({ healthyNodes: 1, unhealthyNodes: [{ name: nodeOf(sick) }] });
    await world.until("a refusal", async () =>
      controller.lines.some(line => line.includes(`node/${nodeOf(sick)}`) && line.includes("left-to-repair"))
        ? true
        : undefined,
    );
    expect(told.unhealthyNodes?.[0]?.remediations).toBeUndefined();
    expect(await left.actions(sick)).toEqual([]);
  });

  test("nothing that the controller wanted was forbidden", async () => {
    const own = (await cluster.requests()).filter(({ user }) => user === controllerUser);
    expect(own.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
  });

  async function checkByReplace(of: Ward): Promise<void> {
    const name = of.named("replace");
    await of.create(templates, { metadata: { name }, spec: { template: { spec: {} } } });
    const { group, version, kind } = templates;
    await of.check({ remediationTemplate: { apiVersion: `${group}/${version}`, kind, name } });
    await of.status("both nodes", ({ observedNodes }) => observedNodes === 2);
  }
});

async function aPool(ward: Ward, repair: object): Promise<Claim[]> {
  const template = { metadata: { labels: ward.labels }, spec: {} };
  const spec = { replicas: 2, template, repair };
  await ward.create(nodePools.resource, { metadata: { name: ward.named("workers") }, spec });
  return ward.ready(2);
}
