// The vocabulary in which kinds are defined: each word makes a schema that the API server takes as it is and that
// TypeScript reads as a type. A word demands a description, because `kubectl explain` and docs/api show it.

import { type Static, type TArray, type TObject, type TProperties, type TSchema, type TUnsafe, Type } from "typebox";
import type { Rule, Schema } from "./schema/schema.ts";

export type { Static };
export const Optional = Type.Optional;

const cronField = "[0-9A-Za-z*/,?-]+";

/** Anchored over all their alternatives: Karpenter's schedule pattern shows what gets in else. */
export const patterns = {
  /** A count, or a percentage of something that the field names. */
  amount: "^((100|[0-9]{1,2})%|[0-9]+)$",
  percent: "^(100|[0-9]{1,2})%$",
  /** Durations of metav1.Duration: every unit that Go knows, fractions allowed. */
  duration: "^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$",
  signedDuration: "^-?([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$",
  /** Karpenter's durations: whole hours, minutes and seconds. */
  wholeDuration: "^([0-9]+(s|m|h))+$",
  durationOrNever: "^(([0-9]+(s|m|h))+|Never)$",
  quantity:
    "^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$",
  /** Five fields or a macro, white space around them as robfig has it; what may stand in a field is judged offline. */
  schedule: `^\\s*(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|${cronField}(\\s+${cronField}){4})\\s*$`,
  timeZone: "^[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+)*$",
  decimal: "^[0-9]+(\\.[0-9]+)?$",
  qualifiedName:
    "^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$",
  labelValue: "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
  conditionType:
    "^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
  // No enum: YAML 1.1 reads an unquoted True as a boolean, and our kinds have no enum value of which that is true.
  conditionStatus: "^(True|False|Unknown)$",
} as const;

type Common<T> = { default?: T; rules?: readonly Rule[] };

export function rule(expression: string, message: string, options: Omit<Rule, "rule" | "message"> = {}): Rule {
  return { rule: expression, message, ...options };
}

// The server knows rules under their own key; absent options must be absent keys.
function keywords(description: string, options: Common<unknown> & Schema): Record<string, unknown> {
  const { rules, ...rest } = options;
  return { description, ...rest, ...(rules ? { "x-kubernetes-validations": rules } : {}) };
}

export function Struct<P extends TProperties>(
  description: string,
  properties: P,
  options: Common<unknown> & Schema = {},
): TObject<P> {
  return Type.Object(properties, keywords(description, options));
}

type TextOptions = Common<string> & Pick<Schema, "pattern" | "minLength" | "maxLength">;

/** Bounded even where nothing asks for it: the cost of a CEL rule is reckoned with the longest value. */
export function Text(description: string, options: TextOptions = {}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", ...keywords(description, { maxLength: 253, ...options }) });
}

export function StringEnum<const V extends readonly string[]>(
  description: string,
  values: V,
  options: Common<V[number]> = {},
): TUnsafe<V[number]> {
  return Type.Unsafe<V[number]>({ type: "string", enum: values, ...keywords(description, options) });
}

export function Whole(
  description: string,
  options: Common<number> & Pick<Schema, "minimum" | "maximum" | "format"> = {},
): TUnsafe<number> {
  return Type.Unsafe<number>({ type: "integer", ...keywords(description, { format: "int64", ...options }) });
}

export function Flag(description: string, options: Common<boolean> = {}): TUnsafe<boolean> {
  return Type.Unsafe<boolean>({ type: "boolean", ...keywords(description, options) });
}

/** RFC 3339. */
export function Time(description: string): TUnsafe<string> {
  return Type.Unsafe<string>({ type: "string", format: "date-time", description });
}

/** A count of at least 0, or a percentage from 0 to 100, quoted or not. The pattern is for strings, the minimum for numbers. */
export function IntOrString(description: string, options: Common<number | string> = {}): TUnsafe<number | string> {
  const bounds = { "x-kubernetes-int-or-string": true, pattern: patterns.amount, maxLength: 10, minimum: 0 };
  return Type.Unsafe<number | string>(keywords(description, { ...bounds, ...options }));
}

export function Percent(description: string, options: Common<string> = {}): TUnsafe<string> {
  return Text(description, { pattern: patterns.percent, maxLength: 4, ...options });
}

export function Quantity(description: string): TUnsafe<number | string> {
  return Type.Unsafe<number | string>(
    keywords(description, { "x-kubernetes-int-or-string": true, pattern: patterns.quantity, maxLength: 64 }),
  );
}

export type DurationForm = "duration" | "signedDuration" | "wholeDuration" | "durationOrNever";

export function Duration(
  description: string,
  form: DurationForm = "duration",
  options: Common<string> = {},
): TUnsafe<string> {
  return Text(description, { pattern: patterns[form], maxLength: 32, ...options });
}

type ListOptions = Common<readonly unknown[]> & {
  maxItems: number;
  minItems?: number;
  /** "atomic": replaced as a whole. "set": no item twice. Field names: no two items agree in all of them. */
  identity: "atomic" | "set" | readonly string[];
};

export function ListOf<T extends TSchema>(description: string, items: T, options: ListOptions): TArray<T> {
  const { identity, ...rest } = options;
  const listType = typeof identity === "string" ? identity : "map";
  return Type.Array(items, {
    ...keywords(description, rest),
    "x-kubernetes-list-type": listType,
    ...(typeof identity === "string" ? {} : { "x-kubernetes-list-map-keys": identity }),
  });
}

export function MapOf<T extends TSchema>(
  description: string,
  values: T,
  options: Common<Record<string, unknown>> & { maxProperties: number },
): TUnsafe<Record<string, Static<T>>> {
  return Type.Unsafe<Record<string, Static<T>>>({
    type: "object",
    additionalProperties: values,
    ...keywords(description, options),
  });
}
