// Macros: expressions that bind a variable of their own (comprehensions, optMap) and has(). There is no cel.bind: the API
// server gives it to policies, not to CRDs.

import type { Checking, Scope } from "./checking.ts";
import { CelError } from "./error.ts";
import { type Context, countStep, type Run, type Typed } from "./function.ts";
import { type Ast, placeOf } from "./parse.ts";
import { hasField } from "./select.ts";
import { attempt, truth } from "./truth.ts";
import {
  boolType,
  dynType,
  errorType,
  formatType,
  intType,
  isDyn,
  listOf,
  mapOf,
  optionalOf,
  type Type,
} from "./types.ts";
import {
  compare,
  Dictionary,
  dictionary,
  keysOf,
  List,
  lookUp,
  mapKey,
  Optional,
  Struct,
  type Value,
} from "./values.ts";

type Call = { name: string; receiver: Ast | undefined; args: readonly Ast[]; at: number };
type Expansion = (checker: Checking, call: Call & { receiver: Ast }, scope: Scope | undefined) => Typed;

/** A call that is a macro, by its name and number of arguments, whatever its receiver is; else undefined. */
export function expandMacro(checker: Checking, call: Call, scope: Scope | undefined): Typed | undefined {
  const { name, receiver, args } = call;
  if (receiver === undefined) return name === "has" && args.length === 1 ? has(checker, call, scope) : undefined;
  return expansions[`${name}/${args.length}`]?.(checker, { ...call, receiver }, scope);
}

function has(checker: Checking, { args, at }: Call, scope: Scope | undefined): Typed {
  const [path] = args;
  if (path === undefined || path.op !== ".")
    return checker.fail(path === undefined ? at : placeOf(path), "invalid argument to has() macro");
  const [operand, field] = path.args;
  return hasField(checker, checker.check(operand, scope), field, at);
}

function declare(checker: Checking, variable: Ast, type: Type, outer: Scope | undefined): Scope {
  if (variable.op !== "id") checker.fail(variable.start, "argument must be a simple name");
  const name = variable.op === "id" ? variable.args : "";
  return { name, type, slot: (outer?.slot ?? -1) + 1, outer };
}

/** What a comprehension goes through: one item at a time, and with two variables its place or key as well. */
type Range = { scope: Scope; each: (context: Context, visit: () => boolean) => void; itemType: Type; keyType: Type };

function rangeOf(
  checker: Checking,
  call: Call & { receiver: Ast },
  variables: readonly Ast[],
  scope: Scope | undefined,
): Range {
  const range = checker.check(call.receiver, scope);
  const type = checker.resolve(range.type);
  const twofold = variables.length === 2;
  const [first, second] = variables as readonly [Ast, Ast];
  const [keyType, itemType] = rangeTypes(checker, type, call, twofold);
  const outer = declare(checker, first, keyType, scope);
  const inner = twofold ? declare(checker, second, itemType, outer) : outer;
  const each: Range["each"] = (context, visit) => {
    const value = range.run(context);
    // With one variable a list gives its items and a map its keys.
    const byItem = !twofold && value instanceof List;
    for (const [key, item] of pairs(value)) {
      countStep(context);
      context.slots[outer.slot] = byItem ? item() : key;
      if (twofold) context.slots[inner.slot] = item();
      if (!visit()) return;
    }
  };
  return { scope: inner, each, itemType: twofold ? itemType : keyType, keyType };
}

function rangeTypes(checker: Checking, type: Type, call: Call & { receiver: Ast }, twofold: boolean): [Type, Type] {
  if (type.kind === "list") return twofold ? [intType, type.item] : [type.item, type.item];
  if (type.kind === "map") return [type.key, type.value];
  if (isDyn(type)) return [dynType, dynType];
  checker.fail(
    placeOf(call.receiver),
    `expression of type '${formatType(type)}' cannot be range of a comprehension (must be list, map, or dynamic)`,
  );
  return [errorType, errorType];
}

/** Keys with how to get their items: an item that has no value is no matter to a macro over keys alone. */
function pairs(range: Value): (readonly [Value, () => Value])[] {
  if (range instanceof List) return range.items.map((item, i) => [BigInt(i), () => item] as const);
  if (range instanceof Dictionary || range instanceof Struct)
    return keysOf(range).map(key => [key, () => lookUp(range, key) ?? null] as const);
  throw new CelError("no such overload");
}

function predicate(checker: Checking, ast: Ast | undefined, scope: Scope): Run {
  return ast === undefined ? () => false : checker.condition(ast, scope).run;
}

/** all() and exists(): one verdict decides, and only without it an error on the way counts. */
function quantifier(decisive: boolean): Expansion {
  return (checker, call, scope) => {
    const range = rangeOf(checker, call, call.args.slice(0, -1), scope);
    const test = predicate(checker, call.args.at(-1), range.scope);
    return {
      type: boolType,
      run: context => {
        let decided = false;
        let failure: CelError | undefined;
        range.each(context, () => {
          const outcome = attempt(test, context);
          if (outcome instanceof CelError) failure ??= outcome;
          else decided = outcome === decisive;
          return !decided;
        });
        if (!decided && failure !== undefined) throw failure;
        return decided ? decisive : !decisive;
      },
    };
  };
}

const existsOne: Expansion = (checker, call, scope) => {
  const range = rangeOf(checker, call, call.args.slice(0, -1), scope);
  const test = predicate(checker, call.args.at(-1), range.scope);
  return {
    type: boolType,
    run: context => {
      let count = 0;
      range.each(context, () => {
        if (truth(test(context))) count++;
        return true;
      });
      return count === 1;
    },
  };
};

const filter: Expansion = (checker, call, scope) => {
  const range = rangeOf(checker, call, call.args.slice(0, 1), scope);
  const test = predicate(checker, call.args[1], range.scope);
  const { slot } = range.scope;
  return { type: listOf(range.itemType), run: gather(range, test, ({ slots }) => slots[slot] ?? null) };
};

/** map(), transformList(): an optional test comes before the last argument. */
function mapping(variables: number): Expansion {
  return (checker, call, scope) => {
    const range = rangeOf(checker, call, call.args.slice(0, variables), scope);
    const rest = call.args.slice(variables);
    const test = rest.length === 2 ? predicate(checker, rest[0], range.scope) : undefined;
    const body = checker.check(rest.at(-1) as Ast, range.scope);
    return { type: listOf(body.type), run: gather(range, test, body.run) };
  };
}

function gather(range: Range, test: Run | undefined, body: Run): Run {
  return context => {
    const items: Value[] = [];
    range.each(context, () => {
      if (test === undefined || truth(test(context))) items.push(body(context));
      return true;
    });
    return new List(items);
  };
}

/** transformMap() keeps the keys; transformMapEntry() takes keys and values from a map that it makes for each. */
function mapTransformation(entries: boolean): Expansion {
  return (checker, call, scope) => {
    const range = rangeOf(checker, call, call.args.slice(0, 2), scope);
    const rest = call.args.slice(2);
    const test = rest.length === 2 ? predicate(checker, rest[0], range.scope) : undefined;
    const body = checker.check(rest.at(-1) as Ast, range.scope);
    const key = range.scope.outer?.slot ?? 0;
    const entriesOf = (context: Context): (readonly [Value, Value])[] => {
      const value = body.run(context);
      if (!entries) return [[context.slots[key] ?? null, value]];
      if (!(value instanceof Dictionary)) throw new CelError("no such overload");
      return [...value.entries];
    };
    return {
      type: entries ? body.type : mapOf(range.keyType, body.type),
      run: context => {
        const all: (readonly [Value, Value])[] = [];
        range.each(context, () => {
          if (test === undefined || truth(test(context))) all.push(...entriesOf(context));
          return true;
        });
        return distinctDictionary(all);
      },
    };
  };
}

function distinctDictionary(entries: readonly (readonly [Value, Value])[]): Dictionary {
  const made = dictionary(entries);
  if (made.entries.size === entries.length) return made;
  const keys = entries.map(([key]) => mapKey(key));
  const twice = keys.find((key, i) => keys.indexOf(key) < i);
  throw new CelError(`insert failed: key ${String(twice)} already exists`);
}

const sortBy: Expansion = (checker, call, scope) => {
  const range = rangeOf(checker, call, call.args.slice(0, 1), scope);
  const key = checker.check(call.args[1] as Ast, range.scope);
  const { slot } = range.scope;
  return {
    type: listOf(range.itemType),
    run: context => {
      const keyed: { key: Value; item: Value }[] = [];
      range.each(context, () => keyed.push({ item: context.slots[slot] ?? null, key: key.run(context) }) > 0);
      return new List(keyed.sort((a, b) => compare(a.key, b.key) ?? 0).map(({ item }) => item));
    },
  };
};

/** optMap() wraps what it computes, optFlatMap() computes an optional itself; both leave none alone. */
function optionalMapping(flat: boolean): Expansion {
  return (checker, call, scope) => {
    const operand = checker.check(call.receiver, scope);
    const type = checker.resolve(operand.type);
    const inner = declare(checker, call.args[0] as Ast, type.kind === "optional" ? type.item : dynType, scope);
    const body = checker.check(call.args[1] as Ast, inner);
    return {
      type: flat ? body.type : optionalOf(body.type),
      run: context => {
        const value = operand.run(context);
        if (!(value instanceof Optional)) throw new CelError("no such overload");
        if (value.value === undefined) return value;
        context.slots[inner.slot] = value.value;
        const result = body.run(context);
        return flat ? result : new Optional(result);
      },
    };
  };
}

/** or() and orValue() look at their argument only when there is no value. */
const alternative: Expansion = (checker, call, scope) => {
  const operand = checker.check(call.receiver, scope);
  const other = checker.check(call.args[0] as Ast, scope);
  const { type } = checker.call(call.name, [operand, other], call.at, true);
  return {
    type,
    run: context => {
      const value = operand.run(context);
      if (!(value instanceof Optional)) throw new CelError("no such overload");
      if (value.value === undefined) return other.run(context);
      return call.name === "or" ? value : value.value;
    },
  };
};

const expansions: Readonly<Record<string, Expansion>> = {
  "all/2": quantifier(false),
  "all/3": quantifier(false),
  "exists/2": quantifier(true),
  "exists/3": quantifier(true),
  "exists_one/2": existsOne,
  "existsOne/3": existsOne,
  "exists_one/3": existsOne,
  "map/2": mapping(1),
  "map/3": mapping(1),
  "filter/2": filter,
  "transformList/3": mapping(2),
  "transformList/4": mapping(2),
  "transformMap/3": mapTransformation(false),
  "transformMap/4": mapTransformation(false),
  "transformMapEntry/3": mapTransformation(true),
  "transformMapEntry/4": mapTransformation(true),
  "sortBy/2": sortBy,
  "or/1": alternative,
  "orValue/1": alternative,
  "optMap/2": optionalMapping(false),
  "optFlatMap/2": optionalMapping(true),
};
