// Which claims of a pool go when there are too many: those that would be missed least, of those in use first the ones with
// the fewest pods to move, the oldest of equals first. A claim of which nobody can tell what runs on it stays.

import { doNotDisruptKey } from "../api/well-known.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { ClaimView, NodeView, PodView, PoolView } from "../snapshot/views.ts";
import { isTrue } from "./conditions.ts";
import type { Command, Proposal } from "./decision.ts";
import { isReschedulable } from "./disruption/reschedulable.ts";

/** In the order in which they go, as upstream's. */
const worth = ["not launched", "not registered", "empty", "free to be disrupted", "asked not to be disrupted"] as const;
type Worth = (typeof worth)[number];

type Candidate = {
  readonly claim: ClaimView;
  readonly worth: Worth;
  readonly node?: NodeView;
  /** What its pods would cost to move. Upstream multiplies by the share of its life that is left: that changes by the hour. */
  readonly cost?: number;
};

export type ScaleDown = {
  /** For claims without a node. */
  readonly commands: readonly Command[];
  readonly proposals: readonly Proposal[];
  /** Those that cannot be judged. */
  readonly doubtful: readonly ClaimView[];
};

/** Somebody is ending its node already. */
function isGoing(claim: ClaimView, picture: Picture): boolean {
  return picture.nodesOf(claim).some(({ uid }) => picture.openActionOn(uid)?.spec.method === "Terminate");
}

/** How many of a pool with `replicas` are too many, beside those that are going already. Below zero: it lacks some. */
export function surplusOf({ name, effective: { replicas = 0 } }: PoolView, picture: Picture): number {
  const { staying } = picture.totalsOfPool(name);
  if (staying <= replicas) return staying - replicas;
  const stays = (claim: ClaimView) => claim.deletingSince === undefined && !isGoing(claim, picture);
  return [...picture.claimsOfPool(name)].filter(stays).length - replicas;
}

export function scaleDown(
  pool: PoolView,
  { surplus, staying }: { surplus: number; staying: readonly ClaimView[] },
  picture: Picture,
): ScaleDown {
  const judged = staying
    .filter(claim => !isGoing(claim, picture))
    .map(claim => ({ claim, candidate: candidateOf(claim, picture) }));
  const chosen = judged
    .flatMap(({ candidate }) => candidate ?? [])
    .sort(leastMissed)
    .slice(0, surplus);
  // The surplus cannot be older than the newest that belongs to it.
  const dueAt = Math.max(...staying.map(({ createdAt }) => createdAt));
  const why = `Pool ${pool.name} has ${surplus} more than its spec.replicas of ${pool.effective.replicas}`;
  return {
    commands: chosen.filter(({ node }) => node === undefined).map(one => deleteClaim(one, why)),
    proposals: chosen.flatMap(one => (one.node ? [proposal(pool, { ...one, node: one.node }, { why, dueAt })] : [])),
    doubtful: judged.filter(({ candidate }) => candidate === undefined).map(({ claim }) => claim),
  };
}

function candidateOf(claim: ClaimView, picture: Picture): Candidate | undefined {
  if (claim.isProvisional) return undefined;
  if (claim.providerID === undefined) return { claim, worth: "not launched" };
  const [node, ...others] = picture.nodesOf(claim);
  const isRegistered = isTrue(claim.conditions, "Registered");
  if (node === undefined) return isRegistered ? undefined : { claim, worth: "not registered" };
  if (others.length > 0 || picture.claimOf(node)?.uid !== claim.uid) return undefined;
  if (!isRegistered) return { claim, node, worth: "not registered" };
  const pods = [...picture.podsOn(node.name)];
  const cost = pods.filter(isReschedulable).reduce((sum, { evictionCost = 1 }) => sum + evictionCost, 0);
  return { claim, node, worth: worthOf(claim, node, pods), cost };
}

function worthOf(claim: ClaimView, node: NodeView, pods: readonly PodView[]): Worth {
  if (!pods.some(isReschedulable)) return "empty";
  const asks = [node, claim].some(({ annotations }) => annotations[doNotDisruptKey] === "true");
  // Also a duration that may have run out: it says that the pod minds.
  const minds = pods.some(({ doNotDisrupt }) => doNotDisrupt !== undefined && doNotDisrupt !== "false");
  return asks || minds ? "asked not to be disrupted" : "free to be disrupted";
}

function leastMissed(a: Candidate, b: Candidate): number {
  const byWorth = worth.indexOf(a.worth) - worth.indexOf(b.worth) || (a.cost ?? 0) - (b.cost ?? 0);
  return byWorth || a.claim.createdAt - b.claim.createdAt || (a.claim.name < b.claim.name ? -1 : 1);
}

function deleteClaim({ claim, worth: what }: Candidate, why: string): Command {
  const { name, uid, resourceVersion } = claim;
  return { kind: "delete-claim", claim: { name, uid }, resourceVersion, why: `${why}; claim ${name} is ${what}.` };
}

function proposal(
  pool: PoolView,
  { claim, node, worth: what }: Candidate & { node: NodeView },
  { why, dueAt }: { why: string; dueAt: number },
): Proposal {
  const message = `${why}; node ${node.name} is ${what}.`;
  return {
    node: { name: node.name, uid: node.uid },
    claim: { name: claim.name, uid: claim.uid },
    action: "ScaleDown",
    method: "Terminate",
    termination: "Graceful",
    askedBy: { kind: "NodePool", name: pool.name, uid: pool.uid },
    policy: { kind: "NodePool", name: pool.name, path: "spec.replicas", generation: pool.generation },
    message,
    evidence: [{ kind: "SurplusReplica", message }],
    dueAt,
    ...(pool.effective.dryRun ? { dryRun: true } : {}),
  };
}
