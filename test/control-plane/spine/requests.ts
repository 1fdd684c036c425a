// The audit log as a list of requests in the order in which they were received: who wanted what of which object, and
// what came of it.

import { readFile } from "node:fs/promises";
import { layout } from "../components.ts";
import type { ControlPlane } from "../start.ts";

export type Request = {
  at: number;
  user: string;
  credential: string;
  verb: string;
  /** With its subresource, as in a role: nodeclaims/status. */
  resource: string;
  name: string;
  code: number;
};

type AuditEvent = {
  stage: string;
  verb: string;
  requestReceivedTimestamp: string;
  user: { username: string; extra?: Record<string, string[]> };
  objectRef?: { resource?: string; subresource?: string; name?: string };
  responseStatus?: { code?: number };
};

const credentialKey = "authentication.kubernetes.io/credential-id";
const writes = new Set(["create", "update", "patch", "delete", "deletecollection"]);

export async function readRequests({ dir }: ControlPlane): Promise<Request[]> {
  const text = await readFile(layout(dir).auditLog, "utf8");
  const events = text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(line => line !== "")
    .map(line => JSON.parse(line) as AuditEvent);
  // A watch that goes on is known by its start, everything else by its end.
  const requests = events.filter(({ stage, verb }) => (stage === "ResponseStarted") === (verb === "watch"));
  return requests.map(requestOf).toSorted((a, b) => a.at - b.at);
}

/**
 * So many nodes may be wanted by pods that each want one of their own: kube-controller-manager may still see the taint of a
 * node that has just been registered, and evict who came there; the pod in its place may want a node of its own while the
 * first one is going.
 */
export function podsMade(requests: readonly Request[]): number {
  return requests.filter(({ verb, resource, code }) => verb === "create" && resource === "pods" && code === 201).length;
}

export const isWrite = ({ verb }: Request) => writes.has(verb);

/**
 * The names of what was done so, once a time. Whose client died meanwhile is written down as failed, although it may have
 * been carried out, and the next try finds it done: a name that was never answered counts once.
 */
export function carriedOut(requests: readonly Request[], verb: string, resource: string): string[] {
  const tried = requests.filter(request => request.verb === verb && request.resource === resource);
  const answered = tried.filter(({ code }) => code < 300).map(({ name }) => name);
  const cut = new Set(tried.filter(({ code }) => code >= 499).map(({ name }) => name));
  return [...answered, ...[...cut].filter(name => !answered.includes(name))].toSorted();
}

function requestOf({ verb, requestReceivedTimestamp, user, objectRef = {}, responseStatus }: AuditEvent): Request {
  const { resource = "", subresource, name = "" } = objectRef;
  return {
    at: Date.parse(requestReceivedTimestamp),
    user: user.username,
    credential: user.extra?.[credentialKey]?.[0] ?? "",
    verb,
    resource: subresource === undefined ? resource : `${resource}/${subresource}`,
    name,
    code: responseStatus?.code ?? 0,
  };
}
