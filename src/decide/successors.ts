// A successor that does not come up stops the next repair: while the latest launch of a pool has failed and a node of it
// went by repair since the last good one, none more is taken from it. Read off the pool and the ledger.

import type { Evidence } from "../api/node-action.ts";
import { formatTime } from "../api/time.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ActionView, PoolView } from "../snapshot/views.ts";
import { poolOf } from "./brake.ts";
import type { Veto } from "./decision.ts";
import { launchRecordOf } from "./launch-record.ts";
import { hasTakenFrom } from "./pace.ts";
import type { Objection } from "./safety.ts";

type Failing = { readonly sentence: string; readonly lost: readonly ActionView[] };

/** For one turn: each pool is looked at once. */
export function successorsVeto(picture: Picture): Veto {
  const failingByPool = new Map<string, Failing | undefined>();
  return (proposal, context) => {
    // One that was never Ready is such a successor itself: its pool's back-off holds the next launch.
    if (proposal.action !== "Repair" || proposal.method !== "Terminate" || isOfLaunch(proposal.evidence)) return;
    const pool = poolOf(proposal, context);
    if (pool === undefined) return undefined;
    if (!failingByPool.has(pool.name)) failingByPool.set(pool.name, failingOf(pool, picture));
    const { sentence, lost = [] } = failingByPool.get(pool.name) ?? {};
    const other = lost.find(({ spec }) => spec.node.uid !== proposal.node.uid);
    return sentence === undefined || other === undefined ? undefined : objection(sentence, other, pool);
  };
}

/** Undefined: its latest launch was good, or nothing is known of one. */
function failingOf(pool: PoolView, picture: Picture): Failing | undefined {
  const { results = [], after } = launchRecordOf(pool) ?? {};
  const latest = results.at(-1);
  if (latest === undefined || latest.isGood) return undefined;
  const lastGood = results.findLast(({ isGood }) => isGood) ?? after;
  const gone = [...picture.finishedSince(lastGood?.at ?? Number.NEGATIVE_INFINITY)];
  // What is only written down has taken nothing yet: two of those must not wait for each other.
  const going = [...picture.openActions()].filter(({ status }) => status.startedAt !== undefined);
  return {
    sentence: `The latest launch of NodePool ${pool.name} brought no node that was Ready (${formatTime(latest.at)})`,
    lost: [...gone, ...going].filter(action => hasTakenFrom(pool, action) && !isOfLaunch(action.spec.evidence)),
  };
}

function isOfLaunch(evidence: readonly Pick<Evidence, "kind">[]): boolean {
  return evidence.length > 0 && evidence.every(({ kind }) => kind === "NeverReady");
}

function objection(sentence: string, { name, spec }: ActionView, pool: PoolView): Objection {
  return {
    code: "successors-failing",
    message: `${sentence}, and since its last good one it lost node ${spec.node.name} to repair (NodeAction ${name}).`,
    liftedBy: `a node of NodePool ${pool.name} that becomes Ready, another template or class, or a person who deletes the claim`,
  };
}
