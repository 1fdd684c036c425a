// What happens on the time line: what people do with kubectl, and what goes wrong around the controller. An act that
// finds nobody to be done to is told in the journal; one that the API server refuses is a mistake of the scenario, unless
// it comes too late for something that is going.

import type { KubeObject } from "../../api/meta.ts";
import { ApiError } from "../../api/status.ts";
import type { Clock } from "../../control/ports.ts";
import type { ActiveFaults } from "./active-faults.ts";
import type { WorldEntry } from "./journal.ts";
import type { ClusterObjects } from "./objects.ts";
import type { ApiFault } from "./process-api.ts";
import type { Processes } from "./processes.ts";
import type { ProviderFault } from "./provider-faults.ts";
import { type Act, durationMs, type Entry, type Objects } from "./scenario.ts";
import type { WatchLines } from "./watch-lines.ts";

type Stage = {
  readonly clock: Clock;
  readonly startedAt: number;
  readonly objects: ClusterObjects;
  readonly processes: Processes;
  readonly apiFaults: ActiveFaults<ApiFault>;
  readonly watches: WatchLines;
  readonly providerFaults: ActiveFaults<ProviderFault>;
  tell(event: WorldEntry["event"], message: string): void;
  /** The scenario itself is wrong. */
  failed(message: string): void;
};

const takenOverAfterMs = 20_000;
const minutes10 = 10 * 60_000;

export function schedule(stage: Stage, entry: Entry): void {
  const { clock, startedAt } = stage;
  const everyMs = entry.every === undefined ? undefined : durationMs(entry.every);
  const endAt = entry.until === undefined ? Number.POSITIVE_INFINITY : startedAt + durationMs(entry.until);
  const next = (at: number) => {
    if (at > endAt) return;
    clock.after(at - clock.now(), () => {
      perform(stage, entry.do);
      if (everyMs !== undefined) next(at + everyMs);
    });
  };
  next(startedAt + durationMs(entry.at));
}

function perform(stage: Stage, act: Act): void {
  try {
    byPeople(stage, act);
    byFaults(stage, act);
    toTheProcess(stage, act);
  } catch (error) {
    stage.failed(`${JSON.stringify(act)}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** What needs nobody but the API server. */
export const actsOfPeople = [
  "apply",
  "delete",
  "annotate",
  "cordon",
  "patch",
] as const satisfies readonly (keyof Act)[];

export function byPeople(
  stage: Pick<Stage, "objects" | "tell">,
  { apply, delete: gone, annotate, cordon, patch }: Act,
): void {
  const { objects } = stage;
  if (apply) {
    objects.apply(apply);
    stage.tell("person", `applies ${apply.kind}/${apply.metadata.name}`);
  }
  if (gone) each(stage, gone, "deletes", object => objects.delete(object));
  if (annotate) {
    const { annotations = {}, labels = {} } = annotate;
    const metadata = { annotations: withNulls(annotations), labels: withNulls(labels) };
    const words = Object.entries({ ...annotations, ...labels }).map(([key, value]) => `${key}=${value}`);
    each(stage, annotate, `writes ${words.join(" ")} on`, object => objects.patch(object, { metadata }));
  }
  if (cordon) each(stage, cordon, "cordons", object => objects.patch(object, { spec: { unschedulable: true } }));
  if (patch) {
    const { merge, subresource } = patch;
    each(stage, patch, `patches ${JSON.stringify(merge)} into`, object => objects.patch(object, merge, subresource));
  }
}

function byFaults({ clock, apiFaults, watches, providerFaults, ...stage }: Stage, act: Act): void {
  const now = clock.monotonic();
  if (act.api) {
    const { fault, for: length, share, verbs, resources, delay = "30s", retryAfter } = act.api;
    const seconds = retryAfter === undefined ? {} : { retryAfterSeconds: Math.ceil(durationMs(retryAfter) / 1000) };
    const where = { ...(verbs && { verbs }), ...(resources && { resources }) };
    const span = { until: now + durationMs(length), share: shareOf(share) };
    apiFaults.add({ fault, ...span, ...where, delayMs: durationMs(delay), ...seconds });
  }
  if (act.watch) {
    const { fault, for: length, resources, delay = fault === "Past" ? "10m" : "30s" } = act.watch;
    const until = now + (length === undefined ? minutes10 : durationMs(length));
    watches.strike({ fault, since: now, until, ...(resources && { resources }), delayMs: durationMs(delay) });
  }
  if (act.provider) {
    const { fault, for: length, share, calls } = act.provider;
    const span = { until: now + durationMs(length), share: shareOf(share) };
    providerFaults.add({ fault, ...span, ...(calls && { calls }) });
  }
  for (const name of ["api", "watch", "provider"] as const) {
    if (act[name]) stage.tell("fault", `${name} ${words(act[name])}`);
  }
}

function toTheProcess(stage: Stage, { clock, crash, pause }: Act): void {
  const { processes } = stage;
  if (clock) {
    processes.current.jump(durationMs(clock.jump));
    stage.tell("fault", `the controller's clock jumps by ${clock.jump}`);
  }
  if (crash) {
    const { atWrite, committed = false, downFor } = crash;
    const downMs = downFor === undefined ? takenOverAfterMs : durationMs(downFor);
    const cut = committed ? "after" : "before";
    processes.crash({ ...(atWrite && { atWrite }), cut, downMs });
  }
  if (pause) processes.pause(durationMs(pause.for), takenOverAfterMs);
}

function each(
  stage: Pick<Stage, "objects" | "tell">,
  objects: Objects,
  verb: string,
  act: (object: KubeObject) => void,
): void {
  const found = stage.objects.find(objects);
  if (found.length === 0) stage.tell("person", `finds no ${objects.kind} ${objects.name ?? objects.selector ?? ""}`);
  for (const object of found) {
    const said = attempt(object, act);
    stage.tell("person", `${verb} ${object.kind}/${object.metadata.name}${said === undefined ? "" : `, but ${said}`}`);
  }
}

/** What is being deleted takes less than what stays, and when that is no scenario can know: the refusal is told. */
function attempt(object: KubeObject, act: (object: KubeObject) => void): string | undefined {
  try {
    act(object);
    return undefined;
  } catch (error) {
    if (!(error instanceof ApiError) || object.metadata.deletionTimestamp === undefined) throw error;
    return error.message;
  }
}

/** An empty value takes the key away. */
function withNulls(values: Record<string, string>): Record<string, string | null> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, value === "" ? null : value]));
}

/** "40%" of 1. */
function shareOf(percent: string | undefined): number {
  return percent === undefined ? 1 : Number.parseInt(percent, 10) / 100;
}

function words(fields: object): string {
  return Object.entries(fields)
    .map(([key, value]) => `${key}=${Array.isArray(value) ? value.join(",") : String(value)}`)
    .join(" ");
}
