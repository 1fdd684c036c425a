// What reading a text gives: the value, or one sentence that says what is wrong and what to write instead.
// Reading never throws: what a person or a node wrote is an answer, not an accident.

export type Parsed<T> = { ok: true; value: T } | { ok: false; error: string };

export function accepted<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function refused(error: string): { ok: false; error: string } {
  return { ok: false, error };
}

/** For texts that the program itself wrote: anything else is a broken invariant. */
export function certain<T>(parsed: Parsed<T>): T {
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
}

const goEscapes = new Map([
  ["\u0007", "\\a"],
  ["\b", "\\b"],
  ["\f", "\\f"],
  ["\n", "\\n"],
  ["\r", "\\r"],
  ["\t", "\\t"],
  ["\v", "\\v"],
  ['"', '\\"'],
  ["\\", "\\\\"],
]);

/** A string as Go's %q writes it, which is how the API server shows a refused value. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escaped)}"`;
}

function escaped(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return goEscapes.get(char) ?? `\\x${hex(code, 2)}`;
  return code < 0x10000 ? `\\u${hex(code, 4)}` : `\\U${hex(code, 8)}`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
