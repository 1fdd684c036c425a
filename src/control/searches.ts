// What searches keep from one to the next, so that each has to take in only what has changed since the last.

import { PackingModel } from "../decide/provisioning/model.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";

export class Searches {
  readonly #picture: ClusterPicture;
  #packing: PackingModel | undefined;

  constructor(picture: ClusterPicture) {
    this.#picture = picture;
  }

  /** Made when the first search begins: who never searches keeps nothing for it. */
  get packing(): PackingModel {
    this.#packing ??= new PackingModel(this.#picture);
    return this.#packing;
  }
}
