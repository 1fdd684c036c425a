// What kube-controller-manager (1.36) makes of nodes: Unknown for those that fell silent, taints that say what their
// conditions say, and their pods no longer ready. Evicts nobody itself: that is taint-eviction.ts.

import { isSameTaint, type Taint } from "../../api/taint.ts";
import type { Clock } from "../../control/ports.ts";
import { deepEqual } from "../json-value.ts";
import { timestamp } from "../object-meta.ts";
import { isComputed, leaseNamespace, renewedAt } from "./beats.ts";
import { conditionOf, withTransition } from "./conditions.ts";
import type { Change } from "./mirror.ts";
import { type Condition, isActive, type Lease, type Node } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { unschedulableTaint } from "./node-fit.ts";
import { type Failed, Worker } from "./worker.ts";
import { ZonePace } from "./zone-pace.ts";

const graceMs = 50_000;
const startupGraceMs = 60_000;
const component = "node-controller";

/** What a kubelet must keep saying; all of it is unknown once it is silent. */
const keptByKubelet = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

const taintByCondition: readonly { type: string; status: string; key: string }[] = [
  { type: "Ready", status: "False", key: "node.kubernetes.io/not-ready" },
  { type: "Ready", status: "Unknown", key: "node.kubernetes.io/unreachable" },
  { type: "MemoryPressure", status: "True", key: "node.kubernetes.io/memory-pressure" },
  { type: "DiskPressure", status: "True", key: "node.kubernetes.io/disk-pressure" },
  { type: "NetworkUnavailable", status: "True", key: "node.kubernetes.io/network-unavailable" },
  { type: "PIDPressure", status: "True", key: "node.kubernetes.io/pid-pressure" },
];
const lifecycleKeys = new Set([...taintByCondition.map(({ key }) => key), unschedulableTaint.key]);
const evictingKeys = new Set(["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"]);

export type NodeLifecycleOptions = { failed?: Failed };

export class NodeLifecycle {
  readonly #picture: Picture;
  readonly #clock: Clock;
  readonly #worker: Worker;
  readonly #pace: ZonePace;
  /** Ready as we last saw it: pods are told once, when it ends. */
  readonly #readyByName = new Map<string, string>();

  constructor(picture: Picture, { failed }: NodeLifecycleOptions = {}) {
    this.#picture = picture;
    this.#clock = picture.clock;
    const sync = (name: string) => this.#sync(name);
    this.#worker = new Worker({ clock: picture.clock, after: picture.synced, sync, ...(failed && { failed }) });
    this.#pace = new ZonePace(name => this.#worker.add(name));
    picture.nodes.onChange(change => this.#nodeChanged(change));
    picture.leases.onChange(({ object }) => this.#leaseChanged(object));
  }

  stop(): void {
    this.#worker.stop();
  }

  #nodeChanged({ object, isGone }: Change<Node>): void {
    const { name } = object.metadata;
    this.#pace.nodeChanged(object, isGone);
    if (!isGone) {
      this.#worker.add(name);
      return;
    }
    this.#readyByName.delete(name);
    this.#worker.forget(name);
  }

  /** A beat of a node that is known to be alive changes nothing before its deadline, which is looked at then. */
  #leaseChanged(lease: Lease): void {
    const { name, namespace } = lease.metadata;
    const node = namespace === leaseNamespace ? this.#picture.nodes.get(name) : undefined;
    if (node !== undefined && (!this.#worker.isDueLater(name) || isComputed(lease))) this.#worker.add(name);
  }

  async #sync(name: string): Promise<void> {
    const found = this.#picture.nodes.get(name);
    if (found === undefined) return;
    const node = await this.#judgeSilence(found);
    await this.#tellPods(node);
    await this.#settleTaints(node);
  }

  async #judgeSilence(node: Node): Promise<Node> {
    const now = this.#clock.now();
    const deadline = this.#deadline(node, now);
    if (deadline === undefined) return node;
    if (deadline > now) {
      this.#worker.addAt(node.metadata.name, deadline);
      return node;
    }
    const conditions = keptByKubelet.flatMap(type => unknown(node, type, now) ?? []);
    if (conditions.length === 0) return node;
    const patch = { type: "strategic", body: { status: { conditions } } } as const;
    return this.#picture.nodes.patch(node, patch, { subresource: "status" });
  }

  /** Undefined: alive for as long as nobody says otherwise. */
  #deadline(node: Node, now: number): number | undefined {
    const lease = this.#picture.leases.get(`${leaseNamespace}/${node.metadata.name}`);
    if (lease !== undefined && isComputed(lease)) return undefined;
    const ready = conditionOf(node, "Ready");
    // What we wrote ourselves is no sign of life.
    const told = ready?.status === "Unknown" ? undefined : Date.parse(ready?.lastHeartbeatTime ?? "");
    const signs = [lease && renewedAt(lease, now), told].filter(at => at !== undefined && !Number.isNaN(at));
    const created = Date.parse(node.metadata.creationTimestamp) + startupGraceMs;
    return Math.max(ready === undefined ? created : 0, ...signs.map(at => (at as number) + graceMs));
  }

  async #tellPods(node: Node): Promise<void> {
    const { name } = node.metadata;
    const before = this.#readyByName.get(name);
    const status = conditionOf(node, "Ready")?.status ?? "Unknown";
    this.#readyByName.set(name, status);
    if (before !== "True" || status === "True") return;
    const message = `Node ${name} status is now: NodeNotReady`;
    await this.#picture.record(node, { type: "Normal", reason: "NodeNotReady", message, component });
    for (const pod of this.#picture.podsByNode.of(name)) {
      const ready = conditionOf(pod, "Ready");
      if (!isActive(pod) || ready?.status !== "True") continue;
      const condition = { ...withTransition(ready, { type: "Ready", status: "False" }, this.#clock.now()) };
      const body = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
      await this.#picture.pods.patch(pod, { type: "strategic", body }, { subresource: "status" });
    }
  }

  async #settleTaints(node: Node): Promise<void> {
    const now = this.#clock.now();
    const current = node.spec.taints ?? [];
    const wanted = [...wantedNoSchedule(node), ...this.#wantedNoExecute(node, now)];
    const kept = current.filter(taint => !isOurs(taint) || wanted.some(one => isSameTaint(one, taint)));
    const added = wanted.filter(taint => !current.some(one => isSameTaint(one, taint)));
    const taints = [...kept, ...added.map(taint => ({ ...taint, timeAdded: timestamp(now) }))];
    if (deepEqual(taints, current)) return;
    // A list is replaced whole, so only if it is still the one that was read.
    const { resourceVersion } = node.metadata;
    await this.#picture.nodes.patch(node, { type: "merge", body: { metadata: { resourceVersion }, spec: { taints } } });
  }

  /** One node of a zone after the other, so that a mistake does not empty the zone at once. */
  #wantedNoExecute(node: Node, now: number): Taint[] {
    const { name } = node.metadata;
    const status = conditionOf(node, "Ready")?.status;
    const key = taintByCondition.find(one => one.type === "Ready" && one.status === status)?.key;
    if (key === undefined || this.#pace.isHeld()) return [];
    const isTainted = node.spec.taints?.some(taint => evictingKeys.has(taint.key) && taint.effect === "NoExecute");
    const turnAt = isTainted ? now : this.#pace.turnOf(node, now);
    if (turnAt <= now) return [{ key, effect: "NoExecute" }];
    if (Number.isFinite(turnAt)) this.#worker.addAt(name, turnAt);
    return [];
  }
}

function isOurs({ key, effect }: Taint): boolean {
  return effect === "NoExecute" ? evictingKeys.has(key) : effect === "NoSchedule" && lifecycleKeys.has(key);
}

function wantedNoSchedule(node: Node): Taint[] {
  const taints: Taint[] = [];
  for (const { type, status, key } of taintByCondition) {
    if (conditionOf(node, type)?.status === status) taints.push({ key, effect: "NoSchedule" });
  }
  if (node.spec.unschedulable === true) taints.push(unschedulableTaint);
  // Until a kubelet has spoken, the taint that the API server put on a new node stays.
  const isMute = conditionOf(node, "Ready") === undefined;
  const initial = node.spec.taints?.find(({ key, effect }) => key === initialKey && effect === "NoSchedule");
  return isMute && initial ? [initial, ...taints] : taints;
}

const initialKey = "node.kubernetes.io/not-ready";

function unknown(node: Node, type: string, now: number): Condition | undefined {
  const before = conditionOf(node, type);
  if (before?.status === "Unknown") return undefined;
  const verdict =
    before === undefined
      ? { reason: "NodeStatusNeverUpdated", message: "Kubelet never posted node status." }
      : { reason: "NodeStatusUnknown", message: "Kubelet stopped posting node status." };
  const heartbeat = before?.lastHeartbeatTime ?? node.metadata.creationTimestamp;
  return { lastHeartbeatTime: heartbeat, ...withTransition(before, { type, status: "Unknown", ...verdict }, now) };
}
