// How many nodes of each pool, and of the cluster, count for the brake, and how many of them are unhealthy now. Kept up to
// date node by node: a change costs what its node costs, whatever the size of the pool.

import type { Instant } from "../api/time.ts";
import type { Picture, Subject } from "../snapshot/picture.ts";
import type { ClaimView, NodeView } from "../snapshot/views.ts";
import { isTrue } from "./conditions.ts";
import { ownClaimOf } from "./own-node.ts";
import type { Health, HealthCount } from "./remembered.ts";
import { hasBeenReady, readyBy } from "./readiness.ts";
import { rulesFor, rulesWithoutPool, rulingOn } from "./repair-policy.ts";

/** Names of pools; undefined: a node of no pool, which counts in the cluster alone. */
export type Recounted = readonly (string | undefined)[];

type Seen = { readonly picture: Picture; readonly now: Instant };

/** What one node adds. */
type Share = {
  readonly pool: string | undefined;
  readonly isCounted: boolean;
  readonly isUnhealthy: boolean;
  readonly policies: readonly string[];
  readonly isInitialized: boolean;
};

type Sum = { nodes: number; unhealthy: number; byPolicy: Map<string, number>; initialized: number };

const empty: HealthCount = { nodes: 0, unhealthy: 0, byPolicy: new Map(), initialized: 0 };

export class HealthCounts implements Health {
  readonly #shareByNode = new Map<string, Share>();
  readonly #sumByPool = new Map<string, Sum>();
  readonly #cluster: Sum = newSum();
  /** The policies by which a pool's nodes were last judged. */
  readonly #policyByPool = new Map<string, string>();

  count(pool: string | undefined): HealthCount {
    return pool === undefined ? this.#cluster : (this.#sumByPool.get(pool) ?? empty);
  }

  /** Of all nodes, as they are. */
  static from(seen: Seen): HealthCounts {
    const counts = new HealthCounts();
    counts.#judgeAll(seen.picture.nodes(), seen);
    return counts;
  }

  /** For every subject that is asked again, before it is: of whom some count is another now. */
  recount(subject: Subject, seen: Seen): Recounted {
    const [kind, name = ""] = subject.split("/");
    if (kind === "node") return this.#judge(name, seen);
    if (kind === "pool") return this.#judgePool(name, seen);
    const claim = kind === "claim" ? seen.picture.claim(name) : undefined;
    return claim === undefined ? [] : this.#judgeAll(seen.picture.nodesOf(claim), seen);
  }

  #judgePool(name: string, seen: Seen): Recounted {
    const pool = seen.picture.pool(name);
    const policy = pool && `${pool.uid} ${pool.generation}`;
    if (this.#policyByPool.get(name) === policy) return [];
    if (policy === undefined) this.#policyByPool.delete(name);
    else this.#policyByPool.set(name, policy);
    return this.#judgeAll(seen.picture.nodesOfPool(name), seen);
  }

  #judgeAll(nodes: Iterable<NodeView>, seen: Seen): Recounted {
    return [...nodes].flatMap(({ name }) => this.#judge(name, seen));
  }

  #judge(name: string, seen: Seen): Recounted {
    const node = seen.picture.node(name);
    const before = this.#shareByNode.get(name);
    const after = node && shareOf(node, seen);
    if (isSame(before, after)) return [];
    if (before !== undefined) this.#add(before, -1);
    if (after === undefined) this.#shareByNode.delete(name);
    else {
      this.#shareByNode.set(name, after);
      this.#add(after, 1);
    }
    return [before, after].flatMap(share => (share === undefined ? [] : [share.pool]));
  }

  #add(share: Share, sign: 1 | -1): void {
    addTo(this.#cluster, share, sign);
    if (share.pool === undefined) return;
    const sum = this.#sumByPool.get(share.pool) ?? newSum();
    addTo(sum, share, sign);
    if (sum.nodes === 0 && sum.initialized === 0) this.#sumByPool.delete(share.pool);
    else this.#sumByPool.set(share.pool, sum);
  }
}

/** Nodes that nobody provisioned through us count in the cluster, by the provider's word. */
function shareOf(node: NodeView, { picture, now }: Seen): Share {
  const claim = ownClaimOf(node, picture);
  const pool = claim?.pool;
  const rules = (claim && rulesFor(claim, picture)) ?? rulesWithoutPool(picture.provider);
  const isInitialized =
    claim !== undefined && isTrue(claim.conditions, "Initialized") && !isTrue(claim.conditions, "InstanceTerminating");
  const counted = claim === undefined ? "by-health" : countedAs(claim, node, now);
  if (counted === "not") return { pool, isCounted: false, isUnhealthy: false, policies: [], isInitialized };
  const rulings = node.conditions.flatMap(condition => rulingOn(condition, rules) ?? []);
  const policies = [...new Set(rulings.flatMap(({ place }) => (place.kind === "NodePool" ? (place.path ?? []) : [])))];
  const isUnhealthy = rulings.length > 0 || counted === "unhealthy";
  return { pool, isCounted: true, isUnhealthy, policies, isInitialized };
}

/** One that was never Ready is in neither number within its readinessTTL, in both after it. */
function countedAs(claim: ClaimView, node: NodeView, now: Instant): "not" | "by-health" | "unhealthy" {
  const limit = readyBy(claim);
  if (limit === undefined) return "not";
  if (hasBeenReady(claim, node)) return "by-health";
  // A TTL that cannot be read never ends, and so the node stays out of both.
  return "doubt" in limit || now < limit.dueAt ? "not" : "unhealthy";
}

function addTo(sum: Sum, { isCounted, isUnhealthy, policies, isInitialized }: Share, sign: 1 | -1): void {
  if (isInitialized) sum.initialized += sign;
  if (!isCounted) return;
  sum.nodes += sign;
  if (isUnhealthy) sum.unhealthy += sign;
  for (const path of policies) {
    const count = (sum.byPolicy.get(path) ?? 0) + sign;
    if (count === 0) sum.byPolicy.delete(path);
    else sum.byPolicy.set(path, count);
  }
}

function newSum(): Sum {
  return { nodes: 0, unhealthy: 0, byPolicy: new Map(), initialized: 0 };
}

function isSame(a: Share | undefined, b: Share | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.pool === b.pool &&
    a.isCounted === b.isCounted &&
    a.isUnhealthy === b.isUnhealthy &&
    a.isInitialized === b.isInitialized &&
    a.policies.join() === b.policies.join()
  );
}
