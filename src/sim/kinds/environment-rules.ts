// Environment variables of a container and where their values come from.

import { invalid, required } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import { keyErrors } from "./configuration.ts";
import { subdomain } from "./field-rules.ts";
import type { Container, EnvironmentVariable } from "./pod-types.ts";

const nameRule = "a valid environment variable name must consist only of printable ASCII characters other than '='";

export function environmentErrors({ env, envFrom }: Container, path: string): FieldError[] {
  const found: FieldError[] = [];
  env?.forEach((variable, i) => {
    // Nearly all of them, in every pod: no path is spelled out for what is fine.
    if (!isPlain(variable)) found.push(...variableErrors(variable, `${path}.env[${i}]`));
  });
  if (envFrom) found.push(...envFromErrors(envFrom, `${path}.envFrom`));
  return found;
}

function envFromErrors(sources: NonNullable<Container["envFrom"]>, path: string): FieldError[] {
  return sources.flatMap(({ prefix, configMapRef, secretRef }, i) => {
    const at = `${path}[${i}]`;
    const found = prefix ? nameErrors(prefix, `${at}.prefix`) : [];
    if (configMapRef) found.push(...subdomain(`${at}.configMapRef.name`, configMapRef.name ?? ""));
    if (secretRef) found.push(...subdomain(`${at}.secretRef.name`, secretRef.name ?? ""));
    const none = "must specify one of: `configMapRef` or `secretRef`";
    if (!configMapRef && !secretRef) found.push(invalid(path, "", none));
    const both = "may not have more than one field specified at a time";
    if (configMapRef && secretRef) found.push(invalid(path, "", both));
    return found;
  });
}

function variableErrors(variable: EnvironmentVariable, path: string): FieldError[] {
  const { name } = variable;
  const found = name === "" ? [required(`${path}.name`, "")] : nameErrors(name, `${path}.name`);
  return [...found, ...sourceErrors(variable, `${path}.valueFrom`)];
}

const nameFormat = /^[ -<>-~]+$/;

function isPlain({ name, valueFrom }: EnvironmentVariable): boolean {
  return valueFrom === undefined && nameFormat.test(name);
}

function nameErrors(name: string, path: string): FieldError[] {
  return nameFormat.test(name) ? [] : [invalid(path, name, nameRule)];
}

const sources = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"] as const;

function sourceErrors({ value = "", valueFrom }: EnvironmentVariable, path: string): FieldError[] {
  if (valueFrom === undefined) return [];
  const found: FieldError[] = [];
  for (const field of ["configMapKeyRef", "secretKeyRef"] as const) {
    const reference = valueFrom[field];
    if (reference === undefined) continue;
    const at = `${path}.${field}`;
    found.push(...subdomain(`${at}.name`, reference.name ?? ""));
    found.push(...(reference.key === "" ? [required(`${at}.key`, "")] : keyErrors(`${at}.key`, reference.key)));
  }
  if (valueFrom.fieldRef?.fieldPath === "") found.push(required(`${path}.fieldRef.fieldPath`, ""));
  if (valueFrom.resourceFieldRef?.resource === "") found.push(required(`${path}.resourceFieldRef.resource`, ""));
  const given = sources.filter(source => valueFrom[source]).length;
  const options = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`";
  if (given === 0) found.push(invalid(path, "", `must specify one of: ${options}`));
  else if (value !== "") found.push(invalid(path, "", "may not be specified when `value` is not empty"));
  else if (given > 1) found.push(invalid(path, "", "may not have more than one field specified at a time"));
  return found;
}
