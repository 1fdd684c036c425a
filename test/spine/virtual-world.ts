// The world on virtual time: the box in process. After every second what the controller has decided is compared with a
// look from scratch.

import { expect } from "vitest";
import { ControlledBox } from "../controlled-box.ts";
import type { World } from "./world.ts";

const waitMaxSeconds = 1800;

export function virtualWorld(): World {
  const box = new ControlledBox();
  const controller = box.start();
  const pass = async (seconds: number) => {
    for (let second = 0; second < seconds; second++) {
      await box.run(1);
      expect(controller.verify()).toEqual([]);
    }
  };
  return {
    name: "virtual time",
    api: box.api,
    pass,
    async until(what, look) {
      for (let second = 0; second < waitMaxSeconds; second++) {
        const found = await look();
        if (found !== undefined) return found;
        await pass(1);
      }
      const refusals = controller.refusals().map(({ subject, message }) => `${subject}: ${message}`);
      throw new Error(`${what} did not come within ${waitMaxSeconds} s. ${refusals.join("; ")}`);
    },
    settle: answer => box.settle(answer),
    stop: () => controller.stop(),
  };
}
