// Notices become Events of Kubernetes: each said once in a while, repeated ones counted in the Event that is there, and
// never so many, nor so many at once, that they harm the API server or take the place of what they tell of. Nobody waits
// for them, and one that cannot be written is lost.

import { apiVersionOf } from "../api/meta.ts";
import { nodeActions } from "../api/node-action.ts";
import { nodeClaims } from "../api/node-claim.ts";
import { nodeHealthChecks } from "../api/node-health-check.ts";
import { nodePools } from "../api/node-pool.ts";
import { safetyPolicies } from "../api/safety-policy.ts";
import { formatTime, hourMs, type Instant, type Millis, minuteMs, secondMs } from "../api/time.ts";
import type { Notice } from "../decide/decision.ts";
import type { Counts } from "./counts.ts";
import { isNotFound } from "./outcome.ts";
import type { Clock, KubeApi } from "./ports.ts";
import { events } from "./resources.ts";

const apiVersionByKind: Record<Notice["about"]["kind"], string> = {
  Node: "v1",
  Pod: "v1",
  NodeClaim: apiVersionOf(nodeClaims.resource),
  NodePool: apiVersionOf(nodePools.resource),
  NodeAction: apiVersionOf(nodeActions.resource),
  SafetyPolicy: apiVersionOf(safetyPolicies.resource),
  NodeHealthCheck: apiVersionOf(nodeHealthChecks.resource),
};

const quietMs: Millis = 2 * minuteMs;
/** As Karpenter has them. */
const quietMsByReason: Readonly<Record<string, Millis>> = {
  NodeRepairBlocked: 15 * minuteMs,
  Unconsolidatable: 15 * minuteMs,
  FailedScheduling: 5 * minuteMs,
  NoCompatibleInstanceTypes: minuteMs,
};
/** A budget may be closed all day long: said of a pool every minute, as Karpenter does, it would be most of what is said. */
const closedPoolMs: Millis = 15 * minuteMs;
/** Events live an hour on most servers: an older one is made anew. */
const knownMs: Millis = hourMs;
const knownMax = 4096;
const messageMax = 1024;
const timeoutMs: Millis = 5 * secondMs;
/** Behind what they tell of: a hundred written at once were a quarter of the writes of a burst. */
const writingMax = 2;
const perObject = { burst: 10, everyMs: 30 * secondMs };
const overall = { burst: 100, everyMs: 200 };
/** Said of each pod that waits and each node that comes, when all is well: they must not take the room of what matters. */
const routineReasons: ReadonlySet<string> = new Set([
  "Nominated",
  "Registered",
  "Initialized",
  "DisruptionLaunching",
  "DisruptionWaitingReadiness",
]);
const routine = { burst: 20, everyMs: 4 * secondMs };
/** True of most nodes at most times, each for another reason from time to time: once an object, whatever it says. */
const lastingReasons: ReadonlySet<string> = new Set(["Unconsolidatable"]);
const lasting = { burst: 20, everyMs: 5 * secondMs };

type Said = { readonly name: string; readonly at: Instant; readonly count: number };
type Bucket = { tokens: number; at: Instant };

export type EventsOptions = {
  readonly api: Pick<KubeApi, "create" | "patch">;
  readonly clock: Clock;
  readonly counts: Counts["events"];
};

export class Events {
  readonly #options: EventsOptions;
  readonly #saidByKey = new Map<string, Said>();
  readonly #bucketByUid = new Map<string, Bucket>();
  readonly #all: Bucket = { tokens: overall.burst, at: Number.NEGATIVE_INFINITY };
  readonly #routine: Bucket = { tokens: routine.burst, at: Number.NEGATIVE_INFINITY };
  readonly #lasting: Bucket = { tokens: lasting.burst, at: Number.NEGATIVE_INFINITY };
  /** At most as many as are allowed at once: a server that takes none of them for an hour finds no hour of them here. */
  readonly #unwritten: { readonly notice: Notice; readonly said: Said }[] = [];
  #writingCount = 0;
  #order = 0;

  constructor(options: EventsOptions) {
    this.#options = options;
  }

  /** Whether it was said: not if it was said a moment ago, or too much is. */
  note(notice: Notice): boolean {
    const { clock, counts } = this.#options;
    const now = clock.now();
    const what = lastingReasons.has(notice.reason) ? "" : notice.message;
    const key = [notice.about.uid, notice.reason, what].join("\n");
    const said = this.#saidByKey.get(key);
    if (said !== undefined && now - said.at < quietMsOf(notice)) return false;
    if (this.#unwritten.length >= overall.burst || !this.#hasRoom(notice, now)) {
      counts.dropped++;
      return false;
    }
    const isKnown = said !== undefined && now - said.at < knownMs;
    const next = isKnown
      ? { ...said, at: now, count: said.count + 1 }
      : { name: this.#name(notice, now), at: now, count: 1 };
    this.#remember(key, next);
    this.#unwritten.push({ notice, said: next });
    if (this.#writingCount < writingMax) void this.#writeAll();
    return true;
  }

  #hasRoom({ about: { uid }, reason }: Notice, now: Instant): boolean {
    if (routineReasons.has(reason) && !take(this.#routine, routine, now)) return false;
    if (lastingReasons.has(reason) && !take(this.#lasting, lasting, now)) return false;
    const own = this.#bucketByUid.get(uid) ?? { tokens: perObject.burst, at: now };
    this.#bucketByUid.delete(uid);
    this.#bucketByUid.set(uid, own);
    dropOldest(this.#bucketByUid);
    return take(own, perObject, now) && take(this.#all, overall, now);
  }

  #name({ about }: Notice, now: Instant): string {
    return `${about.name.slice(0, 200)}.${now.toString(16)}${(this.#order++).toString(16).padStart(4, "0")}`;
  }

  /** The newest last, so that the oldest are forgotten first. */
  #remember(key: string, said: Said): void {
    this.#saidByKey.delete(key);
    this.#saidByKey.set(key, said);
    dropOldest(this.#saidByKey);
  }

  async #writeAll(): Promise<void> {
    this.#writingCount++;
    for (let next = this.#unwritten.shift(); next !== undefined; next = this.#unwritten.shift()) {
      await this.#write(next.notice, next.said);
    }
    this.#writingCount--;
  }

  async #write(notice: Notice, { name, at, count }: Said): Promise<void> {
    const { api, counts } = this.#options;
    const namespace = notice.about.namespace ?? "default";
    try {
      if (count > 1) {
        const body = { count, lastTimestamp: formatTime(at), message: messageOf(notice) };
        await api.patch(events, { name, namespace }, { type: "merge", body }, { timeoutMs });
        counts.repeated++;
        return;
      }
    } catch (error) {
      if (!isNotFound(error)) {
        counts.failed++;
        return;
      }
    }
    try {
      await api.create(events, { namespace }, manifest(notice, { name, at, count }), { timeoutMs });
      counts.written++;
    } catch {
      counts.failed++;
    }
  }
}

function quietMsOf({ about, reason }: Notice): Millis {
  if (about.kind === "NodePool" && reason === "DisruptionBlocked") return closedPoolMs;
  return quietMsByReason[reason] ?? quietMs;
}

function messageOf({ message }: Notice): string {
  return message.length <= messageMax ? message : `${message.slice(0, messageMax - 1)}…`;
}

function manifest(notice: Notice, { name, at, count }: Said) {
  const { about, type, reason } = notice;
  const { kind, uid, namespace } = about;
  const time = formatTime(at);
  return {
    apiVersion: "v1",
    kind: "Event",
    metadata: { name, namespace: namespace ?? "default" },
    involvedObject: {
      apiVersion: apiVersionByKind[kind],
      kind,
      name: about.name,
      uid,
      ...(namespace === undefined ? {} : { namespace }),
    },
    type,
    reason,
    message: messageOf(notice),
    source: { component: "fettle" },
    reportingComponent: "fettle",
    firstTimestamp: time,
    lastTimestamp: time,
    count,
  };
}

function take(bucket: Bucket, { burst, everyMs }: { burst: number; everyMs: Millis }, now: Instant): boolean {
  const gained = (now - bucket.at) / everyMs;
  bucket.tokens = Math.min(burst, bucket.tokens + Math.max(0, gained));
  bucket.at = now;
  if (bucket.tokens < 1) return false;
  bucket.tokens -= 1;
  return true;
}

function dropOldest(map: Map<string, unknown>): void {
  if (map.size <= knownMax) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
