// One object's life, told to two servers: created, changed, given a status. Both must answer alike.

import type { KubeObject, Manifest } from "../../../src/api/meta.ts";

export type Change =
  /** PUT of the object as stored, after this was done to it. */
  | { put(object: KubeObject): void }
  /** Merge patch of the status subresource, which may try to carry metadata along. */
  | { status: Record<string, unknown>; metadata?: Record<string, unknown> }
  /** Strategic merge patch of the object. */
  | { patch: Record<string, unknown> };

export type Case = {
  name: string;
  object: Manifest;
  changes?: readonly Change[];
  /** Why the sentences differ although verdict, reasons and fields agree: they quote Go structs or diffs. */
  otherWords?: string;
};

export type Corpus = { plural: string; group: string; cases: readonly Case[] };

type Body = Record<string, unknown>;

/** Cases of one kind: each is the body of a manifest without its name. */
export function corpus(
  { group, plural, kind }: { group: string; plural: string; kind: string },
  bodies: Readonly<Record<string, Body | { body: Body; changes?: readonly Change[]; otherWords?: string }>>,
): Corpus {
  const cases = Object.entries(bodies).map(([name, entry], i): Case => {
    const { body, ...rest } = isFull(entry) ? entry : { body: entry };
    const { metadata = {}, ...fields } = structuredClone(body) as { metadata?: Body };
    const apiVersion = group === "" ? "v1" : `${group}/v1`;
    return {
      name,
      object: { apiVersion, kind, metadata: { name: `${plural}-${i}`, ...metadata }, ...fields },
      ...rest,
    };
  });
  return { group, plural, cases };
}

function isFull(entry: object): entry is { body: Body; changes?: readonly Change[]; otherWords?: string } {
  return "body" in entry;
}
