// Whether another controller of the karpenter.sh kinds is at work in the cluster, by its lease, for as long as we run:
// two controllers that both end nodes would not count each other's. Looks only; what follows is the controller's.

import { formatDuration, type Instant, type Millis, minuteMs, parseMicroTime, secondMs } from "../api/time.ts";
import type { Controller } from "../control/controller.ts";
import type { Clock, KubeApi } from "../control/ports.ts";
import type { Settings } from "../decide/decision.ts";
import { dryRunOfAll } from "../decide/dry-run.ts";
import { type Lease, LEASES } from "../kube/lease.ts";
import type { Rival } from "../snapshot/picture.ts";

/** In whichever namespace it runs: its lease is beside it. */
export const rivalLease = "karpenter-leader-election";
/** Longer than its lease lasts: clocks differ, and a restart takes a moment. */
const aliveMs: Millis = minuteMs;
const lookEveryMs: Millis = 10 * secondMs;
/** A lease that was given back may be taken by its next process: only a silence that lasts means that it is gone. */
const goneMs: Millis = 2 * minuteMs;

type RivalWatchOptions = {
  readonly api: Pick<KubeApi, "list">;
  readonly clock: Clock;
};

export class RivalWatch {
  readonly #options: RivalWatchOptions;
  readonly #renewTimeByNamespace = new Map<string, string>();
  #rival: Rival | undefined;
  /** By the monotonic clock. */
  #seenAt = Number.NEGATIVE_INFINITY;
  #cancel = (): void => {};
  #isStopped = false;
  #changed: (rival: Rival | undefined) => void = () => {};

  private constructor(options: RivalWatchOptions) {
    this.#options = options;
  }

  /** Has looked once when it resolves; rejects if the cluster does not say: that is not taken for a no. */
  static async start(options: RivalWatchOptions): Promise<RivalWatch> {
    const watch = new RivalWatch(options);
    await watch.#look();
    watch.#lookLater();
    return watch;
  }

  get rival(): Rival | undefined {
    return this.#rival;
  }

  /** Told of another one than before; undefined: none any more. */
  onChange(changed: (rival: Rival | undefined) => void): void {
    this.#changed = changed;
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
  }

  #lookLater(): void {
    if (this.#isStopped) return;
    // What cannot be read leaves what is known: a rival is not gone because we are cut off.
    const next = () =>
      void this.#look().then(
        () => this.#lookLater(),
        () => this.#lookLater(),
      );
    this.#cancel = this.#options.clock.after(lookEveryMs, next);
  }

  async #look(): Promise<void> {
    const { api, clock } = this.#options;
    // From the server's cache: it is asked often, and a few seconds do not matter.
    const selection = { fieldSelector: `metadata.name=${rivalLease}`, resourceVersion: "0" };
    const abort = new AbortController();
    const cancel = clock.after(lookEveryMs, () => abort.abort(new Error("The API server does not answer.")));
    const { items } = await api.list<Lease>(LEASES, { ...selection, signal: abort.signal }).finally(cancel);
    const alive = items.find(lease => this.#isAlive(lease, clock.now()));
    for (const { metadata, spec } of items) {
      this.#renewTimeByNamespace.set(metadata.namespace ?? "", spec?.renewTime ?? "");
    }
    if (alive !== undefined) this.#seenAt = clock.monotonic();
    else if (clock.monotonic() - this.#seenAt < goneMs) return;
    const found = alive && { holder: alive.spec?.holderIdentity ?? "", namespace: alive.metadata.namespace ?? "" };
    const isSame = found?.holder === this.#rival?.holder && found?.namespace === this.#rival?.namespace;
    this.#rival = found;
    if (!isSame && !this.#isStopped) this.#changed(found);
  }

  /** Renewed lately by our clock, or between two looks, whatever its own clock says. */
  #isAlive({ metadata, spec = {} }: Lease, now: Instant): boolean {
    const { holderIdentity = "", renewTime = "" } = spec;
    if (holderIdentity === "") return false;
    const before = this.#renewTimeByNamespace.get(metadata.namespace ?? "");
    const renewedAt = parseMicroTime(renewTime);
    return (before !== undefined && before !== renewTime) || (renewedAt.ok && now - renewedAt.value < aliveMs);
  }
}

type Warn = { warn(fields: object, message: string): void };

type Beside = {
  readonly controller: Pick<Controller, "setRival" | "picture">;
  readonly settings: Settings;
  readonly say: Warn;
};

/** As long as a rival is alive everything is only shown. */
export function showBeside(rivals: RivalWatch, { controller, settings, say }: Beside): void {
  const heed = (found: Rival | undefined) => {
    const { picture } = controller;
    controller.setRival(found);
    const word = dryRunOfAll({ picture, settings });
    if (found !== undefined)
      say.warn({}, `${factOf(found)}: dry run until it is gone, or this is started with --take-over.`);
    else if (word !== undefined) say.warn({}, `${goneFact}. It is still a dry run, because ${word}.`);
    else say.warn({}, `${goneFact}: what is decided is carried out from now on.`);
  };
  if (rivals.rival !== undefined) heed(rivals.rival);
  rivals.onChange(heed);
}

/** --take-over: it is said once, and nobody looks any more. */
export function actBeside(rivals: RivalWatch, say: Warn): void {
  const { rival } = rivals;
  rivals.stop();
  if (rival) say.warn({}, `${factOf(rival)}: acting beside it, as --take-over says. Stop it, or both end nodes.`);
}

const goneFact = `The other controller of the karpenter.sh kinds has been silent for ${formatDuration(goneMs)}`;

function factOf({ holder, namespace }: Rival): string {
  return `Another controller of the karpenter.sh kinds is alive (${holder}, lease in ${namespace})`;
}
