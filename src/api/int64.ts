// Whole numbers of 64 bits as Go's strconv reads them from text.

/** A sign and leading zeros are allowed; anything else, and anything beyond 64 bits, is no number. */
export function int64(text: string): bigint | undefined {
  const [, sign, digits] = /^([+-]?)([0-9]+)$/.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const number = sign === "-" ? -BigInt(digits) : BigInt(digits);
  return number === BigInt.asIntN(64, number) ? number : undefined;
}
