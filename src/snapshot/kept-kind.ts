// One kind that is known only at run time: what the watch shows of it, with the answers to our own writes laid over. For
// the kinds that health checks name; all others are in cluster-picture.ts.

import type { KubeObject } from "../api/meta.ts";
import { isEqual } from "../api/schema/correlate.ts";
import { InFlight } from "./in-flight.ts";
import { type CheckedView, type Identity, identityOf } from "./kind.ts";
import type { Change } from "./tables.ts";

type Project<V> = (raw: KubeObject, previous: V | undefined) => V;

export class KeptKind<V extends CheckedView> {
  readonly #project: Project<V>;
  readonly #replace: (change: Change<V>) => void;
  readonly #inFlight = new InFlight<V>();
  readonly #shown = new Map<string, V>();

  constructor(project: Project<V>, replace: (change: Change<V>) => void) {
    this.#project = project;
    this.#replace = replace;
  }

  /** What control/ports.ts `Feed` takes. Every event passes here, also those in which nothing visible changed. */
  readonly project: Project<V> = (raw, previous) => {
    const view = this.#project(raw, previous);
    this.#inFlight.saw(identityOf(view), raw.metadata.resourceVersion);
    // No handler will be called, and yet the watch may have caught up with a write of ours.
    if (view === previous) this.#put(view);
    return view;
  };

  readonly handlers = {
    added: (view: V): void => this.#put(view),
    updated: (view: V): void => this.#put(view),
    deleted: (view: V): void => this.#change(identityOf(view), shown => this.#inFlight.removed(view, shown)),
    synced: (): void => {
      for (const view of this.#inFlight.relisted()) this.#put(view);
    },
  };

  /** As the server has just answered it to us. It stands until the watch has caught up. */
  answered(raw: KubeObject): void {
    const view = this.#project(raw, undefined);
    const { resourceVersion } = raw.metadata;
    this.#change(identityOf(view), shown => this.#inFlight.wrote(view, resourceVersion, shown));
  }

  /** The server says that it is gone, by an answer to us. */
  wroteGone({ uid, ...key }: Pick<Identity, "name" | "uid"> & { readonly namespace?: string }): void {
    this.#inFlight.bury(uid);
    const view = this.#shown.get(placeOf({ namespace: "", ...key }));
    if (view === undefined || identityOf(view).uid !== uid) return;
    this.#change(identityOf(view), shown => this.#inFlight.gone(view, shown));
  }

  /** Nobody watches it any more. */
  drop(): void {
    for (const before of this.#shown.values()) this.#replace({ before, after: undefined });
    this.#shown.clear();
  }

  #put(view: V): void {
    this.#change(identityOf(view), shown => this.#inFlight.watched(view, shown));
  }

  #change(identity: Identity, next: (shown: V | undefined) => V | undefined): void {
    const place = placeOf(identity);
    const before = this.#shown.get(place);
    const after = next(before);
    // The watch brings what an answer to us has shown before: nobody need look again.
    if (isEqual(after, before)) return;
    if (after === undefined) this.#shown.delete(place);
    else this.#shown.set(place, after);
    this.#replace({ before, after });
  }
}

function placeOf({ namespace, name }: Pick<Identity, "namespace" | "name">): string {
  return `${namespace}/${name}`;
}
