// The ledger of what is unavailable: each node counts once, whoever takes it away and by whatever sign we know of it.

import { nodePoolKey } from "../api/node.ts";
import { Grouped, Ordered } from "./ordered.ts";
import type { Departure } from "./picture.ts";
import type { ActionView, ClaimView, NodeView } from "./views.ts";

/** What the ledger asks of the picture. */
type LookUps = {
  nodeByUid(uid: string): NodeView | undefined;
  claim(name: string): ClaimView | undefined;
  claimOf(node: NodeView): ClaimView | undefined;
  claimsWith(providerID: string | undefined): readonly ClaimView[];
  nodesOf(claim: ClaimView): readonly NodeView[];
  zoneOf(node: NodeView): string | undefined;
  openActionOn(nodeUid: string): ActionView | undefined;
  openActionOfClaim(claimUid: string): ActionView | undefined;
};

export class Departures {
  readonly #look: LookUps;
  // By the uid of the node, or of the claim where there is no node to name.
  readonly #byUid = new Ordered<Departure>();
  readonly #byPool = new Grouped<Departure>();

  constructor(look: LookUps) {
    this.#look = look;
  }

  get size(): number {
    return this.#byUid.size;
  }

  values(): readonly Departure[] {
    return this.#byUid.values();
  }

  ofPool(pool: string): readonly Departure[] {
    return this.#byPool.of(pool);
  }

  judgeNode(uid: string | undefined): void {
    if (uid !== undefined) this.#keep(uid, this.#ofNode(uid));
  }

  judgeClaim(uid: string | undefined, claim: ClaimView | undefined): void {
    if (uid !== undefined && uid !== "") this.#keep(uid, claim?.uid === uid ? this.#ofClaim(claim) : undefined);
  }

  #keep(uid: string, departure: Departure | undefined): void {
    const { pool: from } = this.#byUid.get(uid) ?? {};
    this.#byPool.move(uid, { from, to: departure?.pool, value: departure });
    if (departure === undefined) this.#byUid.delete(uid);
    else this.#byUid.set(uid, departure);
  }

  #ofNode(uid: string): Departure | undefined {
    const node = this.#look.nodeByUid(uid);
    const action = this.#look.openActionOn(uid);
    const deletingClaim = this.#look.claimsWith(node?.providerID).find(claim => claim.deletingSince !== undefined);
    if (action === undefined && node?.deletingSince === undefined && deletingClaim === undefined) return undefined;
    const claim = (node && this.#look.claimOf(node)) ?? deletingClaim ?? this.#claimOfAction(action);
    const pool = claim?.pool ?? action?.spec.nodePool ?? node?.labels[nodePoolKey];
    const zone = (node && this.#look.zoneOf(node)) ?? claim?.zone ?? action?.spec.zone;
    return {
      node: { name: node?.name ?? action?.spec.node.name ?? "", uid },
      ...(claim === undefined ? {} : { claim }),
      ...(pool === undefined ? {} : { pool }),
      ...(zone === undefined ? {} : { zone }),
      ...(action === undefined ? {} : { action }),
    };
  }

  // A claim that is going and had a node which we cannot see: not yet, or not any more. Its capacity is missing all
  // the same, unless an open action already says so.
  #ofClaim(claim: ClaimView): Departure | undefined {
    if (claim.deletingSince === undefined || !wasRegistered(claim)) return undefined;
    if (this.#look.nodesOf(claim).length > 0 || this.#look.openActionOfClaim(claim.uid) !== undefined) return undefined;
    const { pool, zone, uid } = claim;
    return {
      node: { name: claim.status.nodeName ?? claim.name, uid },
      claim,
      ...(pool === undefined ? {} : { pool }),
      ...(zone === undefined ? {} : { zone }),
    };
  }

  #claimOfAction(action: ActionView | undefined): ClaimView | undefined {
    const claim = action?.spec.claim && this.#look.claim(action.spec.claim.name);
    return claim?.uid === action?.spec.claim?.uid ? claim : undefined;
  }
}

function wasRegistered({ conditions, status }: ClaimView): boolean {
  return (
    status.nodeName !== undefined || conditions.some(({ type, status }) => type === "Registered" && status === "True")
  );
}
