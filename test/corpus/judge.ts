// Puts an entry to an API server, embedded or real, and tells what became of it: the object as it would be stored, or
// the fields that were refused.

import { kindOf } from "../../src/api/kinds.ts";
import { type KubeObject, type Manifest, parseApiVersion, type Resource } from "../../src/api/meta.ts";
import type { Status } from "../../src/api/status.ts";
import type { Entry } from "./entry.ts";
import { join } from "./field.ts";

export type Call = {
  verb: "create" | "update" | "delete";
  resource: Resource;
  name?: string;
  subresource?: "status";
  dryRun: boolean;
  /** A text is YAML. */
  body?: Manifest | string;
};
export type Answer = { code: number; body: KubeObject | Status };
export type Server = { send(call: Call): Promise<Answer> };

/** `path` is empty for what is said of no field in particular. */
export type Finding = { path: string; message: string };

/** Findings are in one order: the server's own follows Go's maps. */
export type Judgement = { accepted: true; object: Manifest } | { accepted: false; at: string[]; findings: Finding[] };

/** Leaves nothing behind: the last write is always a dry run. */
export async function judge(server: Server, entry: Entry): Promise<Judgement> {
  const { manifest, yaml, stored, subresource } = entry;
  const resource = resourceOf(manifest);
  if (stored === undefined) {
    const answer = await server.send({ verb: "create", resource, dryRun: true, body: yaml ?? manifest });
    return judgementOf(withoutChance(answer, manifest));
  }
  const name = stored.metadata.name ?? "";
  const target = { resource, name, ...(subresource ? { subresource } : {}) };
  const before = await store(server, stored);
  const metadata = { ...manifest.metadata, resourceVersion: before.metadata.resourceVersion };
  const answer = await server.send({ verb: "update", ...target, dryRun: true, body: { ...manifest, metadata } });
  await server.send({ verb: "delete", resource, name, dryRun: false });
  return judgementOf(answer);
}

async function store(server: Server, object: Manifest): Promise<KubeObject> {
  const resource = resourceOf(object);
  const created = await written(server, { verb: "create", resource, dryRun: false, body: object });
  if (object["status"] === undefined) return created;
  const { name } = created.metadata;
  const body = { ...created, status: object["status"] };
  return written(server, { verb: "update", resource, name, subresource: "status", dryRun: false, body });
}

async function written(server: Server, call: Call): Promise<KubeObject> {
  const { code, body } = await server.send(call);
  if (code >= 300) throw new Error(`what should be there already was refused: ${JSON.stringify(body)}`);
  return body as KubeObject;
}

export function resourceOf(manifest: Manifest): Resource {
  const definition = kindOf(manifest);
  if (definition === undefined) throw new Error(`${manifest.apiVersion} ${manifest.kind} is none of our kinds`);
  return { ...definition.resource, version: parseApiVersion(manifest.apiVersion).version };
}

/** The end of a generated name is each server's own. */
function withoutChance(answer: Answer, { metadata }: Manifest): Answer {
  const prefix = metadata?.generateName;
  if (prefix === undefined) return answer;
  const text = JSON.stringify(answer).replaceAll(new RegExp(`${prefix}[a-z0-9]{5}`, "g"), `${prefix}xxxxx`);
  return JSON.parse(text) as Answer;
}

function judgementOf({ code, body }: Answer): Judgement {
  if (code < 300) return { accepted: true, object: withoutServersOwn(body as KubeObject) };
  const { message = "", details } = body as Status;
  if (code === 400) return { accepted: false, at: unreadFields(message), findings: [{ path: "", message }] };
  const findings = (details?.causes ?? [])
    .map(({ field = "", message = "" }) => ({ path: field, message }))
    .filter(isAboutAField)
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
  return { accepted: false, at: placesOf(findings), findings };
}

/** What each server chooses by itself. */
const serversOwn = ["uid", "resourceVersion", "creationTimestamp", "generation", "managedFields"];

function withoutServersOwn(object: KubeObject): Manifest {
  const metadata = Object.fromEntries(Object.entries(object.metadata).filter(([field]) => !serversOwn.includes(field)));
  return { ...object, metadata };
}

/** What cannot be read at all: a field that nobody knows, or metadata of another type, of which no path is told. */
function unreadFields(message: string): string[] {
  const unknown = [...message.matchAll(/(?:unknown|duplicate) field "([^"]+)"/g)].map(([, field]) => field ?? "");
  return unknown.length > 0 ? sorted(unknown) : ["metadata"];
}

// It depends on the rest: a server that finds the name wrong does not get as far as the rules.
const isAboutAField = ({ message }: Finding): boolean => !message.includes("some validation rules were not checked");

/** The fields that findings are about. What the server places nowhere, or oddly, is put where it belongs. */
export function placesOf(findings: readonly Finding[]): string[] {
  const placed = findings.filter(isAboutAField).map(placeOf);
  // The scale subresource says again what the schema says, with a dot in front.
  const ofSchema = placed.filter(path => !path.startsWith("."));
  return sorted(ofSchema.length > 0 ? ofSchema : placed.map(path => path.slice(1)));
}

/** Numbers beyond their format are reported of no field, or of the whole status; the field is in the message. */
export function placeOf({ path, message }: Finding): string {
  const field = /Checked value must be of type integer with format int\d+ in (\S+)$/.exec(message)?.[1];
  return field === undefined ? path : join(path === "status" ? path : "", field);
}

const sorted = (paths: readonly string[]): string[] => [...new Set(paths)].sort();
