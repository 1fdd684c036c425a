// A world whose controller is a process of its own, reached over HTTPS and on the system's clock.

import { setTimeout as sleep } from "node:timers/promises";
import { simulatedNodeClasses, type SimulatedNodeClassSpec } from "../../src/api/simulated-node-class.ts";
import type { KubeApi } from "../../src/control/ports.ts";
import type { World } from "./world.ts";

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

type Parts = {
  name: string;
  api: KubeApi;
  /** Told when something did not come: what the controller said last. */
  account: () => readonly string[];
  stop: () => Promise<void>;
  /** Nothing is waited for longer. */
  waitMaxMs?: number;
};

export function processWorld({ name, api, account, stop, waitMaxMs = 120_000 }: Parts): World {
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
