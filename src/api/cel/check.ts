// Checks a parsed expression against the types of its variables and turns it into functions that compute it, in one
// walk. Rules and messages are those of the API server's checker; the syntax tree is the library's (parse.ts).

import type { Checking, Scope } from "./checking.ts";
import { CelError, formatIssues, type Issue } from "./error.ts";
import { callOf, type FunctionTable, matching, type Run, type Typed } from "./function.ts";
import { expandMacro } from "./macros.ts";
import { type Ast, dotted, placeOf } from "./parse.ts";
import { indexOptional, select, selectOptional } from "./select.ts";
import { logical, truth } from "./truth.ts";
import { lateIssues } from "./validators.ts";
import {
  type Bindings,
  boolType,
  bytesType,
  doubleType,
  dynType,
  errorType,
  formatType,
  intType,
  isAssignable,
  isDyn,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  param,
  resolved,
  stringType,
  type Type,
  typeType,
  uintType,
} from "./types.ts";
import { dictionary, List, TypeValue, Uint, type Value } from "./values.ts";

const typeNames: ReadonlyMap<string, string> = new Map(
  ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint", "optional_type"]
    .concat("google.protobuf.Duration", "google.protobuf.Timestamp")
    .map(name => [name, name]),
);

const conversions: ReadonlySet<string> = new Set(["bool", "bytes", "double", "int", "string", "uint"]);

export class Checker implements Checking {
  readonly issues: Issue[] = [];
  readonly references = new Set<string>();
  readonly #functions: FunctionTable;
  readonly #bindings: Bindings = new Map();
  readonly #types = new Map<Ast, Type>();
  readonly #folded: Run[] = [];
  #calls = 0;

  constructor(functions: FunctionTable) {
    this.#functions = functions;
  }

  /** The expression with all its type parameters settled, or why it is refused, as the server says it. */
  whole(ast: Ast, scope: Scope | undefined): Typed | string {
    const { type, run } = this.check(ast, scope);
    const typeOf = (part: Ast): Type => this.resolve(this.#types.get(part) ?? dynType);
    const issues = this.issues.length > 0 ? this.issues : lateIssues(ast, typeOf);
    if (issues.length > 0) return `compilation failed: ${formatIssues(ast.input, issues)}`;
    const failure = this.#foldingFailure();
    return failure === undefined ? { type: this.resolve(type), run } : `program instantiation failed: ${failure}`;
  }

  check(ast: Ast, scope: Scope | undefined): Typed {
    const checked = this.#checked(ast, scope);
    this.#types.set(ast, checked.type);
    return checked;
  }

  #checked(ast: Ast, scope: Scope | undefined): Typed {
    const part = (index: 0 | 1): Typed => this.check((ast.args as readonly [Ast, Ast])[index], scope);
    switch (ast.op) {
      case "value":
        return this.#literal(ast.args, ast);
      case "id":
        return this.#identifier(ast, ast.args, scope);
      case ".":
        return this.#select(ast, ast.args, scope);
      case ".?":
        return selectOptional(this, part(0), ast.args[1], placeOf(ast));
      case "[]":
        return this.call("_[_]", [part(0), part(1)], placeOf(ast));
      case "[?]":
        return indexOptional(this, part(0), part(1), placeOf(ast));
      case "call":
        return this.#globalCall(ast, ast.args[0], ast.args[1], scope);
      case "rcall":
        return this.#memberCall(ast, ast.args, scope);
      case "list":
        return this.#list(ast.args, scope);
      case "map":
        return this.#map(ast.args, scope);
      case "?:":
        return this.#conditional(ast.args, scope, placeOf(ast));
      case "||":
      case "&&":
        return this.#logical(ast.op === "||", ast.args, scope);
      case "!_":
      case "-_":
        return this.#unary(ast, ast.args, scope);
      case "==":
      case "!=":
      case "<":
      case "<=":
      case ">":
      case ">=":
      case "+":
      case "-":
      case "*":
      case "/":
      case "%":
      case "in":
        return this.call(ast.op === "in" ? "@in" : `_${ast.op}_`, [part(0), part(1)], placeOf(ast));
    }
  }

  condition(ast: Ast, scope: Scope | undefined): Typed {
    const checked = this.check(ast, scope);
    if (this.assignable(checked.type, boolType)) return checked;
    return this.fail(placeOf(ast), `expected type 'bool' but found '${formatType(this.resolve(checked.type))}'`);
  }

  fail(at: number, message: string): Typed {
    // Errors of the parts make the whole an error without a message of its own.
    this.issues.push({ at, message });
    return {
      type: errorType,
      run: () => {
        throw new CelError(message);
      },
    };
  }

  call(name: string, args: readonly Typed[], at: number, member = false): Typed {
    const overloads = this.#functions.get(name);
    if (overloads === undefined) return this.fail(at, `undeclared reference to '${name}' (in container '')`);
    const types = args.map(({ type }) => type);
    if (types.some(({ kind }) => kind === "error")) return { type: errorType, run: args[0]?.run ?? noValue };
    const candidates = matching(overloads, { member, types, id: this.#calls++ }, this.#bindings);
    const [first, ...others] = candidates;
    if (first === undefined) return this.fail(at, this.#noMatch(name, types, member));
    const same = others.every(({ result }) => formatType(result) === formatType(first.result));
    return { type: same ? this.resolve(first.result, true) : { kind: "dyn" }, run: callOf(candidates, args) };
  }

  /** With `open`, a type parameter that nothing has bound yet stays one: an empty list can still become anything. */
  resolve(type: Type, open = false): Type {
    if (open && type.kind === "param" && !this.#bindings.has(type.name)) return type;
    if (open && type.kind === "list") return listOf(this.resolve(type.item, true));
    if (open && type.kind === "optional") return optionalOf(this.resolve(type.item, true));
    return resolved(this.#bindings, type);
  }

  assignable(from: Type, to: Type): boolean {
    return isAssignable(this.#bindings, [from], [to]);
  }

  #literal(value: unknown, ast: Ast): Typed {
    const constant = (type: Type, of: Value): Typed => ({ type, run: () => of });
    if (typeof value === "string") return constant(stringType, value);
    if (typeof value === "boolean") return constant(boolType, value);
    if (typeof value === "number") return constant(doubleType, value);
    if (typeof value === "bigint")
      return value >= 1n << 63n ? this.fail(ast.start, "invalid int literal") : constant(intType, value);
    if (value === null) return constant(nullType, null);
    if (value instanceof Uint8Array) return constant(bytesType, value);
    // What is left is the library's own class for 1u, which prints as its digits.
    return constant(uintType, new Uint(BigInt(`${value as { toString(): string }}`)));
  }

  #identifier(ast: Ast, name: string, scope: Scope | undefined): Typed {
    for (let at = scope; at !== undefined; at = at.outer) {
      if (at.name !== name) continue;
      this.references.add(name);
      const { slot } = at;
      return { type: at.type, run: ({ slots }) => slots[slot] ?? null };
    }
    if (typeNames.has(name)) return typeLiteral(name);
    return this.fail(ast.start, `undeclared reference to '${name}' (in container '')`);
  }

  #select(ast: Ast, [operand, field]: readonly [Ast, string], scope: Scope | undefined): Typed {
    const qualified = dotted(ast);
    if (qualified !== undefined && typeNames.has(qualified)) return typeLiteral(qualified);
    return select(this, this.check(operand, scope), field, placeOf(ast));
  }

  #globalCall(ast: Ast, name: string, args: readonly Ast[], scope: Scope | undefined): Typed {
    const at = placeOf(ast);
    return (
      expandMacro(this, { name, receiver: undefined, args, at }, scope) ??
      this.#checkedCall({ name, args, at, receiver: undefined }, scope)
    );
  }

  #memberCall(ast: Ast, [name, receiver, args]: readonly [string, Ast, Ast[]], scope: Scope | undefined): Typed {
    const at = placeOf(ast);
    const macro = expandMacro(this, { name, receiver, args, at }, scope);
    if (macro !== undefined) return macro;
    const namespace = dotted(receiver);
    const qualified = namespace === undefined ? undefined : `${namespace}.${name}`;
    return qualified !== undefined && this.#functions.has(qualified)
      ? this.#checkedCall({ name: qualified, args, at, receiver: undefined }, scope)
      : this.#checkedCall({ name, args, at, receiver }, scope);
  }

  #checkedCall(
    { name, args, at, receiver }: { name: string; args: readonly Ast[]; at: number; receiver: Ast | undefined },
    scope: Scope | undefined,
  ): Typed {
    const all = receiver === undefined ? args : [receiver, ...args];
    const called = this.call(
      name,
      all.map(arg => this.check(arg, scope)),
      at,
      receiver !== undefined,
    );
    if (conversions.has(name) && all.length === 1 && isLiteral(all[0])) this.#folded.push(called.run);
    return called;
  }

  /** Conversions of literals are computed at once, so one that fails makes no program. */
  #foldingFailure(): string | undefined {
    for (const run of this.#folded) {
      try {
        run({ slots: [], steps: 0 });
      } catch (error) {
        if (error instanceof CelError) return error.message;
        throw error;
      }
    }
    return undefined;
  }

  #list(items: readonly Ast[], scope: Scope | undefined): Typed {
    const checked = items.map(item => this.check(item, scope));
    return { type: listOf(this.#joined(checked)), run: context => new List(checked.map(({ run }) => run(context))) };
  }

  #map(entries: readonly (readonly [Ast, Ast])[], scope: Scope | undefined): Typed {
    const keys = entries.map(([key]) => this.check(key, scope));
    const values = entries.map(([, value]) => this.check(value, scope));
    return {
      type: mapOf(this.#joined(keys), this.#joined(values)),
      run: context => dictionary(keys.map((key, i) => [key.run(context), values[i]?.run(context) ?? null])),
    };
  }

  /** The type of all items of a literal; dyn when they differ, which is refused later (validators.ts). */
  #joined(items: readonly Typed[]): Type {
    let joined: Type | undefined;
    for (const { type } of items) {
      if (joined === undefined || isDyn(type)) joined = type;
      else if (!this.assignable(joined, type)) return dynType;
    }
    return joined ?? this.#freshParam();
  }

  #conditional(branches: readonly [Ast, Ast, Ast], scope: Scope | undefined, at: number): Typed {
    const [test, left, right] = branches.map(branch => this.check(branch, scope)) as [Typed, Typed, Typed];
    if (!this.assignable(test.type, boolType) || !this.assignable(left.type, right.type))
      return this.fail(at, this.#noMatch("_?_:_", [test.type, left.type, right.type], false));
    return {
      type: isDyn(left.type) ? left.type : this.resolve(right.type, true),
      run: context => (truth(test.run(context)) ? left.run(context) : right.run(context)),
    };
  }

  #logical(decisive: boolean, [left, right]: readonly [Ast, Ast], scope: Scope | undefined): Typed {
    const run = logical(decisive, this.condition(left, scope).run, this.condition(right, scope).run);
    return { type: boolType, run };
  }

  #unary(ast: Ast, operand: Ast, scope: Scope | undefined): Typed {
    // -9223372036854775808 is one literal: its positive half alone would not fit.
    if (ast.op === "-_" && operand.op === "value" && (operand.args as unknown) === 1n << 63n)
      return { type: intType, run: () => -(1n << 63n) };
    return this.call(ast.op, [this.check(operand, scope)], ast.start);
  }

  #noMatch(name: string, types: readonly Type[], member: boolean): string {
    const shown = types.map(type => formatType(this.resolve(type)));
    const args = member ? `${shown[0]}.(${shown.slice(1).join(", ")})` : `(${shown.join(", ")})`;
    return `found no matching overload for '${name}' applied to '${args}'`;
  }

  #freshParam(): Type {
    return param(`fresh.${this.#calls++}`);
  }
}

function isLiteral(ast: Ast | undefined): boolean {
  return ast?.op === "value" || (ast?.op === "-_" && ast.args.op === "value");
}

function typeLiteral(name: string): Typed {
  const value = new TypeValue(name);
  return { type: typeType, run: () => value };
}

function noValue(): never {
  throw new CelError("no value");
}
