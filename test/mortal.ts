// A process that can be killed: from then on its clock stands, its calls are never answered and its watches bring
// nothing. What it had sent before is done, as with kill -9.

import type { KubeObject, Resource } from "../src/api/meta.ts";
import type { Clock, KubeApi, WatchHandlers, WatchOptions } from "../src/control/ports.ts";

/** It dies when the server has taken so many of its writes: at once, or at the attempt of the next. */
export type Fate = { readonly writes?: number; readonly dies?: "at once" | "at the next" };

export class Mortal implements Clock {
  readonly api: KubeApi;
  /** Those that the server took. */
  readonly writes: string[] = [];
  isDead = false;
  readonly #clock: Clock;
  readonly #fate: Fate;

  constructor(api: KubeApi, clock: Clock, fate: Fate = {}) {
    this.#clock = clock;
    this.#fate = fate;
    const write = <T>(name: string, call: () => Promise<T>) => this.#write(name, call);
    this.api = {
      get: (...args) => this.#alive(() => api.get(...args)),
      list: (...args) => this.#alive(() => api.list(...args)),
      watch: <T extends KubeObject>(resource: Resource, options: WatchOptions, handlers: WatchHandlers<T>) =>
        api.watch<T>(resource, options, {
          event: event => void (this.isDead || handlers.event(event)),
          end: error => void (this.isDead || handlers.end(error)),
        }),
      create: (resource, ...rest) => write(`create ${resource.plural}`, () => api.create(resource, ...rest)),
      update: (resource, ...rest) => write(`update ${resource.plural}`, () => api.update(resource, ...rest)),
      patch: (resource, ...rest) => write(`patch ${resource.plural}`, () => api.patch(resource, ...rest)),
      delete: (resource, ...rest) => write(`delete ${resource.plural}`, () => api.delete(resource, ...rest)),
      deleteCollection: (resource, ...rest) =>
        write(`delete ${resource.plural}`, () => api.deleteCollection(resource, ...rest)),
    };
  }

  now = (): number => this.#clock.now();
  monotonic = (): number => this.#clock.monotonic();
  after = (delayMs: number, run: () => void): (() => void) =>
    this.#clock.after(delayMs, () => void (this.isDead || run()));

  kill(): void {
    this.isDead = true;
  }

  async #write<T>(name: string, call: () => Promise<T>): Promise<T> {
    const { writes = Number.POSITIVE_INFINITY, dies } = this.#fate;
    if (dies === "at the next" && this.writes.length >= writes) this.kill();
    if (this.isDead) return never();
    const answer = await this.#alive(call);
    this.writes.push(name);
    if (dies === "at once" && this.writes.length >= writes) this.kill();
    return this.isDead ? never() : answer;
  }

  async #alive<T>(call: () => Promise<T>): Promise<T> {
    const outcome = await call().then(
      value => ({ value }),
      (error: unknown) => ({ error }),
    );
    if (this.isDead) return never();
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
