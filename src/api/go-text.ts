// Values as Go prints them, so that our messages and a real API server's can be compared letter by letter.

/** `%v` of an int64 or float64: whole numbers in full, others as a float64. */
export function goNumber(value: number): string {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? BigInt(value).toString() : goFloat(value);
}

/** `%v` of a float64: the shortest form that reads back the same, with an exponent from 1e+06 and below 1e-04. */
export function goFloat(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const [digits, exponent] = value.toExponential().split("e") as [string, string];
  const power = Number(exponent);
  if (power >= -4 && power < 6) return Object.is(value, -0) ? "-0" : String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** `encoding/json`: keys sorted, and `<`, `>`, `&` escaped. A Map stands for a struct: its fields keep their order. */
export function goJson(value: unknown): string {
  return JSON.stringify(sortKeys(value)).replace(
    /[<>&\u2028\u2029]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, entry]) => [key, sortKeys(entry)]));
  if (typeof value !== "object" || value === null) return value ?? null;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, entry]) => [key, sortKeys(entry)]),
  );
}

/** `%v` of a decoded JSON value: `map[a:1 b:[x y]]`. */
export function goText(value: unknown): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${value.map(goText).join(" ")}]`;
  if (typeof value === "number") return goNumber(value);
  if (typeof value !== "object") return String(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `map[${entries.map(([key, entry]) => `${key}:${goText(entry)}`).join(" ")}]`;
}

/** The code points of a text, which Go calls runes and counts by. */
export function runes(text: string): string[] {
  return Array.from(text);
}
