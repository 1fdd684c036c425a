// Which nodes are to take which pods of others: from a move that is found until the actions that were opened for it are
// over, also while their nodes are drained and the move itself stands no longer. Not known to whoever leads next.

import { finalPhases } from "../api/node-action.ts";
import type { FoundMove } from "./moves.ts";
import type { Subject } from "./picture.ts";
import type { Change } from "./tables.ts";
import type { ActionView } from "./views.ts";

type LookUps = { actionsOfBatch(batch: string): readonly ActionView[] };

export class MoveTargets {
  readonly #look: LookUps;
  readonly #mark: (subject: Subject) => void;
  /** By batch: the node of each pod that moves, by namespace and name. */
  readonly #placesByBatch = new Map<string, ReadonlyMap<string, string>>();
  /** By batch: the claim that was to be made for each of the others, by uid. */
  readonly #claimsByBatch = new Map<string, ReadonlyMap<string, string>>();
  readonly #batchesByName = new Map<string, Set<string>>();
  /** Batches whose move stands: an entry that could not be written is asked for again by it. */
  readonly #standing = new Set<string>();

  constructor(look: LookUps, mark: (subject: Subject) => void) {
    this.#look = look;
    this.#mark = mark;
  }

  adopt(other: MoveTargets): void {
    for (const [batch, places] of other.#placesByBatch) this.#set(batch, places);
    for (const [batch, claims] of other.#claimsByBatch) this.#claimsByBatch.set(batch, claims);
  }

  /** Of those that are open the first by name: whichever was found first, all pictures name the same. */
  actionFor(nodeName: string): ActionView | undefined {
    const open = [...(this.#batchesByName.get(nodeName) ?? [])].flatMap(batch =>
      this.#look.actionsOfBatch(batch).filter(isOpen),
    );
    return open.reduce<ActionView | undefined>(
      (first, one) => (first && first.name < one.name ? first : one),
      undefined,
    );
  }

  placeOf(batch: string, pod: string): string | undefined {
    return this.#placesByBatch.get(batch)?.get(pod);
  }

  /** Also once it is there. */
  claimFor(batch: string, podUid: string): string | undefined {
    return this.#claimsByBatch.get(batch)?.get(podUid);
  }

  put({ move, places }: FoundMove): void {
    const isOpen = this.#isOpen(move.batch);
    if (isOpen) this.#tell(move.batch);
    this.#standing.add(move.batch);
    this.#set(move.batch, move.stuck.length === 0 ? places : new Map());
    // What is judged again is judged with what was launched for it.
    const planned = move.claims.flatMap(({ name, pods }) => pods.map(uid => [uid, name] as const));
    if (planned.length > 0) this.#claimsByBatch.set(move.batch, new Map(planned));
    if (isOpen) this.#tell(move.batch);
  }

  /** What was found stands no longer; for those that were opened by it, it is still where their pods go. */
  dropped(batch: string): void {
    this.#standing.delete(batch);
    this.#forgetIfOver(batch);
  }

  actionChanged({ before, after }: Change<ActionView>): void {
    const wasOpen = before !== undefined && isOpen(before);
    if (wasOpen === (after !== undefined && isOpen(after))) return;
    const { batch } = (after ?? before)?.spec ?? {};
    if (batch === undefined) return;
    this.#tell(batch);
    if (wasOpen) this.#forgetIfOver(batch);
  }

  #forgetIfOver(batch: string): void {
    if (this.#standing.has(batch) || this.#isOpen(batch)) return;
    this.#set(batch, new Map());
    this.#claimsByBatch.delete(batch);
  }

  #set(batch: string, places: ReadonlyMap<string, string>): void {
    for (const name of this.#namesOf(batch)) {
      const batches = this.#batchesByName.get(name);
      if (batches?.delete(batch) && batches.size === 0) this.#batchesByName.delete(name);
    }
    if (places.size === 0) this.#placesByBatch.delete(batch);
    else this.#placesByBatch.set(batch, places);
    for (const name of this.#namesOf(batch)) {
      this.#batchesByName.set(name, (this.#batchesByName.get(name) ?? new Set()).add(batch));
    }
  }

  #isOpen(batch: string): boolean {
    return this.#look.actionsOfBatch(batch).some(isOpen);
  }

  #tell(batch: string): void {
    for (const name of this.#namesOf(batch)) this.#mark(`node/${name}`);
  }

  #namesOf(batch: string): ReadonlySet<string> {
    return new Set(this.#placesByBatch.get(batch)?.values());
  }
}

/** Not over and carried out. */
export function isOpen({ spec, status }: ActionView): boolean {
  return spec.dryRun !== true && !finalPhases.some(phase => phase === status.phase);
}
