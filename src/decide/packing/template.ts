// What a pool can launch, or a claim can still become: instance types with their offerings, narrowed step by step by the
// requirements of the pods put on a node. Each narrowing is made once and remembered as a state.

import type { InstanceType } from "../../api/instance-type.ts";
import { hostnameKey } from "../../api/node.ts";
import { type Toleration, type Taint, untoleratedTaint } from "../../api/taint.ts";
import { everyBit, hasBit, setBit, wordsFor } from "./bits.ts";
import type { Effort } from "./effort.ts";
import type { HostPort } from "./host-ports.ts";
import { OfferLabels } from "./offer-labels.ts";
import type { PoolRequirement } from "./problem.ts";
import { nameField, type Requirements, type RequirementTable, type SetByKey } from "./requirements.ts";
import type { Amounts, ResourceSpace } from "./resources.ts";
import {
  intersect,
  isImpossible,
  oneOf,
  onlyAbsent,
  onlyValue,
  overlaps,
  setSignature,
  type ValueSet,
} from "./value-set.ts";

const whatever: ValueSet = { absent: true, complement: true, values: new Set() };

export type State = {
  readonly template: Template;
  readonly sets: SetByKey;
  /** A bit for each offering that is still possible. */
  readonly offers: Uint32Array;
  /** By type; infinite where no offering is left. */
  readonly priceByType: Float64Array;
  readonly cheapest: number;
  /** The types that are left, by price; among equals by name. */
  readonly byPrice: Int32Array;
  readonly childById: Map<number, State | undefined>;
  readonly valuesByKey: Map<string, readonly string[]>;
};

export type TemplateInput = {
  name: string;
  base: SetByKey;
  taints: readonly Taint[];
  instanceTypes: readonly InstanceType[];
  minValues?: readonly PoolRequirement[];
};

/** Where names and requirements get their numbers. */
export type Tables = { readonly space: ResourceSpace; readonly table: RequirementTable };

type Parts = { labels: OfferLabels; room: Amounts[]; space: ResourceSpace; table: RequirementTable };

export function* makeTemplate(
  input: TemplateInput,
  { space, table }: Tables,
  effort: Effort,
): Generator<void, Template> {
  const types = [...input.instanceTypes].sort((a, b) => (a.name < b.name ? -1 : 1));
  const labels = new OfferLabels(types, table);
  const room: Amounts[] = [];
  for (let type = 0; type < types.length; type++) {
    labels.add(type);
    room.push(space.amounts(types[type]?.allocatable));
    effort.work += 4;
    if (type % 64 === 63) yield;
  }
  for (const key of labels.keys) {
    labels.column(key);
    effort.work += types.length + labels.prices.length;
    yield;
  }
  const template = new Template(input, { labels, room, space, table });
  effort.work += 1.5 * labels.prices.length;
  yield;
  return template;
}

export class Template {
  readonly name: string;
  readonly base: SetByKey;
  readonly taints: readonly Taint[];
  readonly types: readonly InstanceType[];
  readonly minValues: readonly PoolRequirement[];
  /** What is left of each type for pods that are no daemons, by type. */
  readonly room: readonly Amounts[];
  /** What daemons take of each type. */
  readonly daemons: Amounts[] = [];
  readonly root: State;
  /** Of the daemons that run on its nodes. */
  daemonPorts: readonly HostPort[] = [];
  readonly #table: RequirementTable;
  readonly #space: ResourceSpace;
  readonly #labels: OfferLabels;
  #capacity: readonly Amounts[] | undefined;
  readonly #stateBySignature = new Map<string, State | undefined>();
  readonly #maskBySet = new Map<string, Uint32Array>();

  constructor(input: TemplateInput, { labels, room, space, table }: Parts) {
    this.#table = table;
    this.#space = space;
    this.#labels = labels;
    this.name = input.name;
    this.base = input.base;
    this.taints = input.taints;
    this.minValues = input.minValues ?? [];
    this.types = labels.types;
    this.room = room;
    this.root = this.#root();
  }

  /** By type; asked for only where there are limits. */
  get capacity(): readonly Amounts[] {
    this.#capacity ??= this.types.map(({ capacity }) => this.#space.amounts(capacity));
    return this.#capacity;
  }

  /** What types say about a label, by type. */
  typeSets(key: string): readonly (ValueSet | undefined)[] {
    return this.#labels.ofTypes(key);
  }

  toleratedBy(tolerations: readonly Toleration[], avoidsPreferNoSchedule: boolean): boolean {
    const counts = ({ effect }: Taint) => effect !== "PreferNoSchedule" || avoidsPreferNoSchedule;
    return untoleratedTaint(this.taints, tolerations, { counts }) === undefined;
  }

  /** The state with these requirements on top; undefined: nothing could be launched. */
  join(state: State, requirements: Requirements): State | undefined {
    const known = state.childById.get(requirements.id);
    if (known !== undefined || state.childById.has(requirements.id)) return known;
    const child = this.#narrowed(state, requirements.sets);
    state.childById.set(requirements.id, child);
    return child;
  }

  /** The state in which a label has one of these values; with none of them, the one in which it is absent. */
  pin(state: State, key: string, values: readonly string[]): State | undefined {
    const set = values.length === 0 ? onlyAbsent : oneOf(values);
    return this.join(state, this.#table.intern(new Map([[key, set]])));
  }

  /** The state in which a label has none of these values. */
  ban(state: State, key: string, values: readonly string[]): State | undefined {
    const set = { absent: true, complement: true, values: new Set(values) };
    return this.join(state, this.#table.intern(new Map([[key, set]])));
  }

  /** The values that a label can have, sorted; none if the node will not have the label. */
  values(state: State, key: string): readonly string[] {
    let values = state.valuesByKey.get(key);
    if (values === undefined) {
      values = this.#values(state, key);
      state.valuesByKey.set(key, values);
    }
    return values;
  }

  /** How many types are left in a state, for explanations. */
  typeCount(state: State): number {
    return state.priceByType.reduce((count, price) => (Number.isFinite(price) ? count + 1 : count), 0);
  }

  #root(): State {
    const all = everyBit(this.#labels.prices.length);
    // An offering outside its own type's requirements is none.
    for (const key of this.#labels.keys) and(all, this.#mask(key, whatever));
    for (const [key, set] of this.base) and(all, this.#mask(key, set));
    return this.#state(this.base, all);
  }

  #narrowed(state: State, wanted: SetByKey): State | undefined {
    if (wanted.size === 0) return state;
    const sets = new Map(state.sets);
    for (const [key, set] of wanted) {
      if (key === hostnameKey || key === nameField) {
        // The name of a node to be made is none that anybody could have asked for.
        if (!set.complement || set.min !== undefined || set.max !== undefined) return undefined;
        continue;
      }
      const before = sets.get(key);
      const both = before === undefined ? set : intersect(before, set);
      if (isImpossible(both)) return undefined;
      sets.set(key, both);
    }
    const signature = [...sets]
      .map(([key, set]) => `${key} ${setSignature(set)}`)
      .sort()
      .join("\n");
    const known = this.#stateBySignature.get(signature);
    if (known !== undefined || this.#stateBySignature.has(signature)) return known;
    const offers = state.offers.slice();
    for (const [key, set] of sets) if (state.sets.get(key) !== set) and(offers, this.#mask(key, set));
    const made = offers.some(word => word !== 0) ? this.#state(sets, offers) : undefined;
    this.#stateBySignature.set(signature, made);
    return made;
  }

  #state(sets: SetByKey, offers: Uint32Array): State {
    const { typeOf, prices } = this.#labels;
    const priceByType = new Float64Array(this.types.length).fill(Number.POSITIVE_INFINITY);
    let cheapest = Number.POSITIVE_INFINITY;
    for (let offer = 0; offer < prices.length; offer++) {
      if (!hasBit(offers, offer)) continue;
      const type = typeOf[offer] ?? 0;
      const price = prices[offer] ?? 0;
      if (price < (priceByType[type] ?? 0)) priceByType[type] = price;
      if (price < cheapest) cheapest = price;
    }
    const left: number[] = [];
    for (let type = 0; type < priceByType.length; type++) if (Number.isFinite(priceByType[type])) left.push(type);
    const byPrice = Int32Array.from(left.sort((a, b) => (priceByType[a] ?? 0) - (priceByType[b] ?? 0) || a - b));
    return {
      template: this,
      sets,
      offers,
      priceByType,
      cheapest,
      byPrice,
      childById: new Map(),
      valuesByKey: new Map(),
    };
  }

  // The offerings under which the label can be as asked. A label that nobody speaks of will be absent, unless the pool
  // speaks of it: then it gets whatever value is asked for.
  #mask(key: string, set: ValueSet): Uint32Array {
    const signature = `${key} ${[set.absent, set.complement, set.min, set.max, ...set.values].join(" ")}`;
    let mask = this.#maskBySet.get(signature);
    if (mask === undefined) {
      const { sets, byOffer } = this.#labels.column(key);
      const isSilentRight = this.base.has(key) || set.absent;
      const isPossible = sets.map(one => (one === undefined ? isSilentRight : overlaps(one, set)));
      mask = isPossible.includes(false) ? bitsOf(byOffer, isPossible) : everyBit(byOffer.length);
      this.#maskBySet.set(signature, mask);
    }
    return mask;
  }

  #values(state: State, key: string): readonly string[] {
    const found = new Set<string>();
    const wanted = state.sets.get(key);
    const only = wanted && onlyValue(wanted);
    if (only !== undefined) return [only];
    const { sets, byOffer } = this.#labels.column(key);
    const isLeft = new Uint8Array(sets.length);
    for (let offer = 0; offer < byOffer.length; offer++) {
      if (hasBit(state.offers, offer)) isLeft[byOffer[offer] ?? 0] = 1;
    }
    for (const [number, offered] of sets.entries()) {
      if (isLeft[number] === 0) continue;
      const set = offered && wanted ? intersect(offered, wanted) : (offered ?? wanted);
      if (set === undefined || set.complement) continue;
      for (const value of set.values) found.add(value);
    }
    return [...found].sort();
  }
}

/** Whether the node will have the label, with one of the values that are left. */
export function isSure({ sets }: State, key: string): boolean {
  const set = sets.get(key);
  return set !== undefined && !set.absent && !set.complement;
}

/** By offering, whether its set is possible. */
function bitsOf(byOffer: Int32Array, isPossible: readonly boolean[]): Uint32Array {
  const bits = new Uint32Array(wordsFor(byOffer.length));
  for (let offer = 0; offer < byOffer.length; offer++) {
    if (isPossible[byOffer[offer] ?? 0] === true) setBit(bits, offer);
  }
  return bits;
}

function and(bits: Uint32Array, mask: Uint32Array): void {
  for (let word = 0; word < bits.length; word++) bits[word] = (bits[word] ?? 0) & (mask[word] ?? 0);
}
