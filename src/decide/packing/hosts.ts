// The nodes that exist, as columns of numbers: free resources, labels, ports and volumes in use. Decides which of the
// rules about one node alone keep a pod from it.

import { type NamedLabels } from "../../api/node-selector.ts";
import { type Taint, type Toleration, isSameTaint, untoleratedTaint } from "../../api/taint.ts";
import { clash, type HostPort } from "./host-ports.ts";
import type { ExistingNode } from "./problem.ts";
import { nameField, type Requirements } from "./requirements.ts";
import { type Amounts, cpu, memory, type ResourceSpace } from "./resources.ts";
import type { Texts } from "./texts.ts";
import { allows } from "./value-set.ts";
import type { Attachment } from "./volumes.ts";

const unschedulable: Taint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

/** Hosts are looked at in blocks, so that full ones are passed over together. */
const blockSize = 32;

export class Hosts {
  readonly nodes: (ExistingNode | undefined)[] = [];
  readonly indexByName = new Map<string, number>();
  readonly ports: HostPort[][] = [];
  /** Attached handles and how many pods use each, by driver. */
  readonly attached: (Map<string, Map<string, number>> | undefined)[] = [];
  readonly limits: (ReadonlyMap<string, number> | undefined)[] = [];
  /** Hosts in the order in which they are filled. */
  order = new Int32Array(0);
  /** By block of that order, the most cpu and memory that one of its hosts may have free: never less than it has. */
  most = new Float64Array(0);
  #blockByHost = new Int32Array(0);
  stride: number;
  free: Float64Array;
  readonly #space: ResourceSpace;
  readonly #texts: Texts;
  readonly #columnByKey = new Map<string, Int32Array>();

  constructor(space: ResourceSpace, texts: Texts, count: number) {
    this.#space = space;
    this.#texts = texts;
    this.stride = space.names.length;
    this.free = new Float64Array(count * this.stride);
  }

  get length(): number {
    return this.nodes.length;
  }

  put(index: number, existing: ExistingNode): void {
    this.nodes[index] = existing;
    this.indexByName.set(existing.node.metadata.name, index);
    this.ports[index] ??= [];
    this.#room(index);
    const allocatable = this.#space.amounts(existing.node.status?.allocatable);
    this.#room(index);
    this.free.set(allocatable, index * this.stride);
    this.#raise(index);
    for (const [key, column] of this.#columnByKey) this.#columnByKey.set(key, this.#filled(column, index, key));
  }

  remove(index: number): void {
    const name = this.nodes[index]?.node.metadata.name;
    if (name !== undefined) this.indexByName.delete(name);
    this.nodes[index] = undefined;
  }

  sort(): void {
    const inOrder = [...this.indexByName.keys()].sort().map(name => this.indexByName.get(name) ?? 0);
    const isReady = (index: number) => this.nodes[index]?.initialized !== false;
    this.arrange([...inOrder.filter(isReady), ...inOrder.filter(index => !isReady(index))]);
  }

  /** In an order of one's own; hosts that are left out take no pods. Until the next `sort`. */
  arrange(order: readonly number[]): void {
    this.order = Int32Array.from(order);
    const blocks = Math.ceil(this.order.length / blockSize);
    this.most = new Float64Array(2 * blocks);
    this.#blockByHost = new Int32Array(this.length).fill(-1);
    for (let at = 0; at < this.order.length; at++) {
      this.#blockByHost[this.order[at] ?? 0] = Math.floor(at / blockSize);
    }
    for (let block = 0; block < blocks; block++) this.measure(block);
  }

  /** Works out anew what a block has free. */
  measure(block: number): void {
    let mostCpu = 0;
    let mostMemory = 0;
    for (let at = block * blockSize; at < Math.min((block + 1) * blockSize, this.order.length); at++) {
      const start = (this.order[at] ?? 0) * this.stride;
      mostCpu = Math.max(mostCpu, this.free[start + cpu] ?? 0);
      mostMemory = Math.max(mostMemory, this.free[start + memory] ?? 0);
    }
    this.most[2 * block] = mostCpu;
    this.most[2 * block + 1] = mostMemory;
  }

  /** The first place in the order, from one on, whose host has the room; beyond the last, if none has. */
  nextRoom(from: number, amounts: Amounts): number {
    const { free, most, order, stride } = this;
    const askedCpu = amounts[cpu] ?? 0;
    const askedMemory = amounts[memory] ?? 0;
    for (let at = from; at < order.length; ) {
      const isStart = at % blockSize === 0;
      const block = (at - (at % blockSize)) / blockSize;
      const end = Math.min((block + 1) * blockSize, order.length);
      if (isStart && (askedCpu > (most[2 * block] ?? 0) || askedMemory > (most[2 * block + 1] ?? 0))) {
        at = end;
        continue;
      }
      for (; at < end; at++) {
        const index = order[at] ?? 0;
        if (askedCpu > 0 && askedCpu > (free[index * stride + cpu] ?? 0)) continue;
        if (this.fits(index, amounts)) return at;
      }
      // Room has become less since it was measured.
      if (isStart) this.measure(block);
    }
    return order.length;
  }

  /** The values of a label by host, as numbers of texts. */
  column(key: string): Int32Array {
    let column = this.#columnByKey.get(key);
    if (column === undefined) {
      column = new Int32Array(this.length);
      for (let index = 0; index < this.length; index++) column[index] = this.#label(index, key);
      this.#columnByKey.set(key, column);
    }
    return column;
  }

  fits(index: number, amounts: Amounts): boolean {
    const start = index * this.stride;
    for (let r = 0; r < amounts.length; r++) {
      const amount = amounts[r] ?? 0;
      // Who asks for nothing fits even where too much was given away.
      if (amount > 0 && !(amount <= (r < this.stride ? (this.free[start + r] ?? 0) : 0))) return false;
    }
    return true;
  }

  /** How many of a size have room. */
  countOf(index: number, amounts: Amounts): number {
    const start = index * this.stride;
    let count = Number.POSITIVE_INFINITY;
    for (let r = 0; r < amounts.length; r++) {
      const amount = amounts[r] ?? 0;
      if (amount > 0) count = Math.min(count, Math.floor((this.free[start + r] ?? 0) / amount));
    }
    return count;
  }

  /** So many times the amounts; back, if it is negative. */
  take(index: number, amounts: Amounts, times: number): void {
    if (amounts.length > this.stride) this.#room(index);
    const { free } = this;
    const start = index * this.stride;
    for (let r = 0; r < amounts.length; r++) free[start + r] = (free[start + r] ?? 0) - times * (amounts[r] ?? 0);
    if (times < 0) this.#raise(index);
  }

  matches(index: number, alternatives: readonly Requirements[]): boolean {
    const node = this.nodes[index]?.node;
    if (node === undefined) return false;
    const named: NamedLabels = {
      name: node.metadata.name,
      ...(node.metadata.labels && { labels: node.metadata.labels }),
    };
    return alternatives.some(({ sets }) => {
      for (const [key, set] of sets) if (!allows(set, labelOf(named, key))) return false;
      return true;
    });
  }

  tolerated(index: number, tolerations: readonly Toleration[], effects: readonly string[]): boolean {
    const existing = this.nodes[index];
    const passing = existing?.passingTaints ?? [];
    const counts = (taint: Taint) => effects.includes(taint.effect) && !passing.some(one => isSameTaint(one, taint));
    return untoleratedTaint(existing?.node.spec?.taints ?? [], tolerations, { counts }) === undefined;
  }

  isCordonedFor(index: number, tolerations: readonly Toleration[]): boolean {
    if (this.nodes[index]?.node.spec?.unschedulable !== true) return false;
    return untoleratedTaint([unschedulable], tolerations) !== undefined;
  }

  portsFree(index: number, ports: readonly HostPort[]): boolean {
    return ports.length === 0 || !clash(ports, this.ports[index] ?? []);
  }

  /** Whether the drivers of the node have room; a driver without a limit always has. */
  canAttach(index: number, attachments: readonly Attachment[]): boolean {
    const limits = this.limits[index];
    if (attachments.length === 0 || limits === undefined) return true;
    for (const driver of new Set(attachments.map(one => one.driver))) {
      const limit = limits.get(driver);
      const there = this.attached[index]?.get(driver);
      const handles = new Set(attachments.flatMap(one => (one.driver === driver ? [one.handle] : [])));
      const added = [...handles].filter(handle => !there?.has(handle)).length;
      if (limit !== undefined && added > 0 && (there?.size ?? 0) + added > limit) return false;
    }
    return true;
  }

  attach(index: number, attachments: readonly Attachment[], sign: 1 | -1): void {
    if (attachments.length === 0) return;
    const byDriver = this.attached[index] ?? new Map<string, Map<string, number>>();
    this.attached[index] = byDriver;
    for (const { driver, handle } of attachments) {
      const handles = byDriver.get(driver) ?? new Map<string, number>();
      byDriver.set(driver, handles);
      const users = (handles.get(handle) ?? 0) + sign;
      if (users > 0) handles.set(handle, users);
      else handles.delete(handle);
    }
  }

  #raise(index: number): void {
    const block = this.#blockByHost[index] ?? -1;
    if (block < 0) return;
    const start = index * this.stride;
    this.most[2 * block] = Math.max(this.most[2 * block] ?? 0, this.free[start + cpu] ?? 0);
    this.most[2 * block + 1] = Math.max(this.most[2 * block + 1] ?? 0, this.free[start + memory] ?? 0);
  }

  #label(index: number, key: string): number {
    const node = this.nodes[index]?.node;
    return node === undefined
      ? 0
      : this.#texts.id(labelOf({ name: node.metadata.name, labels: node.metadata.labels ?? {} }, key));
  }

  #filled(column: Int32Array, index: number, key: string): Int32Array {
    const wide = index < column.length ? column : new Int32Array(Math.max(16, index * 2));
    if (wide !== column) wide.set(column);
    wide[index] = this.#label(index, key);
    return wide;
  }

  // Makes the table wide enough for all resources known, and long enough for a host.
  #room(index: number): void {
    const stride = this.#space.names.length;
    if (stride === this.stride && (index + 1) * stride <= this.free.length) return;
    const rows = Math.max(index + 1, Math.floor(this.free.length / this.stride));
    const wide = new Float64Array((index + 1 > rows ? (index + 1) * 2 : rows) * stride);
    for (let row = 0; row < rows; row++) {
      wide.set(this.free.subarray(row * this.stride, (row + 1) * this.stride), row * stride);
    }
    this.free = wide;
    this.stride = stride;
  }
}

function labelOf({ name, labels }: NamedLabels, key: string): string | undefined {
  if (key === nameField) return name;
  return labels !== undefined && Object.hasOwn(labels, key) ? labels[key] : undefined;
}
