// One x-kubernetes-validations rule: compiled once for the schema it stands on, then asked about values.

import { CelError, StepsExceeded } from "../cel/error.ts";
import { compile, type Program, type Variable } from "../cel/program.ts";
import { boolType, formatType, optionalOf, stringType, type Type } from "../cel/types.ts";
import { Optional, type Value } from "../cel/values.ts";
import { fieldPathIn } from "./field-path.ts";
import type { Rule, Schema } from "./schema.ts";

export type CompiledRule = {
  rule: Rule;
  /** Undefined when the rule could not be compiled; `error` then says why. */
  program: Program | undefined;
  error: string | undefined;
  message: Program | undefined;
  messageError: string | undefined;
  usesOldSelf: boolean;
  /** Relative to the value, as the API server joins it to the path. */
  fieldPath: string;
};

export function compileRule(rule: Rule, schema: Schema, type: Type): CompiledRule {
  const old = rule.optionalOldSelf === true ? optionalOf(type) : type;
  const variables = [
    { name: "self", type },
    { name: "oldSelf", type: old },
  ];
  const program = compileAs(rule.rule, variables, { type: boolType, wrong: "cel expression must evaluate to a bool" });
  const failed = typeof program === "string";
  const message = failed || !rule.messageExpression ? undefined : compileMessage(rule.messageExpression, variables);
  return {
    rule,
    program: failed ? undefined : program,
    error: failed ? program : undefined,
    message: typeof message === "string" ? undefined : message,
    messageError: typeof message === "string" ? message : undefined,
    usesOldSelf: !failed && program.references.has("oldSelf"),
    fieldPath: (rule.fieldPath === undefined ? undefined : fieldPathIn(schema, rule.fieldPath)) ?? "",
  };
}

function compileAs(source: string, variables: Variable[], wanted: { type: Type; wrong: string }): Program | string {
  const program = compile(source, variables);
  if (typeof program === "string") return program;
  return formatType(program.type) === formatType(wanted.type) ? program : wanted.wrong;
}

function compileMessage(source: string, variables: Variable[]): Program | string {
  const wrong = "messageExpression must evaluate to a string";
  const program = compileAs(source, variables, { type: stringType, wrong });
  return typeof program === "string" && program !== wrong ? `messageExpression ${program}` : program;
}

/** What a rule sees. Made when asked for: data that does not fit its schema has no value, and that is the rule's error. */
export type Subject = { self: () => Value; old: () => Value | undefined };

export type Verdict = { holds: boolean; steps: number; error?: string; exhausted?: boolean };

/** `old` gives undefined where the value has no predecessor; only rules with optionalOldSelf are asked then. */
export function judge({ rule, program }: CompiledRule, subject: Subject): Verdict {
  if (program === undefined) return { holds: true, steps: 0 };
  const said = rule.message === undefined || rule.message === "" ? rule.rule.trim() : rule.message.trim();
  try {
    const { value, steps } = program.run(variablesOf(rule, subject));
    return { holds: value === true, steps };
  } catch (error) {
    if (error instanceof StepsExceeded) {
      const text = `'${error.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${said}`;
      return { holds: false, steps: 0, error: text, exhausted: true };
    }
    if (!(error instanceof CelError)) throw error;
    const mismatch = "call arguments did not match a supported operator, function or macro signature for rule";
    const text = error.message.startsWith("no such overload")
      ? `'${error.message}': ${mismatch}: ${said}`
      : `${error.message} evaluating rule: ${said}`;
    return { holds: false, steps: 0, error: text };
  }
}

function variablesOf(rule: Rule, subject: Subject): Value[] {
  const self = subject.self();
  const old = subject.old();
  if (rule.optionalOldSelf === true) return [self, old === undefined ? Optional.none : new Optional(old)];
  return old === undefined ? [self] : [self, old];
}

const messageMaxBytes = 5 * 1024;

/** What to say of a value that the rule refuses. A messageExpression that gives nothing usable is passed over. */
export function complaintOf({ rule, message }: CompiledRule, subject: Subject): string {
  const computed = message === undefined ? undefined : computedMessage(message, variablesOf(rule, subject));
  if (computed !== undefined) return computed;
  return rule.message === undefined || rule.message === "" ? `failed rule: ${rule.rule.trim()}` : rule.message.trim();
}

function computedMessage(message: Program, variables: Value[]): string | undefined {
  try {
    const { value } = message.run(variables);
    const text = typeof value === "string" ? value.trim() : "";
    const usable = text !== "" && !text.includes("\n") && new TextEncoder().encode(text).length <= messageMaxBytes;
    return usable ? text : undefined;
  } catch (error) {
    if (error instanceof CelError || error instanceof StepsExceeded) return undefined;
    throw error;
  }
}
