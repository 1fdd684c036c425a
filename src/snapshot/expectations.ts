// On which claims and nodes pods are expected, and until when.

import { type Instant, type Millis, minuteMs, secondMs } from "../api/time.ts";
import type { ClaimView } from "./views.ts";

/** How long the scheduler may take to bind a pod to a node that is ready for it. */
export const bindingMs: Millis = 20 * secondMs;
/** How long a claim that was planned may take to be made. */
const makingMs: Millis = minuteMs;

export type Place = { readonly kind: "claim" | "node"; readonly name: string };
type Expected = Place & { readonly uids: Set<string>; at: Instant; until: Instant | undefined };

export class Expectations {
  readonly #byPlace = new Map<string, Expected>();
  /** Undefined: not known. */
  #next: { readonly at: Instant | undefined } | undefined;

  /** When the first of them ends. */
  get nextAt(): Instant | undefined {
    this.#next ??= { at: earliest([...this.#byPlace.values()].map(({ until }) => until)) };
    return this.#next.at;
  }

  on(kind: Place["kind"], name: string): readonly string[] {
    return [...(this.#byPlace.get(`${kind}/${name}`)?.uids ?? [])];
  }

  due(now: Instant): readonly Place[] {
    return [...this.#byPlace.values()].filter(({ until }) => until !== undefined && until <= now);
  }

  /** When the last of them was sent there; undefined: nobody was. */
  lastAt(kind: Place["kind"], name: string): Instant | undefined {
    return this.#byPlace.get(`${kind}/${name}`)?.at;
  }

  /** The same for all who are expected there. */
  add({ kind, name }: Place, uid: string, at: Instant): Place {
    const key = `${kind}/${name}`;
    const expected = this.#byPlace.get(key) ?? { kind, name, uids: new Set<string>(), at, until: undefined };
    expected.uids.add(uid);
    expected.at = at;
    this.#byPlace.set(key, expected);
    return expected;
  }

  until(kind: Place["kind"], name: string, until: Instant | undefined): void {
    const expected = this.#byPlace.get(`${kind}/${name}`);
    if (expected !== undefined) expected.until = until;
    this.#next = undefined;
  }

  remove(kind: Place["kind"], name: string, uid: string): void {
    const expected = this.#byPlace.get(`${kind}/${name}`);
    expected?.uids.delete(uid);
    if (expected?.uids.size === 0) this.#byPlace.delete(`${kind}/${name}`);
    this.#next = undefined;
  }

  adopt(other: Expectations): void {
    for (const [key, { uids, ...place }] of other.#byPlace) this.#byPlace.set(key, { ...place, uids: new Set(uids) });
    this.#next = undefined;
  }
}

export function earliest(instants: readonly (Instant | undefined)[]): Instant | undefined {
  return instants.reduce(
    (least, at) => (at === undefined || (least !== undefined && least <= at) ? least : at),
    undefined,
  );
}

/** Until when pods that were sent to a claim at that instant are expected there; undefined: as long as it comes. */
export function claimExpiry(claim: ClaimView | undefined, at: Instant): Instant | undefined {
  if (claim === undefined || claim.isProvisional) return at + makingMs;
  const initialized = claim.conditions.find(({ type, status }) => type === "Initialized" && status === "True");
  return initialized && Math.max(initialized.since ?? at, at) + bindingMs;
}
