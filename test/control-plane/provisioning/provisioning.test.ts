// Nodes for pods that wait, on a real control plane: the real scheduler says which pods have no place and binds them once
// their nodes are there; the controller runs under the rights that `fettle install` prints.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addressOf } from "../../contract/backends.ts";
import { type FaultProxy, faultProxy, type Seen } from "../../fault-proxy.ts";
import { processWorld } from "../../spine/process-world.ts";
import { Stage, type World } from "../../spine/world.ts";
import { controllerUser, type Installed, installed, isMissing } from "../spine/installed.ts";
import { allRunning, aPod, aPool, deploy, saidOf } from "./waiting.ts";

const isLaunch = ({ method, path }: Seen) => method === "POST" && path.endsWith("/configmaps");

describe.skipIf(isMissing)("provisioning on a real control plane", () => {
  let cluster: Installed;
  let proxy: FaultProxy;
  let world: World;

  beforeAll(async () => {
    cluster = await installed();
    proxy = await faultProxy(addressOf(cluster.plane));
    const controller = await cluster.run(await cluster.identity(), { url: proxy.url });
    const { api } = cluster;
    const stop = () => cluster.stop();
    world = processWorld({ name: "a real control plane", api, account: () => controller.lines, stop });
  });
  afterAll(async () => {
    await cluster?.stop();
    await proxy?.stop();
  });

  test("100 pods of four Deployments get nodes and run, each as it asks", async () => {
    const stage = new Stage(world, "hundred");
    await stage.open();
    await aPool(stage);
    const sizes = { a: "250m", b: "500m", c: "1", d: "1500m" };
    for (const [name, cpu] of Object.entries(sizes)) await deploy(stage, name, { replicas: 25, cpu });
    const claims = await allRunning(stage, 100);
    const own = new Set(claims.map(({ status }) => status?.nodeName));
    // The scheduler may put pods elsewhere than we expected them, but on no other nodes than these.
    for (const { spec } of await stage.pods()) expect(own).toContain(spec.nodeName);
    expect((await saidOf(stage, "Nominated")).map(({ message }) => message)).toContainEqual(
      expect.stringMatching(/^Pod should schedule on: (nodeclaim|node)\/hundred-workers-/),
    );
  });

  test("pods of a pool that places them as planned name their node, and run", async () => {
    const stage = new Stage(world, "planned");
    await stage.open();
    await aPool(stage, { podPlacement: "Planned" });
    for (const [name, cpu] of Object.entries({ a: "500m", b: "1500m" }))
      await deploy(stage, name, { replicas: 6, cpu });
    await allRunning(stage, 12);
    const names = (await stage.pods()).map(({ metadata }) => metadata.name);
    const told = (await cluster.requests()).filter(
      ({ user, verb, resource, name, code }) =>
        user === controllerUser &&
        verb === "patch" &&
        resource === "pods/status" &&
        names.includes(name) &&
        code === 200,
    );
    expect(new Set(told.map(({ name }) => name)).size).toBeGreaterThan(0);
  });

  test("a pod that fits nowhere is told why, per pool, and makes no node", async () => {
    const stage = new Stage(world, "nowhere");
    await stage.open();
    await aPool(stage);
    await aPod(stage, "huge", "2000");
    const event = await world.until(
      "FailedScheduling of ours",
      async () => (await saidOf(stage, "FailedScheduling"))[0],
    );
    expect(event.involvedObject.name).toBe("huge");
    expect(event.message).toContain("nowhere-workers");
    expect(event.message).toMatch(/resources/);
    expect(await stage.claims()).toEqual([]);
  });

  test("a launch that hangs stops nobody else", async () => {
    const stage = new Stage(world, "hanging");
    await stage.open();
    await aPool(stage);
    let hung = 0;
    proxy.script(seen => (isLaunch(seen) && hung++ === 0 ? { kind: "half-open" } : undefined));
    await deploy(stage, "apart", { replicas: 6, cpu: "500m", isApart: true });
    await world.until("all pods but the one whose node is not launched", async () => {
      const running = (await stage.pods()).filter(({ status }) => status.phase === "Running");
      return running.length === 5 ? true : undefined;
    });
    const claims = await stage.claims();
    expect(claims).toHaveLength(6);
    expect(claims.filter(({ status }) => status?.providerID === undefined)).toHaveLength(1);
    proxy.script(() => undefined);
  });

  test("nothing that the controller wanted was forbidden, and no claim took a second request", async () => {
    const own = (await cluster.requests()).filter(({ user }) => user === controllerUser);
    expect(own.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
    const created = own.filter(({ verb, resource }) => verb === "create" && resource === "nodeclaims");
    expect(new Set(created.map(({ name }) => name)).size).toBe(created.length);
  });
});
