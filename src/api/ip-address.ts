// IP addresses and prefixes as Go's net and netip read and write them.

export type IpAddress = { family: 4 | 6; bytes: readonly number[] };
export type IpPrefix = { address: IpAddress; length: number };

/** `sloppy` takes leading zeros in IPv4 parts, as Kubernetes does where it always has. */
export function parseIp(text: string, { sloppy = false } = {}): IpAddress | undefined {
  const bytes = text.includes(":") ? ipv6Bytes(text, sloppy) : ipv4Bytes(text, sloppy);
  return bytes && { family: text.includes(":") ? 6 : 4, bytes };
}

function ipv4Bytes(text: string, sloppy: boolean): number[] | undefined {
  const parts = text.split(".");
  const form = sloppy ? /^0*\d{1,3}$/ : /^(0|[1-9]\d{0,2})$/;
  if (parts.length !== 4 || !parts.every(part => form.test(part) && Number(part) <= 255)) return undefined;
  return parts.map(Number);
}

function ipv6Bytes(text: string, sloppy: boolean): number[] | undefined {
  const [head = "", tail, ...more] = text.split("::");
  if (more.length > 0) return undefined;
  const left = groups(head, tail === undefined, sloppy);
  const right = tail === undefined ? [] : groups(tail, true, sloppy);
  if (left === undefined || right === undefined) return undefined;
  const missing = 16 - left.length - right.length;
  // "::" stands for at least one group of zeros.
  if (tail === undefined ? missing !== 0 : missing < 2) return undefined;
  return [...left, ...Array.from({ length: missing }, () => 0), ...right];
}

function groups(text: string, mayEndInIpv4: boolean, sloppy: boolean): number[] | undefined {
  if (text === "") return [];
  const parts = text.split(":");
  const bytes: number[] = [];
  for (const [i, part] of parts.entries()) {
    const embedded = part.includes(".") && mayEndInIpv4 && i === parts.length - 1 ? ipv4Bytes(part, sloppy) : undefined;
    if (embedded === undefined && !/^[0-9A-Fa-f]{1,4}$/.test(part)) return undefined;
    const value = Number.parseInt(part, 16);
    bytes.push(...(embedded ?? [value >> 8, value & 255]));
  }
  return bytes;
}

export function parsePrefix(text: string, options: { sloppy?: boolean } = {}): IpPrefix | undefined {
  const slash = text.lastIndexOf("/");
  const address = slash < 0 ? undefined : parseIp(text.slice(0, slash), options);
  const length = /^(0|[1-9]\d{0,2})$/.test(text.slice(slash + 1)) ? Number(text.slice(slash + 1)) : Number.NaN;
  return address !== undefined && length <= address.bytes.length * 8 ? { address, length } : undefined;
}

/** Canonical: lower case, no leading zeros, the longest run of zero groups as "::". */
export function formatIp({ family, bytes }: IpAddress): string {
  if (family === 4) return bytes.join(".");
  const parts = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i] ?? 0) << 8) | (bytes[2 * i + 1] ?? 0));
  const { start, length } = longestZeros(parts);
  const shown = (from: number, to: number): string =>
    parts
      .slice(from, to)
      .map(part => part.toString(16))
      .join(":");
  return length < 2 ? shown(0, 8) : `${shown(0, start)}::${shown(start + length, 8)}`;
}

function longestZeros(parts: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  for (let start = 0; start < parts.length; start++) {
    let length = 0;
    while (parts[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  return best;
}

export function isIpv4InIpv6({ family, bytes }: IpAddress): boolean {
  return family === 6 && bytes.slice(0, 10).every(byte => byte === 0) && bytes[10] === 255 && bytes[11] === 255;
}

export function maskedPrefix({ address, length }: IpPrefix): IpPrefix {
  const bytes = address.bytes.map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, length - 8 * i))) & 0xff);
  return { address: { ...address, bytes }, length };
}

export function prefixContains({ address, length }: IpPrefix, other: IpAddress): boolean {
  if (address.family !== other.family) return false;
  return sameBytes(maskedPrefix({ address, length }).address, maskedPrefix({ address: other, length }).address);
}

export function sameBytes(a: IpAddress, b: IpAddress): boolean {
  return a.family === b.family && a.bytes.every((byte, i) => byte === b.bytes[i]);
}
