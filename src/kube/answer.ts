// What an HTTP answer says: the object, or the server's Status as an ApiError; and the warnings beside it.

import { gunzip } from "node:zlib";
import { ApiError, type Status } from "../api/status.ts";
import { DecodeError } from "./errors.ts";
import type { HttpResponse } from "./exchange.ts";
import { retryAfterMs } from "./retry.ts";

/** The body of a good answer as JSON; anything else is thrown. `secrets` are cut out of what the server says. */
export async function bodyOf(response: HttpResponse, secrets: readonly string[]): Promise<unknown> {
  const body = response.headers["content-encoding"] === "gzip" ? await unpacked(response.body) : response.body;
  const text = body.toString("utf8");
  if (response.code < 200 || response.code > 299) throw refusal(response, text, secrets);
  const parsed = parse(text);
  if (parsed === undefined) throw new DecodeError(`The server's answer (${body.length} bytes) is not JSON.`);
  return parsed;
}

/** The answer to a failed request, whoever gave it: an API server, or a proxy that knows nothing of Status. */
export function refusal(response: HttpResponse, text: string, secrets: readonly string[]): ApiError {
  const said = parse(withoutSecrets(text, secrets));
  const status = isStatus(said) ? said : foreignStatus(response.code);
  status.code ??= response.code;
  const askedMs = retryAfterMs(response);
  if (askedMs !== undefined && status.details?.retryAfterSeconds === undefined) {
    status.details = { ...status.details, retryAfterSeconds: askedMs / 1000 };
  }
  return new ApiError(status);
}

/** A server, or whatever stands before it, may repeat what it was sent; errors are logged. */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.flatMap(secret => [secret, JSON.stringify(secret).slice(1, -1)]);
  return forms.reduce((rest, form) => (form === "" ? rest : rest.replaceAll(form, "[redacted]")), text);
}

/** The texts of `Warning: 299 - "text"` headers. */
export function warningsOf(headers: HttpResponse["headers"]): string[] {
  const lines: string | string[] = headers["warning"] ?? [];
  return [lines]
    .flat()
    .flatMap(line =>
      [...line.matchAll(/\b299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(match => (match[1] ?? "").replaceAll(/\\(.)/g, "$1")),
    );
}

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

// The text itself is left out: a page of HTML tells an operator nothing, and it is not ours to vouch for.
function foreignStatus(code: number): Status {
  const reason = REASONS[code];
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `the server answered ${code} without saying why`,
    code,
    ...(reason === undefined ? {} : { reason }),
  };
}

function isStatus(value: unknown): value is Status {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "Status";
}

// JSON.parse quotes its input in its errors, and the input may be a Secret.
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unpacked(body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gunzip(body, (error, result) =>
      error === null ? resolve(result) : reject(new DecodeError("The server's answer is not gzip as it says.")),
    );
  });
}
