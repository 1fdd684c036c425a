// What must hold in every run, whatever the scenario: judged on the objects as stored, at every write of the controller,
// after every turn and from time to time. It reads the controller's own words only to see whether a wait is explained.
//
// I1 caps, I4 one action a node: at every revision (ledger). I2 no destructive write on a stale picture, I5 evidence
// first, I6 protected pods, I8 one leader: at every write. I9 nothing waits unexplained: every few minutes. I3 and I7
// come with repair and consolidation; I10 (an empty selector never means all) is the API's and I6's.

import type { Controller } from "../../control/controller.ts";
import type { Clock } from "../../control/ports.ts";
import type { Change } from "../history.ts";
import type { ApiRequest } from "../request.ts";
import type { ActiveFaults } from "./active-faults.ts";
import { capViolations } from "./cap-invariants.ts";
import { elapsed } from "./journal.ts";
import { type Action, isOpen, Ledger } from "./ledger.ts";
import type { Process } from "./process.ts";
import type { ApiFault } from "./process-api.ts";
import type { Watchman } from "./observed-server.ts";
import type { ClusterObjects } from "./objects.ts";
import type { Processes } from "./processes.ts";
import type { WatchLines } from "./watch-lines.ts";
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

export class Invariants implements Watchman {
  writer: Process | undefined;
  readonly ledger = new Ledger();
  readonly #parts: InvariantParts;
  #processes: Processes<Controller> | undefined;
  #turnCount = 0;
  readonly #movedAt = new Map<string, number>();
  readonly #podChangedAt = new Map<string, number>();
  #writes = { minute: 0, count: 0 };

  constructor(parts: InvariantParts) {
    this.#parts = parts;
  }

  /** From when on there are processes. */
  watch(processes: Processes<Controller>): void {
    this.#processes = processes;
  }

  before(request: ApiRequest, process: Process): void {
    const { clock, objects, violated } = this.#parts;
    const who = `${request.verb} ${request.plural}${request.subresource ? `/${request.subresource}` : ""} ${request.name ?? ""}`;
    if (process.isFenced) violated(`I8 ${who}: written by epoch ${process.epoch} after another has taken over`);
    this.#countWrite(who);
    const { ledger } = this;
    const found = writeViolations({ ledger, objects, process, clock, podChangedAt: this.#podChangedAt }, request);
    for (const message of found.violations) violated(`${message} (${who})`);
    if (!found.isDestructive) return;
    for (const plural of watched) {
      const since = this.#parts.watches.stalledSince(plural);
      if (since === undefined || clock.monotonic() - since < staleAfterMs) continue;
      violated(`I2 ${who}: written although nothing of ${plural} has come for ${elapsed(clock.monotonic() - since)}`);
    }
  }

  /** Told of every change of the store, after it. */
  changed(collection: string, change: Change): void {
    this.ledger.changed(collection, change);
    const { clock } = this.#parts;
    if (collection === "pods" || collection === "poddisruptionbudgets.policy") {
      this.#podChangedAt.set(`${collection} ${change.key}`, clock.now());
    }
    if (collection !== "nodeactions.fettle.dev") return;
    this.#movedAt.set(change.key, clock.monotonic());
    if (change.type !== "DELETED") this.#actionChanged(change);
  }

  #actionChanged({ stored, previous }: Change): void {
    const { violated } = this.#parts;
    const action = stored.object as Action;
    if (!isOpen(action)) return;
    const open = this.ledger.openOn(action.spec.node.uid);
    if (open.length > 1) {
      const names = open.map(({ metadata }) => metadata.name).join(", ");
      violated(`I4 node ${action.spec.node.name} has several open actions: ${names}`);
    }
    if (previous !== undefined || this.writer === undefined) return;
    // The times of the ledger are the controller's own, however wrong its clock.
    for (const message of capViolations(this.ledger, action, this.writer.now())) violated(message);
  }

  /** After every step of the clock: when the controller has made a turn, what it decided must be what all it sees says. */
  stepped(verifyEvery: number): void {
    const processes = this.#processes;
    if (processes === undefined || processes.current.isDead) return;
    const { program } = processes;
    const { turns } = program.counts;
    if (turns === this.#turnCount) return;
    this.#turnCount = turns;
    if (turns % verifyEvery !== 0) return;
    for (const difference of program.verify()) this.#parts.violated(`incremental: ${difference}`);
  }

  /** I9. */
  look(): void {
    const processes = this.#processes;
    if (processes === undefined || processes.current.isDead) return;
    const now = this.#parts.clock.monotonic();
    const { quietSince } = this.#parts.apiFaults;
    for (const action of this.ledger.actionByName.values()) {
      // Where no write gets through, no reason can be written either.
      const movedAt = Math.max(quietSince, this.#movedAt.get(action.metadata.name) ?? now);
      if (!isOpen(action) || now - movedAt < silentMaxMs || action.status?.waitingFor !== undefined) continue;
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
    if (minute !== this.#writes.minute) this.#writes = { minute, count: 0 };
    const bound = 300 + 40 * this.ledger.claimByName.size;
    if (++this.#writes.count === bound) violated(`storm: ${bound} writes within a minute, the last of them ${who}`);
  }
}
