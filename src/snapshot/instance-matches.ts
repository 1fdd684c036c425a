// Which listed instances no claim knows, and which claims had an instance well before the provider's last list was made
// and are not in it. Kept with every list and every claim: nearly always there are none, and then nobody looks through all.

import { type Instant, minuteMs } from "../api/time.ts";
import type { ListedInstance } from "./instance.ts";
import { Ordered } from "./ordered.ts";
import type { Change } from "./tables.ts";
import type { ClaimView, InstanceListView } from "./views.ts";

/** A list may not know yet what was launched just before it. */
export const launchedBeforeMs = minuteMs;

type LookUps = {
  claims(): readonly ClaimView[];
  claimCountWith(providerID: string | undefined): number;
};

export class InstanceMatches {
  readonly #look: LookUps;
  readonly #claimCountByUid = new Map<string, number>();
  #listedAt: Instant = Number.NEGATIVE_INFINITY;
  #instances: readonly ListedInstance[] = [];
  #listed: ReadonlyMap<string, ListedInstance> = new Map();
  #listedByClaimUid: ReadonlyMap<string, readonly ListedInstance[]> = new Map();
  #unclaimed = new Ordered<ListedInstance>();
  readonly #unlisted = new Ordered<ClaimView>();
  /** Not in the list, whenever they were launched. By name. */
  readonly #absent = new Map<string, ClaimView>();

  constructor(look: LookUps) {
    this.#look = look;
  }

  /** Neither by providerID nor by tag: either alone may be what is left of a write that was cut short. */
  get unclaimed(): readonly ListedInstance[] {
    return this.#unclaimed.values();
  }

  get unlisted(): readonly ClaimView[] {
    return this.#unlisted.values();
  }

  isUnlisted(claim: ClaimView): boolean {
    return this.#isAbsent(claim) && this.#wasLaunched(claim);
  }

  isListed(providerID: string): boolean {
    return this.#listed.has(providerID);
  }

  #isAbsent({ providerID }: ClaimView): boolean {
    return providerID !== undefined && !this.isListed(providerID);
  }

  /** Early enough to be in the list. */
  #wasLaunched({ conditions, createdAt }: ClaimView): boolean {
    const launchedAt = conditions.find(({ type }) => type === "Launched")?.since ?? createdAt;
    return launchedAt + launchedBeforeMs <= this.#listedAt;
  }

  list({ at, instances }: InstanceListView): void {
    this.#listedAt = at;
    const isSame = isSameList(this.#instances, instances);
    if (!isSame) this.#relist(instances);
    // By the same instances as before, only those that were absent may be others.
    const claims = isSame ? [...this.#absent.values()] : this.#look.claims();
    for (const claim of claims) this.#judgeClaim(claim.name, claim);
  }

  #relist(instances: readonly ListedInstance[]): void {
    this.#instances = instances;
    this.#listed = new Map(instances.map(instance => [instance.providerID, instance]));
    const byClaimUid = new Map<string, ListedInstance[]>();
    this.#listedByClaimUid = byClaimUid;
    this.#unclaimed = new Ordered();
    for (const instance of this.#listed.values()) {
      if (instance.claimUid !== undefined) {
        const others = byClaimUid.get(instance.claimUid);
        if (others === undefined) byClaimUid.set(instance.claimUid, [instance]);
        else others.push(instance);
      }
      this.#judgeInstance(instance);
    }
  }

  /** Once the claim can be found by its new providerID and no longer by its old one. */
  replace({ before, after }: Change<ClaimView>): void {
    this.#count(before?.uid, -1);
    this.#count(after?.uid, 1);
    for (const providerID of new Set([before?.providerID, after?.providerID])) {
      this.#judgeInstance(this.#listed.get(providerID ?? ""));
    }
    for (const uid of new Set([before?.uid, after?.uid])) {
      for (const instance of this.#listedByClaimUid.get(uid ?? "") ?? []) this.#judgeInstance(instance);
    }
    this.#judgeClaim((after ?? before)?.name ?? "", after);
  }

  #count(uid: string | undefined, more: 1 | -1): void {
    if (uid === undefined) return;
    const count = (this.#claimCountByUid.get(uid) ?? 0) + more;
    if (count === 0) this.#claimCountByUid.delete(uid);
    else this.#claimCountByUid.set(uid, count);
  }

  #judgeInstance(instance: ListedInstance | undefined): void {
    if (instance === undefined) return;
    const { providerID, claimUid } = instance;
    const isKnown =
      this.#look.claimCountWith(providerID) > 0 || (claimUid !== undefined && this.#claimCountByUid.has(claimUid));
    if (isKnown) this.#unclaimed.delete(providerID);
    else this.#unclaimed.set(providerID, instance);
  }

  #judgeClaim(name: string, claim: ClaimView | undefined): void {
    if (claim !== undefined && this.#isAbsent(claim)) this.#absent.set(name, claim);
    else this.#absent.delete(name);
    if (claim !== undefined && this.isUnlisted(claim)) this.#unlisted.set(name, claim);
    else this.#unlisted.delete(name);
  }
}

/** A list is made every minute, and a provider that knows that nothing has changed hands out the same instances. */
function isSameList(before: readonly ListedInstance[], after: readonly ListedInstance[]): boolean {
  if (before.length !== after.length) return false;
  for (let i = 0; i < before.length; i++) if (before[i] !== after[i]) return false;
  return true;
}
