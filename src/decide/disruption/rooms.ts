// The room of nodes that may take pods, from one look to the next: where it has grown since, whoever found none before may
// find some now.

import type { Effort } from "../packing/effort.ts";
import type { Picture } from "../packing/picture.ts";
import type { ExistingNode } from "../packing/problem.ts";
import type { Amounts } from "../packing/resources.ts";

/** Of a node that may take pods. */
type Room = {
  readonly index: number;
  readonly node: ExistingNode | undefined;
  free: Amounts;
  readonly grownIn: number;
};

export class Rooms {
  #roomByName = new Map<string, Room>();
  /** The latest first. */
  #grown: readonly Room[] = [];
  #look = 0;

  /** The number of this look. */
  get look(): number {
    return this.#look;
  }

  *begin(picture: Picture, targets: readonly string[], effort: Effort): Generator<void, void> {
    this.#look++;
    const rooms = new Map<string, Room>();
    for (const name of targets) {
      rooms.set(name, this.#roomOf(picture, name));
      effort.work += 0.5;
      if (rooms.size % 256 === 0) yield;
    }
    this.#roomByName = rooms;
    this.#grown = [...rooms.values()].sort((a, b) => b.grownIn - a.grownIn);
    effort.work += rooms.size * 0.2;
    yield;
  }

  /** Hosts by index, the latest first. */
  *grownSince(look: number): Iterable<number> {
    for (const { grownIn, index } of this.#grown) {
      if (grownIn <= look) return;
      yield index;
    }
  }

  /** While what was found is still laid over the picture: should it come to nothing, the room that it took has grown. */
  end(picture: Picture, gone: ReadonlySet<number>): void {
    for (const [name, room] of this.#roomByName) {
      if (gone.has(room.index)) this.#roomByName.delete(name);
      else room.free = roomAt(picture, room.index);
    }
  }

  #roomOf(picture: Picture, name: string): Room {
    const { hosts } = picture;
    const index = hosts.indexByName.get(name) ?? -1;
    const free = roomAt(picture, index);
    const node = hosts.nodes[index];
    const before = this.#roomByName.get(name);
    const isGrown =
      before === undefined ||
      free.some((amount, r) => amount > (before.free[r] ?? 0)) ||
      (before.node !== node && rulesOf(before.node) !== rulesOf(node));
    return { index, node, free, grownIn: isGrown ? this.#look : before.grownIn };
  }
}

/** A copy. */
export function roomAt({ hosts: { free, stride } }: Picture, index: number): Amounts {
  return free.slice(index * stride, (index + 1) * stride);
}

/** What of a node lets pods run there, beside its room. */
function rulesOf(existing: ExistingNode | undefined): string {
  const { metadata, spec } = existing?.node ?? {};
  return JSON.stringify([metadata?.labels, spec?.taints, spec?.unschedulable]);
}
