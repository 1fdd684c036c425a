// Sets of small numbers, 32 to a word.

export function wordsFor(count: number): number {
  return (count + 31) >>> 5;
}

export function setBit(bits: Uint32Array, index: number): void {
  bits[index >>> 5] = (bits[index >>> 5] ?? 0) | (1 << (index & 31));
}

export function hasBit(bits: Uint32Array, index: number): boolean {
  return ((bits[index >>> 5] ?? 0) & (1 << (index & 31))) !== 0;
}

/** Of so many numbers all. */
export function everyBit(count: number): Uint32Array {
  const bits = new Uint32Array(wordsFor(count)).fill(0xffff_ffff);
  const rest = count & 31;
  if (rest !== 0) bits[bits.length - 1] = 2 ** rest - 1;
  return bits;
}
