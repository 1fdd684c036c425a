// The same request to a real API server and to the embedded one, and what of the answers can be compared: versions,
// times, uids and managed fields are each server's own.

import { Agent, request } from "undici";
import type { KubeObject } from "../../../src/api/meta.ts";
import type { Status } from "../../../src/api/status.ts";
import { ApiServer } from "../../../src/sim/api-server.ts";
import { VirtualClock } from "../../../src/sim/clock.ts";
import { builtInKinds } from "../../../src/sim/kinds/built-in-kinds.ts";
import { systemPriorityClasses } from "../../../src/sim/kinds/priority-class.ts";
import { seededRandom } from "../../../src/sim/random.ts";
import type { ApiRequest } from "../../../src/sim/request.ts";
import type { ControlPlane } from "../start.ts";

export const namespace = "builtin-kinds";

export type Call = {
  verb: "create" | "update" | "merge" | "strategic" | "delete";
  group: string;
  plural: string;
  name?: string;
  subresource?: "status";
  body: unknown;
};

export type Answer = { code: number; body: KubeObject | Status };

export type Server = { send(call: Call): Promise<Answer> };

export type RealServer = Server & { table(call: Pick<Call, "group" | "plural" | "name">): Promise<unknown[]> };

const clusterScoped = new Set(
  builtInKinds.filter(kind => !kind.resource.namespaced).map(({ resource }) => `${resource.group}/${resource.plural}`),
);
const namespaceOf = ({ group, plural }: Pick<Call, "group" | "plural">) =>
  clusterScoped.has(`${group}/${plural}`) ? undefined : namespace;

const methods = { create: "POST", update: "PUT", merge: "PATCH", strategic: "PATCH", delete: "DELETE" } as const;
const contentTypes: Partial<Record<Call["verb"], string>> = {
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
};

export function realServer({ url, token, caData }: Pick<ControlPlane, "url" | "token" | "caData">): RealServer {
  const dispatcher = new Agent({ connect: { ca: Buffer.from(caData, "base64").toString() } });
  const authorization = `Bearer ${token}`;
  const pathOf = (call: Pick<Call, "group" | "plural" | "name"> & { subresource?: string }) => {
    const scope = namespaceOf(call);
    const parts = [call.group === "" ? "api" : `apis/${call.group}`, "v1"];
    if (scope !== undefined) parts.push("namespaces", scope);
    parts.push(call.plural, ...(call.name ? [call.name] : []), ...(call.subresource ? [call.subresource] : []));
    return `${url}/${parts.join("/")}`;
  };
  return {
    async send(call) {
      const { statusCode, body } = await request(pathOf(call), {
        dispatcher,
        method: methods[call.verb],
        headers: { authorization, "content-type": contentTypes[call.verb] ?? "application/json" },
        body: JSON.stringify(call.body),
      });
      return { code: statusCode, body: (await body.json()) as Answer["body"] };
    },
    async table(call) {
      const accept = "application/json;as=Table;v=v1;g=meta.k8s.io";
      const { body } = await request(pathOf(call), { dispatcher, headers: { authorization, accept } });
      const { columnDefinitions, rows } = (await body.json()) as {
        columnDefinitions: { name: string; type: string; format: string; priority: number }[];
        rows: { cells: unknown[] }[];
      };
      return columnDefinitions.map((column, i) => tableCell(column, rows[0]?.cells[i]));
    },
  };
}

/** Ages change while we look, and descriptions are in our own words. */
export function tableCell(column: { name: string; type: string; format?: string; priority: number }, cell: unknown) {
  const { name, type, format = "", priority } = column;
  const varies = name === "Age" || name === "Created At";
  return { name, type, format, priority, cell: varies ? "varies" : cell };
}

export async function embeddedServer(): Promise<Server> {
  const server = new ApiServer({
    clock: new VirtualClock(Date.parse("2026-01-01T00:00:00Z")),
    random: seededRandom(1),
    kinds: builtInKinds,
  });
  const send = async (call: Call): Promise<Answer> => {
    const answer = server.handle(requestOf(call));
    if (answer.kind === "object") return { code: answer.code, body: structuredClone(answer.stored.object) };
    if (answer.kind === "status") return { code: answer.code, body: answer.status };
    throw new Error(`${call.verb} was answered by a ${answer.kind}`);
  };
  for (const { name, value } of systemPriorityClasses) {
    await send({
      verb: "create",
      group: "scheduling.k8s.io",
      plural: "priorityclasses",
      body: { metadata: { name }, value },
    });
  }
  return { send };
}

function requestOf({ verb, group, plural, name, subresource, body }: Call): ApiRequest {
  const isPatch = verb === "merge" || verb === "strategic";
  const scope = namespaceOf({ group, plural });
  return {
    verb: isPatch ? "patch" : verb,
    group,
    version: "v1",
    plural,
    options: {},
    body: JSON.parse(JSON.stringify(body)),
    ...(scope !== undefined && { namespace: scope }),
    ...(name !== undefined && { name }),
    ...(subresource !== undefined && { subresource }),
    ...(isPatch && { patchType: verb }),
  };
}

/** Finalizers that a controller of a full cluster takes away again; the embedded one has no such controller. */
const protection = ["kubernetes.io/pvc-protection", "kubernetes.io/pv-protection"];

/** The corpus itself speaks of 2021. */
const thisYear = /20(?:2[6-9]|[3-9]\d)-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

export function comparable(answer: Answer): unknown {
  if (answer.body.kind === "Status") return { code: answer.code, ...comparableStatus(answer.body as Status) };
  const object = answer.body as KubeObject;
  const text = JSON.stringify(object).replaceAll(object.metadata.uid, "UID").replaceAll(thisYear, "TIME");
  const copy = JSON.parse(text) as KubeObject;
  for (const field of ["uid", "resourceVersion", "creationTimestamp", "managedFields"] as const)
    delete copy.metadata[field as never];
  copy.metadata.finalizers = copy.metadata.finalizers?.filter(name => !protection.includes(name)) ?? [];
  if (copy.metadata.finalizers.length === 0) delete copy.metadata.finalizers;
  return { code: answer.code, object: copy };
}

/** Go walks its maps in any order: of several findings the order says nothing. */
function comparableStatus({ reason, message = "", details }: Status) {
  const { causes = [], ...about } = details ?? {};
  const findings = causes.map(({ field, reason, message }) => ({ field, reason, message }));
  findings.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { reason, message: findings.length > 1 ? message.split(": [")[0] : message, about, findings };
}

/** For sentences that quote what only one of the two has. */
export function withoutWords(told: unknown): unknown {
  const { message: _, ...rest } = told as { message?: string; findings?: { message?: string }[] };
  return { ...rest, findings: rest.findings?.map(({ message: __, ...finding }) => finding) };
}
