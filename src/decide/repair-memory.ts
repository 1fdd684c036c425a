// What repair remembers beyond the picture: what was seen of each node's conditions, and how many of each pool are
// unhealthy. Every replica observes, the leader and those in waiting; nothing of it is stored.

import type { Instant } from "../api/time.ts";
import type { Picture, Subject } from "../snapshot/picture.ts";
import { brakeVeto } from "./brake.ts";
import { type Health, HealthCounts } from "./brake-counts.ts";
import type { IsSick, NodeSeen } from "./correlated.ts";
import { hasBeenReady } from "./readiness.ts";
import { rulesFor, rulesWithoutPool, rulingOn } from "./repair-policy.ts";
import type { Veto } from "./safety.ts";
import { ConditionMemory, type Sight } from "./sickness-history.ts";

export class RepairMemory {
  readonly #conditions = new ConditionMemory();
  readonly #counts = new HealthCounts();
  /** Once a turn, before the arbiter: what speaks against a start now. */
  readonly vetoes: readonly Veto[] = [brakeVeto(this.#counts)];

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

  /** For every subject that is about to be asked. True: the arbiter must look again, whatever is proposed. */
  recount(subject: Subject, seen: { readonly picture: Picture; readonly now: Instant }): boolean {
    return this.#counts.recount(subject, seen);
  }
}

/** What outbreaks and settling look at: sick by the pool's word; a node that has not been Ready yet only boots. */
export function sickIn(picture: Picture): IsSick {
  return (node, condition) => {
    const claim = picture.claimOf(node);
    if (claim !== undefined && !hasBeenReady(claim, node)) return false;
    const rules = (claim && rulesFor(claim, picture)) ?? rulesWithoutPool(picture.provider);
    return rulingOn(condition, rules) !== undefined;
  };
}
