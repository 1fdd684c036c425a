// Where the kinds are served that somebody names by group, version and kind: read off the CustomResourceDefinitions,
// which are watched, so that a kind that comes or goes is noticed at once and nobody asks for it in vain.

import { type KubeObject, parseApiVersion, type Resource } from "../api/meta.ts";
import type { KindName } from "../snapshot/check-views.ts";
import { fields, items } from "../snapshot/raw.ts";
import type { Fed, Feed } from "./ports.ts";

export const definitions: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

type Definition = Omit<Resource, "version"> & { readonly servedVersions: readonly string[] };

export class Definitions {
  readonly fed: Fed;
  readonly #byKind = new Map<string, Definition>();

  constructor(feed: Feed, changed: () => void) {
    const put = (definition: Definition) => {
      this.#byKind.set(keyOf(definition), definition);
      changed();
    };
    this.fed = feed<Definition>({
      resource: definitions,
      project: raw => definitionOf(raw),
      handlers: {
        added: put,
        updated: put,
        deleted: definition => {
          this.#byKind.delete(keyOf(definition));
          changed();
        },
        synced: changed,
      },
    });
  }

  /** Undefined: nothing serves it, as far as is known. */
  resourceOf({ apiVersion, kind }: KindName): Resource | undefined {
    const { group, version } = parseApiVersion(apiVersion);
    const found = this.#byKind.get(keyOf({ group, kind }));
    if (found === undefined || !found.servedVersions.includes(version)) return undefined;
    const { plural, namespaced } = found;
    return { group, version, plural, kind, namespaced };
  }

  /** In the first of the versions that is served. */
  firstServed(asked: {
    readonly group: string;
    readonly kind: string;
    readonly versions: readonly string[];
  }): Resource | undefined {
    const { group, kind, versions } = asked;
    for (const version of versions) {
      const found = this.resourceOf({ apiVersion: `${group}/${version}`, kind });
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function keyOf({ group, kind }: Pick<Definition, "group" | "kind">): string {
  return `${group}/${kind}`;
}

function definitionOf(raw: KubeObject): Definition {
  const spec = fields(raw["spec"]);
  const names = fields(spec["names"]);
  return {
    group: String(spec["group"]),
    plural: String(names["plural"]),
    kind: String(names["kind"]),
    namespaced: spec["scope"] === "Namespaced",
    servedVersions: items(spec["versions"])
      .map(fields)
      .filter(({ served }) => served === true)
      .map(({ name }) => String(name)),
  };
}
