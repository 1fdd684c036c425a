// One manifest of the corpus and what becomes of it. An entry says what `fettle validate`, the embedded API and a real
// API server must answer alike; nothing here knows how they are asked.

import type { Manifest } from "../../src/api/meta.ts";
import { absent, join, withField } from "./field.ts";

/** Paths as the server spells them. "refused-offline": a server takes it, `fettle validate` does not. */
export type Verdict = { kind: "accepted" } | { kind: "refused" | "refused-offline"; at: readonly string[] };

export type Entry = {
  title: string;
  manifest: Manifest;
  /** The text that the manifest was read from, where the reading itself is the point. */
  yaml?: string;
  /** The object that is there already and that the manifest replaces. */
  stored?: Manifest;
  /** Written as a controller writes it. */
  subresource?: "status";
  verdict: Verdict;
};

export type Table = { title: string; entries: readonly Entry[] };

/** A value for some field, and what becomes of a manifest with it. Paths are relative to the field. */
export type Case = { title: string; value: unknown; verdict: Verdict };

export const good = (title: string, value: unknown): Case => ({ title, value, verdict: { kind: "accepted" } });

/** Without paths the field itself is refused. */
export const bad = (title: string, value: unknown, ...at: string[]): Case => ({
  title,
  value,
  verdict: { kind: "refused", at: at.length === 0 ? [""] : at },
});

export const offline = (title: string, value: unknown, ...at: string[]): Case => ({
  title,
  value,
  verdict: { kind: "refused-offline", at: at.length === 0 ? [""] : at },
});

/** A field without which there is no object. */
export const needed: readonly Case[] = [bad("left out", absent)];

/** Each case as an entry: `base` with the value at `path`. What stands under status is written as status. */
export function at(base: Manifest, path: string, cases: readonly Case[]): Entry[] {
  return cases.map(({ title, value, verdict }) => {
    const manifest = withField(base, path, value);
    const place = path === "" ? base.kind : path;
    return { title: `${place}: ${title}`, ...written(manifest, path), verdict: placed(verdict, path) };
  });
}

function written(manifest: Manifest, path: string): Pick<Entry, "manifest" | "stored" | "subresource"> {
  if (!path.startsWith("status")) return { manifest };
  const { status: _, ...stored } = manifest;
  return { manifest, stored, subresource: "status" };
}

function placed(verdict: Verdict, path: string): Verdict {
  if (verdict.kind === "accepted") return verdict;
  return { ...verdict, at: verdict.at.map(relative => join(path, relative)) };
}

/** A stored object and what somebody would make of it. Without paths the change is accepted. */
export function change(title: string, [stored, manifest]: readonly [Manifest, Manifest], ...at: string[]): Entry {
  const verdict: Verdict = at.length === 0 ? { kind: "accepted" } : { kind: "refused", at };
  return { title, stored, manifest, verdict };
}
