// The stories in the box over HTTPS, with the controller as a process of its own.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/kube/system-clock.ts";
import { clusterInTheBox } from "../../src/sim/cluster-in-the-box.ts";
import { InProcessApi } from "../../src/sim/in-process.ts";
import { machines } from "../../src/sim/machines.ts";
import { seededRandom } from "../../src/sim/random.ts";
import { world as livingWorld } from "../../src/sim/world/world.ts";
import { buildFettle, FettleProcess, writeKubeconfig } from "../spine/fettle-process.ts";
import { processWorld, quickMachines } from "../spine/process-world.ts";
import { stories } from "../spine/stories.ts";
import { Stage, type World } from "../spine/world.ts";
import { connectTo, serve } from "./backends.ts";

describe("in the box over HTTPS", () => {
  let world: World;

  beforeAll(async () => {
    world = await boxWorld();
  });
  afterAll(() => world?.stop());

  test.concurrent.each(stories.filter(({ isLong }) => !isLong))("$title", async ({ name, play }) => {
    const stage = new Stage(world, name);
    await stage.open();
    await expect(play(stage)).resolves.toBeUndefined();
  });
});

async function boxWorld(): Promise<World> {
  await buildFettle();
  const clock = systemClock;
  const server = clusterInTheBox({ clock, random: seededRandom(1) });
  const inside = new InProcessApi(server, clock);
  const living = livingWorld({ api: inside, clock, random: seededRandom(1), options: { beats: "written" } });
  const player = machines({ api: inside, clock, kubelets: living.kubelets, seed: 1 });
  const address = await serve(server);
  const api = connectTo(address);
  await quickMachines(api);
  const folder = await mkdtemp(join(tmpdir(), "fettle-spine-"));
  const kubeconfig = join(folder, "kubeconfig");
  await writeKubeconfig(kubeconfig, address);
  const args = ["run", "--kubeconfig", kubeconfig, "--provider=simulated", "--metrics-bind-address=0"];
  const controller = new FettleProcess(...args);
  const stop = async () => {
    await controller.stop();
    player.stop();
    living.stop();
    await api.close();
    await address.close();
    await rm(folder, { recursive: true, force: true });
  };
  return processWorld({ name: "the box over HTTPS", api, account: () => controller.lines, stop });
}
