// The life of health checks on a real control plane, the controller under exactly the rights that `fettle install`
// prints, with a remediator that somebody else wrote.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nodeHealthChecks } from "../../../src/api/node-health-check.ts";
import { nodes } from "../../../src/control/resources.ts";
import type { FettleProcess } from "../../spine/fettle-process.ts";
import { processWorld } from "../../spine/process-world.ts";
import { Stage, type World } from "../../spine/world.ts";
import { wideCaps } from "../repair/sick.ts";
import { controllerUser, type Installed, installed, isMissing, succeed } from "../spine/installed.ts";
import {
  aStranger,
  arrivedKey,
  secretives,
  secretiveTemplates,
  type Stranger,
  strangers,
  strangerTemplates,
} from "./stranger.ts";
import { conditionOf, isTimedOut, templateOf, Ward } from "./ward.ts";

describe.skipIf(isMissing)("health checks on a real control plane", () => {
  let cluster: Installed;
  let stranger: Stranger;
  let controller: FettleProcess;
  let world: World;

  beforeAll(async () => {
    cluster = await installed();
    stranger = await aStranger(cluster.plane);
    const { api } = cluster;
    const account = () => controller.lines;
    world = processWorld({
      name: "a real control plane",
      api,
      account,
      stop: () => cluster.stop(),
      waitMaxMs: 240_000,
    });
    await wideCaps(new Stage(world, "policy"), "0s");
    controller = await cluster.run(await cluster.identity());
  });
  afterAll(async () => {
    await stranger?.stop();
    await cluster?.stop();
  });

  describe.concurrent("with a stranger's remediator", () => {
    test("a node falls ill, an object by contract is made, the stranger works, and healthyDelay later all is gone", async () => {
      const ward = await Ward.open(world, "cured");
      const [sick = ""] = await ward.admit("a", "b", "c");
      await ward.create(strangerTemplates, {
        metadata: { name: "cure" },
        spec: { template: { spec: { manner: "Cure" } } },
      });
      const check = await ward.check({ healthyDelay: "5s", remediationTemplate: ward.reference("cure") });
      await ward.status("Enabled with 3 of 3", ({ phase, healthyNodes }) => phase === "Enabled" && healthyNodes === 3);
      await ward.sicken(sick);

      const made = await ward.remediation("cure");
      expect(made).toMatchObject({
        metadata: {
          name: sick,
          namespace: ward.name,
          labels: { "app.kubernetes.io/part-of": "node-healthcheck-controller" },
          annotations: { "remediation.medik8s.io/node-name": sick, "remediation.medik8s.io/template-name": "cure" },
          ownerReferences: [
            {
              apiVersion: "remediation.medik8s.io/v1alpha1",
              kind: "NodeHealthCheck",
              name: ward.name,
              uid: check.metadata.uid,
            },
          ],
        },
        spec: { manner: "Cure" },
      });
      expect((await ward.lease(sick))?.spec).toMatchObject({
        holderIdentity: `NodeHealthCheck-${ward.name}`,
        leaseDurationSeconds: 660,
      });
      const delayed = await ward.status(
        "healthyDelayed",
        ({ unhealthyNodes: [one] = [] }) => one?.healthyDelayed === true,
      );
      expect(delayed).toMatchObject({
        phase: "Remediating",
        observedNodes: 3,
        healthyNodes: 2,
        unhealthyNodes: [{ name: sick, remediations: [{ resource: { name: sick, uid: made.metadata.uid } }] }],
      });
      const healthyAt = Date.parse(delayed.unhealthyNodes?.[0]?.conditionsHealthyTimestamp ?? "");

      await ward.noneLeft();
      // Times are written in whole seconds.
      expect(Date.now()).toBeGreaterThanOrEqual(healthyAt + 5_000);
      await ward.status("Enabled again", ({ phase, healthyNodes }) => phase === "Enabled" && healthyNodes === 3);
      const [entry] = await ward.entriesDone(1);
      expect(entry?.spec).toMatchObject({
        action: "Remediation",
        method: "Remediate",
        askedBy: { kind: "NodeHealthCheck", name: ward.name },
        evidence: [{ kind: "Condition", conditionType: "Broken", conditionStatus: "True", toleration: "1s" }],
      });
      expect(await ward.lease(sick)).toBeUndefined();
    });

    test("a node that is taken away for good: its object stays until the stranger says that it has succeeded", async () => {
      const ward = await Ward.open(world, "taken");
      const [sick = ""] = await ward.admit("a", "b");
      await ward.template("away", "TakeAway");
      await ward.check({ remediationTemplate: ward.reference("away") });
      await ward.sicken(sick);
      await world.until("the node to be gone", async () =>
        (await ward.get(nodes, sick)) === undefined ? true : undefined,
      );
      const told = await ward.status("one node less", ({ observedNodes }) => observedNodes === 1);
      expect(told.unhealthyNodes).toMatchObject([{ name: sick }]);
      await world.pass(2);
      const [kept] = await ward.remediations();
      expect(kept?.metadata).toMatchObject({ annotations: { "remediation.medik8s.io/node-name": sick } });
      expect(kept?.metadata.deletionTimestamp).toBeUndefined();

      await ward.admit("successor");
      await ward.patch(strangers, kept?.metadata.name ?? "", { metadata: { annotations: { [arrivedKey]: "true" } } });
      await ward.noneLeft();
      await ward.status("all well", ({ phase, healthyNodes }) => phase === "Enabled" && healthyNodes === 2);
      expect(await ward.lease(sick)).toBeUndefined();
      await ward.entriesDone(1);
    });

    test("what the stranger says has failed is told that its time is up, and the next one of the same kind cures", async () => {
      const ward = await Ward.open(world, "failed");
      const [sick = ""] = await ward.admit("a", "b");
      await ward.template("soft", "Fail");
      await ward.template("hard", "Cure");
      const step = (order: number, name: string) => ({
        order,
        timeout: "5m",
        remediationTemplate: ward.reference(name),
      });
      await ward.check({ escalatingRemediations: [step(2, "hard"), step(1, "soft")] });
      await ward.sicken(sick);
      const [soft, hard] = [await ward.remediation("soft", isTimedOut), await ward.remediation("hard")];
      expect(hard.metadata.name).not.toBe(soft.metadata.name);
      expect(isTimedOut(hard)).toBe(false);
      await ward.noneLeft();
      await ward.status("Enabled again", ({ phase, healthyNodes }) => phase === "Enabled" && healthyNodes === 2);
      const [entry] = await ward.entriesDone(1);
      expect(entry?.status?.steps?.map(({ name }) => name)).toEqual(["remediation-1", "remediation-2", "ended"]);
    });

    test("one that does nothing has its time, the next begins; after the last NoTemplateLeft is said until the node is well", async () => {
      const ward = await Ward.open(world, "exhausted");
      const [sick = ""] = await ward.admit("a", "b");
      await ward.template("idle", "Wait");
      await ward.template("vain", "Fail");
      const step = (order: number, name: string) => ({
        order,
        timeout: "1m",
        remediationTemplate: ward.reference(name),
      });
      await ward.check({ escalatingRemediations: [step(1, "idle"), step(2, "vain")] });
      await ward.sicken(sick);
      const idle = await ward.remediation("idle", isTimedOut);
      const stamp = idle.metadata.annotations?.["remediation.medik8s.io/nhc-timed-out"] ?? "";
      expect(Date.parse(stamp)).toBeGreaterThanOrEqual(Date.parse(idle.metadata.creationTimestamp) + 60_000);
      await ward.remediation("vain", isTimedOut);
      const told = await ward.status("NoTemplateLeft", one => conditionOf(one, "NoTemplateLeft")?.status === "True");
      expect(conditionOf(told, "NoTemplateLeft")?.message).toContain(sick);
      expect(new Set((await ward.remediations()).map(templateOf))).toEqual(new Set(["idle", "vain"]));

      await ward.heal(sick);
      await ward.noneLeft();
      await ward.status("templates left", one => conditionOf(one, "NoTemplateLeft")?.status === "False");
      // It ended when nothing was left to try, and held no place of others from then on.
      expect((await ward.entries()).map(({ status }) => status?.phase)).toEqual(["Failed"]);
    });

    test("a pause in the middle: nothing new begins, recovery goes on; without it what waited begins", async () => {
      const ward = await Ward.open(world, "paused");
      const [first = "", second = ""] = await ward.admit("a", "b", "c");
      await ward.template("idle", "Wait");
      await ward.check({ remediationTemplate: ward.reference("idle") });
      await ward.sicken(first);
      await ward.remediation("idle");
      await ward.edit({ pauseRequests: ["moving house"] });
      await ward.status("Paused", ({ phase }) => phase === "Paused");
      await ward.sicken(second);
      const paused = await ward.status("two unhealthy", ({ unhealthyNodes = [] }) => unhealthyNodes.length === 2);
      expect(paused).toMatchObject({ phase: "Paused", reason: "moving house", observedNodes: 3, healthyNodes: 1 });
      await world.pass(2);
      expect(await ward.remediations()).toHaveLength(1);
      await ward.heal(first);
      await ward.noneLeft();

      await ward.edit({ pauseRequests: null });
      const late = await ward.remediation("idle");
      expect(late.metadata.annotations).toMatchObject({ "remediation.medik8s.io/node-name": second });
      await ward.heal(second);
      await ward.noneLeft();
      await ward.entriesDone(2);
    });

    test("a kind that we may not read: the condition names the verb and the YAML, and once applied it works", async () => {
      const ward = await Ward.open(world, "forbidden");
      const [sick = ""] = await ward.admit("a", "b");
      await ward.create(secretiveTemplates, { metadata: { name: "hidden" }, spec: { template: { spec: {} } } });
      await ward.check({ remediationTemplate: ward.reference("hidden", secretiveTemplates) });
      const told = await ward.status("Disabled", ({ phase }) => phase === "Disabled");
      expect(conditionOf(told, "Disabled")).toMatchObject({
        status: "True",
        reason: "RemediationTemplateForbidden",
        // Both are missing, and it is told which was refused last.
        message: expect.stringMatching(
          new RegExp(`^We may not (list|watch) ${secretiveTemplates.plural} of power\\.example\\.org/v1beta3\\.`),
        ),
      });
      await ward.sicken(sick);
      const isOf =
        (plural: string) =>
        (message = "") =>
          message.includes(`"${plural}"`);
      for (const { plural } of [secretiveTemplates, secretives]) {
        const named = isOf(plural);
        const status = await ward.status(plural, one => named(conditionOf(one, "Disabled")?.message));
        const [, yaml = ""] = conditionOf(status, "Disabled")?.message?.split("This grants it: ") ?? [];
        await succeed(cluster.plane, ["apply", "-f", "-"], yaml);
      }
      await world.until("the remediation", async () => ward.get(secretives, sick));
      await ward.status("Remediating", ({ phase }) => phase === "Remediating");
      await ward.delete(nodeHealthChecks.resource, ward.name);
    });
  });

  test("what `fettle install` prints is applied again without a conflict, and takes no right that was aggregated", async () => {
    const rules = () =>
      succeed(cluster.plane, ["get", "clusterrole", "fettle-ext-remediation", "-o=jsonpath={.rules}"]);
    const before = await rules();
    expect(before).toContain(secretives.plural);
    const items = cluster.objects.filter(({ kind }) => kind !== "Deployment");
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items });
    await succeed(cluster.plane, ["apply", "--server-side", "-f", "-"], list);
    expect(await rules()).toBe(before);
  });

  test("nothing else was forbidden, and no event was answered with a list", async () => {
    const own = (await cluster.requests()).filter(({ user }) => user === controllerUser);
    const refused = own.filter(({ code }) => code === 401 || code === 403);
    expect(new Set(refused.map(({ resource }) => resource))).toEqual(
      new Set([secretiveTemplates.plural, secretives.plural]),
    );
    const lists = own.filter(
      ({ verb, code, resource }) => verb === "list" && code < 300 && resource.includes("remediation"),
    );
    const counts = new Map<string, number>();
    for (const { resource } of lists) counts.set(resource, (counts.get(resource) ?? 0) + 1);
    // One for each time that a watch was begun.
    expect([...counts].filter(([, count]) => count > 3)).toEqual([]);
  });
});
