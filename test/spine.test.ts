import { describe, expect, test } from "vitest";
import { stories } from "./spine/stories.ts";
import { virtualWorld } from "./spine/virtual-world.ts";
import { Stage } from "./spine/world.ts";

describe("on virtual time", () => {
  test.each(stories)("$title", async ({ name, play }) => {
    const world = virtualWorld();
    const stage = new Stage(world, name);
    await stage.open();
    await expect(play(stage)).resolves.toBeUndefined();
    await world.stop();
  });
});
