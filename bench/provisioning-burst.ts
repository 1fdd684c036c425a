// 10,000 pods at once on the box: how long from the close of the window until each is expected somewhere, how long the
// longest turn was, and the longest time in which the event loop did nothing else. On the real clock, in one process.

import { setTimeout as sleep } from "node:timers/promises";
import { monitorEventLoopDelay } from "node:perf_hooks";
import type { KubeObject } from "../src/api/meta.ts";
import { nodePools } from "../src/api/node-pool.ts";
import { formatTime } from "../src/api/time.ts";
import { startController } from "../src/control/controller.ts";
import type { Feed } from "../src/control/ports.ts";
import { controllers } from "../src/decide/decision.ts";
import { rules } from "../src/decide/rules.ts";
import { Reflector } from "../src/kube/reflector.ts";
import { systemClock } from "../src/kube/system-clock.ts";
import { simulatedProvider } from "../src/provider/simulated.ts";
import { clusterInTheBox } from "../src/sim/cluster-in-the-box.ts";
import { InProcessApi } from "../src/sim/in-process.ts";
import { seededRandom } from "../src/sim/random.ts";
import { keyOf } from "../src/sim/store.ts";
import { manifest } from "./provisioning-plane.ts";

const podCount = 10_000;
const deploymentCount = 20;
const windowMs = 1_000;

export async function burst(): Promise<object> {
  const clock = systemClock;
  const server = clusterInTheBox({ clock, random: seededRandom(1) });
  const api = new InProcessApi(server, clock);
  const feed: Feed = request => new Reflector({ api, clock, random: () => 0.5, ...request });
  const controller = startController({
    api,
    clock,
    feed,
    provider: simulatedProvider({ api, clock, feed }),
    rules,
    settings: { cluster: "bench", dryRun: false, foreignClaims: "ignore" },
    controllers: new Set(controllers),
    leadership: { epoch: 1, onChange: () => {} },
    journal: () => {},
  });
  await api.create(
    nodePools.resource,
    {},
    manifest(nodePools.resource, "workers", { spec: { template: { spec: {} } } }),
  );
  await sleep(2_000);
  const loop = monitorEventLoopDelay({ resolution: 1 });
  const madeAt = formatTime(clock.now());
  for (let index = 0; index < podCount; index++) {
    const pod = waiting(index, madeAt);
    server.store.put(server.store.collection("pods"), keyOf("default", pod.metadata.name), pod);
  }
  // All have come: from here on it is the controller's time.
  while (controller.picture.pending.batchCount < podCount) await sleep(5);
  const { lastAt = 0 } = controller.picture.pending.batch ?? {};
  const closedAt = lastAt + windowMs;
  await sleep(closedAt - clock.now());
  loop.enable();
  while (controller.picture.pending.expectedCount < podCount) await sleep(5);
  const nominatedAt = clock.now();
  loop.disable();
  const { turnMs } = controller.counts;
  const claims = controller.picture.plannedClaims("workers").length;
  await controller.stop();
  return {
    pods: podCount,
    "all nominated after the window closed, s": ((nominatedAt - closedAt) / 1000).toFixed(2),
    "longest turn, ms": turnMs.max.toFixed(0),
    "event loop busy at most, ms": (loop.max / 1e6).toFixed(0),
    "claims still to make": claims,
  };
}

function waiting(index: number, madeAt: string): KubeObject {
  const size = index % deploymentCount;
  const resources = { requests: { cpu: `${250 + 100 * size}m`, memory: `${512 + 128 * size}Mi` } };
  const condition = {
    type: "PodScheduled",
    status: "False",
    reason: "Unschedulable",
    message: "",
    lastTransitionTime: madeAt,
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: {
      name: `pod-${index}`,
      namespace: "default",
      uid: `uid-${index}`,
      resourceVersion: "1",
      creationTimestamp: madeAt,
      labels: { app: `app-${size}` },
    },
    spec: { containers: [{ name: "main", image: "main", resources }] },
    status: { phase: "Pending", conditions: [condition] },
  };
}
