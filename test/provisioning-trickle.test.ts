// Pods that come one after the other, as kube-controller-manager makes them: nobody waits for the end of the trickle, few
// searches are made, and whoever finds his place taken by another is asked about at once.

import { expect, test } from "vitest";
import { nodePools } from "../src/api/node-pool.ts";
import { simulatedNodeClasses } from "../src/api/simulated-node-class.ts";
import { pods } from "../src/control/resources.ts";
import type { Pod } from "../src/sim/world/objects.ts";
import { ControlledBox } from "./controlled-box.ts";

const perSecond = 10;
const seconds = 30;
const sizes = ["500m", "1", "1500m", "2"];

test("a trickle of pods gets nodes while it lasts, with a search every few seconds, and ends soon after its last pod", async () => {
  const box = new ControlledBox();
  const boot = { median: "2s" };
  const catalogue = { cpus: [2, 4, 8], architectures: ["amd64"], operatingSystems: ["linux"] };
  await box.create(simulatedNodeClasses.resource, {
    metadata: { name: "default" },
    spec: { catalogue, boot, join: boot, stop: boot },
  });
  await box.create(nodePools.resource, { metadata: { name: "p" }, spec: { template: { spec: {} } } });
  const controller = box.start();
  await box.run(5);
  const startedAt = box.clock.now();
  for (let index = 0; index < perSecond * seconds; index++) {
    const requests = { cpu: sizes[index % sizes.length] ?? "1", memory: "1Gi" };
    const containers = [{ name: "main", image: "main", resources: { requests } }];
    await box.create(pods, { metadata: { name: `p${index}` }, spec: { containers } });
    await box.run(1 / perSecond);
  }
  await box.run(25);
  const unbound = (await box.list<Pod>(pods)).filter(({ spec }) => spec.nodeName === undefined);
  const ended = (kind: string) =>
    box.journal.flatMap(entry =>
      entry.event === "ended" && entry.command.kind === kind ? [(entry.at - startedAt) / 1000] : [],
    );
  await controller.stop();
  expect(unbound).toEqual([]);
  // The window closes 10 s after the first pod, though the next is always less than a second away.
  expect(Math.min(...ended("create-claim"))).toBeLessThan(12);
  expect(Math.max(...ended("create-claim"))).toBeLessThan(seconds + 12);
  expect(ended("search").length).toBeLessThan(12);
});
