// What metrics are read from, when somebody asks.

import type { Instant } from "../api/time.ts";
import type { Refusal, Settings } from "../decide/decision.ts";
import type { Health } from "../decide/remembered.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { breath, Family, Sample } from "./family.ts";

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
  readonly health: Health;
  refusals(): readonly Refusal[];
};

export type MeasuredWatch = { readonly resource: string; readonly isSynced: boolean; readonly ageMs: number };

export type MetricsOptions = {
  readonly version: string;
  readonly settings: Settings;
  readonly now: () => Instant;
  readonly measured: () => Measured;
  readonly watches: () => readonly MeasuredWatch[];
};

export type Asked = Measured & Pick<MetricsOptions, "settings"> & { readonly now: Instant };
/** Samples of what stands when they are asked for. */
export type Of = (read: (asked: Asked) => Iterable<Sample | typeof breath>) => Family["samples"];
