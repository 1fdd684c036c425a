// What judging a node came to, for pods that ask for the same: it holds until the node changes or what runs on it. A
// thousand like pods so look at each node once, and again at those alone that one of them was bound to.

import { fitCheck } from "./node-fit.ts";
import type { Judged, JudgedBefore, Placed, Room } from "./node-room.ts";

/** Kinds of pods that are remembered; with more of them it starts anew, which costs time and nothing else. */
const shapesMax = 32;

export class JudgedRooms {
  readonly #judgedByShape = new Map<string, Map<Room, JudgedBefore>>();

  /** For one pod, which is read once. */
  for(candidate: Placed): (room: Room) => Judged {
    const known = this.#of(JSON.stringify(candidate.pod.spec));
    const misfitsOf = fitCheck(candidate);
    return room => {
      // Hundreds of rooms are asked for each pod, and mostly for one like the last: no look-up then.
      const { lastJudged } = room;
      const before = lastJudged?.among === known ? lastJudged : known.get(room);
      if (before?.version === room.version) {
        room.lastJudged = before;
        return before;
      }
      const misfits = misfitsOf(room);
      const score = misfits.length > 0 ? 0 : freeShare(candidate, room);
      const judged = { misfits, score, version: room.version, among: known };
      known.set(room, judged);
      room.lastJudged = judged;
      return judged;
    };
  }

  /** Its node is gone. Nodes come and go for weeks, and whatever was judged of one would keep it. */
  forget(room: Room): void {
    room.lastJudged = undefined;
    for (const known of this.#judgedByShape.values()) known.delete(room);
  }

  #of(shape: string): Map<Room, JudgedBefore> {
    const known = this.#judgedByShape.get(shape);
    if (known !== undefined) return known;
    if (this.#judgedByShape.size >= shapesMax) this.#judgedByShape.clear();
    const made = new Map<Room, JudgedBefore>();
    this.#judgedByShape.set(shape, made);
    return made;
  }
}

/** Mean of what is left of cpu and memory with the pod on it, from 0 to 100. */
function freeShare({ scored: asked }: Placed, { allocatable, scored }: Room): number {
  let sum = 0;
  for (const [name, amount] of asked) {
    const total = allocatable.get(name) ?? 0;
    const left = total - (scored.get(name) ?? 0) - amount;
    sum += total > 0 && left > 0 ? Math.floor((left * 100) / total) : 0;
  }
  return Math.floor(sum / asked.size);
}
