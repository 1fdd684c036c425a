// Metrics in Prometheus' text: those of Karpenter that apply, under its names, and ours under fettle_. The only module
// that knows prom-client. Counts nothing that the shell counts already: that is read when somebody asks.

import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Command, JournalEntry } from "../decide/decision.ts";
import type { Picture } from "../snapshot/picture.ts";
import { type Effect, type EffectMetric, effectsOf, effectsOfEnd } from "../view/life-effects.ts";
import { families, type Family, type MetricsOptions } from "./families.ts";

export class Metrics {
  readonly #registry = new Registry();
  readonly #lives = new Map<EffectMetric, Counter | Histogram>();
  readonly #effectsByCommand = new WeakMap<Command, readonly Effect[]>();
  readonly #turns: Histogram;

  constructor(options: MetricsOptions) {
    const registers = [this.#registry];
    for (const [metric, { help, labels, buckets }] of Object.entries(lives) as [EffectMetric, Life][]) {
      const common = { name: `karpenter_${metric}`, help, labelNames: [...labels], registers };
      this.#lives.set(metric, buckets ? new Histogram({ ...common, buckets: [...buckets] }) : new Counter(common));
    }
    this.#turns = new Histogram({
      name: "fettle_turn_duration_seconds",
      help: "How long a turn took, from picture to commands.",
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 1],
      registers,
    });
    for (const family of families(options)) register(family, this.#registry);
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
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  #count(effects: readonly Effect[]): void {
    for (const { metric, labels, seconds } of effects) {
      const counted = this.#lives.get(metric);
      if (counted instanceof Histogram) counted.observe(labels, seconds ?? 0);
      else counted?.inc(labels);
    }
  }
}

type Life = { readonly help: string; readonly labels: readonly string[]; readonly buckets?: readonly number[] };

const longBuckets = [1, 5, 10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200];
const lifetimeBuckets = [60, 600, 3_600, 6 * 3_600, 86_400, 7 * 86_400, 30 * 86_400, 90 * 86_400];

const lives: Readonly<Record<EffectMetric, Life>> = {
  nodeclaims_created_total: { help: "Claims created.", labels: ["reason", "nodepool", "min_values_relaxed"] },
  nodeclaims_terminated_total: { help: "Claims gone for good.", labels: ["nodepool", "capacity_type", "zone"] },
  nodeclaims_disrupted_total: {
    help: "Claims that were deleted by the controller, by reason.",
    labels: ["reason", "nodepool", "capacity_type"],
  },
  nodeclaims_termination_duration_seconds: {
    help: "From a claim's deletion to its end.",
    labels: ["nodepool"],
    buckets: longBuckets,
  },
  nodeclaims_instance_termination_duration_seconds: {
    help: "From asking for an instance's end to its end.",
    labels: ["nodepool"],
    buckets: longBuckets,
  },
  nodes_created_total: { help: "Nodes registered.", labels: ["nodepool"] },
  nodes_drained_total: { help: "Nodes drained.", labels: ["nodepool"] },
  nodes_terminated_total: { help: "Nodes gone for good.", labels: ["nodepool"] },
  nodes_termination_duration_seconds: {
    help: "From a node's deletion to its end.",
    labels: ["nodepool"],
    buckets: longBuckets,
  },
  nodes_lifetime_duration_seconds: {
    help: "From a node's creation to its end.",
    labels: ["nodepool"],
    buckets: lifetimeBuckets,
  },
  pods_eviction_requests_total: { help: "Evictions asked for, by the answer's code.", labels: ["code"] },
};

/** Filled anew each time somebody asks. */
function register({ name, help, type, labels = [], samples }: Family, registry: Registry): void {
  const common = { name, help, labelNames: [...labels], registers: [registry] };
  const fill = (metric: Counter | Gauge) => {
    metric.reset();
    for (const { labels: given = {}, value } of samples()) metric.inc(given, value);
  };
  const metric: Counter | Gauge =
    type === "gauge"
      ? new Gauge({ ...common, collect: () => fill(metric) })
      : new Counter({ ...common, collect: () => fill(metric) });
}
