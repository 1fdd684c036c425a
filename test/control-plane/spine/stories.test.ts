// The stories on a real control plane: its own scheduler and controllers, the controller under the rights that `fettle
// install` prints.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { processWorld } from "../../spine/process-world.ts";
import { stories } from "../../spine/stories.ts";
import { Stage, type World } from "../../spine/world.ts";
import { controllerUser, type Installed, installed, isMissing } from "./installed.ts";

describe.skipIf(isMissing)("on a real control plane", () => {
  let cluster: Installed;
  let world: World;

  beforeAll(async () => {
    cluster = await installed();
    const controller = await cluster.run(await cluster.identity());
    const { api } = cluster;
    const stop = () => cluster.stop();
    world = processWorld({ name: "a real control plane", api, account: () => controller.lines, stop });
  });
  afterAll(() => cluster?.stop());

  test.concurrent.each(stories.filter(({ isLong }) => !isLong))("$title", async ({ name, play }) => {
    const stage = new Stage(world, name);
    await stage.open();
    await expect(play(stage)).resolves.toBeUndefined();
  });

  test("nothing that the controller wanted was forbidden", async () => {
    const own = (await cluster.requests()).filter(({ user }) => user === controllerUser);
    expect(own.length).toBeGreaterThan(100);
    expect(own.filter(({ code }) => code === 401 || code === 403)).toEqual([]);
  });
});
