// Go's regular expressions (RE2 syntax) on JavaScript's engine: the pattern is parsed by Go's rules, refused where Go
// refuses it, and written anew so that what remains means the same (`\s`, `.`, classes, flags). The verdict is Go's;
// the running time is not: a backtracking engine can be slow where RE2 is linear.

import { runes } from "./go-text.ts";

const cache = new Map<string, RegExp | PatternError>();
const cacheMax = 10_000;

/** A pattern that Go refuses; `message` is Go's own, beginning "error parsing regexp:". */
export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** Compiles once a pattern; throws PatternError. The result is unanchored and has neither `g` nor `y`. */
export function compilePattern(source: string): RegExp {
  let compiled = cache.get(source);
  if (compiled === undefined) {
    compiled = compile(source);
    if (cache.size >= cacheMax) cache.clear();
    cache.set(source, compiled);
  }
  if (compiled instanceof PatternError) throw compiled;
  return compiled;
}

function compile(source: string): RegExp | PatternError {
  try {
    return new RegExp(new Translation(source).whole(), "u");
  } catch (error) {
    return error instanceof PatternError ? error : new PatternError(`error parsing regexp: ${String(error)}`);
  }
}

type Flags = { fold: boolean; multiline: boolean; dotAll: boolean; ungreedy: boolean };

const perlClasses: Readonly<Record<string, string>> = { d: "0-9", s: "\\t\\n\\f\\r ", w: "0-9A-Za-z_" };

const posixClasses: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\u{0}-\\u{7f}",
  blank: "\\t ",
  cntrl: "\\u{0}-\\u{1f}\\u{7f}",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t-\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

const controlEscapes: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
const repeatMax = 1000;

class Translation {
  readonly #text: readonly string[];
  readonly #source: string;
  #at = 0;
  #flags: Flags = { fold: false, multiline: false, dotAll: false, ungreedy: false };

  constructor(source: string) {
    this.#source = source;
    this.#text = runes(source);
  }

  whole(): string {
    const out = this.#alternatives();
    if (this.#at < this.#text.length) throw this.#error("unexpected )", this.#source);
    return out;
  }

  #alternatives(): string {
    let out = "";
    let atom: string | undefined; // the last atom, while it can still take a quantifier
    let repeatedAt: number | undefined; // where the quantifier directly before here began
    while (this.#at < this.#text.length && this.#peek() !== ")") {
      const start = this.#at;
      const quantifier = this.#quantifier();
      if (quantifier === undefined) {
        out += atom ?? "";
        atom = this.#atom();
        if (atom === "|" || atom === "") {
          out += atom;
          atom = undefined;
        }
        repeatedAt = undefined;
        continue;
      }
      if (repeatedAt !== undefined)
        throw this.#error("invalid nested repetition operator", this.#slice(repeatedAt, this.#at));
      if (atom === undefined)
        throw this.#error("missing argument to repetition operator", this.#slice(start, this.#at));
      out += `${atom}${quantifier}`;
      atom = undefined;
      repeatedAt = start;
    }
    return out + (atom ?? "");
  }

  /** A bar and a group of flags alone ("" here) take no quantifier. */
  #atom(): string {
    const character = this.#next();
    if (character === "|") return "|";
    if (character === "(") return this.#group();
    if (character === "[") return this.#class();
    if (character === ".") return this.#flags.dotAll ? "[^]" : "[^\\n]";
    if (character === "^") return this.#flags.multiline ? "(?:(?<=^|\\n))" : "(?:^)";
    if (character === "$") return this.#flags.multiline ? "(?:(?=\\n|$))" : "(?:$)";
    if (character === "\\") return this.#escape();
    return this.#literal(character.codePointAt(0) ?? 0);
  }

  #quantifier(): string | undefined {
    const character = this.#peek();
    let out: string;
    if (character === "*" || character === "+" || character === "?") {
      this.#at++;
      out = character;
    } else if (character === "{") {
      const counts = this.#counts();
      if (counts === undefined) return undefined;
      out = counts;
    } else return undefined;
    const lazy = this.#take("?");
    return lazy !== this.#flags.ungreedy ? `${out}?` : out;
  }

  #counts(): string | undefined {
    const match = /^\{(0|[1-9]\d*)(?:(,)(0|[1-9]\d*)?)?\}/.exec(this.#slice(this.#at, this.#at + 24));
    if (match === null) return undefined; // Go reads such a brace as itself.
    const [text, min, comma, max] = match;
    if (Number(min) > repeatMax || Number(max ?? 0) > repeatMax || (max !== undefined && Number(max) < Number(min)))
      throw this.#error("invalid repeat count", text);
    this.#at += text.length;
    return `{${min}${comma ?? ""}${max ?? ""}}`;
  }

  #group(): string {
    const start = this.#at - 1;
    const outer = this.#flags;
    if (!this.#take("?")) return this.#closeGroup("(", outer);
    if (this.#peek() === "<" || (this.#peek() === "P" && this.#text[this.#at + 1] === "<")) {
      this.#captureName(start);
      return this.#closeGroup("(", outer);
    }
    return this.#flagGroup(start, outer);
  }

  #captureName(start: number): void {
    const close = this.#text.indexOf(">", this.#at);
    const name = this.#slice(this.#text.indexOf("<", this.#at) + 1, close);
    if (close < 0 || !/^[0-9A-Za-z_]+$/.test(name))
      throw this.#error("invalid named capture", this.#slice(start, close < 0 ? this.#text.length : close + 1));
    this.#at = close + 1;
  }

  #flagGroup(start: number, outer: Flags): string {
    const letters = /^([imsU]*)(-[imsU]+)?([:)])/.exec(this.#slice(this.#at, this.#at + 16));
    if (letters === null || (letters[1] === "" && letters[2] === undefined && letters[3] === ")"))
      throw this.#error("invalid or unsupported Perl syntax", this.#slice(start, this.#at + 1));
    this.#at += letters[0].length;
    const inner = { ...outer };
    for (const letter of letters[1] ?? "") inner[flagOf(letter)] = true;
    for (const letter of (letters[2] ?? "").slice(1)) inner[flagOf(letter)] = false;
    this.#flags = inner;
    // `(?i)` holds to the end of the group around it, which restores the flags when it closes.
    return letters[3] === ")" ? "" : this.#closeGroup("(?:", outer);
  }

  #closeGroup(open: string, outer: Flags): string {
    const inner = this.#alternatives();
    if (!this.#take(")")) throw this.#error("missing closing )", this.#source);
    this.#flags = outer;
    return `${open}${inner})`;
  }

  #escape(): string {
    if (this.#at >= this.#text.length) throw this.#error("trailing backslash at end of expression", "");
    const character = this.#next();
    if (character === "A") return "(?:^)";
    if (character === "z") return "(?:$)";
    if (character === "b" || character === "B") return `(?:\\${character})`;
    if (character === "Q") return this.#quoted();
    const named = this.#namedClass(character);
    if (named !== undefined) return `[${named}]`;
    return this.#literal(this.#escapedCode(character));
  }

  #quoted(): string {
    let out = "";
    while (this.#at < this.#text.length && !(this.#peek() === "\\" && this.#text[this.#at + 1] === "E"))
      out += this.#literal(this.#next().codePointAt(0) ?? 0);
    this.#at += 2;
    return out === "" ? "(?:)" : out;
  }

  /** The inside of a class for `\d`, `\S`, `\pL`, `\P{Greek}`; undefined when it is none of them. */
  #namedClass(character: string): string | undefined {
    const lower = character.toLowerCase();
    const perl = perlClasses[lower];
    if (perl !== undefined) return lower === character ? perl : complement(perl);
    if (lower !== "p") return undefined;
    const start = this.#at - 2;
    const braced = this.#take("{");
    const close = braced ? this.#text.indexOf("}", this.#at) : this.#at + 1;
    const name = this.#slice(this.#at, close < 0 ? this.#text.length : close);
    this.#at = (close < 0 ? this.#text.length : close) + (braced ? 1 : 0);
    const property = unicodeProperty(name.replace(/^\^/, ""));
    if (close < 0 || property === undefined)
      throw this.#error("invalid character class range", this.#slice(start, this.#at));
    return (character === "P") !== name.startsWith("^") ? `\\P{${property}}` : `\\p{${property}}`;
  }

  #escapedCode(character: string): number {
    const control = controlEscapes[character];
    if (control !== undefined) return control;
    const rest = this.#slice(this.#at, this.#at + 12);
    const hex = character === "x" ? /^(?:\{([0-9A-Fa-f]{1,8})\}|([0-9A-Fa-f]{2}))/.exec(rest) : null;
    const code = Number.parseInt(hex?.[1] ?? hex?.[2] ?? "", 16);
    if (hex !== null && code <= 0x10ffff) {
      this.#at += hex[0].length;
      return code;
    }
    // A single octal digit other than 0 would be a backreference, which Go has not.
    const octal = /^(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(character + rest);
    if (octal !== null) {
      this.#at += octal[0].length - 1;
      return Number.parseInt(octal[0], 8);
    }
    if (/^[0-9A-Za-z]$/.test(character) || (character.codePointAt(0) ?? 0) > 0x7f)
      throw this.#error("invalid escape sequence", `\\${character}`);
    return character.codePointAt(0) ?? 0;
  }

  #class(): string {
    const start = this.#at - 1;
    const negated = this.#take("^");
    let out = "";
    for (let first = true; first || this.#peek() !== "]"; first = false) {
      if (this.#at >= this.#text.length) throw this.#error("missing closing ]", this.#slice(start, this.#text.length));
      out += this.#classItem();
    }
    this.#at++;
    return `[${negated ? "^" : ""}${out}]`;
  }

  #classItem(): string {
    const posix = /^\[:(\^?)(\w*):\]/.exec(this.#slice(this.#at, this.#at + 16));
    if (posix !== null) {
      const known = posixClasses[posix[2] ?? ""];
      if (known === undefined) throw this.#error("invalid character class range", posix[0]);
      this.#at += posix[0].length;
      return posix[1] === "^" ? complement(known) : known;
    }
    const named = this.#peek() === "\\" ? (this.#text[this.#at + 1] ?? "") : "";
    if (!/^[dDsSwWpP]$/.test(named)) return this.#classRange(this.#at);
    this.#at += 2;
    return this.#namedClass(named) ?? "";
  }

  #classRange(start: number): string {
    const low = this.#classCharacter();
    if (this.#peek() !== "-" || this.#text[this.#at + 1] === undefined || this.#text[this.#at + 1] === "]")
      return this.#folded(low, low);
    this.#at++;
    const high = this.#classCharacter();
    if (high < low) throw this.#error("invalid character class range", this.#slice(start, this.#at));
    return this.#folded(low, high);
  }

  #classCharacter(): number {
    const character = this.#next();
    if (character !== "\\") return character.codePointAt(0) ?? 0;
    if (this.#at >= this.#text.length) throw this.#error("trailing backslash at end of expression", "");
    return this.#escapedCode(this.#next());
  }

  #literal(code: number): string {
    return this.#flags.fold ? `[${this.#folded(code, code)}]` : escaped(code);
  }

  #folded(low: number, high: number): string {
    const plain = low === high ? escaped(low) : `${escaped(low)}-${escaped(high)}`;
    return this.#flags.fold ? plain + otherCases(low, high) : plain;
  }

  #peek(): string {
    return this.#text[this.#at] ?? "";
  }

  #next(): string {
    return this.#text[this.#at++] ?? "";
  }

  #take(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at++;
    return true;
  }

  #slice(from: number, to: number): string {
    return this.#text.slice(from, to).join("");
  }

  #error(what: string, where: string): PatternError {
    return new PatternError(`error parsing regexp: ${what}: \`${where}\``);
  }
}

function flagOf(letter: string): keyof Flags {
  return letter === "i" ? "fold" : letter === "m" ? "multiline" : letter === "s" ? "dotAll" : "ungreedy";
}

function escaped(code: number): string {
  const character = String.fromCodePoint(code);
  return /^[0-9A-Za-z]$/.test(character) ? character : `\\u{${code.toString(16)}}`;
}

/** What a class does not hold, as the inside of a class again. */
function complement(inside: string): string {
  const held = new RegExp(`[${inside}]`, "u");
  let out = "";
  let from = 0;
  // All classes that need this are ASCII, so everything above is outside.
  for (let code = 0; code <= 0x80; code++) {
    if (code < 0x80 && !held.test(String.fromCodePoint(code))) continue;
    if (code === 0x80) return `${out}${escaped(from)}-\\u{10ffff}`;
    if (code > from) out += `${escaped(from)}-${escaped(code - 1)}`;
    from = code + 1;
  }
  return out;
}

/** The other cases of the letters of a range; long ranges beyond the scripts that have cases are left as they are. */
function otherCases(low: number, high: number): string {
  let out = "";
  for (let code = low; code <= Math.min(high, low + 0x2fff); code++) {
    const character = String.fromCodePoint(code);
    for (const other of [character.toLowerCase(), character.toUpperCase()])
      if (other !== character && runes(other).length === 1) out += escaped(other.codePointAt(0) ?? 0);
    if (/^[kK]$/.test(character)) out += "\\u{212a}";
    if (/^[sS]$/.test(character)) out += "\\u{17f}";
  }
  return out;
}

function unicodeProperty(name: string): string | undefined {
  if (name === "Any") return "Any";
  for (const candidate of [/^[A-Z][a-z]?$/.test(name) ? name : "", `Script=${name}`]) {
    if (candidate === "" || !/^[\w=]+$/.test(candidate)) continue;
    try {
      RegExp(`\\p{${candidate}}`, "u");
      return candidate;
    } catch {
      // Not a property that this engine knows: the next spelling, or none.
    }
  }
  return undefined;
}
