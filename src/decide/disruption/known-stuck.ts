// Nodes that are due and whose pods had no place when they were last tried. Who has the same pods, while nothing more may
// be launched and no room has grown that could take one of them, need not be tried again. A bound and no proof: rules that
// pods have among each other are not in it, so all of it is forgotten now and then.

import type { Pod, ResourceList } from "../../api/pod.ts";
import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import { isEqual } from "../../api/schema/correlate.ts";
import type { Instant } from "../../api/time.ts";
import type { Effort } from "../packing/effort.ts";
import type { Picture } from "../packing/picture.ts";
import type { Pool } from "../packing/problem.ts";
import type { Amounts } from "../packing/resources.ts";
import { needsPlace } from "../packing/what-if.ts";
import { Offered } from "./consolidation/offered.ts";
import { Rooms, roomAt } from "./rooms.ts";

type Known = { readonly pods: readonly Pod[]; readonly look: number };

export class KnownStuck {
  readonly #knownByName = new Map<string, Known>();
  readonly #rooms = new Rooms();
  #offered: Offered | undefined;
  #limits: readonly Limits[] = [];
  #completeAt: Instant = Number.NEGATIVE_INFINITY;

  /** When all were last to be tried, whatever was known of them. */
  get completeAt(): Instant {
    return this.#completeAt;
  }

  forget(at: Instant): void {
    this.#knownByName.clear();
    this.#completeAt = at;
  }

  /** A look begins: what may be launched, and what room is there? */
  *begin(picture: Picture, targets: readonly string[], effort: Effort): Generator<void, void> {
    const offered = new Offered(picture.pools);
    const limits = picture.pools.map(({ pool }) => limitsOf(pool));
    const isLoosened = limits.some((now, place) => isLooser(now, this.#limits[place]));
    if (this.#offered?.isSame(offered) !== true || isLoosened) this.#knownByName.clear();
    this.#offered = offered;
    this.#limits = limits;
    yield* this.#rooms.begin(picture, targets, effort);
  }

  /** Nothing has come that could be of use to it. */
  isStill(name: string, picture: Picture, effort: Effort): boolean {
    const known = this.#knownByName.get(name);
    if (known === undefined) return false;
    const residents = residentsOf(picture, name);
    const isSame = residents.length === known.pods.length && residents.every(({ pod }, i) => pod === known.pods[i]);
    if (!isSame) return false;
    for (const index of this.#rooms.grownSince(known.look)) {
      const room = roomAt(picture, index);
      effort.work += 0.05 * residents.length;
      if (residents.some(({ amounts }) => fits(amounts, room))) return false;
    }
    return true;
  }

  note(name: string, picture: Picture): void {
    this.#knownByName.set(name, { pods: residentsOf(picture, name).map(({ pod }) => pod), look: this.#rooms.look });
  }

  /** While what was found is still laid over the picture: should it come to nothing, the room that it took has grown. */
  end(picture: Picture, gone: ReadonlySet<number>): void {
    this.#rooms.end(picture, gone);
    for (const name of this.#knownByName.keys()) {
      if (!picture.hosts.indexByName.has(name)) this.#knownByName.delete(name);
    }
  }
}

function residentsOf({ hosts, residents }: Picture, name: string) {
  return [...(residents[hosts.indexByName.get(name) ?? -1]?.values() ?? [])].filter(needsPlace);
}

function fits(amounts: Amounts, room: Amounts): boolean {
  return amounts.every((amount, r) => amount <= 0 || amount <= (room[r] ?? 0));
}

type Limits = { readonly limits: ResourceList; readonly usage: ResourceList };

function limitsOf({ limits = {}, usage = {} }: Pool): Limits {
  return { limits, usage };
}

/** Other limits, or less of them in use. */
function isLooser({ limits, usage }: Limits, before: Limits | undefined): boolean {
  if (before === undefined || !isEqual(limits, before.limits)) return true;
  return Object.entries(usage).some(([name, used]) => isLess(used, before.usage[name]));
}

function isLess(amount: string | number, before: string | number = "0"): boolean {
  const [now, then] = [parseQuantity(String(amount)), parseQuantity(String(before))];
  return !now.ok || !then.ok || compareQuantities(now.value, then.value) < 0;
}
