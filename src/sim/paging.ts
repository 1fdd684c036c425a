// Continue tokens of paged lists: which key comes next, and as of which revision.

import { badRequest, expired } from "./refusal.ts";

export type Position = {
  /** Undefined: as of now (the token of a 410 that offers an inconsistent rest). */
  revision: number | undefined;
  /** Relative to the list's own prefix. */
  startKey: string;
};

const tokenVersion = "meta.k8s.io/v1";

export function continueToken({ revision, startKey }: Position): string {
  const token = { v: tokenVersion, rv: revision ?? -1, start: `/${startKey}` };
  return Buffer.from(JSON.stringify(token), "utf8").toString("base64url");
}

/** The smallest key after `key`. */
export function after(key: string): string {
  return `${key}\u0000`;
}

export function parseContinueToken(text: string): Position {
  const token = decoded(text);
  if (token.v !== tokenVersion) {
    throw refused(`continue key is not valid: server does not recognize this encoded version ${token.v ?? ""}`);
  }
  if (typeof token.rv !== "number" || token.rv === 0) {
    throw refused("continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)");
  }
  if (typeof token.start !== "string" || token.start === "") {
    throw refused("continue key is not valid: encoded start key empty (version meta.k8s.io/v1)");
  }
  const startKey = token.start.startsWith("/") ? token.start.slice(1) : token.start;
  if (startKey.split("/").some(part => part === "" || part === "." || part === "..")) {
    throw refused(`continue key is not valid: ${token.start}`);
  }
  return { revision: token.rv > 0 ? token.rv : undefined, startKey };
}

function decoded(text: string): { v?: unknown; rv?: unknown; start?: unknown } {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Not JSON: the same refusal as for JSON that is no token.
  }
  throw refused("continue key is not valid: it is not a token of this server");
}

function refused(why: string) {
  return badRequest(`invalid continue token: ${why}`);
}

/** 410 with a token that goes on from here as of now, for clients that prefer an inconsistent rest to a new start. */
export function expiredContinue(startKey: string) {
  return expired(
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
      "the continue parameter, or use the continue token in this response to retrieve the remainder of the results. " +
      "Continuing with the provided token results in an inconsistent list - objects that were created, modified, or " +
      "deleted between the time the first chunk was returned and now may show up in the list.",
    continueToken({ revision: undefined, startKey }),
  );
}
