// Field selectors, `metadata.name=a,status.phase!=Running`: as fields.ParseSelector of Kubernetes 1.36 reads them.
// Which fields a kind can be asked for is the server's matter, not decided here.

import { accepted, type Parsed, refused } from "./parsed.ts";

export type FieldRequirement = { field: string; operator: "=" | "!="; value: string };

/** All of them must hold; an empty one matches everything. A field that an object lacks counts as empty. */
export type FieldSelector = readonly FieldRequirement[];

export function parseFieldSelector(text: string): Parsed<FieldSelector> {
  const selector: FieldRequirement[] = [];
  for (const term of terms(text).sort()) {
    if (term === "") continue;
    // The first operator splits the term, whatever stands before it: keys cannot be escaped.
    const [, field, operator, escaped] = /^(.*?)(!=|==|=)(.*)$/s.exec(term) ?? [];
    if (field === undefined || escaped === undefined) {
      return refused(`invalid selector: '${text}'; can't understand '${term}'`);
    }
    const value = unescapeValue(escaped);
    if (!value.ok) return value;
    // "=" asks for nothing, and Kubernetes drops it.
    if (field === "" && value.value === "") continue;
    selector.push({ field, operator: operator === "!=" ? "!=" : "=", value: value.value });
  }
  return accepted(selector);
}

export function matchesFields(selector: FieldSelector, fields: Readonly<Record<string, string>>): boolean {
  return selector.every(({ field, operator, value }) => {
    const actual = Object.hasOwn(fields, field) ? fields[field] : "";
    return (actual === value) === (operator === "=");
  });
}

export function formatFieldSelector(selector: FieldSelector): string {
  return selector.map(({ field, operator, value }) => `${field}${operator}${escapeValue(value)}`).join(",");
}

/** The one value that a field must have, if the selector says so: what an index can be asked for. */
export function requiredField(selector: FieldSelector, field: string): string | undefined {
  return selector.find(requirement => requirement.field === field && requirement.operator === "=")?.value;
}

/** Any text as the value of a field selector. */
export function escapeValue(value: string): string {
  return value.replace(/[\\,=]/g, char => `\\${char}`);
}

// At commas, but not at escaped ones, which are part of a value.
function terms(text: string): string[] {
  const found: string[] = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === ",") {
      found.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...found, text.slice(start)];
}

function unescapeValue(escaped: string): Parsed<string> {
  let value = "";
  for (const part of escaped.match(/\\.|\\$|[^\\]/gsu) ?? []) {
    if (part === "," || part === "=") {
      return refused(`invalid field selector: unescaped character in value: ${part.codePointAt(0)}`);
    }
    if (part.startsWith("\\") && !["\\\\", "\\,", "\\="].includes(part)) {
      return refused(`invalid field selector: invalid escape sequence: ${part}`);
    }
    value += part.startsWith("\\") ? part.slice(1) : part;
  }
  return accepted(value);
}
