// Checks a parsed expression against the types of its variables and turns it into functions that compute it, in one
// walk. Rules and messages are those of the API server's checker; the syntax tree is the library's (parse.ts).

import { formatIssues, type Issue } from "./error.ts";
import { CelError } from "./error.ts";
import { callOf, type FunctionTable, matching, type Run, type Typed } from "./function.ts";
import { literalComplaint } from "./literals.ts";
import { expandMacro } from "./macros.ts";
import type { Ast } from "./parse.ts";
import { indexOptional, select, selectOptional } from "./select.ts";
import {
  type Bindings,
  boolType,
  bytesType,
  doubleType,
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
import { Dictionary, List, mapKey, TypeValue, Uint, type Value } from "./values.ts";

/** A variable in sight: its place among the values of an evaluation. */
export type Scope = { name: string; type: Type; slot: number; outer: Scope | undefined };

const typeNames: ReadonlyMap<string, string> = new Map(
  ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint", "optional_type"]
    .concat("google.protobuf.Duration", "google.protobuf.Timestamp")
    .map(name => [name, name]),
);

const operators: Readonly<Record<string, string>> = {
  "==": "_==_",
  "!=": "_!=_",
  "<": "_<_",
  "<=": "_<=_",
  ">": "_>_",
  ">=": "_>=_",
  "+": "_+_",
  "-": "_-_",
  "*": "_*_",
  "/": "_/_",
  "%": "_%_",
  in: "@in",
};

export class Checker {
  readonly issues: Issue[] = [];
  readonly references = new Set<string>();
  readonly #functions: FunctionTable;
  readonly #bindings: Bindings = new Map();
  #calls = 0;

  constructor(functions: FunctionTable) {
    this.#functions = functions;
  }

  /** The expression with all its type parameters settled, or the issues as the server prints them. */
  whole(ast: Ast, scope: Scope | undefined): Typed | string {
    const { type, run } = this.check(ast, scope);
    if (this.issues.length > 0) return formatIssues(ast.input, this.issues);
    return { type: resolved(this.#bindings, type), run };
  }

  check(ast: Ast, scope: Scope | undefined): Typed {
    switch (ast.op) {
      case "value":
        return this.#literal(ast.args as unknown, ast);
      case "id":
        return this.#identifier(ast, ast.args, scope);
      case ".":
        return this.#select(ast, ast.args, scope);
      case ".?":
        return selectOptional(this, this.check(ast.args[0], scope), ast.args[1], ast);
      case "[]":
        return this.call("_[_]", [this.check(ast.args[0], scope), this.check(ast.args[1], scope)], bracketAt(ast));
      case "[?]":
        return indexOptional(this, this.check(ast.args[0], scope), this.check(ast.args[1], scope), bracketAt(ast));
      case "call":
        return this.#globalCall(ast, ast.args[0], ast.args[1], scope);
      case "rcall":
        return this.#memberCall(ast, ast.args, scope);
      case "list":
        return this.#list(ast.args, scope);
      case "map":
        return this.#map(ast.args, scope);
      case "?:":
        return this.#conditional(ast.args, scope);
      case "||":
      case "&&":
        return this.#logical(ast.op, ast.args, scope);
      case "!_":
      case "-_":
        return this.#unary(ast, ast.op, ast.args, scope);
      default:
        return this.#binary(ast.op, ast.args, scope);
    }
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

  /** A call by name; `member` when the first argument is the receiver. */
  call(name: string, args: readonly Typed[], at: number, member = false): Typed {
    const overloads = this.#functions.get(name);
    if (overloads === undefined) return this.fail(at, `undeclared reference to '${name}' (in container '')`);
    const types = args.map(({ type }) => type);
    if (types.some(({ kind }) => kind === "error")) return { type: errorType, run: args[0]?.run ?? noValue };
    const candidates = matching(overloads, { member, types, id: this.#calls++ }, this.#bindings);
    const [first, ...others] = candidates;
    if (first === undefined)
      return this.fail(
        at,
        noMatch(
          name,
          types.map(type => this.resolve(type)),
          member,
        ),
      );
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

  freshParam(): Type {
    return param(`fresh.${this.#calls++}`);
  }

  #literal(value: unknown, ast: Ast): Typed {
    const constant = (type: Type, of: Value): Typed => ({ type, run: () => of });
    switch (typeof value) {
      case "string":
        return constant(stringType, value);
      case "boolean":
        return constant(boolType, value);
      case "number":
        return constant(doubleType, value);
      case "bigint":
        return value >= 1n << 63n ? this.fail(ast.start, "invalid int literal") : constant(intType, value);
    }
    if (value === null) return constant(nullType, null);
    if (value instanceof Uint8Array) return constant(bytesType, value);
    return constant(uintType, new Uint(BigInt(String(value))));
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
    return select(this, this.check(operand, scope), field, dotAt(ast, operand));
  }

  #globalCall(ast: Ast, name: string, args: readonly Ast[], scope: Scope | undefined): Typed {
    const at = ast.input.indexOf("(", ast.start);
    return (
      expandMacro(this, { name, receiver: undefined, args, at }, scope) ??
      this.#checkedCall({ name, args, at, receiver: undefined }, scope)
    );
  }

  #memberCall(ast: Ast, [name, receiver, args]: readonly [string, Ast, Ast[]], scope: Scope | undefined): Typed {
    const at = ast.input.indexOf("(", ast.input.indexOf(name, receiver.end));
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
    const complaint = literalComplaint(name, all);
    return complaint === undefined ? called : this.fail(complaint.at, complaint.message);
  }

  #list(items: readonly Ast[], scope: Scope | undefined): Typed {
    const checked = items.map(item => this.check(item, scope));
    const type = this.#joined(checked, items);
    return { type: listOf(type), run: context => new List(checked.map(({ run }) => run(context))) };
  }

  #map(entries: readonly (readonly [Ast, Ast])[], scope: Scope | undefined): Typed {
    const keys = entries.map(([key]) => this.check(key, scope));
    const values = entries.map(([, value]) => this.check(value, scope));
    const type = mapOf(
      this.#joined(
        keys,
        entries.map(([key]) => key),
      ),
      this.#joined(
        values,
        entries.map(([, value]) => value),
      ),
    );
    return {
      type,
      run: context => dictionary(keys.map((key, i) => [key.run(context), values[i]?.run(context) ?? null])),
    };
  }

  /** All items of a literal have one type. */
  #joined(checked: readonly Typed[], items: readonly Ast[]): Type {
    let joined: Type | undefined;
    for (const [i, { type }] of checked.entries()) {
      if (joined === undefined) joined = type;
      else if (!this.assignable(joined, type))
        return this.fail(
          items[i]?.start ?? 0,
          `expected type '${formatType(this.resolve(joined))}' but found '${formatType(this.resolve(type))}'`,
        ).type;
      else if (isDyn(type)) joined = type;
    }
    return joined ?? this.freshParam();
  }

  #conditional([condition, then, otherwise]: readonly [Ast, Ast, Ast], scope: Scope | undefined): Typed {
    const test = this.check(condition, scope);
    const left = this.check(then, scope);
    const right = this.check(otherwise, scope);
    const at = condition.input.indexOf("?", condition.end);
    const types = [test.type, left.type, right.type].map(type => this.resolve(type, true));
    if (!this.assignable(test.type, boolType) || !this.assignable(left.type, right.type))
      return this.fail(
        at,
        noMatch(
          "_?_:_",
          types.map(type => this.resolve(type)),
          false,
        ),
      );
    return {
      type: isDyn(left.type) ? left.type : this.resolve(right.type, true),
      run: context => (truth(test.run(context)) ? left.run(context) : right.run(context)),
    };
  }

  #logical(op: "||" | "&&", [leftAst, rightAst]: readonly [Ast, Ast], scope: Scope | undefined): Typed {
    const left = this.check(leftAst, scope);
    const right = this.check(rightAst, scope);
    if (!this.assignable(left.type, boolType) || !this.assignable(right.type, boolType)) {
      const types = [left.type, right.type].map(type => this.resolve(type));
      return this.fail(leftAst.input.indexOf(op, leftAst.end), noMatch(`_${op}_`, types, false));
    }
    return { type: boolType, run: logical(op === "||", left.run, right.run) };
  }

  #unary(ast: Ast, op: "!_" | "-_", operand: Ast, scope: Scope | undefined): Typed {
    // -9223372036854775808 is one literal: its positive half alone would not fit.
    if (op === "-_" && operand.op === "value" && (operand.args as unknown) === 1n << 63n)
      return { type: intType, run: () => -(1n << 63n) };
    return this.call(op, [this.check(operand, scope)], ast.start);
  }

  #binary(op: string, [left, right]: readonly [Ast, Ast], scope: Scope | undefined): Typed {
    const at = left.input.indexOf(op, left.end);
    return this.call(operators[op] ?? op, [this.check(left, scope), this.check(right, scope)], at);
  }
}

function typeLiteral(name: string): Typed {
  const value = new TypeValue(name);
  return { type: typeType, run: () => value };
}

function noValue(): never {
  throw new CelError("no value");
}

/** "a.b.c" of a chain of plain selections, which may also name a type or a function. */
function dotted(ast: Ast): string | undefined {
  if (ast.op === "id") return ast.args;
  if (ast.op !== ".") return undefined;
  const [operand, field] = ast.args;
  const head = dotted(operand);
  return head === undefined ? undefined : `${head}.${field}`;
}

function dotAt(ast: Ast, operand: Ast): number {
  return ast.input.indexOf(".", operand.end);
}

function bracketAt(ast: Ast & { op: "[]" | "[?]" }): number {
  return ast.input.indexOf("[", ast.args[0].end);
}

function noMatch(name: string, types: readonly Type[], member: boolean): string {
  const shown = types.map(formatType);
  const args = member ? `${shown[0]}.(${shown.slice(1).join(", ")})` : `(${shown.join(", ")})`;
  return `found no matching overload for '${name}' applied to '${args}'`;
}

export function truth(value: Value): boolean {
  if (typeof value === "boolean") return value;
  throw new CelError("no such overload");
}

/** One side's verdict can make the other side's error irrelevant, whichever comes first. */
export function logical(decisive: boolean, left: Run, right: Run): Run {
  return context => {
    let failure: unknown;
    try {
      if (truth(left(context)) === decisive) return decisive;
    } catch (error) {
      if (!(error instanceof CelError)) throw error;
      failure = error;
    }
    if (truth(right(context)) === decisive) return decisive;
    if (failure !== undefined) throw failure;
    return !decisive;
  };
}

export function dictionary(entries: readonly (readonly [Value, Value])[]): Dictionary {
  const map = new Map<string | boolean | bigint, Value>();
  for (const [key, value] of entries) {
    const plain = mapKey(key);
    if (plain === undefined) throw new CelError("unsupported key type");
    if (map.has(plain)) throw new CelError(`duplicate key in map: ${String(plain)}`);
    map.set(plain, value);
  }
  return new Dictionary(map);
}
