// The keys of a collection in byte order, as etcd keeps them, without sorting the world on each write: new ones find
// their place when somebody reads in order.

const blockMax = 512;

export class OrderedKeys {
  /** Sorted blocks of sorted keys; no block is empty. */
  readonly #blocks: string[][] = [];
  #unplaced: string[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Of a key that is not there yet. */
  add(key: string): void {
    this.#count++;
    this.#unplaced.push(key);
  }

  #placeAll(): void {
    if (this.#unplaced.length === 0) return;
    // Neighbours go to the same block, one after the other.
    for (const key of this.#unplaced.sort()) this.#place(key);
    this.#unplaced = [];
  }

  #place(key: string): void {
    const index = Math.min(this.#blockFor(key), this.#blocks.length - 1);
    const block = this.#blocks[index];
    if (block === undefined) {
      this.#blocks.push([key]);
      return;
    }
    block.splice(firstAtOrAfter(block, key), 0, key);
    if (block.length > blockMax) this.#blocks.splice(index + 1, 0, block.splice(blockMax / 2));
  }

  remove(key: string): void {
    this.#placeAll();
    const index = this.#blockFor(key);
    const block = this.#blocks[index];
    if (block === undefined) return;
    const at = firstAtOrAfter(block, key);
    if (block[at] !== key) return;
    block.splice(at, 1);
    this.#count--;
    if (block.length === 0) this.#blocks.splice(index, 1);
  }

  /** Keys at or after `from` that start with `prefix`, in order. */
  *range(prefix: string, from = prefix): Generator<string> {
    this.#placeAll();
    const start = from < prefix ? prefix : from;
    for (let index = this.#blockFor(start); index < this.#blocks.length; index++) {
      const block = this.#blocks[index] as string[]; // index < length
      for (let at = firstAtOrAfter(block, start); at < block.length; at++) {
        const key = block[at] as string; // at < length
        if (!key.startsWith(prefix)) return;
        yield key;
      }
    }
  }

  /** How many keys at or after `from` start with `prefix`, without visiting them. */
  countFrom(prefix: string, from = prefix): number {
    this.#placeAll();
    const start = from < prefix ? prefix : from;
    // No key contains U+FFFF, so this is just behind the last one with the prefix.
    const end = prefix === "" ? this.#count : this.#rank(`${prefix}\uffff`);
    return Math.max(0, end - this.#rank(start));
  }

  /** How many keys are before `key`. */
  #rank(key: string): number {
    const index = this.#blockFor(key);
    let rank = 0;
    for (let i = 0; i < index; i++) rank += (this.#blocks[i] as string[]).length; // i < index ≤ length
    return rank + firstAtOrAfter(this.#blocks[index] ?? [], key);
  }

  /** The first block whose last key is not before `key`; the number of blocks if there is none. */
  #blockFor(key: string): number {
    let low = 0;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const block = this.#blocks[middle] as string[]; // middle < high ≤ length
      if ((block.at(-1) as string) < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function firstAtOrAfter(block: readonly string[], key: string): number {
  let low = 0;
  let high = block.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((block[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
