// What the safety rules remember beyond the picture: outbreaks and what still spreads. Every replica observes, the
// leader and those in waiting; it is never stored. A value: each step gives the next one.

import type { Instant } from "../api/time.ts";
import {
  type Correlated,
  correlatedVeto,
  type IsSick,
  type NodeSeen,
  nothingCorrelated,
  observeSickness,
  reviewOutbreaks,
} from "./correlated.ts";
import type { Context } from "./decision.ts";
import type { Veto } from "./safety.ts";
import { nothingSettling, observeSpread, settleVeto, type Settling, type Spread } from "./settle.ts";

export type SafetyMemory = {
  readonly correlated: Correlated;
  readonly settling: Settling;
  /** When the status of the SafetyPolicy was last written by us. */
  readonly statusAt?: Instant;
};

export const noMemory: SafetyMemory = { correlated: nothingCorrelated, settling: nothingSettling };

type Observing = Pick<Context, "picture" | "now"> & {
  /** Default: what the provider states. */
  readonly isSick?: IsSick;
  /** Health checks that select the node, as `NodeHealthCheck/name`; its pool is known. */
  readonly checks?: readonly Spread[];
};

/** For every visible change of a node, once the picture has it. */
export function observe(memory: SafetyMemory, seen: NodeSeen, observing: Observing): SafetyMemory {
  const { picture, now, checks = [], isSick = statedSick(observing) } = observing;
  const node = seen.after ?? seen.before;
  const pool = node && picture.claimOf(node)?.pool;
  const spreads = [pool === undefined ? "cluster" : `NodePool/${pool}`, ...checks];
  const correlated = observeSickness(memory.correlated, seen, { picture, now, isSick });
  const settling = observeSpread(memory.settling, seen, { safety: picture.safety, now, isSick, spreads });
  return { ...memory, correlated, settling };
}

/** Once a turn, before the arbiter. */
export function review(memory: SafetyMemory, context: Pick<Context, "picture" | "now">): SafetyMemory {
  const correlated = reviewOutbreaks(memory.correlated, context);
  return correlated === memory.correlated ? memory : { ...memory, correlated };
}

export function vetoesOf({ correlated, settling }: SafetyMemory): readonly Veto[] {
  return [
    (proposal, context) => correlatedVeto(correlated, proposal, context),
    (proposal, context) => settleVeto(settling, proposal, context),
  ];
}

function statedSick({ picture }: Pick<Context, "picture">): IsSick {
  const { repairStatements } = picture.provider;
  return (_node, { type, status }) =>
    repairStatements.some(stated => stated.conditionType === type && stated.conditionStatus === status);
}
