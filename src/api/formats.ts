// The string formats that the API server enforces in CRDs; every other name is as good as no format. Names are
// compared without dashes, so that "date-time" and "datetime" are one.

import { parseIp, parsePrefix } from "./ip-address.ts";
import { parseNanoseconds } from "./time.ts";
import { requestUriError } from "./url.ts";

/** The check of a format, or undefined when the server does not know it. */
export function formatCheck(name: string): ((text: string) => boolean) | undefined {
  const plain = name.replaceAll("-", "");
  return Object.hasOwn(checks, plain) ? checks[plain] : undefined;
}

const matching =
  (form: RegExp) =>
  (text: string): boolean =>
    form.test(text);

const hostLetter = "[a-zA-Z0-9\\p{S}\\p{L}]";
const hostLabel = `${hostLetter}(?:[a-zA-Z0-9\\p{S}\\p{L}-]{0,61}${hostLetter})?`;
const hostForm = new RegExp(
  `^(?:${hostLetter}(?:-?${hostLetter}{0,62})?|(?:${hostLabel}\\.)+[a-zA-Z\\p{L}]{2,63})$`,
  "u",
);

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

function isHostname(text: string): boolean {
  return hostForm.test(text) && utf8Length(text) <= 255 && text.split(".").every(label => utf8Length(label) <= 63);
}

export function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const at = Date.parse(`${text}T00:00:00Z`);
  // Date.parse lets the 31st of a shorter month roll over; year 0 is a year to both.
  return !Number.isNaN(at) && new Date(at).toISOString().slice(0, 10) === text;
}

/** Looser than RFC 3339 in places, as the server is: any character before the fraction, offsets of any size. */
function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  const parts = /^(\d\d):(\d\d):(\d\d)(?:.\d+)?(?:z|[+-]\d\d:\d\d)$/su.exec(time ?? "");
  if (parts === null || !isDate(date)) return false;
  return Number(parts[1]) <= 23 && Number(parts[2]) <= 59 && Number(parts[3]) <= 59;
}

const hourNanos = 3_600_000_000_000n;

/** Units beyond Go's own: full, or any word that begins with the last of them ("minutes", "days"). */
const wordUnits: readonly (readonly [readonly string[], bigint])[] = [
  [["ns", "nano"], 1n],
  [["us", "µs", "micro"], 1_000n],
  [["ms", "milli"], 1_000_000n],
  [["s", "sec"], 1_000_000_000n],
  [["m", "min"], hourNanos / 60n],
  [["h", "hr", "hour"], hourNanos],
  [["d", "day"], 24n * hourNanos],
  [["w", "wk", "week"], 168n * hourNanos],
];

/** Nanoseconds of format "duration": Go's own spelling, or numbers with units in words anywhere in the text. */
export function parseDurationFormat(text: string): bigint | undefined {
  const own = parseNanoseconds(text);
  if (own.ok) return own.value;
  let nanos: bigint | undefined;
  for (const [, count = "", word = ""] of text.matchAll(/(\d+)\s*([A-Za-zµ]+)/g)) {
    if (BigInt(count) >= 1n << 63n) return undefined;
    const unit = word.toLowerCase();
    for (const [names, size] of wordUnits)
      if (names.includes(unit) || unit.startsWith(names.at(-1) ?? "")) nanos = (nanos ?? 0n) + BigInt(count) * size;
  }
  return nanos;
}

const atomLetter = "[A-Za-z0-9!#$%&'*+\\-/=?^_`{|}~\\u0080-\\u{10ffff}]";
const dotted = `${atomLetter}+(?:\\.${atomLetter}+)*`;
const quotedText = '"(?:[^"\\\\]|\\\\.)*"';
const address = `(?:${dotted}|${quotedText})@(?:${dotted}|\\[[^\\]\\\\]*\\])`;
const displayName = `(?:${atomLetter}|${quotedText}|[.\\s])*`;
const emailForm = new RegExp(`^\\s*(?:${address}|${displayName}<${address}>)\\s*$`, "u");

/** Of 6, 8 or 20 bytes: in pairs with colons or dashes, in fours with dots, or bare. */
function isMac(text: string): boolean {
  const separator = /^(?:[^:-]{2}([:-])|[^.]{4}(\.))/.exec(text);
  const parts = separator === null ? [text] : text.split(separator[1] ?? ".");
  const bytes = parts.join("").length / 2;
  const form =
    separator === null ? /^[0-9a-fA-F]+$/ : separator[1] === undefined ? /^[0-9a-fA-F]{4}$/ : /^[0-9a-fA-F]{2}$/;
  return [6, 8, 20].includes(bytes) && parts.every(part => form.test(part));
}

function uuidForm(version: string, variant: string): RegExp {
  return new RegExp(`^[0-9a-f]{8}-?[0-9a-f]{4}-?${version}[0-9a-f]{3}-?${variant}[0-9a-f]{3}-?[0-9a-f]{12}$`, "i");
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{9}[\dX]$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, i) => sum + (i + 1) * (digit === "X" ? 10 : Number(digit)), 0) % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  return [...digits].reduce((sum, digit, i) => sum + (i % 2 === 0 ? 1 : 3) * Number(digit), 0) % 10 === 0;
}

const cardForm =
  /^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$/;

function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D+/g, "");
  const doubled = [...digits].toReversed().map((digit, i) => (i % 2 === 0 ? Number(digit) : 2 * Number(digit)));
  return cardForm.test(digits) && doubled.reduce((sum, value) => sum + (value > 9 ? value - 9 : value), 0) % 10 === 0;
}

const colour = "\\s*(?:0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";

function isName(text: string, max: number, form: RegExp): boolean {
  return text.length <= max && form.test(text);
}

const shortName = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?";

const checks: Readonly<Record<string, (text: string) => boolean>> = {
  bsonobjectid: matching(/^[0-9a-fA-F]{24}$/),
  byte: matching(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/),
  cidr: text => parsePrefix(text, { sloppy: true }) !== undefined,
  creditcard: isCreditCard,
  date: isDate,
  datetime: isDateTime,
  duration: text => parseDurationFormat(text) !== undefined,
  email: matching(emailForm),
  hexcolor: matching(/^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/),
  hostname: isHostname,
  ipv4: text => text.includes(".") && parseIp(text, { sloppy: true }) !== undefined,
  ipv6: text => text.includes(":") && parseIp(text) !== undefined,
  isbn: text => isIsbn10(text) || isIsbn13(text),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  k8slongname: text => isName(text, 253, new RegExp(`^${shortName}(?:\\.${shortName})*$`)),
  k8sshortname: text => isName(text, 63, new RegExp(`^${shortName}$`)),
  mac: isMac,
  password: () => true,
  rgbcolor: matching(new RegExp(`^rgb\\(${colour},${colour},${colour}\\)$`)),
  ssn: text => text.length === 11 && /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(text),
  uri: text => requestUriError(text) === undefined,
  uuid: matching(uuidForm("[0-9a-f]", "[0-9a-f]")),
  uuid3: matching(uuidForm("3", "[0-9a-f]")),
  uuid4: matching(uuidForm("4", "[89ab]")),
  uuid5: matching(uuidForm("5", "[89ab]")),
};
