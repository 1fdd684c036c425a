import { describe, test } from "vitest";
import { stories } from "./spine/stories.ts";
import { virtualWorld } from "./spine/virtual-world.ts";
import { Stage } from "./spine/world.ts";

describe("on virtual time", () => {
  for (const { title, name, play } of stories) {
    test(title, async () => {
      const world = virtualWorld();
      const stage = new Stage(world, name);
      await stage.open();
      await play(stage);
      await world.stop();
    });
  }
});
