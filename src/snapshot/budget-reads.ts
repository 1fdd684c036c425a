// Who has read a PodDisruptionBudget when it was last asked: nodes under it that may be due by our own choice, and the
// cluster where it is over etcd. Drains are no concern of this.

import { isEqual } from "../api/schema/correlate.ts";
import { type Labels, matches } from "../api/selector.ts";
import { type Instant, type Millis, minuteMs, parseDurationOrNever } from "../api/time.ts";
import { isOfEtcd } from "./etcd.ts";
import type { IndexedPicture } from "./indexed-picture.ts";
import type { Subject } from "./picture.ts";
import type { Change } from "./tables.ts";
import type { ClaimView, DisruptionBudgetView } from "./views.ts";

/** A decision may have been made by a clock that was a little ahead of what it is now. */
const clockStepMs: Millis = minuteMs;

// Only whether it lets any pod go: how many it does changes with every pod that becomes ready.
export function nodesUnder(picture: IndexedPicture, { before, after }: Change<DisruptionBudgetView>): Subject[] {
  const word = (budget: DisruptionBudgetView | undefined) =>
    budget && { ...budget, disruptionsAllowed: budget.disruptionsAllowed > 0 };
  if (isEqual(word(before), word(after))) return [];
  const isSelecting = isEqual(before?.selector, after?.selector) ? [after] : [before, after];
  const selectors = isSelecting.flatMap(budget => (budget?.selector === undefined ? [] : [budget.selector]));
  const isUnder = (labels: Labels) => selectors.some(selector => matches(selector, labels));
  const names = new Set<string>();
  let isOverEtcd = false;
  for (const pod of picture.podsLabelled((after ?? before)?.namespace ?? "", isUnder)) {
    if (pod.nodeName !== undefined) names.add(pod.nodeName);
    isOverEtcd ||= isOfEtcd(pod);
  }
  const nodes = [...names].filter(name => mayBeChosen(picture, name)).sort();
  const subjects = nodes.map((name): Subject => `node/${name}`);
  return isOverEtcd ? [...subjects, "cluster"] : subjects;
}

// Whether a node may be due by our own choice, which alone asks for budgets and for pods that stay: one of a pool with
// `replicas` only by drift or age, and of age it is asked when that comes.
export function mayBeChosen(picture: IndexedPicture, nodeName: string): boolean {
  const node = picture.node(nodeName);
  if (node === undefined) return false;
  if (picture.actionsOn(node.uid).length > 0) return true;
  return picture.claimsWith(node.providerID).some(claim => {
    const pool = claim.pool === undefined ? undefined : picture.pool(claim.pool);
    if (pool?.effective.replicas === undefined) return true;
    return isDrifted(claim) || isOfAge(claim, picture.now() + clockStepMs);
  });
}

function isDrifted({ conditions }: ClaimView): boolean {
  return conditions.some(({ type, status }) => type === "Drifted" && status === "True");
}

function isOfAge({ createdAt, spec }: ClaimView, by: Instant): boolean {
  const after = parseDurationOrNever(spec.expireAfter);
  return after.ok && after.value !== "Never" && createdAt + after.value <= by;
}
