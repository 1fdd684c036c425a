// What repair remembers beyond the picture: what was seen of each node's conditions, and how many of each pool are
// unhealthy. Every replica observes, the leader and those in waiting; nothing of it is stored.

import type { Instant, Millis } from "../api/time.ts";
import type { Picture, Subject } from "../snapshot/picture.ts";
import type { NodeView } from "../snapshot/views.ts";
import { HealthCounts, type Recounted } from "./brake-counts.ts";
import type { IsSick, NodeSeen } from "./correlated.ts";
import { ownClaimOf } from "./own-node.ts";
import { hasBeenReady, readyBy } from "./readiness.ts";
import type { Health, Remembered, Sight } from "./remembered.ts";
import { type RepairRules, rulesFor, rulesWithoutPool, rulingOn } from "./repair-policy.ts";
import { ConditionMemory } from "./sickness-history.ts";

type Looking = { readonly picture: Picture; readonly now: Instant };

export class RepairMemory implements Remembered {
  readonly #conditions = new ConditionMemory();
  #counts = new HealthCounts();

  get sight(): Sight {
    return this.#conditions;
  }

  get health(): Health {
    return this.#counts;
  }

  /** For every visible change of a node. */
  observe(seen: NodeSeen, now: Instant): void {
    this.#conditions.observe(seen, now);
  }

  /** The clock was set back: nothing that was seen lies ahead. */
  setBack(now: Instant): void {
    this.#conditions.setBack(now);
  }

  /** The clock was set forward: what was seen is no older by that. */
  setForward(byMs: Millis): void {
    this.#conditions.setForward(byMs);
  }

  /** For every subject that is about to be asked: of whom some count is another now. */
  recount(subject: Subject, seen: Looking): Recounted {
    return this.#counts.recount(subject, seen);
  }

  /** Whoever did not recount for a while begins anew; what was seen stays. */
  recountAll(seen: Looking): void {
    this.#counts = HealthCounts.from(seen);
  }

  /** The same with counts from scratch: what was counted bit by bit has to agree. */
  rebuilt(seen: Looking): Remembered {
    return { sight: this.sight, health: HealthCounts.from(seen) };
  }
}

/** What outbreaks and settling look at: sick by the pool's word; a node that has not been Ready yet only boots. */
export function sickIn(picture: Picture): IsSick {
  // Asked of each of a node's conditions in turn.
  let last: { readonly node: NodeView; readonly rules: RepairRules | undefined } | undefined;
  return (node, condition) => {
    if (last?.node !== node) last = { node, rules: rulesInForce(node, picture) };
    return last.rules !== undefined && rulingOn(condition, last.rules) !== undefined;
  };
}

/** Undefined: none, while it has not been Ready. */
function rulesInForce(node: NodeView, picture: Picture): RepairRules | undefined {
  const claim = ownClaimOf(node, picture);
  if (claim !== undefined && !hasBeenReady(claim, node)) return undefined;
  return (claim && rulesFor(claim, picture)) ?? rulesWithoutPool(picture.provider);
}

/** Whether it should have been Ready for the first time by now: since then it counts as unhealthy. */
export function isOverdueIn(picture: Picture, node: NodeView, now: Instant): boolean {
  const claim = ownClaimOf(node, picture);
  if (claim === undefined || hasBeenReady(claim, node)) return false;
  const limit = readyBy(claim);
  return limit !== undefined && !("doubt" in limit) && limit.dueAt <= now;
}
