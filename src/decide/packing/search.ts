// One question's working state: what is still to place, the nodes opened for it, what was placed where. Everything it
// does to the picture it can take back.

import { type Pod, podKey } from "../../api/pod.ts";
import { admit, type Surroundings, type Trouble } from "./admit.ts";
import type { Target } from "./answer.ts";
import type { Count } from "./census.ts";
import { atOnce, type Effort } from "./effort.ts";
import { hostTrouble, isAdmitted } from "./host-rules.ts";
import { isPlain, type Kind, type SpreadRule } from "./kind.ts";
import { tooFewValues } from "./min-values.ts";
import { cheapestType, domainOn, type OpenNode, type Seated, sum } from "./node-view.ts";
import type { Pending, PodClass } from "./pending.ts";
import type { Picture } from "./picture.ts";
import type { PoolTemplate } from "./pool-template.ts";
import type { Amounts } from "./resources.ts";
import type { State, Template } from "./template.ts";
import { balanced, evenWorth, type Machine, unbeaten, worth } from "./worth.ts";

export type Placed = Seated & { readonly target: Target };

export type FitTrouble = Trouble | "minValues" | "volume in use";

export type PoolLeft = { pool: PoolTemplate; limits: Amounts | undefined; nodes: number };

/** A node that could be made: what is still possible for it, and the pool that pays for it. */
export type Opening = { node: OpenNode; state: State; type: number; left: PoolLeft };

/** A type, and what its room is worth for its price. */
export type Promising = { readonly type: number; readonly value: number };

/** How far a walk over the hosts has come, and how many in a row took no pod. */
export type Way = { at: number; misses: number };

/** A node to draw pods for, and what those ask for that were drawn. */
export type Seat = { readonly node: OpenNode; readonly target: Target; readonly drawn: Amounts };

type SearchOptions = { readonly gone?: ReadonlySet<number> | undefined; readonly isThorough?: boolean };

/** So few pods do not pay for the search of exact prices. */
const few = 500;

export class Search {
  readonly picture: Picture;
  readonly pending: Pending;
  readonly opened: OpenNode[] = [];
  readonly placed: Placed[] = [];
  placedCount = 0;
  readonly pools: PoolLeft[];
  /** Of each resource, to fill machines evenly by; nothing before `price`. */
  worth: Float64Array;
  /** What the demand itself makes them worth, where that was asked for. */
  exact: Float64Array | undefined;
  /** New machines are going to be launched on its word: they are chosen with more care. */
  readonly isThorough: boolean;
  readonly around: Surroundings;
  readonly settled = new Map<Count, ReadonlySet<number>>();
  /** Effort since it was last asked for, in units of about a microsecond. */
  work = 0;
  /** Nodes that rules, not room, kept from being filled. */
  readonly roomy: Opening[] = [];
  /** What the nodes opened so far cost when they were filled. */
  spent = 0;
  readonly #hosted: { index: number; kind: Kind; amounts: Amounts; count: number }[] = [];
  readonly #counted: { count: Count; domain: number }[] = [];
  readonly #before: { node: OpenNode; state: State; used: Amounts; ports: OpenNode["ports"]; seated: number }[];
  /** The name of the next node to be opened. */
  nextHost: number;
  readonly #launchable = new Map<Kind, boolean>();
  readonly #gone: ReadonlySet<number>;
  #grain: Amounts = new Float64Array(0);
  readonly #roomsByTemplate = new Map<Template, readonly Amounts[]>();
  readonly #largestByTemplate = new Map<Template, Amounts>();
  /** What open.ts has found out about types while there was plenty left to place. */
  readonly promisingByState = new Map<State, readonly Promising[]>();

  constructor(picture: Picture, pending: Pending, { gone = new Set(), isThorough = false }: SearchOptions = {}) {
    this.picture = picture;
    this.#gone = gone;
    this.isThorough = isThorough;
    this.pools = picture.pools.map(pool => ({ pool, limits: pool.limits?.slice(), nodes: pool.limitedNodes }));
    this.around = {
      texts: picture.texts,
      hostMin: (rule, kind) => this.#hostMin(rule, kind),
      settled: this.settled,
    };
    this.nextHost = picture.texts.fresh();
    this.pending = pending;
    this.worth = new Float64Array(picture.space.names.length);
    this.#before = picture.upcoming.map(node => ({ ...node, node, seated: node.seated.length }));
  }

  /** Finds out what resources are worth, given what is asked for and what could be launched. */
  *price(effort: Effort): Generator<void, void> {
    this.#grain = yield* this.pending.grain(effort);
    const machines: Machine[] = this.picture.pools.flatMap(({ template }) =>
      this.rooms(template).map((room, type) => ({
        room,
        price: template.root.priceByType[type] ?? Number.POSITIVE_INFINITY,
      })),
    );
    const priced = machines.filter(({ price }) => Number.isFinite(price) && price > 0);
    effort.work += machines.length;
    yield;
    const { demand } = this.pending;
    if (!this.isThorough && this.pending.count <= few) this.worth = evenWorth(priced, demand);
    else {
      const best = unbeaten(priced, demand);
      this.exact = yield* this.#exactWorth(best, effort);
      this.worth = balanced(this.exact, best, demand);
    }
    if (!this.worth.some(one => one > 0)) this.worth = demand.map(one => (one > 0 ? 1 / one : 0));
  }

  *#exactWorth(machines: readonly Machine[], effort: Effort): Generator<void, Float64Array> {
    const steps = worth(machines, this.pending.demand);
    for (;;) {
      const { done, value } = steps.next();
      effort.work += machines.length;
      if (done === true) return value;
      yield;
    }
  }

  /**
   * What of each type's room the pods can use: where all ask for halves of a CPU, four CPUs less a tenth are three and a
   * half. So types are compared by what they hold, and a node that is as full as it can get counts as full.
   */
  rooms(template: Template): readonly Amounts[] {
    let rooms = this.#roomsByTemplate.get(template);
    if (rooms === undefined) {
      rooms = template.room.map(room => inWholes(room, this.#grain));
      this.#roomsByTemplate.set(template, rooms);
    }
    return rooms;
  }

  /** Whether more is left to place than any type holds, of everything that is worth something. */
  isPlenty(template: Template, share: Amounts): boolean {
    let largest = this.#largestByTemplate.get(template);
    if (largest === undefined) {
      largest = largestOf(this.rooms(template), share.length);
      this.#largestByTemplate.set(template, largest);
    }
    for (let r = 0; r < share.length; r++) {
      if ((this.worth[r] ?? 0) > 0 && (share[r] ?? 0) < (largest[r] ?? 0)) return false;
    }
    return true;
  }

  /** Puts as many pods of the class on nodes that exist as they take. */
  onHosts(one: PodClass): void {
    this.walk(one, { at: 0, misses: 0 }, Number.POSITIVE_INFINITY);
  }

  /** Those for whom a host is named, there, if they may: as long as one may, for others may be let in by it. */
  onto(one: PodClass, hosts: ReadonlyMap<string, number>): void {
    const isPlainKind = isPlain(one.kind);
    let named = one.pods.flatMap(pod => hosts.get(podKey(pod)) ?? []);
    for (let count = -1; named.length !== count; ) {
      count = named.length;
      named = named.filter(index => {
        const mayGo = this.picture.hosts.fits(index, one.size.amounts) && this.#isFree(one, index, isPlainKind);
        if (mayGo) this.#putOnHost(one, index, { isPlainKind, most: 1 });
        return !mayGo;
      });
    }
  }

  /** The same with so much effort at most; says whether it came to its end. */
  walk(one: PodClass, way: Way, most: number): boolean {
    const { hosts } = this.picture;
    const { order } = hosts;
    const { kind } = one;
    const { amounts } = one.size;
    // Room only shrinks, so one walk over the nodes is enough unless rules about others may open a node again.
    const isOneWalk = kind.asks.length === 0;
    const plain = isPlain(kind);
    const end = this.work + most;
    while (one.pods.length > 0 && way.misses < order.length) {
      if (this.work >= end) return false;
      const at = hosts.nextRoom(way.at, amounts);
      const passed = at - way.at;
      this.work += 0.02 + 0.002 * passed;
      way.misses += passed;
      way.at = at;
      if (at < order.length) {
        const index = order[at] ?? 0;
        if (this.#isFree(one, index, plain)) {
          this.#putOnHost(one, index, { isPlainKind: plain, most: Number.POSITIVE_INFINITY });
          way.misses = 0;
          continue;
        }
        way.misses++;
        way.at++;
      }
      if (way.at < order.length) continue;
      if (isOneWalk) break;
      way.at = 0;
    }
    return true;
  }

  onUpcoming(one: PodClass): boolean {
    for (const node of this.picture.upcoming) {
      while (one.pods.length > 0 && typeof this.joinNode(one, node) !== "string");
    }
    return one.pods.length === 0;
  }

  /** Puts the next pod of the class on a node that is open, or says what is in the way. */
  joinNode(one: PodClass, node: OpenNode): OpenNode | FitTrouble {
    const state = this.fit(one, node);
    if (typeof state === "string") return state;
    this.put(one, node, state);
    return node;
  }

  fit({ kind, size }: PodClass, node: OpenNode): State | FitTrouble {
    this.work += 3;
    if (!this.isTolerated(kind, node)) return "taints";
    if (this.isInUse(kind)) return "volume in use";
    const used = sum(node.used, size.amounts);
    const holds = (one: State) => cheapestType(node, one, used) >= 0;
    const state = admit(kind, node, { around: this.around, holds });
    if (typeof state === "string") return state;
    return node.template.minValues.length > 0 && tooFewValues(node, state, used) !== undefined ? "minValues" : state;
  }

  put(one: PodClass, node: OpenNode, state: State): void {
    const { kind, size } = one;
    const pod = this.pending.take(one);
    if (pod === undefined) return;
    this.work += 3;
    node.state = state;
    node.used = sum(node.used, size.amounts);
    if (kind.ports.length > 0) node.ports = [...node.ports, ...kind.ports];
    const domainOf = (count: Count): number => {
      const domain = domainOn(node, count, this.picture.texts);
      if (domain !== 0) this.#counted.push({ count, domain });
      return domain;
    };
    this.picture.tally(kind, domainOf, { by: 1, terminating: false });
    node.seated.push(this.#place({ pods: [pod], kind, target: targetOf(node) }));
  }

  #place(placed: Placed): Placed {
    this.placed.push(placed);
    this.placedCount += placed.pods.length;
    return placed;
  }

  /** So many pods of a plain class; what they ask for is told at the end, with that of others: `settle`. */
  draw(one: PodClass, { node, target, drawn }: Seat, count: number): void {
    const { kind, size } = one;
    const { pending } = this;
    const { cells, stride } = pending.table;
    let seated = this.placed[this.placed.length - 1];
    if (seated?.target !== target || seated.kind !== kind) {
      seated = { pods: [], kind, target };
      this.placed.push(seated);
      node.seated.push(seated);
    }
    for (let rest = count; rest > 0; rest--) {
      const pod = one.pods.pop();
      if (pod !== undefined) seated.pods.push(pod);
    }
    this.placedCount += count;
    pending.drew(size.row, count);
    for (let r = 0; r < stride; r++) drawn[r] = (drawn[r] ?? 0) + count * (cells[size.row * stride + r] ?? 0);
    this.work += 0.5 * count;
  }

  settle({ node, drawn }: Seat): void {
    node.used = sum(node.used, drawn);
    this.pending.gave(drawn);
  }

  /** A claim of its own that only one pod may use, and another does. */
  isInUse({ volumes }: Kind): boolean {
    return volumes.exclusive.some(claim => (this.picture.exclusiveUsers.get(claim) ?? 0) > 0);
  }

  isTolerated(kind: Kind, { template, pool }: OpenNode): boolean {
    if (pool < 0) return template.toleratedBy(kind.tolerations, kind.wishes.avoidsPreferNoSchedule);
    if (kind.tolerated[pool] === 0) {
      const is = template.toleratedBy(kind.tolerations, kind.wishes.avoidsPreferNoSchedule);
      kind.tolerated[pool] = is ? 1 : 2;
    }
    return kind.tolerated[pool] === 1;
  }

  effort(): number {
    const { work } = this;
    this.work = 0;
    return work;
  }

  isGone(index: number): boolean {
    return this.#gone.has(index);
  }

  open(node: OpenNode): void {
    this.opened.push(node);
    this.nextHost = this.picture.texts.fresh();
  }

  /** A pool has no more to give: what could be launched must be asked anew. */
  exhaust(left: PoolLeft): void {
    left.nodes = 0;
    this.#launchable.clear();
  }

  /** Leaves the picture as it was before the question. */
  undo(): void {
    atOnce(this.undoing({ work: 0 }));
  }

  /** The same in slices; whoever drops it half-way must `undo` the rest. */
  *undoing(effort: Effort): Generator<void, void> {
    for (let one = this.#hosted.pop(); one !== undefined; one = this.#hosted.pop()) {
      const taken = { footprint: one.kind, amounts: one.amounts, terminating: false };
      // One by one: what was plain then may be counted by now.
      for (let rest = one.count; rest > 0; rest--) this.picture.occupy(one.index, taken, -1);
      effort.work += one.count;
      if (this.#hosted.length % 256 === 0) yield;
    }
    this.placedCount = 0;
    for (const { count, domain } of this.#counted.splice(0)) count.counter.add(domain, -1);
    for (const { kind, target } of this.placed.splice(0)) {
      if (target.kind === "existing") continue;
      // Whoever uses such a claim was put alone.
      for (const claim of kind.volumes.exclusive) {
        this.picture.exclusiveUsers.set(claim, (this.picture.exclusiveUsers.get(claim) ?? 0) - 1);
      }
    }
    for (const { node, state, used, ports, seated } of this.#before.splice(0)) {
      Object.assign(node, { state, used, ports, cheapest: undefined });
      node.seated.length = seated;
    }
    this.pending.withdraw();
  }

  /** Of a host that has the room. */
  #isFree({ kind, size }: PodClass, index: number, plain: boolean): boolean {
    if (this.#gone.has(index)) return false;
    this.work += 0.3;
    const place = { picture: this.picture, index, around: this.around };
    return isAdmitted(kind, place) && (plain || hostTrouble(kind, size.amounts, place) === undefined);
  }

  #putOnHost(
    one: PodClass,
    index: number,
    { isPlainKind: plain, most }: { readonly isPlainKind: boolean; readonly most: number },
  ): void {
    const { kind } = one;
    const { amounts, row } = one.size;
    const { hosts } = this.picture;
    const target: Target = { kind: "existing", node: hosts.nodes[index]?.node.metadata.name ?? "" };
    // As many as fit, where one is as good as the other.
    const count = plain ? Math.min(one.pods.length, most, hosts.countOf(index, amounts)) : 1;
    this.work += 1 + count * 0.3;
    this.#hosted.push({ index, kind, amounts, count });
    if (!plain) {
      const pod = this.pending.take(one);
      this.picture.occupy(index, { footprint: kind, amounts, terminating: false }, 1);
      if (pod !== undefined) this.#place({ pods: [pod], kind, target });
      return;
    }
    this.picture.occupyPlainly(index, { footprint: kind, amounts }, count);
    const pods: Pod[] = [];
    for (let rest = count; rest > 0; rest--) {
      const pod = one.pods.pop();
      if (pod !== undefined) pods.push(pod);
    }
    this.#place({ pods, kind, target });
    this.pending.drew(row, count);
    this.pending.gave(amounts, count);
  }

  // While a pool can launch a node for the pod, there is always a host with none of the counted pods.
  #hostMin({ count, minDomains }: SpreadRule, kind: Kind): number {
    if (this.#canLaunch(kind)) return 0;
    const { counter } = count;
    let domains = counter.domainCount;
    let least = domains === 0 ? Number.POSITIVE_INFINITY : counter.min();
    for (const node of this.opened) {
      if (domainOn(node, count, this.picture.texts) === 0) continue;
      domains++;
      least = Math.min(least, counter.count(node.host));
    }
    return domains < minDomains || domains === 0 ? 0 : least;
  }

  #canLaunch(kind: Kind): boolean {
    let can = this.#launchable.get(kind);
    if (can === undefined) {
      can = this.pools.some(
        ({ pool: { template }, nodes }) =>
          nodes >= 1 &&
          template.toleratedBy(kind.tolerations, kind.wishes.avoidsPreferNoSchedule) &&
          kind.alternatives.some(one => template.join(template.root, one) !== undefined),
      );
      this.#launchable.set(kind, can);
    }
    return can;
  }
}

function largestOf(rooms: readonly Amounts[], length: number): Amounts {
  const largest = new Float64Array(length);
  for (let type = 0; type < rooms.length; type++) {
    for (let r = 0; r < length; r++) largest[r] = Math.max(largest[r] ?? 0, rooms[type]?.[r] ?? 0);
  }
  return largest;
}

function inWholes(room: Amounts, grain: Amounts): Amounts {
  const wholes = new Float64Array(room.length);
  for (let r = 0; r < room.length; r++) {
    const one = grain[r] ?? 0;
    wholes[r] = one > 0 ? Math.floor((room[r] ?? 0) / one) * one : (room[r] ?? 0);
  }
  return wholes;
}

export function targetOf({ claim, index }: OpenNode): Target {
  return claim === undefined ? { kind: "new", index } : { kind: "upcoming", claim };
}
