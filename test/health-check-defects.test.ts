import { beforeEach, describe, expect, test } from "vitest";
import type { KubeObject } from "../src/api/meta.ts";
import { nodeHealthChecks } from "../src/api/node-health-check.ts";
import { clusterUpgradeAnnotation, safetyPolicies } from "../src/api/safety-policy.ts";
import { permissions } from "../src/cli/permissions.ts";
import type { KubeApi, ListOptions } from "../src/control/ports.ts";
import { leases, nodes } from "../src/control/resources.ts";
import { ControlledBox } from "./controlled-box.ts";
import { escalating, fences, several, templateOf, Ward } from "./ward.ts";

const unhealthyConditions = [{ type: "Ready", status: "Unknown", duration: "60s" }];
const confirmed = "remediation.medik8s.io/manually-confirmed-healthy";
const controlPlane = { "node-role.kubernetes.io/control-plane": "" };

const defects: Readonly<Record<string, (ward: Ward) => Promise<void>>> = {
  "nodes that are created unhealthy are not seen until something else happens to them": async ward => {
    await ward.check({ unhealthyConditions: [{ type: "Ready", status: "False", duration: "20s" }] });
    const { clock } = ward.box;
    const since = new Date(clock.now()).toISOString();
    const conditions = [{ type: "Ready", status: "False", lastTransitionTime: since, lastHeartbeatTime: since }];
    await ward.box.create(nodes, { metadata: { name: "born-sick" }, status: { conditions } });
    await ward.box.run(35);
    expect(await ward.fenced()).toEqual(["born-sick reset"]);
  },

  "a numeric text as threshold stops everything for ever": async ward => {
    await ward.check({ unhealthyConditions, minHealthy: "3" });
    const [sick] = await ward.silence();
    await ward.box.run(150);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    expect(await ward.status()).toMatchObject({ phase: "Remediating" });
  },

  "a storm outlives the recovery of all nodes, and the next failure waits for it": async ward => {
    await ward.check({ unhealthyConditions, maxUnhealthy: 2, stormCooldownDuration: "5m" });
    const sick = await ward.silence(3);
    await ward.box.run(150);
    expect(await ward.condition("StormActive")).toMatchObject({ status: "True" });
    for (const name of sick) await ward.simulate(name, null);
    await ward.box.run(60);
    expect(await ward.condition("StormCooldownActive")).toMatchObject({ status: "True" });
    await ward.box.run(300);
    expect(await ward.condition("StormActive")).toMatchObject({ status: "False" });
    expect(await ward.condition("StormCooldownActive")).toMatchObject({ status: "False" });
    const [next] = await ward.silence();
    await ward.box.run(130);
    expect(await ward.fenced()).toEqual([`${next} reset`]);
  },

  "a node that fails again within healthyDelay is let go as if it had not": async ward => {
    await ward.check({ unhealthyConditions, healthyDelay: "5m" });
    const [sick = ""] = await ward.silence();
    await ward.box.run(150);
    await ward.simulate(sick, null);
    await ward.box.run(240);
    await ward.simulate(sick, "silent");
    await ward.box.run(90);
    await ward.simulate(sick, null);
    await ward.box.run(240);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    await ward.box.run(90);
    expect(await ward.fenced()).toEqual([]);
  },

  "a confirmation by hand cannot be taken off the node": async ward => {
    await ward.check({ unhealthyConditions, healthyDelay: "-1s" });
    const [sick = ""] = await ward.silence();
    await ward.box.run(150);
    await ward.simulate(sick, null);
    await ward.box.run(600);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    await ward.annotate(sick, { [confirmed]: "by me" });
    await ward.box.run(30);
    expect(await ward.fenced()).toEqual([]);
    const found = (await ward.box.list(nodes)).find(({ metadata }) => metadata.name === sick);
    expect(found?.metadata.annotations ?? {}).not.toHaveProperty([confirmed]);
    expect(await ward.status()).toMatchObject({ phase: "Enabled", healthyNodes: 6 });
    const granted = permissions("none").cluster.find(({ group, resource }) => group === "" && resource === "nodes");
    expect(granted?.verbs).toContain("patch");
  },

  "a third template of one kind is never reached": async ward => {
    for (const name of ["one", "two", "three"]) await ward.template(name, several);
    await ward.check({ unhealthyConditions, ...escalating("1m", "one", "two", "three") });
    const [sick = ""] = await ward.silence();
    await ward.box.run(330);
    expect(await ward.fenced()).toEqual([`${sick} one`, `${sick} three`, `${sick} two`]);
    const { unhealthyNodes: [told] = [] } = await ward.status();
    expect(told?.remediations?.map(({ templateName, timedOut }) => [templateName, timedOut !== undefined])).toEqual([
      ["one", true],
      ["two", true],
      ["three", true],
    ]);
    expect(await ward.condition("NoTemplateLeft")).toMatchObject({ status: "True" });
    expect(ward.codes(sick)).toContain("no-template-left");
  },

  "escalations that are not written in order are written to the status at every look": async ward => {
    for (const name of ["one", "two"]) await ward.template(name, several);
    const { escalatingRemediations } = escalating("20m", "one", "two");
    await ward.check({ unhealthyConditions, escalatingRemediations: escalatingRemediations.toReversed() });
    const [sick = "", other = ""] = await ward.silence();
    await ward.box.run(150);
    expect(await ward.fenced()).toEqual([`${sick} one`]);
    const writes = ward.count("update-check");
    for (let look = 0; look < 5; look++) {
      await ward.annotate(other || sick, { look: `${look}` });
      await ward.box.run(30);
    }
    expect(ward.count("update-check")).toBe(writes);
  },

  "two checks remediate two nodes of the control plane at once": async ward => {
    await ward.template("other");
    const [one = "", two = ""] = await ward.nodeNames();
    for (const name of [one, two]) await ward.label(name, { ...controlPlane, who: name });
    const of = (who: string) => ({ unhealthyConditions, maxUnhealthy: 1, selector: { matchLabels: { who } } });
    await ward.check(of(one), "first");
    await ward.check({ ...of(two), remediationTemplate: templateOf("other") }, "second");
    await ward.silence(2);
    await ward.box.run(240);
    const [made, ...others] = await ward.fences();
    expect(others).toEqual([]);
    expect(made?.metadata.labels).toHaveProperty(["remediation.medik8s.io/isControlPlaneNode"]);
    const waiting = made?.metadata.name === one ? two : one;
    expect(ward.codes(waiting)).toContain("cap-spent");
    await ward.hold(made?.metadata.name ?? "", ["fence.example.org/undo"]);
    await ward.simulate(made?.metadata.name ?? "", null);
    await ward.box.run(120);
    expect(await ward.fences()).toHaveLength(1);
    await ward.hold(made?.metadata.name ?? "", null);
    await ward.box.run(60);
    expect((await ward.fences()).map(({ metadata }) => metadata.name)).toEqual([waiting]);
  },

  "a pause keeps what is remediated from recovering, escalating and being counted": async ward => {
    await stopsOnlyWhatIsNew(ward, () => ward.edit({ pauseRequests: ["maintenance"] }));
    expect(await ward.status()).toMatchObject({ phase: "Paused", reason: "maintenance" });
  },

  "an upgrade keeps what is remediated from recovering, escalating and being counted": async ward => {
    await stopsOnlyWhatIsNew(ward, async () => {
      const annotations = { [clusterUpgradeAnnotation]: "2026-01-02T00:00:00Z" };
      await ward.box.patch(safetyPolicies.resource, "default", { metadata: { annotations } });
    });
    expect(await ward.condition("RemediationAllowed")).toMatchObject({ status: "False", reason: "ClusterUpgrading" });
  },

  "a node that is deleted before it was remediated stays in the status for ever": async ward => {
    await ward.check({ unhealthyConditions, maxUnhealthy: 0 });
    const [sick = ""] = await ward.silence();
    await ward.box.run(150);
    expect((await ward.status()).unhealthyNodes).toEqual([{ name: sick }]);
    await ward.box.delete(nodes, sick);
    await ward.box.run(300);
    expect((await ward.status()).unhealthyNodes).toEqual([]);
  },

  "a check cannot be edited, paused or deleted while something is remediated": async ward => {
    await ward.check({ unhealthyConditions });
    const [sick = ""] = await ward.silence();
    await ward.box.run(150);
    await ward.edit({ selector: { matchLabels: { nobody: "has-this" } } });
    await ward.box.run(30);
    expect(await ward.fenced()).toEqual([`${sick} reset`]);
    expect(await ward.condition("RemediationAllowed")).toMatchObject({ reason: "EditedWhileRemediating" });
    await ward.edit({ pauseRequests: ["all of it"] });
    await ward.box.delete(nodeHealthChecks.resource, "web");
    await ward.box.run(60);
    expect(await ward.box.list(nodeHealthChecks.resource)).toEqual([]);
    expect(await ward.fenced()).toEqual([]);
    expect((await ward.actions()).map(({ status }) => status?.phase)).toEqual(["Done"]);
    expect(await ward.nodeLeases()).toEqual([]);
  },
};

async function stopsOnlyWhatIsNew(ward: Ward, stop: () => Promise<void>): Promise<void> {
  for (const name of ["one", "two"]) await ward.template(name, several);
  await ward.check({ unhealthyConditions, ...escalating("10m", "one", "two") });
  const [recovers = "", escalates = ""] = await ward.silence(2);
  await ward.box.run(150);
  expect(await ward.fenced()).toEqual([`${recovers} one`, `${escalates} one`].sort());
  await stop();
  const [, , late = ""] = await ward.silence(3);
  await ward.simulate(recovers, null);
  await ward.box.run(240);
  expect(await ward.fenced()).toEqual([`${escalates} one`]);
  expect(await ward.status()).toMatchObject({ observedNodes: 6, healthyNodes: 4 });
  expect(ward.codes(late).some(code => code === "paused" || code === "cluster-upgrading")).toBe(true);
  await ward.box.run(360);
  expect(await ward.fenced()).toEqual([`${escalates} one`, `${escalates} two`]);
}

describe("what medik8s' controller does and ours does not", () => {
  let ward: Ward;
  beforeEach(async () => {
    ward = new Ward();
    await ward.open();
    await ward.unbounded();
  });

  test.each(Object.entries(defects))("%s", async (_, shown) => {
    await shown(ward);
    await ward.box.run(1);
    expect(ward.controller.verify()).toEqual([]);
  });
});

const instances = "configmaps";
type Read = { readonly verb: "list" | "watch"; readonly plural: string; readonly namespace: string | undefined };

function observed(api: KubeApi, reads: Read[]): KubeApi {
  return new Proxy(api, {
    get: (target, key: keyof KubeApi) => {
      const call = target[key].bind(target) as (...args: unknown[]) => unknown;
      if (key !== "list" && key !== "watch") return call;
      return (...args: [{ plural: string }, ListOptions | undefined, ...unknown[]]) => {
        reads.push({ verb: key, plural: args[0].plural, namespace: args[1]?.namespace });
        return call(...args);
      };
    },
  });
}

describe("what medik8s' controller reads and ours does not", () => {
  const reads: Read[] = [];
  let ward: Ward;
  beforeEach(async () => {
    reads.length = 0;
    const box = new ControlledBox();
    ward = new Ward({ box, api: observed(box.api, reads) });
    await ward.open();
    await ward.unbounded();
  });

  test("every heartbeat of every kubelet is received with the leases of the nodes", () => {
    const ofLeases = reads.filter(({ plural }) => plural === leases.plural);
    expect(ofLeases).not.toEqual([]);
    expect(new Set(ofLeases.map(({ namespace }) => namespace))).toEqual(new Set(["medik8s-leases"]));
  });

  test("remediations are listed live for each node at each look", async () => {
    await ward.check({ unhealthyConditions });
    reads.length = 0;
    const sick = await ward.silence(2);
    await ward.box.run(150);
    const made: KubeObject[] = await ward.box.list(fences);
    expect(made).toHaveLength(2);
    for (const name of sick) await ward.simulate(name, null);
    await ward.box.run(60);
    expect(await ward.fenced()).toEqual([]);
    const listed = reads.filter(({ verb }) => verb === "list").map(({ plural }) => plural);
    expect(listed.filter(plural => plural !== instances)).toEqual([]);
  });
});
