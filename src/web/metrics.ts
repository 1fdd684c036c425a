// Metrics in Prometheus' text: those of Karpenter that apply, under its names, and ours under fettle_. The only module
// that knows prom-client. Counts nothing that the shell counts already: that is read when somebody asks.

import { Counter, Histogram, Registry } from "prom-client";
import type { Command, JournalEntry } from "../decide/decision.ts";
import type { Picture } from "../snapshot/picture.ts";
import { type Effect, type EffectMetric, effectsOf, effectsOfEnd } from "../view/life-effects.ts";
import { families } from "./families.ts";
import { type Family, textOf } from "./family.ts";
import { type Life, lives } from "./lives.ts";
import type { MetricsOptions } from "./measured.ts";

const turns = {
  name: "fettle_turn_duration_seconds",
  help: "How long a turn took, from picture to commands.",
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1],
};

export class Metrics {
  readonly #registry = new Registry();
  readonly #lives = new Map<EffectMetric, Counter | Histogram>();
  readonly #effectsByCommand = new WeakMap<Command, readonly Effect[]>();
  readonly #turns: Histogram;
  readonly #families: readonly Family[];
  readonly #pause: () => Promise<void>;

  /** `pause` lets others run: a scrape of a large cluster is long. */
  constructor(options: MetricsOptions & { readonly pause: () => Promise<void> }) {
    const registers = [this.#registry];
    for (const [name, { help, labels, buckets }] of Object.entries(lives) as [EffectMetric, Life][]) {
      const common = { name, help, labelNames: [...labels], registers };
      this.#lives.set(name, buckets ? new Histogram({ ...common, buckets: [...buckets] }) : new Counter(common));
    }
    this.#turns = new Histogram({ ...turns, registers });
    this.#families = families(options);
    this.#pause = options.pause;
  }

  turned(durationMs: number): void {
    this.#turns.observe(durationMs / 1000);
  }

  record(entry: JournalEntry, picture: Picture): void {
    if (entry.event === "decided") {
      const effects = effectsOf(entry, picture);
      if (effects.length > 0) this.#effectsByCommand.set(entry.command, effects);
    } else if (entry.event === "ended") {
      const { command, outcome } = entry;
      if (outcome.result === "done") this.#count(this.#effectsByCommand.get(command) ?? []);
      this.#count(effectsOfEnd(command, outcome, picture));
    }
  }

  async text(): Promise<{ contentType: string; text: string }> {
    const counted = await this.#registry.metrics();
    const text = counted + (await textOf(this.#families, this.#pause));
    return { contentType: this.#registry.contentType, text };
  }

  #count(effects: readonly Effect[]): void {
    for (const { metric, labels, seconds, amount = 1 } of effects) {
      const counted = this.#lives.get(metric);
      if (counted instanceof Histogram) counted.observe(labels, seconds ?? 0);
      else counted?.inc(labels, amount);
    }
  }
}

export type Described = {
  readonly name: string;
  readonly type: "counter" | "gauge" | "histogram";
  readonly labels: readonly string[];
  readonly help: string;
};

/** Every metric there is, for whoever writes about them. */
export function described(): readonly Described[] {
  const counted = Object.entries(lives).map(
    ([name, { help, labels, buckets }]): Described => ({ name, type: buckets ? "histogram" : "counter", labels, help }),
  );
  return [
    ...counted,
    { name: turns.name, type: "histogram" as const, labels: [], help: turns.help },
    ...families(unread).map(({ name, type, labels = [], help }) => ({ name, type, labels, help })),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What a metric is called does not depend on what it is read from. */
const unread: MetricsOptions = {
  version: "",
  settings: { cluster: "", dryRun: false, foreignClaims: "ignore" },
  now: () => 0,
  watches: () => [],
  measured: () => {
    throw new Error("Names are told without a look.");
  },
};
