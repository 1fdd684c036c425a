// Deletes pods that nobody else will: those of nodes that are gone, those on nodes that a person has declared out of
// service, and of ended ones the oldest when there are too many. As kube-controller-manager's podgc (1.36).

import type { Clock } from "../../control/ports.ts";
import { timestamp } from "../object-meta.ts";
import { isReady } from "./conditions.ts";
import { type Change, isNotFound } from "./mirror.ts";
import { hasEnded, isDeleting, keyOf, type Node, type Pod } from "./objects.ts";
import type { NodePicture } from "./picture.ts";
import { nodeResource } from "./resources.ts";
import { type Failed, Worker } from "./worker.ts";

/** A node may be missing only because the picture is late. */
const quarantineMs = 40_000;
/** What is not driven by an event is looked for this often. */
const everyMs = 20_000;
const outOfService = "node.kubernetes.io/out-of-service";
const endedKey = "ended";
const nodeKey = "node/";
const podKey = "pod/";

export type PodCollectorOptions = {
  /** Ended pods that are kept. */
  endedMax?: number;
  failed?: Failed;
};

export class PodCollector {
  readonly #picture: NodePicture;
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #endedMax: number;
  readonly #ended = new Map<string, Pod>();
  /** Since when a node that pods name has been missing. */
  readonly #missingSince = new Map<string, number>();

  constructor(picture: NodePicture, { endedMax = 12_500, failed }: PodCollectorOptions = {}) {
    this.#picture = picture;
    this.#clock = picture.clock;
    this.#endedMax = endedMax;
    const sync = (key: string) => this.#sync(key);
    this.#worker = new Worker({ clock: picture.clock, after: picture.synced, sync, ...(failed && { failed }) });
    picture.nodes.onChange(change => this.#nodeChanged(change));
    picture.pods.onChange(change => this.#podChanged(change));
  }

  stop(): void {
    this.#worker.stop();
  }

  #nodeChanged({ object, isGone }: Change<Node>): void {
    const { name } = object.metadata;
    if (isGone || isOutOfService(object)) this.#worker.add(nodeKey + name);
  }

  #podChanged({ key, object, isGone }: Change<Pod>): void {
    if (isGone || !hasEnded(object)) this.#ended.delete(key);
    else this.#ended.set(key, object);
    if (this.#ended.size > this.#endedMax) this.#worker.addAt(endedKey, this.#clock.now() + everyMs);
    const { nodeName } = object.spec;
    if (isGone) return;
    if (!nodeName) {
      // Never started and no longer wanted: nobody is there to confirm it.
      if (isDeleting(object)) this.#worker.add(podKey + key);
      return;
    }
    const node = this.#picture.nodes.get(nodeName);
    if (node === undefined || (isDeleting(object) && isOutOfService(node))) this.#worker.add(nodeKey + nodeName);
  }

  async #sync(key: string): Promise<void> {
    if (key === endedKey) await this.#collectEnded();
    else if (key.startsWith(nodeKey)) await this.#collectNode(key.slice(nodeKey.length));
    else await this.#collectUnscheduled(key.slice(podKey.length));
  }

  async #collectNode(name: string): Promise<void> {
    const node = this.#picture.nodes.get(name);
    if (node !== undefined) {
      this.#missingSince.delete(name);
      if (isOutOfService(node)) await this.#collectTerminating(name);
      return;
    }
    const pods = this.#picture.podsByNode.of(name);
    if (pods.length === 0) {
      this.#missingSince.delete(name);
      return;
    }
    const now = this.#clock.now();
    const since = this.#missingSince.get(name) ?? now;
    this.#missingSince.set(name, since);
    if (now < since + quarantineMs) this.#worker.addAt(nodeKey + name, since + quarantineMs);
    else if (await this.#isReallyGone(name)) for (const pod of pods) await this.#orphaned(pod, now);
  }

  async #isReallyGone(name: string): Promise<boolean> {
    try {
      await this.#picture.api.get(nodeResource, { name });
      return false;
    } catch (error) {
      if (isNotFound(error)) return true;
      throw error;
    }
  }

  async #orphaned(pod: Pod, now: number): Promise<void> {
    const message = "PodGC: node no longer exists";
    if (!hasEnded(pod)) await this.#fail(pod, message, now);
    await this.#picture.pods.delete(pod, { gracePeriodSeconds: 0 });
  }

  async #collectTerminating(nodeName: string): Promise<void> {
    const now = this.#clock.now();
    for (const pod of this.#picture.podsByNode.of(nodeName)) {
      if (!isDeleting(pod)) continue;
      if (!hasEnded(pod)) await this.#fail(pod, undefined, now);
      await this.#picture.pods.delete(pod, { gracePeriodSeconds: 0 });
    }
  }

  async #collectUnscheduled(key: string): Promise<void> {
    const pod = this.#picture.pods.get(key);
    if (pod === undefined || !isDeleting(pod) || pod.spec.nodeName) return;
    if (pod.metadata.deletionGracePeriodSeconds !== 0) await this.#picture.pods.delete(pod, { gracePeriodSeconds: 0 });
  }

  /** An ended pod frees what it held; one that is merely gone may still run somewhere. */
  async #fail(pod: Pod, message: string | undefined, now: number): Promise<void> {
    const condition = message && {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByPodGC",
      message,
      lastTransitionTime: timestamp(now),
      lastProbeTime: null,
    };
    const status = { phase: "Failed", ...(condition && { conditions: [condition] }) };
    const body = { metadata: { uid: pod.metadata.uid }, status };
    await this.#picture.pods.patch(pod, { type: "strategic", body }, { subresource: "status" });
  }

  async #collectEnded(): Promise<void> {
    const excess = this.#ended.size - this.#endedMax;
    if (excess <= 0) return;
    const oldest = [...this.#ended.values()].filter(pod => !isDeleting(pod)).sort(byAge);
    for (const pod of oldest.slice(0, excess)) await this.#picture.pods.delete(pod, { gracePeriodSeconds: 0 });
  }
}

function byAge(a: Pod, b: Pod): number {
  const [left, right] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  return left < right ? -1 : left > right ? 1 : keyOf(a) < keyOf(b) ? -1 : 1;
}

function isOutOfService(node: Node): boolean {
  return !isReady(node) && node.spec.taints?.some(({ key }) => key === outOfService) === true;
}
