// The living box held against kube-controller-manager and kube-scheduler: the same scenarios, the same end states.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isUnavailable } from "./binaries.ts";
import { type ControlPlane, controlPlane } from "./start.ts";
import { scenarios } from "./world/scenarios.ts";
import { boxSide, realSide, type Side, Stage } from "./world/side.ts";

const components = ["kube-controller-manager", "kube-scheduler"] as const;

describe.skipIf(isUnavailable("etcd", "kube-apiserver", ...components))(
  "the living box and a real control plane",
  () => {
    let plane: ControlPlane;
    let real: Side;

    beforeAll(async () => {
      plane = await controlPlane({ components });
      real = await realSide(plane);
    });
    afterAll(async () => {
      await real?.stop();
      await plane?.stop();
    });

    test.concurrent.each(scenarios)("$title", async ({ name, play }) => {
      const box = boxSide();
      const inBox = new Stage(box, name);
      const inReality = new Stage(real, name);
      await inBox.open();
      await inReality.open();
      const ours = await play(inBox);
      await box.stop();
      expect(ours).toEqual(await play(inReality));
    });
  },
);
