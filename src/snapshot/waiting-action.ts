// Which actions leave their node and its pods as they are for now: those of a plan that was made with where the pods go,
// as long as they have not begun.

import { plannedActions } from "../api/budget.ts";
import type { ActionView } from "./views.ts";

/** Not once a reason has joined that is no plan: what is sick or deleted does not wait for a replacement. */
export function waitsForReplacement({ spec, status }: ActionView): boolean {
  if (spec.batch === undefined && !spec.replacements?.length) return false;
  if (status.startedAt !== undefined || status.phase === "Running") return false;
  return [spec, ...(spec.joined ?? [])].every(({ action }) => (plannedActions as readonly string[]).includes(action));
}
