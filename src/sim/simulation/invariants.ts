// What must hold in every run, whatever the scenario: judged on the objects as stored, at every write of the controller,
// after every turn and from time to time. It reads the controller's own words only to see whether a wait is explained.
//
// I1 caps, I3 no repair before its time, I4 one action a node: at every revision (ledger). I2 no destructive write on a
// stale picture, I5 evidence first, I6 protected pods, I8 one leader: at every write. I9 nothing waits unexplained: every
// few minutes. I7 replacements first, and room for what must move: where a plan begins. I10 (an empty selector never means
// all) is the API's and I6's.
//
// Beside them: P1 every delete is meant for one uid, U1 nodes of others are not touched, G1 garbage is old and dead, S1
// nothing starts under a freeze or on a node never to touch, D1 the instance ends after the drain, T1 a deadline comes no
// later than before, T2 a claim's finalizer outlives its instance; storm: writes are bounded.

import type { Controller } from "../../control/controller.ts";
import type { Clock } from "../../control/ports.ts";
import type { Change } from "../history.ts";
import type { ApiRequest } from "../request.ts";
import type { ActiveFaults } from "./active-faults.ts";
import { capViolations } from "./cap-invariants.ts";
import { forgottenRemediation } from "./check-invariants.ts";
import { claimViolations } from "./claim-invariants.ts";
import { ConditionHistory } from "./condition-history.ts";
import { elapsed } from "./journal.ts";
import { type Action, isOpen, Ledger } from "./ledger.ts";
import type { Process } from "./process.ts";
import type { ApiFault } from "./process-api.ts";
import type { Watchman } from "./observed-server.ts";
import type { ClusterObjects } from "./objects.ts";
import { budgetViolations } from "./plan-invariants.ts";
import { policyViolations } from "./policy-invariants.ts";
import type { Processes } from "./processes.ts";
import type { WatchLines } from "./watch-lines.ts";
import { repairViolations } from "./repair-invariants.ts";
import type { WriteContext } from "./write-context.ts";
import { writeViolations } from "./write-invariants.ts";

export type InvariantParts = {
  readonly clock: Clock;
  readonly objects: ClusterObjects;
  readonly watches: WatchLines;
  readonly apiFaults: ActiveFaults<ApiFault>;
  violated: (message: string) => void;
};

/** A feed without a sign of life for 75 s is stale; what was under way by then may still arrive. */
const staleAfterMs = 75_000 + 30_000;
const watched = [
  "nodes",
  "nodeclaims",
  "nodeactions",
  "pods",
  "nodepools",
  "poddisruptionbudgets",
  "volumeattachments",
];
/** An action that has not moved for so long has to say why. */
const silentMaxMs = 20 * 60_000;
const minuteMs = 60_000;

/**
 * After every so many turns; Infinity: never; "in proportion": so rarely that it adds little to the judging itself,
 * however large the cluster, and once at the end, where what still stands wrong is found.
 */
export type VerifyEvery = number | "in proportion";

/** In proportion: so many subjects are asked for each that is judged from scratch. */
const askedPerCompared = 20;

export class Invariants implements Watchman {
  writer: Process | undefined;
  readonly ledger = new Ledger();
  readonly #parts: InvariantParts;
  #processes: Processes<Controller> | undefined;
  #turnCount = 0;
  readonly #movedAt = new Map<string, number>();
  /** A list is as good as what a watch would have brought. By kind, of the process that writes. */
  readonly #listedAt = new WeakMap<Process, Map<string, number>>();
  readonly #history = new ConditionHistory();
  /** Of repairs that were opened too early, by the action's uid: a breach once they start, nothing if they never do. */
  readonly #early = new Map<string, readonly string[]>();
  readonly #changedAt = new Map<string, number>();
  #writes = { minute: 0, count: 0, claims: 0 };

  constructor(parts: InvariantParts) {
    this.#parts = parts;
  }

  /** From when on there are processes. */
  watch(processes: Processes<Controller>): void {
    this.#processes = processes;
  }

  listed(plural: string, process: Process): void {
    const byKind = this.#listedAt.get(process) ?? new Map<string, number>();
    this.#listedAt.set(process, byKind.set(plural, this.#parts.clock.monotonic()));
  }

  before(request: ApiRequest, process: Process): void {
    const { clock, violated } = this.#parts;
    const who = `${request.verb} ${request.plural}${request.subresource ? `/${request.subresource}` : ""} ${request.name ?? ""}`;
    if (process.isFenced) violated(`I8 ${who}: written by epoch ${process.epoch} after another has taken over`);
    this.#countWrite(who);
    const found = writeViolations(this.#contextOf(process), request);
    for (const message of found.violations) violated(`${message} (${who})`);
    if (!found.isDestructive) return;
    for (const plural of watched) {
      const stalledSince = this.#parts.watches.stalledSince(plural);
      if (stalledSince === undefined) continue;
      const since = Math.max(stalledSince, this.#listedAt.get(process)?.get(plural) ?? 0);
      if (clock.monotonic() - since < staleAfterMs) continue;
      violated(`I2 ${who}: written although nothing of ${plural} has come for ${elapsed(clock.monotonic() - since)}`);
    }
  }

  /** Told of every change of the store, after it. */
  changed(collection: string, change: Change): void {
    this.ledger.changed(collection, change);
    const { clock } = this.#parts;
    if (isNews(collection, change)) this.#changedAt.set(`${collection} ${change.key}`, clock.now());
    if (collection === "nodes") this.#history.changed(change, clock.now());
    if (collection === "nodeclaims.karpenter.sh") this.#claimChanged(change);
    if (collection !== "nodeactions.fettle.dev") return;
    this.#movedAt.set(change.key, clock.monotonic());
    if (change.type !== "DELETED") this.#actionChanged(change);
  }

  #claimChanged({ type, stored, previous }: Change): void {
    if (this.writer === undefined || previous === undefined) return;
    const after = type === "DELETED" ? undefined : stored.object;
    const found = claimViolations(this.#contextOf(this.writer), previous.object, after);
    for (const message of found) this.#parts.violated(message);
  }

  #contextOf(process: Process): WriteContext {
    const { clock, objects } = this.#parts;
    return { ledger: this.ledger, objects, process, clock, changedAt: this.#changedAt };
  }

  #actionChanged({ stored, previous }: Change): void {
    const { violated } = this.#parts;
    const action = stored.object as Action;
    this.#startedEarly(action);
    if (!isOpen(action)) return;
    const open = this.ledger.openOn(action.spec.node.uid);
    if (open.length > 1) {
      const names = open.map(({ metadata }) => metadata.name).join(", ");
      violated(`I4 node ${action.spec.node.name} has several open actions: ${names}`);
    }
    if (previous !== undefined || this.writer === undefined) return;
    // The times of the ledger are the controller's own, however wrong its clock.
    for (const message of capViolations(this.ledger, action, this.writer.now())) violated(message);
    // One that was decided long ago and sent again is held when it would start.
    const isFresh = this.writer.now() - Date.parse(action.spec.decidedAt) < minuteMs;
    if (!isFresh) return;
    const context = { ...this.#contextOf(this.writer), history: this.#history };
    for (const message of policyViolations(context, action)) violated(message);
    for (const message of budgetViolations(context, action)) violated(message);
    this.#early.set(action.metadata.uid, repairViolations(context, action));
  }

  #startedEarly({ metadata: { uid }, status }: Action): void {
    if (status?.startedAt === undefined) return;
    for (const message of this.#early.get(uid) ?? []) this.#parts.violated(message);
    this.#early.delete(uid);
  }

  /** After every step of the clock: when the controller has made a turn, what it decided must be what all it sees says. */
  stepped(verifyEvery: VerifyEvery): void {
    const processes = this.#processes;
    if (processes === undefined || processes.current.isDead) return;
    const { turns, asked, compared } = processes.program.counts;
    if (turns === this.#turnCount) return;
    this.#turnCount = turns;
    const isTime = verifyEvery === "in proportion" ? compared <= asked / askedPerCompared : turns % verifyEvery === 0;
    if (isTime) this.verify();
  }

  verify(): void {
    const processes = this.#processes;
    if (processes === undefined || processes.current.isDead) return;
    for (const difference of processes.program.verify()) this.#parts.violated(`incremental: ${difference}`);
  }

  /** I9, and H3. */
  look(): void {
    const processes = this.#processes;
    if (processes === undefined || processes.current.isDead) return;
    const now = this.#parts.clock.monotonic();
    const { quietSince } = this.#parts.apiFaults;
    for (const action of this.ledger.actionByName.values()) {
      // Where no write gets through, no reason can be written either.
      const movedAt = Math.max(quietSince, this.#movedAt.get(action.metadata.name) ?? now);
      if (!isOpen(action) || now - movedAt < silentMaxMs) continue;
      for (const message of forgottenRemediation(this.#parts.objects, action)) this.#parts.violated(message);
      if (action.status?.waitingFor !== undefined) continue;
      const subjects = [`action/${action.metadata.name}`, `claim/${action.spec.claim?.name}`, "cluster"];
      if (processes.program.refusals().some(({ subject }) => subjects.includes(subject))) continue;
      const { phase = "no phase" } = action.status ?? {};
      this.#parts.violated(
        `I9 action ${action.metadata.name} (${phase}) has not moved for ${elapsed(now - movedAt)} and nobody says why`,
      );
    }
  }

  /** Bounded writes: a controller that writes without end has lost its way. */
  #countWrite(who: string): void {
    const { clock, violated } = this.#parts;
    const minute = Math.floor(clock.monotonic() / minuteMs);
    if (minute !== this.#writes.minute) this.#writes = { minute, count: 0, claims: 0 };
    // A whole pool may go within the minute: what it was then still counts.
    this.#writes.claims = Math.max(this.#writes.claims, this.ledger.claimByName.size);
    const bound = 300 + 40 * this.#writes.claims;
    if (++this.#writes.count === bound) violated(`storm: ${bound} writes within a minute, the last of them ${who}`);
  }
}

/** What others decide by and a watch shows later; not what only we write, nor a heartbeat. */
function isNews(collection: string, { stored, previous }: Change): boolean {
  const [after, before] = [stored.object.metadata, previous?.object.metadata];
  switch (collection) {
    case "pods":
    case "poddisruptionbudgets.policy":
      return true;
    case "safetypolicies.fettle.dev":
    case "nodepools.karpenter.sh":
    case "nodehealthchecks.remediation.medik8s.io":
      return after.generation !== before?.generation;
    case "nodes":
      return JSON.stringify(after.labels) !== JSON.stringify(before?.labels);
    default:
      return false;
  }
}
