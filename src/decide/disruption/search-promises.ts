// Room that is promised to moves that stand: their nodes are taken away and their pods put where they would go, for as long
// as others are asked about.

import type { FoundMove } from "../../snapshot/moves.ts";
import type { Picture } from "../packing/picture.ts";
import type { Resident } from "../packing/picture-parts.ts";
import { needsPlace } from "../packing/what-if.ts";

type Taken = { readonly index: number; readonly residents: readonly Resident[] };
type Put = { readonly index: number; readonly resident: Resident };

export class Promises {
  readonly #picture: Picture;
  readonly #gone: Set<number>;
  readonly #taken: Taken[] = [];
  readonly #put: Put[] = [];

  /** `gone`: nothing is put on nodes that go. */
  constructor(picture: Picture, gone: Set<number>) {
    this.#picture = picture;
    this.#gone = gone;
  }

  keep({ move, places }: FoundMove): void {
    for (const { name } of move.nodes) {
      const index = this.#picture.hosts.indexByName.get(name);
      // A node that is going by now is not there any more, and who leaves it is placed by others.
      if (index === undefined || this.#gone.has(index)) continue;
      const residents = [...(this.#picture.residents[index]?.entries() ?? [])];
      this.#gone.add(index);
      this.#taken.push({ index, residents: residents.map(([, resident]) => resident) });
      for (const [, resident] of residents) this.#picture.occupy(index, resident, -1);
      this.#picture.hide(index, 1);
      for (const [key, resident] of residents) {
        const target = this.#picture.hosts.indexByName.get(places.get(key) ?? "");
        if (target === undefined || !needsPlace(resident)) continue;
        this.#picture.occupy(target, resident, 1);
        this.#put.push({ index: target, resident });
      }
    }
  }

  undo(): void {
    for (const { index, resident } of this.#put.splice(0)) this.#picture.occupy(index, resident, -1);
    for (const { index, residents } of this.#taken.splice(0)) {
      this.#gone.delete(index);
      this.#picture.hide(index, -1);
      for (const resident of residents) this.#picture.occupy(index, resident, 1);
    }
  }
}
