// Query parameters as the API server reads them: unknown ones are ignored, numbers must be numbers, a boolean is false
// only as "0" or "false". Values that only the store can judge are passed on as they are.

import type { RequestOptions, Verb } from "../request.ts";
import { badRequest } from "../refusal.ts";
import { invalidOption } from "./refusal.ts";

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
  return { ...options, ...dryRun(query, verb), ...fieldValidation(query, verb) };
}

const isKnown = (name: string): name is keyof typeof readers => Object.hasOwn(readers, name);

export function isWatch(query: URLSearchParams): boolean {
  const text = query.get("watch");
  return text !== null && boolean(text);
}

function integer(text: string): number {
  if (!/^[+-]?\d+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

export function boolean(text: string): boolean {
  return text !== "0" && text.toLowerCase() !== "false";
}

function dryRun(query: URLSearchParams, verb: Verb): Pick<RequestOptions, "dryRun"> {
  const asked = query.getAll("dryRun");
  if (asked.length === 0) return {};
  if (asked.some(value => value !== "All")) {
    const message = `Unsupported value: ${JSON.stringify(asked)}: supported values: "All"`;
    throw invalidOption(optionsKind[verb], "dryRun", message);
  }
  return { dryRun: true };
}

function fieldValidation(query: URLSearchParams, verb: Verb): Pick<RequestOptions, "fieldValidation"> {
  const asked = query.get("fieldValidation") ?? "";
  if (verb !== "create" && verb !== "update" && verb !== "patch") return {};
  switch (asked) {
    case "":
      return {};
    case "Ignore":
    case "Warn":
    case "Strict":
      return { fieldValidation: asked };
    default: {
      const message = `Unsupported value: ${JSON.stringify(asked)}: supported values: "", "Ignore", "Strict", "Warn"`;
      throw invalidOption(optionsKind[verb], "fieldValidation", message);
    }
  }
}
