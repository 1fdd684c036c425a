// Which nodes have something and since when, in the order in which it began. A change costs the logarithm of their number.

import type { Instant } from "../api/time.ts";

export type Onset = { readonly uid: string; readonly zone: string | undefined; readonly at: Instant };

export class Onsets {
  readonly #byUid = new Map<string, Onset>();
  readonly #inOrder: Onset[] = [];

  get inOrder(): readonly Onset[] {
    return this.#inOrder;
  }

  get(uid: string): Onset | undefined {
    return this.#byUid.get(uid);
  }

  set(onset: Onset): void {
    this.delete(onset.uid);
    this.#byUid.set(onset.uid, onset);
    this.#inOrder.splice(this.#placeOf(onset), 0, onset);
  }

  delete(uid: string): void {
    const known = this.#byUid.get(uid);
    if (known === undefined) return;
    this.#byUid.delete(uid);
    this.#inOrder.splice(this.#placeOf(known), 1);
  }

  /** Where it stands or would stand: by time, then by uid. */
  #placeOf({ at, uid }: Onset): number {
    let low = 0;
    let high = this.#inOrder.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#inOrder[middle];
      if (other !== undefined && (other.at < at || (other.at === at && other.uid < uid))) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
