// What judging a node came to, for pods that ask for the same: it holds until the node changes or what runs on it. A
// thousand like pods so look at each node once, and again at those alone that one of them was bound to.

import { fitCheck } from "./node-fit.ts";
import type { Placed, Room, Rooms, RoomWatcher } from "./node-room.ts";

/** Kinds of pods that are remembered; with more of them it starts anew, which costs time and nothing else. */
const shapesMax = 128;

export class JudgedRooms {
  readonly #rooms: Rooms;
  readonly #judgedByShape = new Map<string, JudgedFor>();

  constructor(rooms: Rooms) {
    this.#rooms = rooms;
  }

  /** For pods like this one. What is handed out holds until the next call: it is not kept. */
  for(candidate: Placed, shape = shapeOf(candidate)): JudgedFor {
    const known = this.#judgedByShape.get(shape);
    if (known !== undefined) return known;
    if (this.#judgedByShape.size >= shapesMax) this.#forgetAll();
    const made = new JudgedFor(candidate, this.#rooms);
    this.#judgedByShape.set(shape, made);
    this.#rooms.watchers.add(made);
    return made;
  }

  #forgetAll(): void {
    for (const judged of this.#judgedByShape.values()) this.#rooms.watchers.delete(judged);
    this.#judgedByShape.clear();
  }
}

const shapes = new WeakMap<Placed["pod"]["spec"], string>();

/** The same for pods that ask for the same. Those of one controller have their spec in common, and it is read once. */
export function shapeOf({ pod: { spec } }: Placed): string {
  let shape = shapes.get(spec);
  if (shape === undefined) shapes.set(spec, (shape = JSON.stringify(spec)));
  return shape;
}

const unknown = Number.NaN;
const misfit = -1;

/** Scores lie side by side: hundreds are compared for each pod, and to look for each at its room takes ten times as long. */
class JudgedFor implements RoomWatcher {
  readonly #rooms: Rooms;
  readonly #candidate: Placed;
  readonly #check: (room: Room) => readonly string[];
  readonly #scores: number[];
  readonly #misfits: (readonly string[])[];

  constructor(candidate: Placed, rooms: Rooms) {
    this.#rooms = rooms;
    this.#candidate = candidate;
    this.#check = fitCheck(candidate);
    this.#scores = rooms.list.map(() => unknown);
    this.#misfits = rooms.list.map(() => none);
  }

  /** How well the node there suits, from 0 to 100; negative: not at all. */
  scoreAt(place: number): number {
    const known = this.#scores[place] ?? unknown;
    return Number.isNaN(known) ? this.#judge(place) : known;
  }

  /** Why not, empty: it may. */
  misfitsAt(place: number): readonly string[] {
    this.scoreAt(place);
    return this.#misfits[place] ?? none;
  }

  came(): void {
    this.#scores.push(unknown);
    this.#misfits.push(none);
  }

  went(place: number): void {
    this.#scores.splice(place, 1);
    this.#misfits.splice(place, 1);
  }

  changed(place: number): void {
    this.#scores[place] = unknown;
  }

  #judge(place: number): number {
    const room = this.#rooms.list[place];
    if (room === undefined) return misfit;
    const misfits = this.#check(room);
    const score = misfits.length > 0 ? misfit : freeShare(this.#candidate, room);
    this.#misfits[place] = misfits;
    this.#scores[place] = score;
    return score;
  }
}

const none: readonly string[] = [];

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
