// Chance from a seed, so that a run can be repeated: uids, generated names, jitter.

/** A whole number in [0, 2^32). */
export type Random = () => number;

/** sfc32: small, fast, and good enough for names and jitter; never for secrets. */
export function seededRandom(seed: number): Random {
  let a = 0x9e3779b9;
  let b = 0x243f6a88;
  let c = seed | 0;
  let counter = 1;
  const next: Random = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 12; i++) next(); // neighbouring seeds part ways
  return next;
}

/** A version 4 UUID. */
export function uuid(random: Random): string {
  const [a, b, c, d] = [hex(random()), hex(random()), hex(random()), hex(random())];
  const variant = "89ab"[random() & 3];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-${variant}${c.slice(1, 4)}-${c.slice(4)}${d}`;
}

const hexByByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

/** By table: a word that is no small integer takes V8 a long way to write in another base. */
function hex(word: number): string {
  const byte = (shift: number) => hexByByte[(word >>> shift) & 255];
  return `${byte(24)}${byte(16)}${byte(8)}${byte(0)}`;
}

// No vowels and no characters that look like another: the alphabet of generated names in Kubernetes.
const nameAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
const generatedNameMax = 63;

/** The base is cut so that the whole name fits into a DNS label. */
export function generatedName(base: string, random: Random): string {
  let suffix = "";
  for (let i = 0; i < suffixLength; i++) suffix += nameAlphabet[random() % nameAlphabet.length];
  return base.slice(0, generatedNameMax - suffixLength) + suffix;
}
