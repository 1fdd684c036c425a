// Which verbs on the kinds of others we lack, as the API server says when it is asked. Asked once a kind, and again as
// long as something is missing; an answer that does not come says nothing, for a refused write will.

import { apiVersionOf, type KubeObject, type Resource } from "../api/meta.ts";
import { minuteMs, secondMs } from "../api/time.ts";
import type { Clock, KubeApi } from "./ports.ts";
import { accessReviews } from "./resources.ts";

type Options = {
  readonly api: Pick<KubeApi, "create">;
  readonly clock: Clock;
  /** Whoever follows writes nothing, and needs no leave. */
  readonly isLeading: () => boolean;
  readonly changed: () => void;
};

type Review = KubeObject & { status?: { allowed?: boolean } };

/** What is done with a remediation of another's kind, beside what its watch tells by itself. */
const verbs = ["create", "get", "patch", "delete"] as const;
const askAgainMs = { lacking: 10 * secondMs, granted: 10 * minuteMs };

export class Access {
  readonly #options: Options;
  readonly #lacking = new Map<string, string | undefined>();
  readonly #cancels = new Map<string, () => void>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** The first verb that is missing; undefined: none, as far as is known. */
  lacking(resource: Resource): string | undefined {
    const key = keyOf(resource);
    if (!this.#cancels.has(key)) this.#askAfter(0, resource);
    return this.#lacking.get(key);
  }

  forget(resource: Resource): void {
    const key = keyOf(resource);
    this.#cancels.get(key)?.();
    this.#cancels.delete(key);
    this.#lacking.delete(key);
  }

  stop(): void {
    for (const cancel of this.#cancels.values()) cancel();
  }

  #askAfter(delayMs: number, resource: Resource): void {
    this.#cancels.set(
      keyOf(resource),
      this.#options.clock.after(delayMs, () => void this.#ask(resource)),
    );
  }

  async #ask(resource: Resource): Promise<void> {
    const key = keyOf(resource);
    const cancel = this.#cancels.get(key);
    const isAsked = this.#options.isLeading();
    const answers = isAsked ? await Promise.all(verbs.map(verb => this.#isRefused(verb, resource))) : [];
    // Forgotten meanwhile, or asked for anew.
    if (this.#cancels.get(key) !== cancel) return;
    const before = this.#lacking.get(key);
    const missing = isAsked ? verbs.find((_, index) => answers[index]) : before;
    this.#lacking.set(key, missing);
    this.#askAfter(isAsked && missing === undefined ? askAgainMs.granted : askAgainMs.lacking, resource);
    if (missing !== before) this.#options.changed();
  }

  async #isRefused(verb: string, { group, version, plural }: Resource): Promise<boolean> {
    const { kind } = accessReviews;
    const resourceAttributes = { verb, group, version, resource: plural };
    const review = { apiVersion: apiVersionOf(accessReviews), kind, metadata: {}, spec: { resourceAttributes } };
    return this.#options.api.create<Review>(accessReviews, {}, review).then(
      ({ status }) => status?.allowed === false,
      () => false,
    );
  }
}

function keyOf({ group, plural }: Resource): string {
  return `${plural}.${group}`;
}
