// What was deleted in a run, or is being deleted, by its uid: an object that came back under its name is another one.

import type { KubeObject } from "../../api/meta.ts";
import type { Change } from "../history.ts";

export class Deaths {
  readonly #deadByUid = new Map<string, KubeObject>();

  /** Told of every change of the store. */
  changed({ type, stored, previous }: Change): void {
    if (type === "ADDED") return;
    const { object } = stored;
    const isDying = object.metadata.deletionTimestamp !== undefined;
    if (type === "DELETED" || (isDying && previous?.object.metadata.deletionTimestamp === undefined)) {
      this.#deadByUid.set(object.metadata.uid, object);
    }
  }

  of(kind: string): KubeObject[] {
    return [...this.#deadByUid.values()].filter(object => object.kind === kind);
  }
}
