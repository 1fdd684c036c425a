// Reads the API server's audit log: who asked for what, how often.

/** One kind of request of one client and how often it was made. */
export type RequestCount = {
  user: string;
  userAgent: string;
  verb: string;
  resource: string;
  subresource: string;
  code: number;
  count: number;
};

type AuditEvent = {
  stage: string;
  verb: string;
  userAgent?: string;
  user: { username: string };
  objectRef?: { resource?: string; subresource?: string };
  responseStatus?: { code?: number };
};

/** `log` is the audit log's text; a last line that is not whole yet is left for the next reading. */
export function countRequests(log: string): RequestCount[] {
  const counts = new Map<string, RequestCount>();
  for (const line of log.slice(0, log.lastIndexOf("\n") + 1).split("\n")) {
    if (line === "") continue;
    const event = JSON.parse(line) as AuditEvent;
    if (!isCounted(event)) continue;
    const found = requestOf(event);
    const key = JSON.stringify(found);
    const known = counts.get(key);
    if (known) known.count++;
    else counts.set(key, { ...found, count: 1 });
  }
  return [...counts.values()];
}

// A watch is answered when it starts; that it ended says nothing new.
const isCounted = (event: AuditEvent) => (event.stage === "ResponseStarted") === (event.verb === "watch");

function requestOf(event: AuditEvent): Omit<RequestCount, "count"> {
  return {
    user: event.user.username,
    userAgent: event.userAgent ?? "",
    verb: event.verb,
    resource: event.objectRef?.resource ?? "",
    subresource: event.objectRef?.subresource ?? "",
    code: event.responseStatus?.code ?? 0,
  };
}
