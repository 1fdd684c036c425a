// The string form of label selectors, `a=b,c!=d,e in (x,y),!f,g>1`: as labels.Parse of Kubernetes 1.36 reads it,
// with its refusals word for word, because they reach the user as the server's answer.

import { accepted, type Parsed, refused } from "./parsed.ts";
import {
  aggregate,
  keyErrors,
  type Operator,
  type Requirement,
  requirementErrors,
  type Selector,
  sortedByKey,
} from "./selector.ts";

/** `word` is a key or a value; `in` and `notin` are operators only where an operator can stand. */
type Token = { kind: "word" | "symbol" | "end"; text: string };

const symbols = new Set([")", ",", "!", "==", "=", ">", "<", "!=", "("]);
const operators = new Map<string, Operator>([
  ["in", "in"],
  ["notin", "notin"],
  ["=", "="],
  ["==", "=="],
  ["!=", "!="],
  [">", "gt"],
  ["<", "lt"],
]);

export function parseSelector(text: string): Parsed<Selector> {
  try {
    return accepted(sortedByKey(requirements(new Tokens(text))));
  } catch (error) {
    if (error instanceof Refusal) return refused(error.message);
    throw error;
  }
}

class Refusal extends Error {}

class Tokens {
  #tokens: Token[];
  #position = 0;

  constructor(text: string) {
    this.#tokens = scan(text);
  }

  get next(): Token {
    return this.#tokens[this.#position] ?? { kind: "end", text: "" };
  }

  take(): Token {
    const token = this.next;
    this.#position++;
    return token;
  }

  takeIf(symbol: string): boolean {
    const found = is(this.next, symbol);
    if (found) this.#position++;
    return found;
  }
}

function is(token: Token, symbol: string): boolean {
  return token.kind === "symbol" && token.text === symbol;
}

function requirements(tokens: Tokens): Requirement[] {
  const found: Requirement[] = [];
  while (tokens.next.kind !== "end") {
    if (!startsRequirement(tokens.next)) {
      throw new Refusal(`found '${tokens.next.text}', expected: !, identifier, or 'end of string'`);
    }
    found.push(requirement(tokens));
    const separator = tokens.take();
    if (separator.kind === "end") break;
    if (!is(separator, ",")) throw new Refusal(`found '${separator.text}', expected: ',' or 'end of string'`);
    if (!startsRequirement(tokens.next)) {
      throw new Refusal(`found '${tokens.next.text}', expected: identifier after ','`);
    }
  }
  return found;
}

function startsRequirement(token: Token): boolean {
  return token.kind === "word" || is(token, "!");
}

function endsRequirement(token: Token): boolean {
  return token.kind === "end" || is(token, ",");
}

function requirement(tokens: Tokens): Requirement {
  const absent = tokens.takeIf("!");
  const key = word(tokens);
  refuseIf(keyErrors(key, "<nil>"));
  const operator = absent ? "!" : endsRequirement(tokens.next) ? "exists" : binaryOperator(tokens);
  const values = operator === "exists" || operator === "!" ? [] : valuesFor(operator, tokens);
  const result: Requirement = { key, operator, values: [...new Set(values)].sort() };
  refuseIf(requirementErrors(result));
  return result;
}

function valuesFor(operator: Operator, tokens: Tokens): string[] {
  if (operator === "in" || operator === "notin") return valueSet(tokens);
  return [endsRequirement(tokens.next) ? "" : word(tokens)];
}

function word(tokens: Tokens): string {
  const token = tokens.take();
  if (token.kind !== "word") throw requirementRefusal(`found '${token.text}', expected: identifier`);
  return token.text;
}

function binaryOperator(tokens: Tokens): Operator {
  const { text } = tokens.take();
  const operator = operators.get(text);
  if (operator) return operator;
  throw requirementRefusal(`found '${text}', expected: in, notin, =, ==, !=, gt, lt`);
}

// Between the parentheses every missing value counts as the empty one: `()`, `(,a)`, `(a,,b)`, `(a,)`.
function valueSet(tokens: Tokens): string[] {
  const open = tokens.take();
  if (!is(open, "(")) throw requirementRefusal(`found '${open.text}' expected: '('`);
  if (tokens.takeIf(")")) return [""];
  if (tokens.next.kind !== "word" && !is(tokens.next, ",")) {
    throw requirementRefusal(`found '${tokens.next.text}', expected: ',', ')' or identifier`);
  }
  const values: string[] = [];
  for (;;) {
    if (tokens.next.kind === "word") {
      values.push(word(tokens));
    } else if (is(tokens.next, ",") || is(tokens.next, ")")) {
      values.push("");
    } else {
      throw requirementRefusal(`found '${tokens.next.text}', expected: ',', or identifier`);
    }
    if (tokens.takeIf(")")) return values;
    if (!tokens.takeIf(",")) throw requirementRefusal(`found '${tokens.next.text}', expected: ',' or ')'`);
  }
}

function refuseIf(errors: string[]): void {
  if (errors.length > 0) throw requirementRefusal(aggregate(errors));
}

function requirementRefusal(message: string): Refusal {
  return new Refusal(`unable to parse requirement: ${message}`);
}

function scan(text: string): Token[] {
  const tokens: Token[] = [];
  for (const [part] of text.matchAll(/[=!(),<>]+|[^=!(),<> \t\r\n]+/g)) {
    if (/^[=!(),<>]/.test(part)) tokens.push(...symbolsOf(part));
    else tokens.push({ kind: "word", text: part });
  }
  return tokens;
}

// The longest operator first: "!==" is "!=" and "=".
function symbolsOf(run: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < run.length; ) {
    const pair = run.slice(at, at + 2);
    const text = pair.length === 2 && symbols.has(pair) ? pair : run.charAt(at);
    tokens.push({ kind: "symbol", text });
    at += text.length;
  }
  return tokens;
}
