// What becomes of an entry, in a form that can be compared: as the corpus has it, as `fettle validate` has it, as a
// server has it.

import { checkManifest, type Finding } from "../../src/api/check.ts";
import type { Manifest } from "../../src/api/meta.ts";
import type { Entry } from "./entry.ts";
import { type Judgement, placesOf } from "./judge.ts";

export type Outcome = { title: string; refusedAt: readonly string[] | "nowhere" };

export function writtenOutcome({ title, verdict }: Entry, who: "validate" | "server"): Outcome {
  const isRefused = verdict.kind === "refused" || (verdict.kind === "refused-offline" && who === "validate");
  return { title, refusedAt: isRefused ? [...new Set(verdict.at)].sort() : "nowhere" };
}

export function validatedOutcome({ title, manifest }: Entry): Outcome {
  return outcomeOf(title, errorsIn(manifest));
}

/** Without what only `fettle validate` can refuse. */
export function onlineOutcome({ title, manifest }: Entry): Outcome {
  return outcomeOf(
    title,
    errorsIn(manifest).filter(({ offline }) => !offline),
  );
}

function errorsIn(manifest: Manifest): Finding[] {
  return checkManifest(manifest).findings.filter(({ severity }) => severity === "error");
}

function outcomeOf(title: string, errors: readonly Finding[]): Outcome {
  // A server stops at fields that it does not know; we go on, and tell the rest as well.
  const unknown = errors.filter(({ message }) => message.startsWith("unknown field"));
  if (errors.length === 0) return { title, refusedAt: "nowhere" };
  return { title, refusedAt: placesOf(unknown.length > 0 ? unknown : errors) };
}

export function servedOutcome({ title }: Entry, judgement: Judgement): Outcome {
  return { title, refusedAt: judgement.accepted ? "nowhere" : judgement.at };
}

/** What `fettle validate` says that a server makes of the manifest; a generated name nobody can know. */
export function defaulted({ manifest }: Entry): unknown {
  return checkManifest(manifest).defaulted;
}

export function withoutGeneratedName(object: Manifest): Manifest {
  const { name: _, ...metadata } = object.metadata;
  return object.metadata.generateName === undefined ? object : { ...object, metadata };
}
