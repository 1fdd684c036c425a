// Semantic versions as CEL's semver library reads and orders them. Only what rules of a CRD can ask is here.

export type Semver = { major: bigint; minor: bigint; patch: bigint; pre: readonly string[]; build: readonly string[] };

const number = "(0|[1-9]\\d*)";
const identifier = "[0-9A-Za-z-]+";
const form = new RegExp(
  `^${number}\\.${number}\\.${number}(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+(${identifier}(?:\\.${identifier})*))?$`,
);
const maxNumber = (1n << 64n) - 1n;

export function parseSemver(text: string): Semver | undefined {
  const match = form.exec(text);
  if (match === null) return undefined;
  const [major = 0n, minor = 0n, patch = 0n] = match.slice(1, 4).map(BigInt);
  const pre = match[4]?.split(".") ?? [];
  const leadingZero = pre.some(part => /^0\d+$/.test(part));
  if (leadingZero || [major, minor, patch].some(value => value > maxNumber)) return undefined;
  return { major, minor, patch, pre, build: match[5]?.split(".") ?? [] };
}

/** Takes "v1", "01.2" and the like: a leading v and zeros are dropped, missing parts are 0. */
export function normalizeSemver(text: string): string | undefined {
  const [head = "", second, ...rest] = text.replace(/^v/, "").split(".");
  const parts = second === undefined ? [head] : rest.length === 0 ? [head, second] : [head, second, rest.join(".")];
  if (parts.length < 3 && /[+-]/.test(parts.at(-1) ?? "")) return undefined;
  const trimmed = parts.map(part => (part.length > 1 ? part.replace(/^0+(?=\d)/, "") : part));
  return [...trimmed, "0", "0"].slice(0, 3).join(".");
}

export function compareSemver(a: Semver, b: Semver): -1 | 0 | 1 {
  for (const part of ["major", "minor", "patch"] as const) if (a[part] !== b[part]) return a[part] < b[part] ? -1 : 1;
  // A version without a pre-release comes after all that have one.
  if (a.pre.length === 0 || b.pre.length === 0) return a.pre.length === b.pre.length ? 0 : a.pre.length === 0 ? 1 : -1;
  for (let i = 0; i < Math.min(a.pre.length, b.pre.length); i++) {
    const order = compareIdentifiers(a.pre[i] ?? "", b.pre[i] ?? "");
    if (order !== 0) return order;
  }
  return a.pre.length === b.pre.length ? 0 : a.pre.length < b.pre.length ? -1 : 1;
}

function compareIdentifiers(a: string, b: string): -1 | 0 | 1 {
  if (a === b) return 0;
  const [numericA, numericB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (numericA && numericB) return BigInt(a) < BigInt(b) ? -1 : 1;
  if (numericA !== numericB) return numericA ? -1 : 1;
  return a < b ? -1 : 1;
}
