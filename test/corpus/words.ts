// The words in which the kinds are defined, each at its boundaries on both sides. The figures are written again here,
// not taken from the definitions: a bound that somebody moves there is found here.

import { bad, type Case, good } from "./entry.ts";

export type TextBounds = { min?: 0 | 1; max?: number };

/** `filler(n)` is a legal text of n characters. */
export function text({ min = 0, max = 253 }: TextBounds = {}, filler = (n: number) => "a".repeat(n)): Case[] {
  const shortest = min === 0 ? [] : [bad("empty", ""), good(`of ${min} character`, filler(min))];
  const longest = [good(`of ${max} characters`, filler(max)), bad(`of ${max + 1} characters`, filler(max + 1))];
  return [...shortest, ...longest, bad("a number", 5)];
}

export const name: Case[] = text({ min: 1 });
export const kind: Case[] = text({ min: 1, max: 63 });
export const uid: Case[] = text({ min: 1, max: 128 });

/** Enum values are told apart by case, and the empty one is none. */
export function oneOf(...values: string[]): Case[] {
  const [first = ""] = values;
  const legal = values.map(value => good(value, value));
  const otherLetters = first === first.toLowerCase() ? first.toUpperCase() : first.toLowerCase();
  return [...legal, bad("in other letters", otherLetters), bad("with a space behind", `${first} `), bad("empty", "")];
}

export const flag: Case[] = [
  good("true", true),
  good("false", false),
  bad("a quoted true", "true"),
  bad("one instead of true", 1),
];

export const time: Case[] = [
  good("in UTC", "2026-01-01T00:00:00Z"),
  good("with an offset and a fraction", "2026-01-01T01:00:00.123456+01:00"),
  bad("a day without a time", "2026-01-01"),
  bad("a month that does not exist", "2026-13-01T00:00:00Z"),
  bad("a word", "tomorrow"),
];

export type WholeBounds = { min?: number; max?: number; format?: "int32" | "int64" };

export function whole({ min, max, format = "int64" }: WholeBounds): Case[] {
  const above = max === undefined ? [] : [good(`${max}`, max), bad(`${max + 1}`, max + 1)];
  const below = min === undefined ? [] : [good(`${min}`, min), bad(`${min - 1}`, min - 1)];
  const widest = format === "int32" ? 2 ** 31 : 2 ** 63;
  return [...below, ...above, bad("a fraction", 1.5), bad("quoted", "1"), bad(`beyond ${format}`, widest)];
}

/** Counts and percentages. */
export const amount: Case[] = [
  good("0", 0),
  good("a count", 10),
  good("a quoted count", "10"),
  good("a count of ten digits", "1234567890"),
  good("0%", "0%"),
  good("99%", "99%"),
  good("100%", "100%"),
  bad("less than none", -1),
  bad("less than none, quoted", "-1"),
  bad("more than all", "101%"),
  bad("a count of eleven digits", "12345678901"),
  bad("a part of a node", 1.5),
  bad("a part of a percent", "0.5%"),
  bad("a space before the percent sign", "10 %"),
  bad("a word", "half"),
  bad("empty", ""),
  bad("a boolean", true),
];

export const percent: Case[] = [
  good("0%", "0%"),
  good("9%", "9%"),
  good("100%", "100%"),
  bad("101%", "101%"),
  bad("a count", 10),
  bad("a number without its sign", "10"),
  bad("less than none", "-1%"),
  bad("five characters", "0100%"),
];

/** All of them between a minute and a week, which is as narrow as any field draws it. */
function durationOf(...more: Case[]): Case[] {
  return [
    good("seconds", "300s"),
    good("hours, minutes and seconds", "144h0m0s"),
    good("of 32 characters", "9h".padStart(32, "0")),
    bad("of 33 characters", "9h".padStart(33, "0")),
    bad("without a unit", "5"),
    bad("a number", 300),
    bad("days", "1d"),
    bad("a space between", "1h 30m"),
    bad("a comma", "1,5h"),
    bad("empty", ""),
    ...more,
  ];
}

const fractions = [
  good("a fraction", "1.5h"),
  good("the smallest units", "1h1ms1us1µs1ns"),
  bad("two points", "1..5h"),
];
const onlyWhole = [bad("a fraction", "1.5h"), bad("milliseconds", "100ms")];

export const duration: Case[] = durationOf(...fractions, bad("negative", "-5m"), bad("Never", "Never"));
export const signedDuration: Case[] = durationOf(
  ...fractions,
  good("negative", "-5m"),
  bad("a sign in the middle", "1h-5m"),
  bad("Never", "Never"),
);
export const wholeDuration: Case[] = durationOf(...onlyWhole, bad("negative", "-5m"), bad("Never", "Never"));
export const durationOrNever: Case[] = durationOf(
  ...onlyWhole,
  good("Never", "Never"),
  bad("negative", "-5m"),
  bad("never in small letters", "never"),
  bad("a time and Never", "1hNever"),
);

export const conditionStatus: Case[] = [
  good("True", "True"),
  good("False", "False"),
  good("Unknown", "Unknown"),
  bad("in small letters", "true"),
  bad("a boolean, as YAML reads it unquoted", true),
  bad("another word", "Maybe"),
  bad("eight characters", "Unknown "),
  bad("empty", ""),
];

export const conditionType: Case[] = [
  good("of Kubernetes", "MemoryPressure"),
  good("with a domain", "example.com/Disk_Healthy.v2"),
  good("of one character", "A"),
  good("of 316 characters", "a".repeat(316)),
  bad("of 317 characters", "a".repeat(317)),
  bad("empty", ""),
  bad("with a dash at the end", "Ready-"),
  bad("with two domains", "a/b/Ready"),
  bad("with capitals in the domain", "Example.com/Ready"),
  bad("with a space", "Not Ready"),
];

/** Of a Node's own condition: whatever its reporter may have written. */
export const nodeConditionType: Case[] = [
  good("with a space", "Not Ready"),
  good("with two domains", "a/b/Ready"),
  ...text({ min: 1, max: 316 }),
];

export const nodeConditionStatus: Case[] = [
  good("Unknown", "Unknown"),
  good("in small letters", "true"),
  good("another word", "Maybe not"),
  bad("a boolean, as YAML reads it unquoted", true),
  ...text({ min: 1, max: 253 }),
];

const domain = `${"a".repeat(60)}.${"b".repeat(60)}.${"c".repeat(60)}.${"d".repeat(69)}`;

/** Keys of labels and taints. */
export const labelKey: Case[] = [
  good("a name", "team"),
  good("a name with a domain", "example.com/Team_a.b"),
  good("of one character", "a"),
  good("a name of 63 characters", `example.com/${"a".repeat(63)}`),
  good("of 316 characters", `${domain}/${"a".repeat(63)}`.padStart(316, "x")),
  bad("of 317 characters", `${domain}/${"a".repeat(63)}`.padStart(317, "x")),
  bad("a name of 64 characters", `example.com/${"a".repeat(64)}`),
  bad("empty", ""),
  bad("a domain alone", "example.com/"),
  bad("two slashes", "a/b/c"),
  bad("a dash at the end", "team-"),
  bad("capitals in the domain", "Example.com/team"),
  bad("a space", "my team"),
];

export const labelValue: Case[] = [
  good("empty", ""),
  good("of 63 characters", "a".repeat(63)),
  good("dots, dashes and underscores", "a.b-c_d"),
  bad("of 64 characters", "a".repeat(64)),
  bad("a dash at the end", "a-"),
  bad("a slash", "a/b"),
  bad("a boolean, as YAML reads it unquoted", true),
];

export const decimal: Case[] = [
  good("a whole number", "3"),
  good("a fraction", "0.025"),
  good("of 20 characters", "0.123456789012345678"),
  bad("of 21 characters", "0.1234567890123456789"),
  bad("a number, not a text", 0.025),
  bad("negative", "-1"),
  bad("without digits before the point", ".5"),
  bad("with an exponent", "1e3"),
];

/** Numbers of a list: how many are enough, how many are too many. `item(i)` are told apart by i. */
export function list({ min = 0, max }: { min?: number; max: number }, item: (index: number) => unknown): Case[] {
  const items = (count: number) => Array.from({ length: count }, (_, index) => item(index));
  return [
    min === 0 ? good("empty", []) : bad("empty", []),
    ...(min > 0 ? [good(`of ${min}`, items(min))] : []),
    good(`of ${max}`, items(max)),
    bad(`of ${max + 1}`, items(max + 1)),
  ];
}

export function map({ max }: { max: number }, value: unknown): Case[] {
  const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, value]));
  return [good("empty", {}), good(`of ${max}`, entries(max)), bad(`of ${max + 1}`, entries(max + 1))];
}
