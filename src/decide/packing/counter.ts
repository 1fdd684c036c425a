// How many pods of some set are in each domain of a topology key. Decides nothing: the rules that look at the numbers are
// in admit.ts and hosts.ts.

export class Counter {
  readonly key: string;
  readonly signature: string;
  /** Pods still to be placed whose rules look at this counter: while there are any, domains must be known. */
  pending = 0;
  total = 0;
  readonly #countByDomain = new Map<number, number>();
  /** Domains and the number of nodes that make them exist. */
  readonly #nodesByDomain = new Map<number, number>();
  /** Domains that exist once a pool launches a node there; they count from the start. */
  readonly #offered = new Set<number>();
  #min: number | undefined;
  #atMin = 0;

  constructor(key: string, signature: string) {
    this.key = key;
    this.signature = signature;
  }

  count(domain: number): number {
    return this.#countByDomain.get(domain) ?? 0;
  }

  add(domain: number, by: number): void {
    const before = this.count(domain);
    this.#countByDomain.set(domain, before + by);
    this.total += by;
    if (this.#min === undefined) return;
    if (by < 0 ? before + by < this.#min : before === this.#min && --this.#atMin === 0) this.#min = undefined;
  }

  offerDomain(domain: number): void {
    if (this.#offered.has(domain)) return;
    this.#offered.add(domain);
    this.addDomain(domain);
  }

  addDomain(domain: number): void {
    this.#nodesByDomain.set(domain, (this.#nodesByDomain.get(domain) ?? 0) + 1);
    this.#min = undefined;
  }

  dropDomain(domain: number): void {
    const nodes = (this.#nodesByDomain.get(domain) ?? 0) - 1;
    if (nodes > 0) this.#nodesByDomain.set(domain, nodes);
    else this.#nodesByDomain.delete(domain);
    this.#min = undefined;
  }

  get domainCount(): number {
    return this.#nodesByDomain.size;
  }

  /** Those that nodes make exist today. */
  realDomains(): number[] {
    return [...this.#nodesByDomain].flatMap(([domain, nodes]) =>
      nodes > (this.#offered.has(domain) ? 1 : 0) ? [domain] : [],
    );
  }

  /** Of the emptiest domain; without any domain 0. */
  min(): number {
    if (this.#min !== undefined) return this.#min;
    let min = Number.POSITIVE_INFINITY;
    let atMin = 0;
    for (const domain of this.#nodesByDomain.keys()) {
      const count = this.count(domain);
      if (count < min) [min, atMin] = [count, 1];
      else if (count === min) atMin++;
    }
    this.#atMin = atMin;
    this.#min = Number.isFinite(min) ? min : 0;
    return this.#min;
  }
}
