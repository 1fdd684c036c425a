// What the safety rules remember beyond the picture: outbreaks and what still spreads. Every replica observes, the
// leader and those in waiting; nothing of it is stored. Never asks for the time: it is told.

import type { Instant } from "../api/time.ts";
import type { NodeView } from "../snapshot/views.ts";
import { CorrelatedFailures, correlatedVeto, type IsSick, type NodeSeen, type Outbreaks } from "./correlated.ts";
import type { Context, Veto } from "./decision.ts";
import { ownClaimOf } from "./own-node.ts";
import { Settling, type Spread } from "./settle.ts";

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
  readonly #settling = new Settling();
  /** Nodes whose readinessTTL was seen to be over, by uid: each turns unhealthy once. */
  readonly #overdue = new Set<string>();

  get outbreaks(): Outbreaks {
    return this.#correlated.outbreaks;
  }

  /** How often something has turned sick that is waited for, so far. */
  get spreadCount(): number {
    return this.#settling.count;
  }

  /** For every visible change of a node, once the picture has it. */
  observe(seen: NodeSeen, observing: Observing): void {
    const { picture, now, checks = [], isSick = statedSick(observing) } = observing;
    const spreads = spreadsOf(seen.after ?? seen.before, { picture, checks });
    this.#correlated.observe(seen, { picture, now, isSick });
    this.#settling.observe(seen, { safety: picture.safety, now, isSick, spreads });
    if (seen.after === undefined && seen.before !== undefined) this.#overdue.delete(seen.before.uid);
  }

  /** For a node that should have been Ready for the first time by now and was not: it turns unhealthy by time alone. */
  noteOverdue(node: NodeView, { picture, now, checks = [] }: Observing): void {
    if (this.#overdue.has(node.uid)) return;
    this.#overdue.add(node.uid);
    const spreads = spreadsOf(node, { picture, checks });
    this.#settling.note(`${node.uid} NeverReady`, { safety: picture.safety, now, spreads });
  }

  /** The clock was set back: nothing that is remembered lies ahead. */
  setBack(now: Instant): void {
    if (this.statusAt !== undefined) this.statusAt = Math.min(this.statusAt, now);
    this.#correlated.setBack(now);
    this.#settling.setBack(now);
  }

  /** Which outbreaks there are now: one that nobody looks for is not remembered when it is on fewer nodes. */
  review(context: Pick<Context, "picture" | "now">): void {
    this.#correlated.review(context);
  }

  /** Once a turn, before the arbiter: what speaks against a start now. */
  vetoes(context: Pick<Context, "picture" | "now">): readonly Veto[] {
    this.review(context);
    const { outbreaks } = this.#correlated;
    return [
      (proposal, judged) => correlatedVeto(outbreaks, proposal, judged),
      (proposal, judged) => this.#settling.veto(proposal, judged),
    ];
  }
}

/** Its own pool's; and the cluster's, over which claims of no pool are counted. */
function spreadsOf(
  node: NodeView | undefined,
  { picture, checks }: Required<Pick<Observing, "picture" | "checks">>,
): readonly Spread[] {
  const pool = node && ownClaimOf(node, picture)?.pool;
  return ["cluster", ...(pool === undefined ? [] : [`NodePool/${pool}`]), ...checks];
}

function statedSick({ picture }: Pick<Context, "picture">): IsSick {
  const { repairStatements } = picture.provider;
  return (_node, { type, status }) =>
    repairStatements.some(stated => stated.conditionType === type && stated.conditionStatus === status);
}
