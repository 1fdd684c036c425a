// A short number that stands for a text or a value: the same whenever it is asked for again. Not for secrets.

/** FNV-1a of 32 bits, with a final mix: texts that are neighbours shall not look alike. */
export function fingerprint(text: string): number {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}

/** As eight digits; the order of an object's fields says nothing. */
export function fingerprintOf(value: unknown): string {
  const text = JSON.stringify(value, (_key, part: unknown) => (isRecord(part) ? sorted(part) : part));
  return fingerprint(text).toString(16).padStart(8, "0");
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function sorted(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
}
