// What every condition of every node has been and since when, by the world's own clock: what nodes say of the time, and
// what the controller has seen of it, does not count here.

import type { Change } from "../history.ts";
import type { StoredNode } from "./ledger.ts";

type Turn = { readonly status: string; readonly at: number };

export class ConditionHistory {
  readonly #turnsByNode = new Map<string, Map<string, Turn[]>>();

  /** Told of every change of a node. */
  changed({ type, stored }: Change, now: number): void {
    const node = stored.object as StoredNode;
    const { uid } = node.metadata;
    if (type === "DELETED") {
      this.#turnsByNode.delete(uid);
      return;
    }
    const turnsByType = this.#turnsByNode.get(uid) ?? new Map<string, Turn[]>();
    this.#turnsByNode.set(uid, turnsByType);
    const conditions = node.status?.conditions ?? [];
    for (const { type: kind, status } of conditions) turned(turnsByType, kind, { status, at: now });
    for (const kind of turnsByType.keys()) {
      if (!conditions.some(condition => condition.type === kind)) turned(turnsByType, kind, { status: "", at: now });
    }
  }

  /** Since when it has been so without a break; undefined: it is not so. */
  since(uid: string, type: string, status: string): number | undefined {
    const last = this.#turns(uid, type).at(-1);
    return last?.status === status ? last.at : undefined;
  }

  wasEver(uid: string, type: string, status: string): boolean {
    return this.#turns(uid, type).some(turn => turn.status === status);
  }

  /** For how long in all, between two instants, it was so. */
  total(uid: string, condition: { type: string; status: string }, [from, to]: readonly [number, number]): number {
    const turns = this.#turns(uid, condition.type);
    return turns.reduce((sum, { status, at }, index) => {
      const end = Math.min(turns[index + 1]?.at ?? to, to);
      return status === condition.status ? sum + Math.max(0, end - Math.max(at, from)) : sum;
    }, 0);
  }

  #turns(uid: string, type: string): readonly Turn[] {
    return this.#turnsByNode.get(uid)?.get(type) ?? [];
  }
}

function turned(turnsByType: Map<string, Turn[]>, type: string, turn: Turn): void {
  const turns = turnsByType.get(type) ?? [];
  turnsByType.set(type, turns);
  if (turns.at(-1)?.status !== turn.status) turns.push(turn);
}
