// JSONPath as printer columns use it: fields, quoted keys, indices, slices, unions, wildcards, descent and filters, with
// the semantics of Kubernetes' own package (a missing key selects nothing, an index out of bounds is an error). Only
// one path: no text around it, no range.

/** From the selected values to those one step further. Throws where Kubernetes reports an error. */
type Step = (values: readonly unknown[]) => unknown[];
export type JsonPath = (root: unknown) => unknown[];

/** `text` as in a CustomResourceDefinition, without braces: ".status.conditions[?(@.type==\"Ready\")].status". */
export function jsonPath(text: string): JsonPath {
  const steps = new Parser(text).steps();
  return root => run(steps, [root]);
}

const run = (steps: readonly Step[], values: readonly unknown[]): unknown[] =>
  steps.reduce<unknown[]>((selected, step) => step(selected), [...values]);

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  steps(): Step[] {
    const steps: Step[] = [];
    while (this.#at < this.#text.length) {
      const step = this.#step();
      if (step !== undefined) steps.push(...step);
    }
    return steps;
  }

  #step(): Step[] | undefined {
    if (this.#take("[?(")) return [this.#filter()];
    if (this.#take("..")) return [descend, ...(/^[\w]/.test(this.#rest()) ? [this.#field()] : [])];
    if (this.#take("[")) return [this.#brackets()];
    if (this.#take(".")) return [this.#field()];
    // The current object: nothing to do.
    if (this.#take(" ") || this.#take("@") || this.#take("$")) return undefined;
    return [this.#literal()];
  }

  #rest(): string {
    return this.#text.slice(this.#at);
  }

  #take(prefix: string): boolean {
    if (!this.#text.startsWith(prefix, this.#at)) return false;
    this.#at += prefix.length;
    return true;
  }

  #match(pattern: RegExp, otherwise: string): RegExpExecArray {
    const match = pattern.exec(this.#rest());
    if (match === null) throw new Error(`${otherwise}: ${JSON.stringify(this.#text)}`);
    this.#at += match[0].length;
    return match;
  }

  // A backslash keeps a terminator inside the name: .metadata.labels.app\.kubernetes\.io/name
  #field(): Step {
    const [name] = this.#match(/^(?:\\.|[^\s.,[\]$@{}])*/, "a field name is missing");
    return name === "*" ? everyValue : field(name.replaceAll("\\", ""));
  }

  #literal(): Step {
    const quoted = /^(["'])((?:\\.|(?!\1).)*)\1/.exec(this.#rest());
    if (quoted !== null) {
      this.#at += quoted[0].length;
      return constant(quoted[2]!.replaceAll(/\\(.)/g, "$1"));
    }
    const [word] = this.#match(/^(?:[+-]?[\d.]+|true|false)/, "a JSON path is made of .field and [index] steps");
    return constant(word === "true" || word === "false" ? word === "true" : Number(word));
  }

  #brackets(): Step {
    const [, inside = ""] = this.#match(/^([^\]\n]*)\]/, "an opened [ is not closed");
    const parts = inside.split(",").map(part => subscript(part.trim()));
    return parts.length === 1 ? parts[0]! : values => parts.flatMap(part => part(values));
  }

  #filter(): Step {
    const [, inside = ""] = this.#match(
      /^((?:"(?:\\.|[^"])*"|'(?:\\.|[^'])*'|[^)"'\n])*)\)\]/,
      "a filter is not closed",
    );
    const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/.exec(inside);
    if (comparison === null) return filtered(exists(new Parser(inside).steps()));
    const [, left = "", operator = "", right = ""] = comparison;
    return filtered(compared(new Parser(left).steps(), operator, new Parser(right).steps()));
  }
}

const constant =
  (value: unknown): Step =>
  values =>
    values.map(() => value);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const field =
  (name: string): Step =>
  values =>
    values.flatMap(value => (isObject(value) && Object.hasOwn(value, name) ? [value[name]] : []));

function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  return isObject(value) ? Object.values(value) : [];
}

const everyValue: Step = values => values.flatMap(childrenOf);

const descend: Step = values =>
  values.flatMap(value => {
    const children = childrenOf(value);
    return children.length === 0 ? [] : [value, ...descend(children)];
  });

function subscript(text: string): Step {
  const key = /^'([^']*)'$/.exec(text);
  // Kubernetes reads ['a.b'] as .a.b, so that a dot in the key must be escaped here too.
  if (key !== null) return values => run(new Parser(`.${key[1]}`).steps(), values);
  const slice = /^(-?\d*)(?::(-?\d*))?(?::(-?\d*))?$/.exec(text === "*" ? ":" : text);
  if (slice === null) throw new Error(`invalid array index ${text}`);
  const [, start = "", end, step] = slice;
  return values => values.flatMap(value => elements(value, { start, end, step }));
}

function elements(value: unknown, bounds: { start: string; end: string | undefined; step: string | undefined }) {
  if (value === null || value === undefined) return [];
  if (!Array.isArray(value)) throw new Error("an index is only for a list");
  const counted = (index: number) => (index < 0 ? index + value.length : index);
  const start = counted(Number(bounds.start));
  const oneOnly = bounds.end === undefined && bounds.start !== "";
  const end = oneOnly ? start + 1 : bounds.end ? counted(Number(bounds.end)) : value.length;
  if (start === end) return [];
  if (start < 0 || start >= value.length || end > value.length || start > end) throw new Error("index out of bounds");
  const step = Number(bounds.step || 1);
  if (step <= 0) throw new Error("step must be > 0");
  return (value as unknown[]).slice(start, end).filter((_, index) => index % step === 0);
}

const filtered =
  (passes: (item: unknown) => boolean): Step =>
  values =>
    values.flatMap(value => {
      if (!Array.isArray(value)) throw new Error("a filter is only for a list");
      return (value as unknown[]).filter(passes);
    });

const exists =
  (path: readonly Step[]) =>
  (item: unknown): boolean =>
    run(path, [item]).length > 0;

const comparisons: Readonly<Record<string, (left: number | string, right: number | string) => boolean>> = {
  "<": (left, right) => left < right,
  ">": (left, right) => left > right,
  "<=": (left, right) => left <= right,
  ">=": (left, right) => left >= right,
};

function compared(left: readonly Step[], operator: string, right: readonly Step[]): (item: unknown) => boolean {
  const order = comparisons[operator];
  if (order === undefined && operator !== "==" && operator !== "!=") throw new Error(`unknown operator ${operator}`);
  return item => {
    const [a, ...moreLeft] = run(left, [item]);
    const [b, ...moreRight] = run(right, [item]);
    if (moreLeft.length + moreRight.length > 0) throw new Error("can only compare one element at a time");
    if (a === undefined || b === undefined) return false;
    if (typeof a !== typeof b) throw new Error("incompatible types for comparison");
    if (order === undefined) return (a === b) === (operator === "==");
    return order(a as string, b as string);
  };
}
