// What the safety rules remember beyond the picture: outbreaks and what still spreads. Every replica observes, the
// leader and those in waiting; nothing of it is stored. Never asks for the time: it is told.

import type { Instant } from "../api/time.ts";
import { CorrelatedFailures, correlatedVeto, type IsSick, type NodeSeen, type Outbreaks } from "./correlated.ts";
import type { Context } from "./decision.ts";
import type { Veto } from "./safety.ts";
import { nothingSettling, observeSpread, settleVeto, type Settling, type Spread } from "./settle.ts";

type Observing = Pick<Context, "picture" | "now"> & {
  /** Default: what the provider states. */
  readonly isSick?: IsSick;
  /** Health checks that select the node, as `NodeHealthCheck/name`; its pool is known. */
  readonly checks?: readonly Spread[];
};

export class SafetyMemory {
  /** When the status of the SafetyPolicy was last written by us. */
  statusAt: Instant | undefined;
  readonly #correlated = new CorrelatedFailures();
  #settling: Settling = nothingSettling;

  get outbreaks(): Outbreaks {
    return this.#correlated.outbreaks;
  }

  /** For every visible change of a node, once the picture has it. */
  observe(seen: NodeSeen, observing: Observing): void {
    const { picture, now, checks = [], isSick = statedSick(observing) } = observing;
    const node = seen.after ?? seen.before;
    const pool = node && picture.claimOf(node)?.pool;
    const spreads = [pool === undefined ? "cluster" : `NodePool/${pool}`, ...checks];
    this.#correlated.observe(seen, { picture, now, isSick });
    this.#settling = observeSpread(this.#settling, seen, { safety: picture.safety, now, isSick, spreads });
  }

  /** Once a turn, before the arbiter: what speaks against a start now. */
  vetoes(context: Pick<Context, "picture" | "now">): readonly Veto[] {
    this.#correlated.review(context);
    const { outbreaks } = this.#correlated;
    const settling = this.#settling;
    return [
      (proposal, judged) => correlatedVeto(outbreaks, proposal, judged),
      (proposal, judged) => settleVeto(settling, proposal, judged),
    ];
  }
}

function statedSick({ picture }: Pick<Context, "picture">): IsSick {
  const { repairStatements } = picture.provider;
  return (_node, { type, status }) =>
    repairStatements.some(stated => stated.conditionType === type && stated.conditionStatus === status);
}
