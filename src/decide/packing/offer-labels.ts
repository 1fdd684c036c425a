// What instance types and their offerings say about labels: a column of numbers for each label, read when somebody asks for
// it. Most labels of a catalogue nobody ever asks for.

import type { InstanceType, Offering } from "../../api/instance-type.ts";
import type { NodeRequirement } from "../../api/node-selector.ts";
import type { RequirementTable } from "./requirements.ts";
import { intersect, type ValueSet } from "./value-set.ts";

/** By offering, the place of its set among those that there are; 0: neither it nor its type speaks of the label. */
type Column = { readonly sets: readonly (ValueSet | undefined)[]; readonly byOffer: Int32Array };

export class OfferLabels {
  readonly types: readonly InstanceType[];
  /** By offering. */
  readonly typeOf: number[] = [];
  readonly prices: number[] = [];
  /** Labels that offerings speak of. */
  readonly keys = new Set<string>();
  readonly #lastKeys: string[] = [];
  readonly #offerings: Offering[] = [];
  readonly #table: RequirementTable;
  readonly #columnByKey = new Map<string, Column>();
  readonly #ofTypesByKey = new Map<string, readonly (ValueSet | undefined)[]>();

  constructor(types: readonly InstanceType[], table: RequirementTable) {
    this.types = types;
    this.#table = table;
  }

  /** Those of a type that can be had: of each type in its turn. */
  add(type: number): void {
    const offerings = this.types[type]?.offerings ?? [];
    for (let index = 0; index < offerings.length; index++) {
      const offering = offerings[index];
      if (offering?.available !== true) continue;
      this.#offerings.push(offering);
      this.typeOf.push(type);
      this.prices.push(offering.price);
      this.#noteKeys(offering.requirements);
    }
  }

  // Offerings mostly speak of the same labels in the same order.
  #noteKeys(requirements: readonly NodeRequirement[]): void {
    for (let at = 0; at < requirements.length; at++) {
      const key = requirements[at]?.key ?? "";
      if (this.#lastKeys[at] === key) continue;
      this.#lastKeys[at] = key;
      this.keys.add(key);
    }
  }

  /** What types alone say, by type. */
  ofTypes(key: string): readonly (ValueSet | undefined)[] {
    let sets = this.#ofTypesByKey.get(key);
    if (sets === undefined) {
      sets = this.types.map(({ requirements }) => this.#setOf(requirements, key));
      this.#ofTypesByKey.set(key, sets);
    }
    return sets;
  }

  /** What type and offering say together. */
  column(key: string): Column {
    let column = this.#columnByKey.get(key);
    if (column === undefined) {
      column = this.#read(key);
      this.#columnByKey.set(key, column);
    }
    return column;
  }

  // Equal sets are one, so each pair of a type's and an offering's is met once.
  #read(key: string): Column {
    const sets: (ValueSet | undefined)[] = [undefined];
    const byOffer = new Int32Array(this.#offerings.length);
    const ofTypes = this.ofTypes(key);
    const numbersByType = new Map<ValueSet | undefined, Map<ValueSet | undefined, number>>();
    let numbers = new Map<ValueSet | undefined, number>();
    let ofType: ValueSet | undefined;
    for (let offer = 0, type = -1; offer < byOffer.length; offer++) {
      if (this.typeOf[offer] !== type) {
        type = this.typeOf[offer] ?? 0;
        ofType = ofTypes[type];
        numbers = numbersByType.get(ofType) ?? new Map();
        numbersByType.set(ofType, numbers);
      }
      const own = this.#setOf(this.#offerings[offer]?.requirements ?? [], key);
      let number = numbers.get(own);
      if (number === undefined) {
        const both = ofType && own ? intersect(ofType, own) : (ofType ?? own);
        number = both === undefined ? 0 : sets.push(both) - 1;
        numbers.set(own, number);
      }
      byOffer[offer] = number;
    }
    return { sets, byOffer };
  }

  #setOf(requirements: readonly NodeRequirement[], key: string): ValueSet | undefined {
    let set: ValueSet | undefined;
    for (let at = 0; at < requirements.length; at++) {
      const one = requirements[at];
      if (one?.key !== key) continue;
      const own = this.#table.set(one);
      set = set === undefined ? own : intersect(set, own);
    }
    return set;
  }
}
