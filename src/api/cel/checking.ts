// What macros and selections need of the checker that calls them: to check the parts they are made of.

import type { Typed } from "./function.ts";
import type { Ast } from "./parse.ts";
import type { Type } from "./types.ts";

/** A variable in sight: its place among the values of an evaluation. */
export type Scope = { name: string; type: Type; slot: number; outer: Scope | undefined };

export type Checking = {
  check(ast: Ast, scope: Scope | undefined): Typed;
  /** Must be a bool; the message is that of an operand of && or ||. */
  condition(ast: Ast, scope: Scope | undefined): Typed;
  /** A call by name; `member` when the first argument is the receiver. */
  call(name: string, args: readonly Typed[], at: number, member?: boolean): Typed;
  fail(at: number, message: string): Typed;
  resolve(type: Type): Type;
};
