// Where the embedded API may differ from a real one, and why. Nothing else may: the contract and differential suites
// compare everything that is not erased here.

import type { Json, JsonObject } from "./differential/operation.ts";

/** What a server said to one request: {method, path, code, body, …}. */
export type Said = JsonObject;

export type Accepted = {
  name: string;
  reason: string;
  /** Removes, in place and from both servers' answers alike, what may differ. */
  erase: (said: Said) => void;
};

export const acceptedDifferences: readonly Accepted[] = [
  {
    name: "managed fields",
    reason:
      "They exist for server-side apply, which the box refuses; keeping them would double the size of every object.",
    erase: said => eachObject(said["body"] ?? null, object => delete object["managedFields"]),
  },
  {
    name: "empty fields of bookmarks",
    reason:
      "A real bookmark of a built-in kind carries the zero value of its type (`spec: {containers: null}`); readers of bookmarks use the version and the annotations alone.",
    erase: said => eachObject(said["body"] ?? null, withoutEmptyBookmarkFields),
  },
  {
    name: "order and number of equal findings in an Invalid status",
    reason:
      "The real server walks Go maps, so that the order of its own findings changes from one request to the next, and on update it judges the metadata two to four times; the box keeps the order of the schema and says it once or twice.",
    erase: said => eachObject(said["body"] ?? null, withSortedCauses),
  },
  {
    name: "order of a namespace's finalizers",
    reason: "The real server collects them in a Go map when the namespace is deleted, so that their order is chance.",
    erase: said => eachObject(said["body"] ?? null, withSortedNamespaceFinalizers),
  },
  {
    name: "order of unknown fields",
    reason: "The real server names them in the order of the request's text, the box in the order of the schema.",
    erase: said => {
      eachMessage(said, withSortedUnknownFields);
      said["warnings"] = ((said["warnings"] ?? []) as string[]).toSorted();
    },
  },
  {
    name: "the object that a dry run of a deletion answers with",
    reason:
      "Where the deletion would change finalizers first, the real server answers with an empty object, because it drops what the dry run made; the box answers with the object.",
    erase: said => {
      const { method, isDryRun, body } = said;
      if (method !== "DELETE" || isDryRun !== true || isStatus(body)) return;
      said["body"] = "an object";
    },
  },
  {
    name: "Go types in the refusal of a body of another kind",
    reason:
      "The real server names the Go types between which it finds no conversion, of all kinds that it was built with, and for a Scale of a custom kind nothing else; code and reason agree.",
    erase: said => eachMessage(said, text => (goTypes.test(text) ? "a body of another kind" : text)),
  },
  {
    name: "the difference shown when a pod's spec may not change",
    reason: "The real server appends a diff of its Go structs, over several lines; the rule itself is quoted in full.",
    erase: said => eachMessage(said, text => text.replace(/(pod updates may not change fields [^\n]*)\n[^]*$/, "$1")),
  },
  {
    name: "the words for a wrong type in a strategic patch",
    reason:
      "The real server converts the patched object by reflection there and complains in that code's words; the box complains as it does of any other body.",
    erase: said => eachMessage(said, text => text.replace(wrongTypeInPatch, "$1a wrong type")),
  },
  {
    name: "the object quoted when a patch makes none",
    reason:
      "The real server quotes the patched object as its serializer wrote it, managed fields included, in Go's order of fields; the finding after the quotation is compared.",
    erase: said => eachMessage(said, text => text.replace(/Invalid value: "\{[^]*\}": /, 'Invalid value: "…": ')),
  },
];

const wrongTypeInPatch = /(Invalid value: "map\[.*\]": )(?:cannot convert|unrecognized type|json: cannot unmarshal).*$/;
const goTypes =
  /in scheme "pkg\/runtime\/scheme\.go|: unknown conversion$|^(\w+) in version "\w+" cannot be handled as a (?!\1:)|cannot be handled as a Scale: /;

/** The sentences of a Status: its own and those of its causes. */
function eachMessage(said: Said, change: (text: string) => string): void {
  eachObject(said["body"] ?? null, object => {
    const { message } = object;
    if (typeof message === "string") object["message"] = change(message);
  });
}

function withoutEmptyBookmarkFields(line: JsonObject): void {
  const object = line["object"];
  if (line["type"] !== "BOOKMARK" || typeof object !== "object" || object === null || Array.isArray(object)) return;
  for (const field of Object.keys(object)) if (!bookmarkFields.has(field)) delete object[field];
}

const bookmarkFields = new Set(["kind", "apiVersion", "metadata"]);

// Items of a list do not say their kind, but every namespace carries this label.
function withSortedNamespaceFinalizers(metadata: JsonObject): void {
  const { labels, finalizers } = metadata as { labels?: JsonObject; finalizers?: string[] };
  if (labels?.["kubernetes.io/metadata.name"] !== undefined && Array.isArray(finalizers)) finalizers.sort();
}

function withSortedCauses(status: JsonObject): void {
  if (status["kind"] !== "Status" || status["reason"] !== "Invalid") return;
  const causes = (status["details"] as { causes?: Cause[] } | undefined)?.causes;
  if (causes === undefined || causes.length === 0) return;
  const byText = new Map(causes.map(cause => [textOf(cause), cause]));
  const texts = [...byText.keys()].sort();
  causes.splice(0, causes.length, ...texts.map(text => byText.get(text) as Cause)); // the keys are its own
  const before = String(status["message"]).split(" is invalid: ")[0];
  status["message"] = `${before} is invalid: ${texts.join(", ")}`;
}

const unknownFields = /unknown field "[^"]*"(?:, unknown field "[^"]*")+/g;

function withSortedUnknownFields(text: string): string {
  return text.replaceAll(unknownFields, list => list.split(", ").sort().join(", "));
}

function isStatus(body: Json | undefined): boolean {
  return typeof body === "object" && body !== null && !Array.isArray(body) && body["kind"] === "Status";
}

type Cause = { field?: string; message?: string };

const textOf = ({ field, message }: Cause) => `${field}: ${message}`;

/** Every object inside, outermost first. */
function eachObject(value: Json, visit: (object: JsonObject) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) visit(value);
  for (const child of Object.values(value)) eachObject(child, visit);
}
