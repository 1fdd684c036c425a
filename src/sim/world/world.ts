// The living box: kubelets, scheduler, workload controllers, node lifecycle and pod collection on one picture. Each can
// be used alone; on a real control plane only the kubelets are.

import type { Clock, KubeApi } from "../../control/ports.ts";
import type { Random } from "../random.ts";
import { daemonSetController } from "./daemon-set.ts";
import { deploymentController } from "./deployment.ts";
import { unrecorded } from "./events.ts";
import { jobController } from "./job.ts";
import { type KubeletOptions, Kubelets } from "./kubelets.ts";
import { NodeLifecycle } from "./node-lifecycle.ts";
import { picture as pictureOf } from "./picture.ts";
import { PodCollector, type PodCollectorOptions } from "./pod-collector.ts";
import { replicaSetController } from "./replica-set.ts";
import { Scheduler } from "./scheduler.ts";
import { statefulSetController } from "./stateful-set.ts";
import { TaintEviction } from "./taint-eviction.ts";
import type { Failed } from "./worker.ts";

export type WorldOptions = Partial<Pick<KubeletOptions, "beats" | "times">> &
  Pick<PodCollectorOptions, "endedMax"> & {
    /** Whether its controllers record Events. Default: they do. */
    recordsEvents?: boolean;
    /** Told of every write that failed; it is tried again in any case. */
    failed?: Failed;
  };

export type World = {
  kubelets: Kubelets;
  /** All that exists has been seen. */
  synced: Promise<void>;
  stop(): void;
};

export type WorldParts = { api: KubeApi; clock: Clock; random: Random; options?: WorldOptions };

export function world({ api, clock, random, options = {} }: WorldParts): World {
  const { beats = "computed", times, endedMax, recordsEvents = true, failed } = options;
  const telling = failed === undefined ? {} : { failed };
  const picture = recordsEvents ? pictureOf(api, clock) : pictureOf(api, clock, unrecorded);
  const kubelets = new Kubelets(picture, random, { beats, ...(times && { times }), ...telling });
  const controllers = [
    kubelets,
    new NodeLifecycle(picture, telling),
    new TaintEviction(picture, telling),
    new PodCollector(picture, { ...(endedMax !== undefined && { endedMax }), ...telling }),
    new Scheduler(picture, telling),
    deploymentController(picture, telling),
    replicaSetController(picture, telling),
    daemonSetController(picture, telling),
    statefulSetController(picture, telling),
    jobController(picture, telling),
  ];
  const stop = () => {
    for (const controller of controllers) controller.stop();
    picture.stop();
  };
  return { kubelets, synced: picture.synced, stop };
}
