// Functions and operators as tables of overloads, and how a call finds its overload: by static types while checking,
// by the values themselves where an argument is dyn.

import { CelError, StepsExceeded } from "./error.ts";
import { type Bindings, isAssignable, isDyn, type Type } from "./types.ts";
import { hasType, type Value } from "./values.ts";

/** One evaluation of one expression: the values of its variables, and how many steps it took so far. */
export type Context = { slots: Value[]; steps: number };
export type Run = (context: Context) => Value;
/** An expression that has been checked: what it gives, and how to get it. */
export type Typed = { type: Type; run: Run };

export type Overload = {
  /** Called as `first.name(rest)`; the receiver is the first argument. */
  member: boolean;
  args: readonly Type[];
  result: Type;
  // Arguments have the declared types when this is called: the table's author casts once, here.
  run: (...args: never[]) => Value;
};

export type FunctionTable = ReadonlyMap<string, readonly Overload[]>;

export function overload(args: readonly Type[], result: Type, run: Overload["run"]): Overload {
  return { member: false, args, result, run };
}

export function method(args: readonly Type[], result: Type, run: Overload["run"]): Overload {
  return { member: true, args, result, run };
}

export function tableOf(libraries: readonly Readonly<Record<string, readonly Overload[]>>[]): FunctionTable {
  const table = new Map<string, Overload[]>();
  for (const library of libraries)
    for (const [name, overloads] of Object.entries(library))
      table.set(name, [...(table.get(name) ?? []), ...overloads]);
  return table;
}

/** The overloads that these argument types allow, parameters renamed so that two calls never share one. */
export function matching(
  overloads: readonly Overload[],
  call: { member: boolean; types: readonly Type[]; id: number },
  bindings: Bindings,
): Overload[] {
  return overloads
    .filter(candidate => candidate.member === call.member && candidate.args.length === call.types.length)
    .map(candidate => fresh(candidate, call.id))
    .filter(candidate => isAssignable(bindings, call.types, candidate.args));
}

function fresh(candidate: Overload, id: number): Overload {
  return { ...candidate, args: candidate.args.map(type => renamed(type, id)), result: renamed(candidate.result, id) };
}

function renamed(type: Type, id: number): Type {
  switch (type.kind) {
    case "param":
      return { kind: "param", name: `${type.name}.${id}` };
    case "list":
    case "optional":
      return { kind: type.kind, item: renamed(type.item, id) };
    case "map":
      return { kind: "map", key: renamed(type.key, id), value: renamed(type.value, id) };
    default:
      return type;
  }
}

/** The API server's limit for one call of one rule, in its own unit of cost; a step of ours costs about one. */
const stepsMax = 1_000_000;

export function countStep(context: Context): void {
  if (++context.steps > stepsMax) throw new StepsExceeded("operation cancelled: actual cost limit exceeded");
}

/** Calls the one overload that fits; looks at the values only where the types leave it open. */
export function callOf(candidates: readonly Overload[], args: readonly Typed[]): Run {
  const only = candidates[0];
  if (candidates.length === 1 && only !== undefined && !args.some(({ type }) => isDyn(type))) return direct(only, args);
  return context => {
    countStep(context);
    const values = args.map(arg => arg.run(context));
    const chosen = candidates.find(candidate => candidate.args.every((type, i) => hasType(values[i] ?? null, type)));
    if (chosen === undefined) throw new CelError("no such overload");
    return (chosen.run as (...values: Value[]) => Value)(...values);
  };
}

function direct({ run }: Overload, args: readonly Typed[]): Run {
  const call = run as (...values: Value[]) => Value;
  const [first, second] = args;
  if (args.length === 1 && first !== undefined)
    return context => {
      countStep(context);
      return call(first.run(context));
    };
  if (args.length === 2 && first !== undefined && second !== undefined)
    return context => {
      countStep(context);
      return call(first.run(context), second.run(context));
    };
  return context => {
    countStep(context);
    return call(...args.map(arg => arg.run(context)));
  };
}
