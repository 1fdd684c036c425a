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

/** So many rooms by their places, beginning with the first; after the last of all comes the first of all. */
type Span = { first: number; count: number };
type Check = (room: Room) => string | undefined;
type Verdicts = { room: Room } | { message: string };

export class Scheduler {
  readonly #picture: Picture;
  readonly #clock: Clock;
  readonly #rooms = new Rooms();
  readonly #judged = new JudgedRooms(this.#rooms);
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
    if (isGone) this.#rooms.nodeGone(object.metadata.name);
    else this.#rooms.nodeChanged(object);
    if (this.#refused.size === 0) return;
    const looks = ({ metadata, spec, status }: Node) => [metadata.labels, spec, status.allocatable];
    if (previous !== undefined && !isGone && deepEqual(looks(object), looks(previous))) return;
    const room = this.#rooms.roomByNode.get(object.metadata.name);
    const mayHelp =
      room === undefined ? this.#refused.areSomePeculiar : this.#isAwaited(room) || this.#refused.mayHelp(room);
    if (mayHelp) this.#pictureChanged();
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
    if (!nominatedNodeName) return this.#judgeAll(candidate);
    this.#rooms.podChanged(pod, true);
    const named = this.#rooms.roomByNode.get(nominatedNodeName);
    const there = named && this.#judgeAmong(candidate, { first: named.place, count: 1 });
    const verdict = there !== undefined && "room" in there ? there : this.#judgeAll(candidate);
    this.#rooms.podChanged(pod, false);
    return verdict;
  }

  #judgeAll(candidate: Placed): Verdicts {
    const count = this.#rooms.list.length;
    return this.#judgeAmong(candidate, { first: this.#start % Math.max(1, count), count });
  }

  #judgeAmong(candidate: Placed, span: Span): Verdicts {
    const { list } = this.#rooms;
    const judged = this.#judged.for(candidate);
    const checks = this.#checksFor(candidate);
    const best = this.#best(span, place => {
      const score = judged.scoreAt(place);
      return score >= 0 && checks.length > 0 && firstOf(checks, list[place]).length > 0 ? -1 : score;
    });
    if (best !== undefined) return { room: best };
    const places = Array.from({ length: span.count }, (_, i) => (span.first + i) % list.length);
    const reasons = places.map(place => {
      const misfits = judged.misfitsAt(place);
      return misfits.length > 0 ? misfits : firstOf(checks, list[place]);
    });
    return { message: refusalMessage(reasons) };
  }

  /** Of the first of those that will do, as many as are enough. */
  #best({ first, count }: Span, scoreAt: (place: number) => number): Room | undefined {
    const { list } = this.#rooms;
    const enough = feasibleEnough(count);
    let [feasible, bestScore, bestPlace] = [0, -1, -1];
    let place = first;
    for (let i = 0; i < count && feasible < enough; i++) {
      const score = scoreAt(place);
      if (score >= 0) feasible++;
      if (score > bestScore) [bestScore, bestPlace] = [score, place];
      place = place + 1 < list.length ? place + 1 : 0;
    }
    if (feasible === enough && count > 1) this.#start = place;
    return list[bestPlace];
  }

  /** Of where others are. */
  #checksFor(candidate: Placed): Check[] {
    const labelsOf = (name: string) => this.#picture.namespaces.get(name)?.metadata.labels;
    const checks = [spreadCheck(candidate.pod, this.#rooms), affinityCheck(candidate, this.#rooms, labelsOf)];
    return checks.flatMap(check => check ?? []);
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

function firstOf(checks: readonly Check[], room: Room | undefined): readonly string[] {
  for (const check of checks) {
    const reason = room && check(room);
    if (reason !== undefined) return [reason];
  }
  return none;
}

const none: readonly string[] = [];

/** With the reasons of each node. */
function refusalMessage(refusals: readonly (readonly string[])[]): string {
  if (refusals.length === 0) return "no nodes available to schedule pods";
  const countByReason = new Map<string, number>();
  for (const reason of refusals.flat()) countByReason.set(reason, (countByReason.get(reason) ?? 0) + 1);
  const parts = [...countByReason].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${refusals.length} nodes are available: ${parts.join(", ")}.`;
}
