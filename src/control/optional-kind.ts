// A kind that some clusters serve and others do not, watched where they do. Nothing waits for it: whoever reads it is told
// when it cannot be read.

import type { KubeObject } from "../api/meta.ts";
import type { KindName } from "../snapshot/check-views.ts";
import type { Definitions } from "./definitions.ts";
import type { Fed, Feed } from "./ports.ts";
import { isSilent } from "./staleness.ts";

type Parts = { readonly feed: Feed; readonly kind: KindName; readonly changed: () => void };

export class OptionalKind {
  readonly #parts: Parts;
  readonly #byKey = new Map<string, KubeObject>();
  #fed: Fed | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Begins or ends its watch, as the cluster serves it by now. */
  look(definitions: Definitions): void {
    const resource = definitions.resourceOf(this.#parts.kind);
    if (resource === undefined) this.stop();
    else this.#fed ??= this.#start(resource);
  }

  get isServed(): boolean {
    return this.#fed !== undefined;
  }

  get objects(): readonly KubeObject[] {
    return [...this.#byKey.values()];
  }

  /** It has not been listed yet, and nobody knows why not. */
  get isPending(): boolean {
    return this.#fed !== undefined && !this.#fed.synced && this.#fed.lastError === undefined;
  }

  /** Why it is not known whole. */
  get failure(): string | undefined {
    if (this.#fed === undefined || (this.#fed.synced && !isSilent(this.#fed))) return undefined;
    const why = this.#fed.lastError?.message ?? "they have not been listed yet.";
    return `${this.#parts.kind.kind}s cannot be read: ${why}`;
  }

  stop(): void {
    this.#fed?.stop();
    this.#fed = undefined;
    this.#byKey.clear();
  }

  #start(resource: Parameters<Feed>[0]["resource"]): Fed {
    const { feed, changed } = this.#parts;
    const put = (raw: KubeObject) => {
      this.#byKey.set(keyOf(raw), raw);
      changed();
    };
    const removed = (raw: KubeObject) => {
      this.#byKey.delete(keyOf(raw));
      changed();
    };
    const handlers = { added: put, updated: put, deleted: removed, synced: changed };
    return feed<KubeObject>({ resource, isOptional: true, project: raw => raw, handlers });
  }
}

function keyOf({ metadata: { namespace = "", name } }: KubeObject): string {
  return `${namespace}/${name}`;
}
