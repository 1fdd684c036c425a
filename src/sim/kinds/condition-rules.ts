// What the server refuses in conditions of its common type, which most older kinds do not have.

import { duplicate, invalid, notSupported, required, tooLong } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { qualifiedName, requiredText } from "./field-rules.ts";

export type Condition = {
  type: string;
  status: string;
  reason: string;
  message: string;
  lastTransitionTime: string | null;
  observedGeneration?: number;
};

const statuses = ["False", "True", "Unknown"];
const reasonMax = 1024;
const messageMax = 32 * 1024;
const reasonFormat = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?";
const reasonRule = `a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is '${reasonFormat}')`;

export function conditionsErrors(path: string, conditions: readonly Condition[] = []): FieldError[] {
  return conditions.flatMap((condition, i) => {
    const isRepeated = conditions.slice(0, i).some(({ type }) => type === condition.type);
    const repeated = isRepeated ? [duplicate(`${path}[${i}].type`, condition.type)] : [];
    return [...repeated, ...conditionErrors(`${path}[${i}]`, condition)];
  });
}

function conditionErrors(path: string, { type, status, reason, message, ...condition }: Condition): FieldError[] {
  const { observedGeneration = 0, lastTransitionTime } = condition;
  const found = qualifiedName(`${path}.type`, type);
  if (!statuses.includes(status)) found.push(notSupported(`${path}.status`, status, statuses));
  if (observedGeneration < 0) {
    const rule = "must be greater than or equal to zero";
    found.push(invalid(`${path}.observedGeneration`, observedGeneration, rule));
  }
  if (lastTransitionTime === null) found.push(required(`${path}.lastTransitionTime`, ""));
  found.push(...requiredText(`${path}.reason`, reason), ...reasonErrors(`${path}.reason`, reason));
  if (bytesOf(message) > messageMax) found.push(tooLong(`${path}.message`, messageMax));
  return found;
}

function reasonErrors(path: string, reason: string): FieldError[] {
  if (reason === "") return [];
  const found = new RegExp(`^${reasonFormat}$`).test(reason) ? [] : [invalid(path, reason, reasonRule)];
  return bytesOf(reason) > reasonMax ? [...found, tooLong(path, reasonMax)] : found;
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
