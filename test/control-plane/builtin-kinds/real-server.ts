// Requests to a real API server, and what of its answers can be compared with those of the embedded one: versions,
// times, uids and managed fields are each server's own.

import { Agent, request } from "undici";
import type { KubeObject } from "../../../src/api/meta.ts";
import type { Status } from "../../../src/api/status.ts";
import { type Answer, type Call, namespaceOf } from "../../embedded-server.ts";
import type { ControlPlane } from "../start.ts";

export type RealServer = {
  send(call: Call): Promise<Answer>;
  table(call: Pick<Call, "group" | "plural" | "name">): Promise<unknown[]>;
};

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
