// The body of a request: read up to the server's limit, checked to be UTF-8, and parsed as what its type says it is.

import type { IncomingMessage } from "node:http";
import type { ApiError } from "../../api/status.ts";
import { badRequest } from "../refusal.ts";
import type { PatchType } from "../request.ts";
import { decodeProtobuf } from "./protobuf.ts";
import { noServerSideApply, tooLarge, unsupportedMediaType } from "./refusal.ts";
import { readYaml, YamlError } from "./yaml.ts";

/** 3 MiB, as the API server's default (MaxRequestBodyBytes). */
export const bodyLimit = 3 * 1024 * 1024;

const patchTypes: Readonly<Record<string, PatchType>> = {
  "application/json-patch+json": "json",
  "application/merge-patch+json": "merge",
  "application/strategic-merge-patch+json": "strategic",
};
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

// A client that is cut off while it sends does not read the answer, so a body that is too large is read to its end and
// thrown away: up to here.
const patience = 32 * bodyLimit;

/** Rejects with ApiError 413 for a body past the limit: at once, if its length is told in advance. */
export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size <= bodyLimit) chunks.push(chunk);
      else chunks = [];
      if (size > patience) request.destroy(tooLarge(bodyLimit));
    });
    request.once("end", () => (size > bodyLimit ? reject(tooLarge(bodyLimit)) : resolve(joined(chunks))));
    request.once("error", reject);
    if (Number(request.headers["content-length"] ?? 0) > bodyLimit) reject(tooLarge(bodyLimit));
  });
}

const joined = (chunks: readonly Buffer[]): Buffer => (chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));

/** The patch type that a content type names, for a kind that does or does not have strategic merge. */
export function patchTypeOf(contentType: string | undefined, strategic: boolean): PatchType {
  const type = essence(contentType);
  if (type.startsWith("application/apply-patch+")) throw noServerSideApply();
  const patchType = patchTypes[type];
  if (patchType !== undefined && (strategic || patchType !== "strategic")) return patchType;
  // Server-side apply is named as on a real server; who tries it is told that it is not here.
  const served = Object.keys(patchTypes).filter(known => strategic || patchTypes[known] !== "strategic");
  throw unsupportedMediaType([...served, "application/apply-patch+yaml"]);
}

export function parsePatch(bytes: Buffer): unknown {
  return parseJson(decoded(bytes), message => badRequest(`error decoding patch: ${message}`));
}

/** An object as JSON, YAML or protobuf, whichever its content type says; JSON where it says nothing. */
export function parseObject(bytes: Buffer, contentType: string | undefined, kind: string): unknown {
  const unrecognized = (message: string) =>
    badRequest(`the object provided is unrecognized (must be of type ${kind}): ${message}`);
  switch (essence(contentType)) {
    case "":
    case "application/json":
      return parseJson(decoded(bytes), message =>
        unrecognized(`couldn't get version/kind; json parse error: ${message}`),
      );
    case "application/yaml":
      return parseYaml(decoded(bytes), unrecognized);
    case "application/vnd.kubernetes.protobuf":
      return parseProtobuf(bytes, unrecognized);
    default:
      throw unsupportedMediaType(["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"]);
  }
}

function essence(contentType: string | undefined): string {
  return (contentType ?? "").split(";", 1)[0]!.trim().toLowerCase();
}

// The real server replaces invalid bytes and goes on; here the writer is told.
function decoded(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw badRequest(`the body is not valid UTF-8: save it as UTF-8 and send it again (${(cause as Error).message})`);
  }
}

function parseJson(text: string, refuse: (message: string) => ApiError): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw refuse(message.replace(/^Unexpected end/, "unexpected end"));
  }
}

function parseYaml(text: string, refuse: (message: string) => ApiError): unknown {
  try {
    return readYaml(text);
  } catch (cause) {
    throw cause instanceof YamlError ? refuse(cause.message) : cause;
  }
}

function parseProtobuf(bytes: Buffer, refuse: (message: string) => ApiError): unknown {
  try {
    return decodeProtobuf(bytes);
  } catch (cause) {
    throw refuse((cause as Error).message);
  }
}
