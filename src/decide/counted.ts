// What counts against a limit, as the picture has it: who is going away, and who counts for having gone lately. It is put
// into words only for whoever is told, since a pool may be losing hundreds.

import { formatTime, type Instant } from "../api/time.ts";
import type { Departure } from "../snapshot/picture.ts";
import type { ActionView } from "../snapshot/views.ts";
import type { Proposal } from "./decision.ts";
import { finishedAt, instantOf } from "./ledger.ts";

export type Counted = {
  readonly going: readonly Departure[];
  /** The next to be free first. */
  readonly gone: readonly Gone[];
};

/** `until`: when it stops to count. Infinity: nobody knows. */
export type Gone = { readonly action: ActionView; readonly until: Instant };

type Numbers = {
  readonly counted: number;
  /** When those that have gone stop to count, in order. */
  readonly frees: readonly Instant[];
  readonly against: Counted;
};

export function numbersOf(against: Counted): Numbers {
  const { going, gone } = against;
  const frees = gone.map(({ until }) => until).filter(Number.isFinite);
  return { counted: going.length + gone.length, frees, against };
}

export function soonestFirst(gone: readonly Gone[]): readonly Gone[] {
  return [...gone].sort((a, b) => a.until - b.until);
}

const namedMax = 5;

/** Each by name and why, of many the first: those that have been going longest. `granted`: by the same turn. */
export function namesOf({ going, gone }: Counted, granted: readonly Pick<Proposal, "node" | "action">[]): string {
  const inOrder = going.length < 2 ? going : [...going].sort((a, b) => startOf(a) - startOf(b) || compare(a, b));
  const count = going.length + gone.length + granted.length;
  const named = [
    ...inOrder.slice(0, namedMax).map(one => `${one.node.name} (${whyOf(one)})`),
    ...gone.slice(0, namedMax).map(({ action }) => `${action.spec.node.name} (${whenGone(action)})`),
    ...granted.slice(0, namedMax).map(({ node, action }) => `${node.name} (${action})`),
  ].slice(0, namedMax);
  return `${named.join(", ")}${count > named.length ? ` and ${count - named.length} more` : ""}`;
}

function whyOf({ action }: Departure): string {
  if (action === undefined) return "is being deleted";
  return action.spec.action === "Deletion" ? "deleted by somebody" : action.spec.action;
}

function whenGone(action: ActionView): string {
  return `${action.spec.action}, gone since ${formatTime(finishedAt(action) ?? action.createdAt)}`;
}

function startOf({ action, claim }: Departure): Instant {
  if (action !== undefined) return instantOf(action.spec.decidedAt) ?? action.createdAt;
  return claim?.deletingSince ?? Number.POSITIVE_INFINITY;
}

function compare({ node: a }: Departure, { node: b }: Departure): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
