// What the API server refuses in an expression whose types are sound: literals that can never be read, lists and maps
// of mixed types, and format() calls whose arguments cannot fill their template.

import { parseTime } from "../time.ts";
import { compilePattern, PatternError } from "../pattern.ts";
import type { Issue } from "./error.ts";
import { clausesOf } from "./format.ts";
import { type Ast, partsOf, placeOf } from "./parse.ts";
import { parseCelDuration } from "./time.ts";
import { formatType, isDyn, type Type } from "./types.ts";

export type TypeOf = (ast: Ast) => Type;

export function lateIssues(ast: Ast, typeOf: TypeOf, insideFormat = false): Issue[] {
  const isFormat = ast.op === "rcall" && ast.args[0] === "format";
  return [
    ...literalIssues(ast),
    ...(isFormat ? formatIssues(ast, typeOf) : []),
    ...(insideFormat ? [] : mixedIssues(ast, typeOf)),
    ...partsOf(ast).flatMap(part => lateIssues(part, typeOf, insideFormat || isFormat)),
  ];
}

function literalIssues(ast: Ast): Issue[] {
  if (ast.op !== "call" && ast.op !== "rcall") return [];
  const name = ast.args[0];
  const parts = partsOf(ast);
  const last = parts.at(-1);
  if (last === undefined || last.op !== "value" || typeof last.args !== "string") return [];
  const text = last.args;
  const refused =
    (name === "matches" && parts.length === 2 && !isPattern(text)) ||
    (name === "duration" && parts.length === 1 && parseCelDuration(text) === undefined) ||
    (name === "timestamp" && parts.length === 1 && !parseTime(text).ok);
  return refused ? [{ at: last.start, message: `invalid ${name} argument` }] : [];
}

function isPattern(text: string): boolean {
  try {
    compilePattern(text);
    return true;
  } catch (error) {
    if (error instanceof PatternError) return false;
    throw error;
  }
}

/** Only the first that differs from the first is reported, of keys and of values each. */
function mixedIssues(ast: Ast, typeOf: TypeOf): Issue[] {
  if (ast.op === "list") return mixed(ast.args, typeOf);
  if (ast.op !== "map") return [];
  return [
    ...mixed(
      ast.args.map(([key]) => key),
      typeOf,
    ),
    ...mixed(
      ast.args.map(([, value]) => value),
      typeOf,
    ),
  ];
}

function mixed(items: readonly Ast[], typeOf: TypeOf): Issue[] {
  const [first, ...rest] = items;
  if (first === undefined) return [];
  const wanted = formatType(typeOf(first));
  const odd = rest.find(item => formatType(typeOf(item)) !== wanted);
  if (odd === undefined) return [];
  return [{ at: placeOf(odd), message: `expected type '${wanted}' but found '${formatType(typeOf(odd))}'` }];
}

/** A template and a list that are both literals can be held against each other. */
function formatIssues(ast: Ast & { op: "rcall" }, typeOf: TypeOf): Issue[] {
  const [, template, [list]] = ast.args;
  if (template.op !== "value" || typeof template.args !== "string" || list?.op !== "list") return [];
  const at = placeOf(ast);
  const clauses = clausesOf(template.args);
  if (typeof clauses === "string") return [{ at, message: clauses }];
  for (const [i, clause] of clauses.entries()) {
    const arg = list.args[i];
    if (arg === undefined) return [{ at, message: `index ${i} out of range` }];
    const type = typeOf(arg);
    if (!isDyn(type) && !clause.kinds.includes(type.kind)) {
      const message = `error during formatting: ${clause.complaint}, was given ${formatType(type)}`;
      return [{ at: placeOf(arg), message }];
    }
  }
  if (list.args.length <= clauses.length) return [];
  const counts = `(expected ${clauses.length}, got ${list.args.length})`;
  return [{ at, message: `too many arguments supplied to string.format ${counts}` }];
}
