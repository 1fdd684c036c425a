// One object at one resourceVersion, as a value, as bytes, or both. Recently used ones are kept parsed; the rest as
// wire bytes alone, which is what lets 150,000 pods fit.

import type { KubeObject } from "../api/meta.ts";
import type { Stored } from "./request.ts";

/** What an object not yet written out is taken to weigh; only the bound on history needs it. */
const assumedBytes = 4096;

export type Texts = Readonly<Record<string, string>>;

export class StoredObject implements Stored {
  #labels: Texts | null | undefined;
  #fields: Texts | undefined;
  #object: KubeObject | undefined;
  #json: Buffer | undefined;
  #isSuperseded = false;
  #views: Map<string, StoredObject> | undefined;
  readonly #recent: RecentlyUsed;

  constructor(object: KubeObject, recent: RecentlyUsed, { isInUse = false } = {}) {
    this.#object = object;
    this.#recent = recent;
    recent.add(this, isInUse);
  }

  get object(): KubeObject {
    if (this.#object !== undefined) return this.#object;
    // cool() leaves the bytes behind.
    const object = JSON.parse((this.#json as Buffer).toString("utf8")) as KubeObject;
    this.#object = object;
    this.#recent.add(this, true);
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
    this.#json ??= bytesOf(this.#object);
    return this.#json;
  }

  get bytes(): number {
    return this.#json?.length ?? assumedBytes;
  }

  /** The same object in another version of its kind, made once however many watchers ask. */
  view(version: string, convert: (object: KubeObject) => KubeObject): StoredObject {
    this.#views ??= new Map();
    let view = this.#views.get(version);
    if (view === undefined) {
      view = new StoredObject(convert(this.object), this.#recent);
      this.#views.set(version, view);
    }
    return view;
  }

  /** Another version took its place: what is left of its life in history is not worth writing it out. */
  supersede(): void {
    this.#isSuperseded = true;
  }

  /** Keeps the bytes alone. */
  cool(): void {
    if (this.#object === undefined || (this.#isSuperseded && this.#json === undefined)) return;
    this.#json ??= bytesOf(this.#object);
    this.#object = undefined;
    this.#views = undefined;
  }
}

const encoder = new TextEncoder();

/** Not from Node's pool, where a few kilobytes that live on keep others that do not. */
function bytesOf(object: KubeObject | undefined): Buffer {
  const text = JSON.stringify(object);
  // Nearly always one byte a character: then they need not be counted first.
  const bytes = Buffer.allocUnsafeSlow(text.length);
  if (encoder.encodeInto(text, bytes).read === text.length) return bytes;
  const longer = Buffer.allocUnsafeSlow(Buffer.byteLength(text, "utf8"));
  longer.write(text, "utf8");
  return longer;
}

/**
 * First in, first out, in two rings: a large one for what is written or read again, a small one for newcomers, most of
 * which nobody looks at for a long time. Loading a big cluster so leaves little behind that was parsed and aged.
 */
export class RecentlyUsed {
  readonly #rings: { readonly used: Ring; readonly newcomers: Ring } | undefined;

  /** With a capacity of Infinity nothing ever cools, and nothing need be remembered for it. */
  constructor(capacity: number, newcomerMax = 8) {
    if (!Number.isFinite(capacity)) return;
    this.#rings = { used: new Ring(capacity), newcomers: new Ring(Math.min(newcomerMax, capacity)) };
  }

  add(stored: StoredObject, isInUse: boolean): void {
    this.#rings?.[isInUse ? "used" : "newcomers"].add(stored);
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
