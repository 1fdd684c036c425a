// Which nodes are to take the pods of others: from a move that is found until the actions that were opened for it are
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
  readonly #namesByBatch = new Map<string, ReadonlySet<string>>();
  readonly #batchesByName = new Map<string, Set<string>>();
  /** Batches whose move stands: by it an action can be opened again. */
  readonly #standing = new Set<string>();

  constructor(look: LookUps, mark: (subject: Subject) => void) {
    this.#look = look;
    this.#mark = mark;
  }

  adopt(other: MoveTargets): void {
    for (const [batch, names] of other.#namesByBatch) this.#set(batch, names);
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

  put({ move, places }: FoundMove): void {
    const isOpen = this.#isOpen(move.batch);
    if (isOpen) this.#tell(move.batch);
    this.#standing.add(move.batch);
    this.#set(move.batch, new Set(move.stuck.length === 0 ? places.values() : []));
    if (isOpen) this.#tell(move.batch);
  }

  /** What was found stands no longer; for those that were opened by it, it is still where their pods go. */
  dropped(batch: string): void {
    this.#standing.delete(batch);
    this.#forgetOver(batch);
  }

  actionChanged({ before, after }: Change<ActionView>): void {
    const wasOpen = before !== undefined && isOpen(before);
    if (wasOpen === (after !== undefined && isOpen(after))) return;
    const { batch } = (after ?? before)?.spec ?? {};
    if (batch === undefined) return;
    this.#tell(batch);
    // One whose write came to nothing leaves its move, by which it may be opened again.
    if (wasOpen && !this.#standing.has(batch)) this.#forgetOver(batch);
  }

  #forgetOver(batch: string): void {
    if (!this.#isOpen(batch)) this.#set(batch, new Set());
  }

  #set(batch: string, names: ReadonlySet<string>): void {
    for (const name of this.#namesByBatch.get(batch) ?? []) {
      const batches = this.#batchesByName.get(name);
      if (batches?.delete(batch) && batches.size === 0) this.#batchesByName.delete(name);
    }
    if (names.size === 0) this.#namesByBatch.delete(batch);
    else this.#namesByBatch.set(batch, names);
    for (const name of names) {
      this.#batchesByName.set(name, (this.#batchesByName.get(name) ?? new Set()).add(batch));
    }
  }

  #isOpen(batch: string): boolean {
    return this.#look.actionsOfBatch(batch).some(isOpen);
  }

  #tell(batch: string): void {
    for (const name of this.#namesByBatch.get(batch) ?? []) this.#mark(`node/${name}`);
  }
}

/** Not over and carried out. */
export function isOpen({ spec, status }: ActionView): boolean {
  return spec.dryRun !== true && !finalPhases.some(phase => phase === status.phase);
}
