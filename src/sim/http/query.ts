// Query parameters as the API server reads them: unknown ones are ignored, numbers must be numbers, a boolean is false
// only as "0" or "false". Values that only the store can judge are passed on as they are.

import { int64 } from "../../api/int64.ts";
import { notSupported, tooLong } from "../../api/schema/field-error.ts";
import type { FieldError } from "../../api/schema/schema.ts";
import type { RequestOptions, Verb } from "../request.ts";
import { badRequest, invalid } from "../refusal.ts";

type Reader = { [Option in keyof RequestOptions]?: (text: string) => RequestOptions[Option] };

const readers = {
  labelSelector: String,
  fieldSelector: String,
  limit: integer,
  continue: String,
  resourceVersion: String,
  resourceVersionMatch: String,
  allowWatchBookmarks: boolean,
  sendInitialEvents: boolean,
  timeoutSeconds: integer,
  fieldManager: String,
  gracePeriodSeconds: integer,
  propagationPolicy: String,
  orphanDependents: boolean,
} satisfies Reader;

const optionsKind: Record<Verb, string> = {
  get: "GetOptions",
  list: "ListOptions",
  watch: "ListOptions",
  create: "CreateOptions",
  update: "UpdateOptions",
  patch: "PatchOptions",
  delete: "DeleteOptions",
  deletecollection: "DeleteOptions",
};

/** Throws ApiError 400 for a number that is none, 422 for a value that the server does not know. */
export function requestOptions(query: URLSearchParams, verb: Verb): RequestOptions {
  const options: Record<string, unknown> = {};
  for (const [name, text] of query) {
    // Of a parameter that is repeated the first counts.
    if (isKnown(name) && !Object.hasOwn(options, name)) options[name] = readers[name](text);
  }
  refuseWrong(query, verb);
  const isDryRun = query.getAll("dryRun").length > 0;
  const validation = isWrite(verb) ? query.get("fieldValidation") : null;
  return {
    ...options,
    ...(isDryRun && { dryRun: true }),
    ...(validation && { fieldValidation: validation as Validation }),
  };
}

type Validation = NonNullable<RequestOptions["fieldValidation"]>;

const isKnown = (name: string): name is keyof typeof readers => Object.hasOwn(readers, name);

export function isWatch(query: URLSearchParams): boolean {
  const text = query.get("watch");
  return text !== null && boolean(text);
}

function integer(text: string): number {
  const number = int64(text);
  if (number !== undefined) return Number(number);
  const why = /^[+-]?\d+$/.test(text) ? "value out of range" : "invalid syntax";
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: ${why}`);
}

export function boolean(text: string): boolean {
  return text !== "0" && text.toLowerCase() !== "false";
}

const isWrite = (verb: Verb) => verb === "create" || verb === "update" || verb === "patch";

const validations = ["", "Ignore", "Strict", "Warn"];
const managerMaxBytes = 128;

// All of them in one answer, in the server's order.
function refuseWrong(query: URLSearchParams, verb: Verb): void {
  const errors: FieldError[] = [];
  const dryRun = query.getAll("dryRun");
  const validation = query.get("fieldValidation") ?? "";
  if (isWrite(verb) && Buffer.byteLength(query.get("fieldManager") ?? "") > managerMaxBytes)
    errors.push(tooLong("fieldManager", managerMaxBytes));
  if (dryRun.some(value => value !== "All")) errors.push(notSupported("dryRun", dryRun, ["All"]));
  if (isWrite(verb) && !validations.includes(validation))
    errors.push(notSupported("fieldValidation", validation, validations));
  if (errors.length > 0) throw invalid({ group: "meta.k8s.io", name: optionsKind[verb] }, "", errors);
}
