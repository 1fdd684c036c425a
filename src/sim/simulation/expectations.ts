// What a scenario says must hold, judged at its instant on the objects as stored, the refusals of the latest turn and
// the journal so far.

import type { KubeObject } from "../../api/meta.ts";
import type { Refusal } from "../../decide/decision.ts";
import type { ClusterObjects } from "./objects.ts";
import type { Expectation } from "./scenario.ts";

export type Seen = {
  readonly objects: ClusterObjects;
  refusals(): readonly Refusal[];
  lines(): readonly string[];
  /** Uids of what was there at the start or came since, and what has happened to each. */
  harmed(kind: string): readonly KubeObject[];
};

/** Undefined: it holds. */
export function disappointment({ count, refusal, journal, unharmed }: Expectation, seen: Seen): string | undefined {
  if (count) {
    const { where = {}, kind, ...more } = count;
    const found = seen.objects.find({ kind, ...named(more) }).filter(object => hasFields(object, where));
    const names = found.map(({ metadata }) => metadata.name).join(", ");
    const what = [kind, more.selector, ...Object.entries(where).map(([path, value]) => `${path}=${value}`)];
    return amount(count, found.length, `${what.filter(Boolean).join(" ")} (${names})`);
  }
  if (refusal) {
    const found = seen.refusals().filter(({ code, subject }) => {
      return code === refusal.code && subject.includes(refusal.subject ?? "");
    });
    const present = seen.refusals().map(({ subject, code }) => `${subject} ${code}`);
    return amount(refusal, found.length, `refusals ${refusal.code}; there are: ${present.join(", ") || "none"}`);
  }
  if (journal) {
    const found = seen.lines().filter(line => line.replaceAll(/\s+/g, " ").includes(journal.has));
    return amount(journal, found.length, `lines with "${journal.has}"`);
  }
  if (unharmed) {
    const harmed = seen.harmed(unharmed.kind).filter(({ metadata }) => isMeant(metadata.name, unharmed.name));
    const names = harmed.map(({ metadata }) => metadata.name).join(", ");
    return harmed.length === 0 ? undefined : `no ${unharmed.kind} should have been deleted, but ${names} was`;
  }
  return undefined;
}

type Amount = { is?: number; atLeast?: number; atMost?: number };

function amount({ is, atLeast, atMost }: Amount, found: number, what: string): string | undefined {
  const least = is ?? atLeast ?? (atMost === undefined ? 1 : 0);
  const most = is ?? atMost ?? Number.POSITIVE_INFINITY;
  if (found >= least && found <= most) return undefined;
  const wanted = is !== undefined ? `${is}` : atMost === undefined ? `at least ${least}` : `${least} to ${most}`;
  return `expected ${wanted}, found ${found}: ${what}`;
}

function named({ namespace, selector }: { namespace?: string; selector?: string }) {
  return { ...(namespace && { namespace }), ...(selector && { selector }) };
}

function isMeant(name: string, wanted: string | undefined): boolean {
  return wanted === undefined || name === wanted;
}

/** Dotted paths; a condition is written status.conditions.Ready. What is absent reads as nothing. */
function hasFields(object: KubeObject, where: Readonly<Record<string, string>>): boolean {
  return Object.entries(where).every(([path, value]) => String(fieldAt(object, path.split(".")) ?? "") === value);
}

function fieldAt(value: unknown, [key, ...rest]: readonly string[]): unknown {
  if (key === undefined) return Array.isArray(value) ? value.length : value;
  if (Array.isArray(value)) {
    const named = value.find((item: { type?: string; name?: string }) => item.type === key || item.name === key);
    return rest.length === 0 ? (named as { status?: string } | undefined)?.status : fieldAt(named, rest);
  }
  return fieldAt((value as Record<string, unknown> | null | undefined)?.[key], rest);
}
