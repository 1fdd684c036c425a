// How many pods of a spread that must hold are in each domain, while some of them are moved by numbers alone.

/** `id`: those that are counted together. `countByValue`: by the value of the label, for each domain that there is. */
export type Spread = {
  readonly id: object;
  readonly key: string;
  readonly maxSkew: number;
  readonly countByValue: ReadonlyMap<number, number>;
};

/** The value of a label, as a number. */
type Labelled = { readonly labelOf: (key: string) => number };

export class SpreadCounts {
  readonly #maxSkew: number;
  readonly #domainByRow: Int32Array;
  readonly #atFirst: Int32Array;
  readonly #counts: Int32Array;

  constructor({ key, maxSkew, countByValue }: Spread, rows: readonly Labelled[]) {
    const values = [...countByValue.keys()];
    this.#maxSkew = maxSkew;
    this.#domainByRow = Int32Array.from(rows, ({ labelOf }) => values.indexOf(labelOf(key)));
    this.#atFirst = Int32Array.from(countByValue.values());
    this.#counts = this.#atFirst.slice();
  }

  begin(): void {
    this.#counts.set(this.#atFirst);
  }

  add(row: number, by: 1 | -1): void {
    const domain = this.#domainByRow[row] ?? -1;
    if (domain >= 0) this.#counts[domain] = (this.#counts[domain] ?? 0) + by;
  }

  mayTake(row: number): boolean {
    const domain = this.#domainByRow[row] ?? -1;
    if (domain < 0) return false;
    let least = Number.POSITIVE_INFINITY;
    for (let other = 0; other < this.#counts.length; other++) least = Math.min(least, this.#counts[other] ?? 0);
    return (this.#counts[domain] ?? 0) + 1 - least <= this.#maxSkew;
  }
}
