// "20%" or 3: an amount of something whose total is known later. Where it becomes a count, the function's name
// says how it rounds.

import { accepted, type Parsed, refused } from "./parsed.ts";

export type Amount = { count: number } | { percent: number };

// As Kubernetes keeps counts: 32 bits, signed.
const countMax = 2 ** 31 - 1;

/** 10, "10" or "10%", as a manifest writes it; percentages are whole and at most 100. */
export function parseAmount(value: unknown): Parsed<Amount> {
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return counted(value);
  if (typeof value === "string" && /^[0-9]+$/.test(value)) return counted(Number(value));
  if (typeof value === "string" && /^(100|[0-9]{1,2})%$/.test(value)) {
    return accepted({ percent: Number(value.slice(0, -1)) });
  }
  return refused(
    `${JSON.stringify(value) ?? "nothing"} is not an amount: write a count such as 3 or a percentage from 0% to 100%`,
  );
}

export function formatAmount(amount: Amount): string {
  return "count" in amount ? String(amount.count) : `${amount.percent}%`;
}

/** A percentage of a non-zero total is at least 1: one of three is within 10%. */
export function roundedUp(amount: Amount, total: number): number {
  return "count" in amount ? amount.count : Math.ceil((total * amount.percent) / 100);
}

/** A small percentage of a small total is 0. */
export function roundedDown(amount: Amount, total: number): number {
  return "count" in amount ? amount.count : Math.floor((total * amount.percent) / 100);
}

function counted(count: number): Parsed<Amount> {
  return count <= countMax ? accepted({ count }) : refused(`${count} is too large for a count: at most ${countMax}`);
}
