// Nodes and what is taken of them, kept up to date by what changes: the scheduler's picture.

import type { Taint } from "../../api/taint.ts";
import { amountsOf, addTo, type Amounts, podRequests } from "./pod-requests.ts";
import { type PodTerm, podTerms } from "./pod-terms.ts";
import { hasEnded, keyOf, type Node, type Pod, type PodSpec } from "./objects.ts";

export type HostPort = { ip: string; protocol: string; port: number };

/** A pod made ready for judging: what it asks is computed once. */
export type Placed = {
  pod: Pod;
  requests: Amounts;
  /** What counts for the score. */
  scored: Amounts;
  ports: readonly HostPort[];
  /** Required anti-affinity: it counts for every pod that comes after it. */
  keepsAway: readonly PodTerm[];
};

/** What counts for the score of a pod that requests nothing, as in kube-scheduler: else all such pods pile up. */
const assumed: Amounts = new Map([
  ["cpu", 100],
  ["memory", 200 * 1024 * 1024],
]);

export class Room {
  node: Node;
  allocatable: Amounts;
  /** Those that keep pods away; others only advise. */
  taints: readonly Taint[];
  readonly taken: Amounts = new Map();
  readonly scored: Amounts = new Map();
  readonly placedByKey = new Map<string, Placed>();
  /** Among all rooms, as `Rooms.list` has them. */
  place: number;

  constructor(node: Node, place: number) {
    this.place = place;
    this.node = node;
    this.allocatable = allocatableOf(node);
    this.taints = repelling(node);
  }

  set(node: Node): void {
    this.node = node;
    this.allocatable = allocatableOf(node);
    this.taints = repelling(node);
  }

  add(placed: Placed): void {
    this.#count(placed, 1);
    this.placedByKey.set(keyOf(placed.pod), placed);
  }

  remove(key: string): void {
    const placed = this.placedByKey.get(key);
    if (placed === undefined) return;
    this.#count(placed, -1);
    this.placedByKey.delete(key);
  }

  #count({ requests, scored }: Placed, sign: 1 | -1): void {
    addTo(this.taken, requests, sign);
    addTo(this.scored, scored, sign);
  }
}

function allocatableOf({ status }: Node): Amounts {
  return amountsOf(status.allocatable ?? status.capacity);
}

function repelling({ spec }: Node): Taint[] {
  return (spec.taints ?? []).filter(({ effect }) => effect === "NoSchedule" || effect === "NoExecute");
}

function scoredRequests(requests: Amounts): Amounts {
  return new Map([...assumed].map(([name, amount]) => [name, requests.get(name) ?? amount]));
}

export function placed(pod: Pod): Placed {
  const { spec } = pod;
  const required = spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const { requests, scored, ports } = askedBy(spec);
  return { pod, requests, scored, ports, keepsAway: podTerms(required, pod) };
}

type Asked = Pick<Placed, "requests" | "scored" | "ports"> & { readonly of: PodSpec };

const askedByContainers = new WeakMap<PodSpec["containers"], Asked>();

/** Added up once for the versions of a pod: they have their containers in common, and a pod is looked at at each step. */
function askedBy(spec: PodSpec): Asked {
  const known = askedByContainers.get(spec.containers);
  if (known !== undefined && asksTheSame(known.of, spec)) return known;
  const requests = podRequests(spec);
  const ports = spec.containers.flatMap(container => container.ports ?? []);
  const asked: Asked = {
    of: spec,
    requests,
    scored: scoredRequests(requests),
    ports: ports.flatMap(({ hostPort, hostIP, protocol = "TCP" }) =>
      hostPort ? [{ ip: hostIP || "0.0.0.0", protocol, port: hostPort }] : [],
    ),
  };
  askedByContainers.set(spec.containers, asked);
  return asked;
}

function asksTheSame(a: PodSpec, b: PodSpec): boolean {
  return a.initContainers === b.initContainers && a.overhead === b.overhead && a.resources === b.resources;
}

/** Where it runs, or shall. */
export function placeOf({ spec, status }: Pod): string | undefined {
  return spec.nodeName || status.nominatedNodeName;
}

/** Whoever keeps something of each room, by its place. */
export type RoomWatcher = {
  /** After all others. */
  came(): void;
  /** Those behind it move up. */
  went(place: number): void;
  changed(place: number): void;
};

export class Rooms {
  readonly roomByNode = new Map<string, Room>();
  /** In the order in which the nodes came. */
  readonly list: Room[] = [];
  readonly watchers = new Set<RoomWatcher>();
  /** Of pods that keep others away: few, and asked for every pod. */
  readonly antiAffine = new Map<string, { placed: Placed; nodeName: string }>();
  /** Pods whose node is not known yet, by node. */
  readonly #homeless = new Map<string, Map<string, Placed>>();
  readonly #nodeByPod = new Map<string, string>();

  nodeChanged(node: Node): void {
    const { name } = node.metadata;
    const room = this.roomByNode.get(name);
    if (room === undefined) return this.#nodeCame(node);
    room.set(node);
    this.#changed(room);
  }

  #nodeCame(node: Node): void {
    const { name } = node.metadata;
    const room = new Room(node, this.list.length);
    for (const one of this.#homeless.get(name)?.values() ?? []) room.add(one);
    this.#homeless.delete(name);
    this.roomByNode.set(name, room);
    this.list.push(room);
    for (const watcher of this.watchers) watcher.came();
  }

  nodeGone(name: string): void {
    const room = this.roomByNode.get(name);
    if (room === undefined) return;
    this.roomByNode.delete(name);
    this.list.splice(room.place, 1);
    for (const [place, one] of this.list.entries()) one.place = place;
    for (const watcher of this.watchers) watcher.went(room.place);
    if (room.placedByKey.size > 0) this.#homeless.set(name, new Map(room.placedByKey));
  }

  #changed({ place }: Room): void {
    for (const watcher of this.watchers) watcher.changed(place);
  }

  /** A pod takes room from its binding to its end; one that waits, on the node that is named for it. */
  podChanged(pod: Pod, isGone: boolean): void {
    const key = keyOf(pod);
    const nodeName = placeOf(pod) ?? "";
    const takes = !isGone && nodeName !== "" && !hasEnded(pod);
    const before = this.#nodeByPod.get(key);
    if (before !== undefined) this.#take(key, before);
    if (takes) this.#put(key, nodeName, placed(pod));
  }

  #put(key: string, nodeName: string, one: Placed): void {
    this.#nodeByPod.set(key, nodeName);
    if (one.keepsAway.length > 0) this.antiAffine.set(key, { placed: one, nodeName });
    const room = this.roomByNode.get(nodeName);
    if (room !== undefined) {
      room.add(one);
      this.#changed(room);
    } else this.#homeless.set(nodeName, (this.#homeless.get(nodeName) ?? new Map<string, Placed>()).set(key, one));
  }

  #take(key: string, nodeName: string): void {
    this.#nodeByPod.delete(key);
    this.antiAffine.delete(key);
    const room = this.roomByNode.get(nodeName);
    if (room !== undefined) {
      room.remove(key);
      this.#changed(room);
    }
    const homeless = this.#homeless.get(nodeName);
    homeless?.delete(key);
    if (homeless?.size === 0) this.#homeless.delete(nodeName);
  }
}
