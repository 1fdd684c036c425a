// Starts and stops the pods that are bound to simulated nodes, one step at a time and each at its instant.

import type { Random } from "../random.ts";
import type { Change } from "./mirror.ts";
import { hasEnded, isDeleting, keyOf, type Pod } from "./objects.ts";
import type { NodePicture } from "./picture.ts";
import {
  endedStatus,
  isReadyAtOnce,
  nextStep,
  type Pace,
  runningStatus,
  type Sighting,
  type Step,
} from "./pod-life.ts";
import { podBehaviour } from "./simulated-faults.ts";
import { type Failed, Worker } from "./worker.ts";

/** From – to, in milliseconds; each pod draws its own. */
export type PodTimes = {
  start: readonly [number, number];
  stop: readonly [number, number];
  /** How long a pod runs that is to end by itself and does not say when. */
  jobMs: number;
};

const usualTimes: PodTimes = { start: [1000, 3000], stop: [500, 2000], jobMs: 10_000 };
const parallelMax = 32;

export type PodRunnerOptions = {
  random: Random;
  /** The address of the node while its kubelet works, else undefined. */
  hostOf(nodeName: string): string | undefined;
  times?: Partial<PodTimes>;
  failed?: Failed;
};

export class PodRunner {
  readonly #picture: NodePicture;
  readonly #options: PodRunnerOptions;
  readonly #times: PodTimes;
  readonly #sightingByUid = new Map<string, Sighting & Pace>();
  readonly #worker: Worker;
  #addresses = 0;

  constructor(picture: NodePicture, options: PodRunnerOptions) {
    this.#picture = picture;
    this.#options = options;
    this.#times = { ...usualTimes, ...options.times };
    this.#worker = new Worker({
      clock: picture.clock,
      after: picture.synced,
      parallelMax,
      sync: key => this.#sync(key),
      ...(options.failed && { failed: options.failed }),
    });
    picture.pods.onChange(change => this.#podChanged(change));
  }

  /** The node moves again: what was left undone is done now. */
  wake(nodeName: string): void {
    for (const pod of this.#picture.podsByNode.of(nodeName)) this.#worker.add(keyOf(pod));
  }

  stop(): void {
    this.#worker.stop();
  }

  #podChanged({ key, object, isGone }: Change<Pod>): void {
    if (isGone) {
      this.#sightingByUid.delete(object.metadata.uid);
      this.#worker.forget(key);
    } else if (object.spec.nodeName) {
      this.#worker.add(key);
    }
  }

  async #sync(key: string): Promise<void> {
    const pod = this.#picture.pods.get(key);
    const hostIP = this.#options.hostOf(pod?.spec.nodeName ?? "");
    if (pod === undefined || hostIP === undefined) return;
    const now = this.#picture.clock.now();
    const sighting = this.#sighted(pod, now);
    const step = nextStep(pod, sighting, { ...sighting, ...podBehaviour(pod) });
    if (step === undefined || step.at === Number.POSITIVE_INFINITY) return;
    if (step.at > now) this.#worker.addAt(key, step.at);
    else await this.#take(pod, step, { now, hostIP });
  }

  #sighted(pod: Pod, now: number): Sighting & Pace {
    const { uid } = pod.metadata;
    const { jobMs } = this.#times;
    const known = this.#sightingByUid.get(uid);
    const sighting = known ?? { boundAt: now, startMs: this.#draw("start"), stopMs: this.#draw("stop"), jobMs };
    if (pod.status.phase === "Running") sighting.runningAt ??= now;
    if (isDeleting(pod)) sighting.stoppingAt ??= now;
    this.#sightingByUid.set(uid, sighting);
    return sighting;
  }

  #draw(what: "start" | "stop"): number {
    const [from, to] = this.#times[what];
    return from + (this.#options.random() % (to - from + 1));
  }

  async #take(pod: Pod, { kind, exitCode }: Step, { now, hostIP }: { now: number; hostIP: string }): Promise<void> {
    switch (kind) {
      case "start":
      case "ready": {
        const isPodReady = kind === "ready" || isReadyAtOnce(pod, podBehaviour(pod));
        const podIP = podAddress(kind === "start" ? ++this.#addresses : this.#addresses);
        await this.#write(pod, runningStatus(pod, isPodReady, { now, hostIP, podIP: podIPOf(pod) ?? podIP }));
        return;
      }
      case "end":
        await this.#write(pod, endedStatus(pod, exitCode, now));
        return;
      case "stop":
        // Whom nobody holds is gone at the same instant: how it ended could not be read.
        if (!hasEnded(pod) && isHeld(pod)) await this.#write(pod, endedStatus(pod, exitCode, now));
        await this.#picture.pods.delete(pod, { gracePeriodSeconds: 0 });
    }
  }

  async #write(pod: Pod, status: object): Promise<void> {
    // By uid: a pod of the same name that came after it is another pod's business.
    const body = { metadata: { uid: pod.metadata.uid }, status };
    await this.#picture.pods.patch(pod, { type: "strategic", body }, { subresource: "status" });
  }
}

function isHeld({ metadata }: Pod): boolean {
  return (metadata.finalizers?.length ?? 0) > 0;
}

function podIPOf({ status }: Pod): string | undefined {
  return (status as { podIP?: string }).podIP;
}

/** 10.0.0.0/9 is the pods'; the other half is the machines'. */
function podAddress(number: number): string {
  return `10.${(number >> 16) & 127}.${(number >> 8) & 255}.${number & 255}`;
}
