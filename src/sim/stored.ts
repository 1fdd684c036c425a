// One object at one resourceVersion, as a value, written out, or both. Recently used ones are kept parsed; the rest as
// wire bytes alone, which is what lets 150,000 pods fit.

import type { KubeObject } from "../api/meta.ts";
import type { Stored } from "./request.ts";
import { Written } from "./written.ts";

/** What an object not yet written out is taken to weigh; only the bound on history needs it. */
const assumedBytes = 4096;

type Placing = { isInUse?: boolean; indexed?: string | undefined };

export type Texts = Readonly<Record<string, string>>;

export class StoredObject implements Stored {
  #labels: Texts | null | undefined;
  #fields: Texts | undefined;
  #object: KubeObject | undefined;
  #written: Written | undefined;
  #isSuperseded = false;
  /** When it was last parsed or written, by the count of `recent`. */
  #usedAt: number;
  #isInUse: boolean;
  #views: Map<string, StoredObject> | undefined;
  readonly #recent: RecentlyUsed;

  /** The value by which its collection's index finds it. */
  readonly indexed: string | undefined;

  /** `isInUse`: it is written or read again and again, and stays parsed for longer. */
  constructor(object: KubeObject, recent: RecentlyUsed, { isInUse = false, indexed }: Placing = {}) {
    this.#object = object;
    this.#recent = recent;
    this.#isInUse = isInUse;
    this.indexed = indexed;
    this.#usedAt = recent.add(this, isInUse);
  }

  get isInUse(): boolean {
    return this.#isInUse;
  }

  get object(): KubeObject {
    return this.read();
  }

  /** For who is about to look into one of its fields: that one is not left unread. */
  read(field?: string): KubeObject {
    if (this.#object !== undefined) return this.#object;
    const written = this.#written as Written; // cool() leaves it behind
    // Most of what is read or changed once is left alone for a long time then.
    this.#isInUse = this.#recent.isRecent(this.#usedAt);
    const object = this.#isInUse ? written.whole() : written.inParts(field);
    this.#object = object;
    this.#usedAt = this.#recent.add(this, this.#isInUse);
    return object;
  }

  /** Labels and selectable fields are kept once asked for, also when the object cools: selecting parses nothing twice. */
  get labels(): Texts | undefined {
    if (this.#labels === undefined) this.#labels = this.object.metadata.labels ?? null;
    return this.#labels ?? undefined;
  }

  fields(read: (object: KubeObject) => Texts): Texts {
    this.#fields ??= read(this.object);
    return this.#fields;
  }

  get json(): Buffer {
    return this.#write().bytes;
  }

  get bytes(): number {
    return this.#written?.bytes.length ?? assumedBytes;
  }

  /** The same object in another version of its kind, made once however many watchers ask. */
  view(version: string, convert: (object: KubeObject) => KubeObject): StoredObject {
    const known = this.#views?.get(version);
    if (known !== undefined) return known;
    const view = new StoredObject(convert(this.object), this.#recent);
    // Making it may have cooled this very object, which then keeps no views.
    if (this.#object !== undefined) (this.#views ??= new Map()).set(version, view);
    return view;
  }

  /** Another version took its place: what is left of its life in history is not worth writing it out. */
  supersede(): void {
    this.#isSuperseded = true;
  }

  /** Keeps the bytes alone. */
  cool(): void {
    if (this.#object === undefined || (this.#isSuperseded && this.#written === undefined)) return;
    this.#write();
    this.#object = undefined;
    this.#views = undefined;
  }

  #write(): Written {
    this.#written ??= new Written(this.#object as KubeObject); // one of the two is always there
    return this.#written;
  }
}

/**
 * First in, first out, in two rings: a large one for what is used again soon, a small one for all others. Loading a big
 * cluster, or changing each of its objects once, so leaves little behind that was parsed and aged.
 */
export class RecentlyUsed {
  readonly #rings: { readonly used: Ring; readonly once: Ring } | undefined;
  readonly #capacity: number;
  #useCount = 0;

  /** With a capacity of Infinity nothing ever cools, and nothing need be remembered for it. */
  constructor(capacity: number, onceMax = 8) {
    this.#capacity = capacity;
    if (!Number.isFinite(capacity)) return;
    this.#rings = { used: new Ring(capacity), once: new Ring(Math.min(onceMax, capacity)) };
  }

  /** Returns when that was, for `isRecent`. */
  add(stored: StoredObject, isInUse: boolean): number {
    this.#rings?.[isInUse ? "used" : "once"].add(stored);
    return ++this.#useCount;
  }

  /** It would still be parsed, had it been kept in the large ring. */
  isRecent(usedAt: number): boolean {
    return this.#useCount - usedAt < this.#capacity;
  }
}

class Ring {
  readonly #places: (StoredObject | undefined)[];
  #next = 0;

  constructor(capacity: number) {
    this.#places = Array.from({ length: capacity });
  }

  add(stored: StoredObject): void {
    const evicted = this.#places[this.#next];
    this.#places[this.#next] = stored;
    this.#next = (this.#next + 1) % this.#places.length;
    if (evicted !== stored) evicted?.cool();
  }
}
