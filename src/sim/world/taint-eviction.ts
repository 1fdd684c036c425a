// Deletes pods from nodes with NoExecute taints: at once those that do not tolerate them, the others when the time is
// over for which they do. As kube-controller-manager's taint-eviction-controller (1.36) decides it.

import { type Taint, tolerates } from "../../api/taint.ts";
import type { Clock } from "../../control/ports.ts";
import { timestamp } from "../object-meta.ts";
import { isDeleting, keyOf, type Node, type Pod } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { type Failed, Worker } from "./worker.ts";

const component = "taint-eviction-controller";

export type TaintEvictionOptions = { failed?: Failed };

export class TaintEviction {
  readonly #picture: Picture;
  readonly #clock: Clock;
  readonly #worker: Worker;
  /** Since when a pod is on borrowed time. */
  readonly #sinceByUid = new Map<string, number>();

  constructor(picture: Picture, { failed }: TaintEvictionOptions = {}) {
    this.#picture = picture;
    this.#clock = picture.clock;
    const sync = (key: string) => this.#sync(key);
    this.#worker = new Worker({ clock: picture.clock, after: picture.synced, sync, ...(failed && { failed }) });
    picture.nodes.onChange(({ object, previous }) => {
      const texts = [object, previous].map(node => JSON.stringify(node === undefined ? [] : noExecute(node)));
      if (texts[0] === texts[1]) return;
      for (const pod of picture.podsByNode.of(object.metadata.name)) this.#worker.add(keyOf(pod));
    });
    picture.pods.onChange(({ key, object, isGone }) => {
      if (isGone || isDeleting(object)) this.#forget(key, object);
      else if (noExecuteOf(picture, object).length > 0) this.#worker.add(key);
    });
  }

  stop(): void {
    this.#worker.stop();
  }

  #forget(key: string, { metadata }: Pod): void {
    this.#worker.forget(key);
    this.#sinceByUid.delete(metadata.uid);
  }

  async #sync(key: string): Promise<void> {
    const pod = this.#picture.pods.get(key);
    if (pod === undefined || isDeleting(pod)) return;
    const toleratedMs = toleratedFor(pod, noExecuteOf(this.#picture, pod));
    if (toleratedMs === Number.POSITIVE_INFINITY) {
      this.#forget(key, pod);
      return;
    }
    const now = this.#clock.now();
    const since = this.#sinceByUid.get(pod.metadata.uid) ?? now;
    this.#sinceByUid.set(pod.metadata.uid, since);
    if (since + toleratedMs > now) this.#worker.addAt(key, since + toleratedMs);
    else await this.#evict(pod, now);
  }

  async #evict(pod: Pod, now: number): Promise<void> {
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
      lastTransitionTime: timestamp(now),
      lastProbeTime: null,
    };
    const { name, namespace, uid } = pod.metadata;
    const message = `Marking for deletion Pod ${namespace}/${name}`;
    await this.#picture.record(pod, { type: "Normal", reason: "TaintManagerEviction", message, component });
    const body = { metadata: { uid }, status: { conditions: [condition] } };
    const marked = await this.#picture.pods.patch(pod, { type: "strategic", body }, { subresource: "status" });
    await this.#picture.pods.delete(marked);
  }
}

/** For how long a pod stays on a node with these taints: the shortest of what it tolerates; 0 if one is not. */
export function toleratedFor({ spec }: Pod, taints: readonly Taint[]): number {
  let shortestMs = Number.POSITIVE_INFINITY;
  for (const taint of taints) {
    const answering = (spec.tolerations ?? []).filter(toleration => tolerates(toleration, taint));
    if (answering.length === 0) return 0;
    for (const { tolerationSeconds } of answering) {
      if (tolerationSeconds !== undefined) shortestMs = Math.min(shortestMs, Math.max(0, tolerationSeconds) * 1000);
    }
  }
  return shortestMs;
}

function noExecute({ spec }: Node): Taint[] {
  return (spec.taints ?? []).filter(({ effect }) => effect === "NoExecute");
}

function noExecuteOf({ nodes }: Picture, { spec }: Pod): Taint[] {
  const node = nodes.get(spec.nodeName ?? "");
  return node === undefined ? [] : noExecute(node);
}
