// A world with the controller as a process of its own, reached over HTTPS; the machines are played by the test process.

import { setTimeout as sleep } from "node:timers/promises";
import type { SimulatedNodeClassSpec } from "../../src/api/simulated-node-class.ts";
import { simulatedNodeClasses } from "../../src/api/simulated-node-class.ts";
import type { KubeApi } from "../../src/control/ports.ts";
import { systemClock } from "../../src/kube/system-clock.ts";
import { machines } from "../../src/sim/machines.ts";
import { seededRandom } from "../../src/sim/random.ts";
import { Kubelets } from "../../src/sim/world/kubelets.ts";
import { nodePicture } from "../../src/sim/world/picture.ts";
import type { World } from "./world.ts";

const waitMaxMs = 120_000;
const lookEveryMs = 200;

/** So that a story takes seconds. */
const quick: SimulatedNodeClassSpec = {
  boot: { median: "500ms" },
  join: { median: "500ms" },
  stop: { median: "500ms" },
};

/** The class that is asked for where none is named, with machines that lose no time. */
export async function quickMachines(api: KubeApi): Promise<void> {
  const { resource } = simulatedNodeClasses;
  const manifest = {
    apiVersion: `${resource.group}/${resource.version}`,
    kind: resource.kind,
    metadata: { name: "default" },
    spec: quick,
  };
  await api.create(resource, {}, manifest);
}

/** Machines and their kubelets, on whatever API; the rest of the cluster lives by itself. */
export async function playMachines(api: KubeApi): Promise<{ stop(): void }> {
  const picture = nodePicture(api, systemClock);
  const kubelets = new Kubelets(picture, seededRandom(1), { beats: "written" });
  const player = machines({ api, clock: systemClock, kubelets, seed: 1 });
  await Promise.all([picture.synced, player.synced]);
  return {
    stop: () => {
      player.stop();
      kubelets.stop();
      picture.stop();
    },
  };
}

type Parts = {
  name: string;
  api: KubeApi;
  /** Told when something did not come: what the controller said last. */
  account: () => readonly string[];
  stop: () => Promise<void>;
};

export function processWorld({ name, api, account, stop }: Parts): World {
  return {
    name,
    api,
    stop,
    settle: answer => answer,
    pass: seconds => sleep(seconds * 1000),
    async until(what, look) {
      for (const end = performance.now() + waitMaxMs; performance.now() < end; await sleep(lookEveryMs)) {
        const found = await look();
        if (found !== undefined) return found;
      }
      throw new Error(`${what} did not come within ${waitMaxMs / 1000} s. The controller:\n${account().join("\n")}`);
    },
  };
}
