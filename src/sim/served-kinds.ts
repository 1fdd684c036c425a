// Which kinds are served right now, and in which collection the objects of each are kept.

import { apiVersionOf, type KubeObject, type Resource } from "../api/meta.ts";
import type { ServedKind } from "./kind.ts";
import type { Qualified } from "./refusal.ts";
import type { Collection, Store } from "./store.ts";
import type { StoredObject } from "./stored.ts";

export class ServedKinds {
  readonly #byPath = new Map<string, ServedKind>();
  /** The server's own, in their stored form: they never change. */
  readonly #ownByPlural = new Map<string, ServedKind[]>();
  readonly #listeners: (() => void)[] = [];
  /** Those in their stored form, found when first asked for, until others are served. */
  readonly #byCollection = new Map<string, ServedKind | undefined>();

  constructor(kinds: Iterable<ServedKind>) {
    for (const kind of kinds) {
      this.#byPath.set(pathOf(kind.resource), kind);
      if (!kind.strategic || kind.storedAs !== undefined) continue;
      const { plural } = kind.resource;
      this.#ownByPlural.set(plural, [...this.own(plural), kind]);
    }
  }

  own(plural: string): readonly ServedKind[] {
    return this.#ownByPlural.get(plural) ?? [];
  }

  find(resource: Pick<Resource, "group" | "version" | "plural">): ServedKind | undefined {
    const kind = this.#byPath.get(pathOf(resource));
    return kind?.served === false ? undefined : kind;
  }

  /** In the order in which they began to be served. */
  *all(): Generator<ServedKind> {
    for (const kind of this.#byPath.values()) if (kind.served !== false) yield kind;
  }

  /** The kind that an ownerReference names, by its apiVersion and kind. */
  findByKind(apiVersion: string, kind: string): ServedKind | undefined {
    for (const served of this.#byPath.values()) {
      if (served.resource.kind === kind && apiVersionOf(served.resource) === apiVersion) return served;
    }
    return undefined;
  }

  /** Kinds in their stored form, one for each collection. */
  *stored(): Generator<ServedKind> {
    for (const kind of this.#byPath.values()) if (kind.storedAs === undefined) yield kind;
  }

  ofCollection(name: string): ServedKind | undefined {
    if (!this.#byCollection.has(name)) {
      const found = [...this.stored()].find(({ resource }) => groupResource(resource) === name);
      this.#byCollection.set(name, found);
    }
    return this.#byCollection.get(name);
  }

  replace(group: string, plural: string, kinds: readonly ServedKind[]): void {
    for (const [path, { resource }] of this.#byPath) {
      if (resource.group === group && resource.plural === plural) this.#byPath.delete(path);
    }
    for (const kind of kinds) this.#byPath.set(pathOf(kind.resource), kind);
    this.#byCollection.clear();
    for (const listener of this.#listeners) listener();
  }

  /** Discovery and OpenAPI documents are made anew when this is called. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}

function pathOf({ group, version, plural }: Pick<Resource, "group" | "version" | "plural">): string {
  return `${group}/${version}/${plural}`;
}

/** "pods", "nodepools.karpenter.sh": the name of a collection and of a CustomResourceDefinition. */
export function groupResource({ group, plural }: Pick<Resource, "group" | "plural">): string {
  return group === "" ? plural : `${plural}.${group}`;
}

export function collectionOf(store: Store, kind: ServedKind): Collection {
  return store.collection(groupResource(kind.storedAs?.resource ?? kind.resource));
}

/** A stored object in the version in which it was asked for. */
export function presented(kind: ServedKind, stored: StoredObject): StoredObject {
  const { storedAs, readAs } = kind;
  if (readAs !== undefined) return stored.view(readAs.name, object => readAs.read(object));
  return storedAs === undefined
    ? stored
    : stored.view(apiVersionOf(kind.resource), object => storedAs.fromStored(object));
}

export function toStored(kind: ServedKind, object: KubeObject): KubeObject {
  return kind.storedAs === undefined ? object : kind.storedAs.toStored(object);
}

/** How most sentences of the server name a kind: by the resource that it is stored as. */
export function resourceName({ resource, storedAs }: ServedKind): Qualified {
  const { group, plural } = storedAs?.resource ?? resource;
  return { group, name: plural };
}

/** How the sentences of validation name it: by its kind. */
export function kindName({ resource, storedAs }: ServedKind): Qualified {
  const { group, kind } = storedAs?.resource ?? resource;
  return { group, name: kind };
}
