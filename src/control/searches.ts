// What searches keep from one to the next, so that each has to take in only what has changed since the last; and whose turn
// it is to work on it.

import { KnownStays } from "../decide/disruption/consolidation/known-stays.ts";
import { KnownStuck } from "../decide/disruption/known-stuck.ts";
import { PackingModel } from "../decide/provisioning/model.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";

export class Searches {
  readonly #picture: ClusterPicture;
  #packing: PackingModel | undefined;
  /** Nodes that had better stay, as they were last judged. */
  readonly known = new KnownStays();
  /** Nodes that are due and whose pods had no place, as they were last tried. */
  readonly stuck = new KnownStuck();
  #last: Promise<unknown> = Promise.resolve();
  #waitingCount = 0;

  constructor(picture: ClusterPicture) {
    this.#picture = picture;
  }

  /** Made when the first search begins: who never searches keeps nothing for it. */
  get packing(): PackingModel {
    this.#packing ??= new PackingModel(this.#picture);
    return this.#packing;
  }

  /** Somebody waits for his turn: whoever can come to an end had better. */
  get isAwaited(): boolean {
    return this.#waitingCount > 0;
  }

  /** One search at a time tries things on the packing picture. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    this.#waitingCount++;
    const before = this.#last;
    const own = before.then(() => {
      this.#waitingCount--;
      return work();
    });
    this.#last = own.catch(() => undefined);
    return own;
  }
}
