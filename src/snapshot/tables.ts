// Every view the picture keeps, by kind, namespace and name. Knows nothing of what they mean to one another.

import { identityOf, type Kind, type View, type ViewByKind } from "./kind.ts";
import { Grouped } from "./ordered.ts";

/** How one object changed. Before: absent when it is new; after: absent when it is gone. */
export type Change<V> = { readonly before: V | undefined; readonly after: V | undefined };

export class Tables {
  readonly #byKind: { readonly [K in Kind]: Grouped<ViewByKind[K]> } = {
    node: new Grouped(),
    claim: new Grouped(),
    pod: new Grouped(),
    pool: new Grouped(),
    action: new Grouped(),
    "safety-policy": new Grouped(),
    "disruption-budget": new Grouped(),
    attachment: new Grouped(),
    "volume-claim": new Grouped(),
    "daemon-set": new Grouped(),
    namespace: new Grouped(),
    volume: new Grouped(),
    "storage-class": new Grouped(),
    "csi-node": new Grouped(),
  };

  get<K extends Kind>(kind: K, name: string, namespace = ""): ViewByKind[K] | undefined {
    return this.#byKind[kind].get(namespace, name);
  }

  all<K extends Kind>(kind: K, namespace = ""): readonly ViewByKind[K][] {
    return this.#byKind[kind].of(namespace);
  }

  /** Of all namespaces. */
  every<K extends Kind>(kind: K): IterableIterator<ViewByKind[K]> {
    return this.#byKind[kind].all();
  }

  count(kind: Kind): number {
    return this.#byKind[kind].count("");
  }

  /** Of all namespaces and kinds. */
  *everything(): IterableIterator<{ kind: Kind; view: View }> {
    for (const [kind, views] of Object.entries(this.#byKind)) {
      for (const view of views.all()) yield { kind: kind as Kind, view };
    }
  }

  replace<K extends Kind>(kind: K, { before, after }: Change<ViewByKind[K]>): void {
    const view = after ?? before;
    if (view === undefined) return;
    const { namespace, name } = identityOf(view);
    this.#byKind[kind].move(name, { from: namespace, to: namespace, value: after });
  }
}
