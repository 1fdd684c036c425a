// What is measured at the moment somebody asks: how the picture, the shell and the watches stand.

import { approximateValue, parseQuantity } from "../api/quantity.ts";
import type { Refusal } from "../decide/decision.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { PoolView } from "../snapshot/views.ts";

/** What the shell says of itself (control/controller.ts, control/counts.ts). */
export type Measured = {
  readonly picture: Picture;
  readonly counts: {
    readonly turns: number;
    readonly asked: number;
    readonly withheld: number;
    readonly ruleFailures: number;
    readonly commands: ReadonlyMap<string, number>;
    readonly refusals: ReadonlyMap<string, number>;
    readonly events: Readonly<Record<string, number>>;
  };
  readonly runningCount: number;
  readonly waitingCount: number;
  readonly epoch: number | undefined;
  refusals(): readonly Refusal[];
};

export type MeasuredWatch = { readonly resource: string; readonly isSynced: boolean; readonly ageMs: number };

export type MetricsOptions = {
  readonly version: string;
  readonly measured: () => Measured;
  readonly watches: () => readonly MeasuredWatch[];
};

type Sample = { readonly labels?: Readonly<Record<string, string>>; readonly value: number };
export type Family = {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly labels?: readonly string[];
  /** Read when somebody asks. */
  readonly samples: () => Iterable<Sample>;
};

export function families({ version, measured, watches }: MetricsOptions): Family[] {
  const of: Of = read => () => read(measured());
  return [
    ...ofTheCluster(of),
    ...ofTheShell(of),
    {
      name: "karpenter_cluster_state_synced",
      help: "1 once every kind has been listed and watched.",
      type: "gauge",
      samples: () => [{ value: Number(watches().every(({ isSynced }) => isSynced)) }],
    },
    {
      name: "fettle_watch_age_seconds",
      help: "Since the last event or bookmark of a kind; bookmarks come every minute.",
      type: "gauge",
      labels: ["resource"],
      samples: () => watches().map(({ resource, ageMs }) => ({ labels: { resource }, value: ageMs / 1000 })),
    },
    {
      name: "fettle_build_info",
      help: "Always 1; its label says which version runs.",
      type: "gauge",
      labels: ["version"],
      samples: () => [{ labels: { version }, value: 1 }],
    },
  ];
}

type Of = (read: (measured: Measured) => Iterable<Sample>) => Family["samples"];

function ofTheCluster(of: Of): Family[] {
  const resourceLabels = ["nodepool", "resource_type"];
  return [
    {
      name: "karpenter_cluster_state_node_count",
      help: "Nodes in the picture.",
      type: "gauge",
      samples: of(({ picture }) => [{ value: picture.nodeCount }]),
    },
    {
      name: "karpenter_nodepools_limit",
      help: "What a pool may have.",
      type: "gauge",
      labels: resourceLabels,
      samples: of(({ picture }) => perPool(picture, ({ effective }) => effective.limits)),
    },
    {
      name: "karpenter_nodepools_usage",
      help: "What a pool has.",
      type: "gauge",
      labels: resourceLabels,
      samples: of(({ picture }) => perPool(picture, ({ status }) => status.resources)),
    },
    {
      name: "fettle_departures",
      help: "Nodes that are going away now, whoever asked.",
      type: "gauge",
      samples: of(({ picture }) => [{ value: picture.departureCount }]),
    },
    {
      name: "fettle_actions",
      help: "NodeActions that are kept, by what they do and how far they are.",
      type: "gauge",
      labels: ["action", "phase"],
      samples: of(({ picture }) => {
        const keys = [...picture.actions()].map(({ spec, status }) => `${spec.action} ${status.phase ?? "Pending"}`);
        return tally(keys, ["action", "phase"]);
      }),
    },
    {
      name: "fettle_picture_stale",
      help: "1 while the picture is too old for anything destructive.",
      type: "gauge",
      samples: of(({ picture }) => [{ value: Number(picture.staleness !== undefined) }]),
    },
  ];
}

function ofTheShell(of: Of): Family[] {
  const single = (name: string, help: string, read: (measured: Measured) => number): Family => ({
    name,
    help,
    type: name.endsWith("_total") ? "counter" : "gauge",
    samples: of(measured => [{ value: read(measured) }]),
  });
  const counted = (
    name: string,
    help: string,
    { labels, read }: { labels: readonly string[]; read: (measured: Measured) => Iterable<readonly [string, number]> },
  ): Family => ({ name, help, type: "counter", labels, samples: of(measured => labelled(read(measured), labels)) });
  return [
    single("fettle_leader", "1 while this process leads.", ({ epoch }) => Number(epoch !== undefined)),
    single("fettle_commands_running", "Commands that run now.", ({ runningCount }) => runningCount),
    single(
      "fettle_commands_waiting",
      "Subjects that wait because so many commands run.",
      ({ waitingCount }) => waitingCount,
    ),
    single("fettle_commands_withheld_total", "Commands decided anew later.", ({ counts }) => counts.withheld),
    single("fettle_subjects_asked_total", "Subjects that rules were asked about.", ({ counts }) => counts.asked),
    single("fettle_rule_failures_total", "Turns given up because a rule failed.", ({ counts }) => counts.ruleFailures),
    counted("fettle_commands_total", "Commands by kind and result.", {
      labels: ["kind", "result"],
      read: ({ counts }) => counts.commands,
    }),
    counted("fettle_refusals_total", "Each time something newly stood in the way, by code.", {
      labels: ["code"],
      read: ({ counts }) => counts.refusals,
    }),
    counted("fettle_events_total", "Events by what became of them.", {
      labels: ["result"],
      read: ({ counts }) => Object.entries(counts.events),
    }),
    {
      name: "fettle_refusals",
      help: "What stands in the way now, by code.",
      type: "gauge",
      labels: ["code"],
      samples: of(measured =>
        tally(
          measured.refusals().map(({ code }) => code),
          ["code"],
        ),
      ),
    },
  ];
}

function* perPool(
  picture: Picture,
  read: (pool: PoolView) => Readonly<Record<string, string | number>> | undefined,
): Iterable<Sample> {
  for (const pool of picture.pools()) {
    for (const [resource_type, amount] of Object.entries(read(pool) ?? {})) {
      const parsed = parseQuantity(String(amount));
      if (parsed.ok) yield { labels: { nodepool: pool.name, resource_type }, value: approximateValue(parsed.value) };
    }
  }
}

function tally(keys: readonly string[], labels: readonly string[]): Iterable<Sample> {
  const counts = new Map<string, number>();
  for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
  return labelled(counts, labels);
}

/** Keys hold a word for each label, parted by spaces. */
function* labelled(counts: Iterable<readonly [string, number]>, labels: readonly string[]): Iterable<Sample> {
  for (const [key, value] of counts) {
    const words = key.split(" ");
    yield { labels: Object.fromEntries(labels.map((label, index) => [label, words[index] ?? ""])), value };
  }
}
