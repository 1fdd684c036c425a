// How fast nodes of a zone that fail are given up: kube-controller-manager's limits (1.36). One node in ten seconds;
// where more than half of a zone fails, hardly any or none; where every node of the cluster fails, none: then it is
// more likely that we are cut off than they.

import { regionKey, zoneKey } from "../../api/node.ts";
import { isReady } from "./conditions.ts";
import type { Node } from "./objects.ts";

const everyMs = 10_000;
const everyMsInLargeZones = 100_000;
const largeZoneMin = 51;
const disruptedShare = 0.55;

type Zone = { readyByName: Map<string, boolean>; readyCount: number; nextAt: number; waiting: Set<string> };
export type ZoneState = "normal" | "partial" | "full";

export class ZonePace {
  readonly #zones = new Map<string, Zone>();
  readonly #zoneByNode = new Map<string, string>();
  readonly #wake: (nodeName: string) => void;
  #wasHeld = false;

  /** `wake` is called for nodes whose turn has to be asked for again, because the state of a zone changed. */
  constructor(wake: (nodeName: string) => void) {
    this.#wake = wake;
  }

  nodeChanged(node: Node, isGone: boolean): void {
    const { name } = node.metadata;
    const zoneName = zoneOf(node);
    const before = this.#zoneByNode.get(name);
    const state = this.#state(zoneName);
    if (before !== undefined && (isGone || before !== zoneName)) this.#leave(before, name);
    if (!isGone) this.#join(zoneName, name, isReady(node));
    const isHeld = this.isHeld();
    if (isHeld !== this.#wasHeld) this.#wakeAll();
    else if (this.#state(zoneName) !== state) this.#wakeWaiting(zoneName);
    this.#wasHeld = isHeld;
  }

  /** Nothing is given up while no node of the cluster is ready. */
  isHeld(): boolean {
    return this.#zones.size > 0 && [...this.#zones.values()].every(zone => stateOf(zone) === "full");
  }

  /** The instant at which this node may be given up; a turn that has come is used up. Infinity: not as things are. */
  turnOf(node: Node, now: number): number {
    const zone = this.#zones.get(zoneOf(node));
    if (zone === undefined) return now;
    const { name } = node.metadata;
    const waitMs = waitOf(zone);
    if (waitMs === Number.POSITIVE_INFINITY) {
      zone.waiting.add(name);
      return waitMs;
    }
    // Those that waited before have their turns before.
    const ahead = [...zone.waiting].indexOf(name);
    const position = ahead < 0 ? zone.waiting.size : ahead;
    const turnAt = Math.max(now, zone.nextAt) + position * waitMs;
    if (turnAt > now) {
      zone.waiting.add(name);
      return turnAt;
    }
    zone.waiting.delete(name);
    zone.nextAt = now + waitMs;
    return now;
  }

  #state(zoneName: string): ZoneState | undefined {
    const zone = this.#zones.get(zoneName);
    return zone && stateOf(zone);
  }

  #join(zoneName: string, name: string, isNodeReady: boolean): void {
    const zone = this.#zones.get(zoneName) ?? { readyByName: new Map(), readyCount: 0, nextAt: 0, waiting: new Set() };
    this.#zones.set(zoneName, zone);
    zone.readyCount += Number(isNodeReady) - Number(zone.readyByName.get(name) ?? false);
    zone.readyByName.set(name, isNodeReady);
    if (isNodeReady) zone.waiting.delete(name);
    this.#zoneByNode.set(name, zoneName);
  }

  #leave(zoneName: string, name: string): void {
    this.#zoneByNode.delete(name);
    const zone = this.#zones.get(zoneName);
    if (zone === undefined) return;
    zone.readyCount -= Number(zone.readyByName.get(name) ?? false);
    zone.readyByName.delete(name);
    zone.waiting.delete(name);
    if (zone.readyByName.size === 0) this.#zones.delete(zoneName);
  }

  #wakeWaiting(zoneName: string): void {
    for (const name of this.#zones.get(zoneName)?.waiting ?? []) this.#wake(name);
  }

  #wakeAll(): void {
    for (const { readyByName } of this.#zones.values()) {
      for (const [name, isNodeReady] of readyByName) if (!isNodeReady) this.#wake(name);
    }
  }
}

export function zoneState(readyCount: number, notReadyCount: number): ZoneState {
  if (readyCount === 0 && notReadyCount > 0) return "full";
  return notReadyCount > 2 && notReadyCount / (readyCount + notReadyCount) >= disruptedShare ? "partial" : "normal";
}

function stateOf({ readyByName, readyCount }: Zone): ZoneState {
  return zoneState(readyCount, readyByName.size - readyCount);
}

function waitOf(zone: Zone): number {
  if (stateOf(zone) !== "partial") return everyMs;
  return zone.readyByName.size >= largeZoneMin ? everyMsInLargeZones : Number.POSITIVE_INFINITY;
}

function zoneOf({ metadata }: Node): string {
  return `${metadata.labels?.[regionKey] ?? ""}/${metadata.labels?.[zoneKey] ?? ""}`;
}
