// The controller on the box, from a claim to a node and to its end, and the same with its processes killed at every
// write.

import { describe, expect, test } from "vitest";
import type { KubeObject } from "../src/api/meta.ts";
import { type NodeAction, nodeActions } from "../src/api/node-action.ts";
import { type NodeClaim, nodeClaims } from "../src/api/node-claim.ts";
import { nodePools } from "../src/api/node-pool.ts";
import { simulatedInstances } from "../src/api/simulated-instance.ts";
import type { Controller } from "../src/control/controller.ts";
import { disruptionBudgets, events, nodes, pods } from "../src/control/resources.ts";
import { ControlledBox, leading } from "./controlled-box.ts";
import { Mortal } from "./mortal.ts";

const deployments = { group: "apps", version: "v1", plural: "deployments", kind: "Deployment", namespaced: true };

type Claim = NodeClaim & KubeObject;
type Action = NodeAction & KubeObject;

const claimsIn = (box: ControlledBox) => box.list<Claim>(nodeClaims.resource);
const actionsIn = (box: ControlledBox) => box.list<Action>(nodeActions.resource);
const namesIn = async (box: ControlledBox, resource: typeof nodes) =>
  (await box.list(resource)).map(({ metadata }) => metadata.name);

function isReady({ status }: Claim): boolean {
  return status?.conditions?.some(({ type, status: word }) => type === "Ready" && word === "True") ?? false;
}

async function runVerified(box: ControlledBox, controller: Controller, seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second++) {
    await box.run(1);
    expect(controller.verify()).toEqual([]);
  }
}

async function aPool(box: ControlledBox, replicas: number): Promise<void> {
  await box.create(nodePools.resource, { metadata: { name: "workers" }, spec: { replicas, template: { spec: {} } } });
}

/** Two pods that may only go one after the other. */
async function someWork(box: ControlledBox): Promise<void> {
  const labels = { app: "web" };
  const containers = [{ name: "web", image: "web", resources: { requests: { cpu: "100m" } } }];
  await box.create(deployments, {
    metadata: { name: "web" },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  });
  await box.create(disruptionBudgets, {
    metadata: { name: "web" },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
  });
}

describe("the controller", () => {
  test("makes a node of a claim, and takes both away when the claim is deleted, with its record in the ledger", async () => {
    const box = new ControlledBox();
    const controller = box.start();
    await box.create(nodeClaims.resource, { metadata: { name: "by-hand" }, spec: {} });
    await runVerified(box, controller, 60);
    const [claim] = await claimsIn(box);
    expect(claim && isReady(claim)).toBe(true);
    expect(await namesIn(box, nodes)).toEqual([claim?.status?.nodeName]);
    expect(controller.refusals()).toEqual([]);

    await box.delete(nodeClaims.resource, "by-hand");
    await runVerified(box, controller, 60);
    expect([await namesIn(box, nodes), await claimsIn(box), await box.list(simulatedInstances)]).toEqual([[], [], []]);
    const [action, ...more] = await actionsIn(box);
    expect(more).toEqual([]);
    expect(action).toMatchObject({
      spec: { action: "Deletion", askedBy: { kind: "Person" }, claim: { name: "by-hand" }, epoch: 1 },
      status: { phase: "Done" },
    });
    const steps = action?.status?.steps?.map(({ name }) => name);
    expect(steps).toEqual(["taint", "drain", "volumes", "instance", "finalize"]);
    expect((await box.list(events)).map(event => event["reason"])).toEqual(
      expect.arrayContaining(["Registered", "Initialized"]),
    );
    await controller.stop();
  });

  test("keeps a pool at its count, up and down, and moves its pods as their budget allows", async () => {
    const box = new ControlledBox();
    const controller = box.start();
    await aPool(box, 2);
    await runVerified(box, controller, 60);
    await someWork(box);
    await runVerified(box, controller, 20);
    expect((await claimsIn(box)).map(isReady)).toEqual([true, true]);

    await box.patch(nodePools.resource, "workers", { spec: { replicas: 1 } });
    await runVerified(box, controller, 150);
    expect(await claimsIn(box)).toHaveLength(1);
    expect(await namesIn(box, nodes)).toHaveLength(1);
    expect(await actionsIn(box)).toMatchObject([{ spec: { action: "ScaleDown" }, status: { phase: "Done" } }]);
    const running = (await box.list(pods)).map(pod => (pod["status"] as { phase?: string }).phase);
    expect(running).toEqual(["Running", "Running"]);
    await controller.stop();
  });

  test("idles without a write or a turn that finds something", async () => {
    const box = new ControlledBox();
    const controller = box.start();
    await aPool(box, 2);
    await box.run(120);
    const { asked, commands } = controller.counts;
    const before = { asked, commands: [...commands] };
    await box.run(100);
    // Every two minutes it compares its claims with the provider's instances.
    const after = new Map(controller.counts.commands);
    expect((after.get("list-instances done") ?? 0) - (new Map(before.commands).get("list-instances done") ?? 0)).toBe(
      1,
    );
    after.delete("list-instances done");
    expect([...after]).toEqual(before.commands.filter(([key]) => key !== "list-instances done"));
    expect(controller.counts.asked - asked).toBeLessThan(10);
    await controller.stop();
  });
});

describe.each(["at once", "at the next"] as const)(
  "a controller whose processes die after a write or two, %s",
  dies => {
    /** Another process, in a new term, whenever the last one has died; until what is wanted is so. */
    async function live(box: ControlledBox, isSo: () => Promise<boolean>): Promise<number> {
      let process: Mortal | undefined;
      for (let step = 0; step < 200; step++) {
        if (process === undefined || process.isDead) {
          // A process that adopts an action has used its first write for that: every third goes a little further.
          process = new Mortal(box.api, box.clock, { writes: 1 + (epoch % 3), dies });
          box.start({ api: process.api, clock: process, leadership: leading(++epoch) });
        }
        await box.run(2);
        if (await isSo()) {
          process.kill();
          return epoch;
        }
      }
      throw new Error(`not so after ${epoch} processes: ${JSON.stringify(await actionsIn(box))}`);
    }
    let epoch = 0;

    test("goes on where the last one stopped, and doubles nothing", async () => {
      const box = new ControlledBox();
      epoch = 0;
      await aPool(box, 2);
      await live(box, async () => {
        const claims = await claimsIn(box);
        expect(claims.length).toBeLessThanOrEqual(2);
        expect((await box.list(simulatedInstances)).length).toBeLessThanOrEqual(2);
        return claims.length === 2 && claims.every(isReady);
      });
      await someWork(box);
      await box.run(20);

      await box.patch(nodePools.resource, "workers", { spec: { replicas: 1 } });
      const processes = await live(box, async () => {
        expect((await actionsIn(box)).length).toBeLessThanOrEqual(1);
        const claims = await claimsIn(box);
        expect(claims.length).toBeGreaterThanOrEqual(1);
        return (await actionsIn(box))[0]?.status?.phase === "Done";
      });
      expect(processes).toBeGreaterThan(10);
      expect(
        [await claimsIn(box), await namesIn(box, nodes), await box.list(simulatedInstances)].map(list => list.length),
      ).toEqual([1, 1, 1]);
      expect(await actionsIn(box)).toMatchObject([{ spec: { action: "ScaleDown" }, status: { phase: "Done" } }]);
    });
  },
);
