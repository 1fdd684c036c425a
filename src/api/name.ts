// What Kubernetes accepts as names, label keys and label values: its limits and its words.
// Each function returns the complaints, none if the text is good; they are the server's own, so that both say the same.

const labelFormat = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const subdomainFormat = `${labelFormat}(\\.${labelFormat})*`;
const label1035Format = "[a-z]([-a-z0-9]*[a-z0-9])?";
const keyFormat = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const valueFormat = `(${keyFormat})?`;

const label = whole(labelFormat);
const subdomain = whole(subdomainFormat);
const label1035 = whole(label1035Format);
const key = whole(keyFormat);
const value = whole(valueFormat);

const edges = "and must start and end with an alphanumeric character";
const subdomainRule = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', ${edges}`;
const keyRule = `must consist of alphanumeric characters, '-', '_' or '.', ${edges}`;

/** Names of most objects: Node, NodePool, Deployment. At most 253. */
export function subdomainErrors(text: string): string[] {
  if (text.length <= 253 && subdomain.test(text)) return [];
  return [...tooLong(text, 253, "characters"), ...subdomainForm(text)];
}

/** Names of namespaces, parts of host names. At most 63. */
export function labelErrors(text: string): string[] {
  if (text.length <= 63 && label.test(text)) return [];
  const errors = tooLong(text, 63, "characters");
  if (label.test(text)) return errors;
  if (subdomain.test(text)) return [...errors, "must not contain dots"];
  const rule = `a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', ${edges}`;
  return [...errors, complaint(rule, labelFormat, ["my-name", "123-abc"])];
}

/** Names of services: as a label, but the first character is a letter. */
export function label1035Errors(text: string): string[] {
  const errors = tooLong(text, 63, "characters");
  if (label1035.test(text)) return errors;
  const rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
  return [...errors, complaint(rule, label1035Format, ["my-name", "abc-123"])];
}

/**
 * A qualified name: label keys, taint keys, finalizers, resource names; `[prefix/]name`.
 * Annotation keys follow the same rule in lower case.
 */
export function qualifiedNameErrors(text: string): string[] {
  if (isQualifiedName(text)) return [];
  const parts = text.split("/");
  if (parts.length > 2) {
    const rule = complaint(keyRule, keyFormat, ["MyName", "my.name", "123-abc"]);
    return [`a valid label key ${rule} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? "";
  const errors = parts.length === 2 ? prefixErrors(parts[0] ?? "") : [];
  if (name === "") errors.push("name part must be non-empty");
  errors.push(...tooLong(name, 63, "bytes").map(error => `name part ${error}`));
  if (!key.test(name)) errors.push(`name part ${complaint(keyRule, keyFormat, ["MyName", "my.name", "123-abc"])}`);
  return errors;
}

/** The common case, of which nothing need be told. What the expressions let through has one byte a character. */
function isQualifiedName(text: string): boolean {
  const slash = text.indexOf("/");
  const name = slash < 0 ? text : text.slice(slash + 1);
  if (name.length > 63 || !key.test(name)) return false;
  return slash < 0 || (slash <= 253 && subdomain.test(text.slice(0, slash)));
}

/** Label values: empty is allowed. At most 63. */
export function labelValueErrors(text: string): string[] {
  if (text.length <= 63 && value.test(text)) return [];
  const errors = tooLong(text, 63, "bytes");
  if (value.test(text)) return errors;
  const rule = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', ${edges}`;
  return [...errors, complaint(rule, valueFormat, ["MyValue", "my_value", "12345"])];
}

function prefixErrors(prefix: string): string[] {
  if (prefix === "") return ["prefix part must be non-empty"];
  return [...tooLong(prefix, 253, "bytes"), ...subdomainForm(prefix)].map(error => `prefix part ${error}`);
}

function subdomainForm(text: string): string[] {
  return subdomain.test(text) ? [] : [complaint(subdomainRule, subdomainFormat, ["example.com"])];
}

// Kubernetes counts bytes either way; older checks of its own still say "characters".
function tooLong(text: string, max: number, unit: "bytes" | "characters"): string[] {
  const fits = text.length <= max && (text.length * 3 <= max || new TextEncoder().encode(text).length <= max);
  return fits ? [] : [`must be no more than ${max} ${unit}`];
}

function complaint(rule: string, format: string, examples: string[]): string {
  const shown = examples.map(example => `'${example}', `).join(" or ");
  return `${rule} (e.g. ${shown}regex used for validation is '${format}')`;
}

// Not multi-line: as in Go, a trailing line break is part of the text.
function whole(format: string): RegExp {
  return new RegExp(`^(?:${format})$`);
}
