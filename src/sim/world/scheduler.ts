// Binds pending pods to nodes: those of highest priority first, then in the order in which they came, each to the node
// with the largest free share. One that names a node (status.nominatedNodeName) goes there if it can, and its room is kept
// for it, whatever the priority of others; if it can go nowhere the name is taken out again. Without preemption and without
// preferences; what fits nowhere waits until the picture changes.

import type { Clock } from "../../control/ports.ts";
import { conditionOf, type Verdict, withTransition } from "./conditions.ts";
import { JudgedRooms } from "./judged-rooms.ts";
import { type Change, isNotFound } from "./mirror.ts";
import { type Placed, placed, placeOf, type Room, Rooms } from "./node-room.ts";
import { hasEnded, isActive, type Node, type Pod } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { affinityCheck } from "./pod-affinity.ts";
import { likenessOf, RefusedPods } from "./refused-pods.ts";
import { podResource } from "./resources.ts";
import { spreadCheck } from "./topology-spread.ts";
import { type Failed, Worker } from "./worker.ts";
import { deepEqual } from "../json-value.ts";

const schedulerName = "default-scheduler";
/** What was refused is looked at again so long after something changed that may help, and no sooner after the last look. */
const retryMs = 1000;
const pass = "pass";

export type SchedulerOptions = { failed?: Failed };

type Verdicts = { room: Room } | { message: string };

export class Scheduler {
  readonly #picture: Picture;
  readonly #clock: Clock;
  readonly #rooms = new Rooms();
  readonly #judged = new JudgedRooms();
  /** In the order in which they came. */
  readonly #pending = new Set<string>();
  readonly #refused = new RefusedPods(this.#judged);
  readonly #worker: Worker;
  #retriedAt = Number.NEGATIVE_INFINITY;
  #start = 0;

  constructor(picture: Picture, { failed }: SchedulerOptions = {}) {
    this.#picture = picture;
    this.#clock = picture.clock;
    const sync = () => this.#pass();
    this.#worker = new Worker({ clock: picture.clock, after: picture.synced, sync, ...(failed && { failed }) });
    picture.nodes.onChange(change => this.#nodeChanged(change));
    picture.pods.onChange(change => this.#podChanged(change));
  }

  stop(): void {
    this.#worker.stop();
  }

  #nodeChanged({ object, previous, isGone }: Change<Node>): void {
    if (isGone) this.#nodeGone(object);
    else this.#rooms.nodeChanged(object);
    if (this.#refused.size === 0) return;
    const looks = ({ metadata, spec, status }: Node) => [metadata.labels, spec, status.allocatable];
    if (previous !== undefined && !isGone && deepEqual(looks(object), looks(previous))) return;
    const room = this.#rooms.roomByNode.get(object.metadata.name);
    const mayHelp =
      room === undefined ? this.#refused.areSomePeculiar : this.#isAwaited(room) || this.#refused.mayHelp(room);
    if (mayHelp) this.#pictureChanged();
  }

  #nodeGone({ metadata }: Node): void {
    const room = this.#rooms.nodeGone(metadata.name);
    if (room !== undefined) this.#judged.forget(room);
  }

  /** Somebody who waits has named it. */
  #isAwaited({ placedByKey }: Room): boolean {
    return [...placedByKey.keys()].some(key => this.#refused.has(key));
  }

  #podChanged({ key, object, previous, isGone }: Change<Pod>): void {
    const isOurs = !isGone && isPending(object);
    if (!isOurs) {
      this.#pending.delete(key);
      this.#refused.forget(key);
    } else if (!this.#refused.has(key)) {
      this.#pending.add(key);
      this.#worker.add(pass);
    }
    const wasPlaced = previous !== undefined && placeOf(previous);
    const isPlaced = !isGone && placeOf(object);
    if (!wasPlaced && !isPlaced) return;
    if (isSamePlace(previous, object, isGone)) return;
    this.#rooms.podChanged(object, isGone);
    const isFreed = isGone || hasEnded(object) || (wasPlaced && wasPlaced !== isPlaced);
    if (isFreed || this.#refused.areSomePeculiar) this.#pictureChanged();
  }

  /** What waits may fit now. Not at once: nodes come in bursts, and the first would get everything. */
  #pictureChanged(): void {
    if (this.#refused.size > 0) this.#worker.addAt(pass, this.#clock.now() + retryMs);
  }

  async #pass(): Promise<void> {
    const now = this.#clock.now();
    if (this.#refused.size > 0 && now >= this.#retriedAt + retryMs) {
      this.#retriedAt = now;
      for (const key of this.#refused.takeAll()) this.#pending.add(key);
    }
    const pods = [...this.#pending].flatMap(key => this.#picture.pods.get(key) ?? []).filter(isPending);
    this.#pending.clear();
    // Sorting is stable: pods of one priority keep their order.
    pods.sort((a, b) => (b.spec.priority ?? 0) - (a.spec.priority ?? 0));
    const hopeless = new Map<string, string>();
    for (const seen of pods) {
      // It may have gone, or been told where to go, while others were bound.
      const pod = this.#picture.pods.get(keyIn(seen));
      if (pod?.metadata.uid === seen.metadata.uid && isPending(pod)) await this.#place(pod, hopeless);
    }
  }

  async #place(pod: Pod, hopeless: Map<string, string>): Promise<void> {
    // Who has named a node may go there, though others like it go nowhere.
    const likeness = pod.status.nominatedNodeName ? undefined : likenessOf(pod);
    const known = likeness && hopeless.get(likeness);
    const verdict = known === undefined ? this.#judge(placed(pod)) : { message: known };
    try {
      if ("room" in verdict) await this.#bind(pod, verdict.room.node.metadata.name);
      else {
        if (likeness) hopeless.set(likeness, verdict.message);
        this.#refused.add(pod);
        await this.#refuse(pod, verdict.message);
      }
    } catch (error) {
      if (!isNotFound(error)) {
        this.#pending.add(keyIn(pod));
        throw error;
      }
    }
  }

  /** Its own room does not stand in its way. */
  #judge(candidate: Placed): Verdicts {
    const { pod } = candidate;
    const { nominatedNodeName } = pod.status;
    if (!nominatedNodeName) return this.#judgeAmong(candidate, this.#rooms.list);
    this.#rooms.podChanged(pod, true);
    const named = this.#rooms.roomByNode.get(nominatedNodeName);
    const there = named === undefined ? undefined : this.#judgeAmong(candidate, [named]);
    const verdict = there !== undefined && "room" in there ? there : this.#judgeAmong(candidate, this.#rooms.list);
    this.#rooms.podChanged(pod, false);
    return verdict;
  }

  #judgeAmong(candidate: Placed, rooms: readonly Room[]): Verdicts {
    const { pod } = candidate;
    const judge = this.#judged.for(candidate);
    const checks = [
      spreadCheck(pod, this.#rooms),
      affinityCheck(candidate, this.#rooms, name => this.#picture.namespaces.get(name)?.metadata.labels),
    ].flatMap(check => check ?? []);
    const enough = feasibleEnough(rooms.length);
    const countByReason = new Map<string, number>();
    let best: { room: Room; score: number } | undefined;
    let feasible = 0;
    let at = this.#start % Math.max(1, rooms.length);
    for (let i = 0; i < rooms.length && feasible < enough; i++) {
      const room = rooms[at] as Room; // within its length
      at = at + 1 < rooms.length ? at + 1 : 0;
      const { misfits, score } = judge(room);
      const reasons = misfits.length > 0 || checks.length === 0 ? misfits : firstOf(checks, room);
      if (reasons.length > 0) {
        for (const reason of reasons) countByReason.set(reason, (countByReason.get(reason) ?? 0) + 1);
        continue;
      }
      feasible++;
      if (best === undefined || score > best.score) best = { room, score };
      if (feasible === enough && rooms.length > 1) this.#start = at;
    }
    return best ?? { message: refusalMessage(rooms.length, countByReason) };
  }

  async #bind(pod: Pod, nodeName: string): Promise<void> {
    const { name, namespace = "", uid } = pod.metadata;
    const target = { apiVersion: "v1", kind: "Node", name: nodeName };
    const binding = { apiVersion: "v1", kind: "Binding", metadata: { name, namespace, uid }, target };
    await this.#picture.api.create(podResource, { name, namespace }, binding, { subresource: "binding" });
    // A binding is answered with a Status. What it made of the pod comes by the watch; its room is taken from now on.
    const seen = this.#picture.pods.get(keyIn(pod));
    if (seen?.metadata.uid === uid && !seen.spec.nodeName)
      this.#rooms.podChanged({ ...pod, spec: { ...pod.spec, nodeName } }, false);
  }

  async #refuse(pod: Pod, message: string): Promise<void> {
    const before = conditionOf(pod, "PodScheduled");
    const isNamed = pod.status.nominatedNodeName !== undefined;
    if (before?.status === "False" && before.message === message && !isNamed) return;
    const now = this.#clock.now();
    const tellAt = this.#refused.tellAt(keyIn(pod));
    if (tellAt > now && !isNamed) return this.#worker.addAt(pass, Math.max(tellAt, this.#retriedAt + retryMs));
    this.#refused.told(keyIn(pod), now);
    const verdict: Verdict = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
    const condition = { lastProbeTime: null, ...withTransition(before, verdict, now) };
    // As kube-scheduler, where no preemption helps either: the node that was named for it is not to be had.
    const status = { conditions: [condition], ...(isNamed ? { nominatedNodeName: null } : {}) };
    const body = { metadata: { uid: pod.metadata.uid }, status };
    await this.#picture.pods.patch(pod, { type: "strategic", body }, { subresource: "status" });
    await this.#picture.record(pod, {
      type: "Warning",
      reason: "FailedScheduling",
      message,
      component: schedulerName,
    });
  }
}

function keyIn({ metadata }: Pod): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function isPending(pod: Pod): boolean {
  const { spec } = pod;
  return (
    !spec.nodeName &&
    isActive(pod) &&
    (spec.schedulingGates?.length ?? 0) === 0 &&
    (spec.schedulerName ?? schedulerName) === schedulerName
  );
}

/** Only what others ask of it: its place, its labels, and that it neither ends nor goes. */
function isSamePlace(before: Pod | undefined, after: Pod, isGone: boolean): boolean {
  if (before === undefined || isGone) return false;
  const isKept = placeOf(before) === placeOf(after) && hasEnded(before) === hasEnded(after);
  const isStaying = before.metadata.deletionTimestamp === after.metadata.deletionTimestamp;
  return isKept && isStaying && deepEqual(before.metadata.labels, after.metadata.labels);
}

/** In large clusters a sample is enough, as for kube-scheduler: half of the nodes or less, never below 100 or 5 %. */
function feasibleEnough(nodeCount: number): number {
  if (nodeCount <= 100) return nodeCount;
  const percent = Math.max(5, 50 - Math.floor(nodeCount / 125));
  return Math.max(100, Math.floor((nodeCount * percent) / 100));
}

function firstOf(checks: readonly ((room: Room) => string | undefined)[], room: Room): readonly string[] {
  for (const check of checks) {
    const reason = check(room);
    if (reason !== undefined) return [reason];
  }
  return none;
}

const none: readonly string[] = [];

function refusalMessage(nodeCount: number, countByReason: ReadonlyMap<string, number>): string {
  if (nodeCount === 0) return "no nodes available to schedule pods";
  const parts = [...countByReason].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available: ${parts.join(", ")}.`;
}
