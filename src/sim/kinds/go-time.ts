// Times as the server's metav1.Time and MicroTime read and write them. It never touches a clock.

const layouts = { second: "2006-01-02T15:04:05Z07:00", micro: "2006-01-02T15:04:05.000000Z07:00" } as const;

/** The elements of a layout in Go's notation, each with what it accepts. */
const date: readonly [string, RegExp][] = [
  ["2006", /^\d{4}/],
  ["-", /^-/],
  ["01", /^\d{2}/],
  ["-", /^-/],
  ["02", /^\d{2}/],
  ["T", /^T/],
  ["15", /^\d{2}/],
  [":", /^:/],
  ["04", /^\d{2}/],
  [":", /^:/],
];
const zone: readonly [string, RegExp] = ["Z07:00", /^(?:Z|[+-]\d{2}:\d{2})/];
const elements = {
  // Go accepts a fraction after the seconds even where the layout has none, and then drops it on writing.
  second: [...date, ["05", /^\d{2}(?:[.,]\d+)?/], zone] as const,
  micro: [...date, ["05", /^\d{2}/], [".000000", /^[.,]\d{6}(?!\d)/], zone] as const,
};

/** Canonical already, and good whatever the month: nearly every time that is ever written. */
const usual = {
  second: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/,
  micro: /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{6}Z$/,
};

/** The time in UTC, in whole seconds or with exactly six digits; else Go's sentence. */
export function canonicalTime(value: string, micro: boolean): { text: string } | { error: string } {
  const layout = micro ? "micro" : "second";
  if (usual[layout].test(value)) return { text: value };
  let rest = value;
  for (const [element, accepted] of elements[layout]) {
    const matched = accepted.exec(rest)?.[0];
    if (matched === undefined) {
      return { error: `parsing time "${value}" as "${layouts[layout]}": cannot parse "${rest}" as "${element}"` };
    }
    rest = rest.slice(matched.length);
  }
  if (rest !== "") return { error: `parsing time "${value}": extra text: "${rest}"` };
  const range = outOfRange(value);
  if (range !== undefined) return { error: `parsing time "${value}": ${range} out of range` };
  return { text: inUtc(value, micro) };
}

function outOfRange(value: string): string | undefined {
  const number = (from: number, to: number) => Number(value.slice(from, to));
  const month = number(5, 7);
  if (month < 1 || month > 12) return "month";
  if (number(11, 13) > 23) return "hour";
  if (number(14, 16) > 59) return "minute";
  if (number(17, 19) > 59) return "second";
  const day = number(8, 10);
  // Day 0 of the next month is the last of this one.
  return day < 1 || day > new Date(Date.UTC(number(0, 4), month, 0)).getUTCDate() ? "day" : undefined;
}

function inUtc(value: string, micro: boolean): string {
  const seconds = new Date(value.replace(/[.,]\d+/, "")).toISOString().slice(0, 19);
  const fraction = micro ? `.${/[.,](\d{6})/.exec(value)?.[1] ?? "000000"}` : "";
  return `${seconds}${fraction}Z`;
}
