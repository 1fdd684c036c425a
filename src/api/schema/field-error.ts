// Findings in the API server's words: one constructor for each kind of field error.

import { goJson, goNumber } from "../go-text.ts";
import { quoted } from "../parsed.ts";
import type { FieldError } from "./schema.ts";

/** Stands for a value that the message leaves out: objects and lists refused by a rule. */
export const omitted: unique symbol = Symbol("omitted");

export function invalid(path: string, value: unknown, detail: string): FieldError {
  return { path, reason: "FieldValueInvalid", message: body("Invalid value", value, detail) };
}

export function typeInvalid(path: string, value: unknown, detail: string): FieldError {
  return { path, reason: "FieldValueTypeInvalid", message: body("Invalid value", value, detail) };
}

export function required(path: string, detail: string): FieldError {
  return { path, reason: "FieldValueRequired", message: body("Required value", omitted, detail) };
}

export function forbidden(path: string, detail: string): FieldError {
  return { path, reason: "FieldValueForbidden", message: body("Forbidden", omitted, detail) };
}

export function duplicate(path: string, value: unknown): FieldError {
  return { path, reason: "FieldValueDuplicate", message: body("Duplicate value", value, "") };
}

export function notSupported(path: string, value: unknown, supported: readonly string[]): FieldError {
  const detail = supported.length === 0 ? "" : `supported values: ${supported.map(quoted).join(", ")}`;
  return { path, reason: "FieldValueNotSupported", message: body("Unsupported value", value, detail) };
}

export function tooLong(path: string, max: number): FieldError {
  const detail = `may not be more than ${max} ${max === 1 ? "byte" : "bytes"}`;
  return { path, reason: "FieldValueTooLong", message: body("Too long", omitted, detail) };
}

export function tooMany(path: string, actual: number, max: number): FieldError {
  const detail = `must have at most ${max} ${max === 1 ? "item" : "items"}`;
  return { path, reason: "FieldValueTooMany", message: body("Too many", actual, detail) };
}

function body(kind: string, value: unknown, detail: string): string {
  const shown = value === omitted ? kind : `${kind}: ${goValue(value)}`;
  return detail === "" ? shown : `${shown}: ${detail}`;
}

function goValue(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return goNumber(value);
  if (typeof value === "boolean") return String(value);
  return goJson(value);
}
