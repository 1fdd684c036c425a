// Judges what a write of the controller made of a claim: its deadline comes no later than before (T1), the way back to
// its pods is given up only when none is left that would move (D1), and its finalizer goes only after its instance (T2).

import type { KubeObject } from "../../api/meta.ts";
import { type Toleration, tolerates } from "../../api/taint.ts";
import { disruptedTaint, terminationFinalizer, terminationTimestampKey } from "../../api/well-known.ts";
import { deadlineOf, instanceOf, isClaimTrue, ownNodes, type StoredClaim } from "./ledger.ts";
import { isUnseen, type WriteContext } from "./write-context.ts";

/** `after` is absent when nothing held the claim any more. */
export function claimViolations(
  context: WriteContext,
  before: StoredClaim,
  after: StoredClaim | undefined,
): readonly string[] {
  return [
    ...(after === undefined ? [] : deadlineMoved(before, after)),
    ...(after === undefined ? [] : podsLeft(context, before, after)),
    ...releasedEarly(context, before, after),
  ];
}

/** One that stays may lose it: then its deletion did not come about. */
function deadlineMoved(before: StoredClaim, after: StoredClaim): string[] {
  if (deadlineOf(after) <= deadlineOf(before)) return [];
  const { name, annotations, deletionTimestamp } = after.metadata;
  const written = annotations?.[terminationTimestampKey];
  if (written === undefined && deletionTimestamp === undefined) return [];
  return [`T1 claim ${name} has a later deadline than before: ${written ?? "no deadline at all"}`];
}

function podsLeft(context: WriteContext, before: StoredClaim, after: StoredClaim): string[] {
  const isGivenUp = isClaimTrue(after, "InstanceTerminating") && !isClaimTrue(before, "InstanceTerminating");
  if (!isGivenUp || !isClaimTrue(after, "Registered") || deadlineOf(after) <= context.process.now()) return [];
  return ownNodes(context.ledger, after.status?.providerID)
    .flatMap(({ metadata: { name } }) => context.objects.podsOn<Pod>(name).filter(pod => wouldMove(context, pod)))
    .map(({ metadata, spec }) => `D1 pod ${metadata.name} is still on ${spec.nodeName}, whose instance is ended`);
}

type Pod = KubeObject & {
  spec: { nodeName?: string; tolerations?: Toleration[] };
  status?: { phase?: string };
};

/** One that stops is waited for as long as its grace. */
function wouldMove(context: WriteContext, { metadata, spec, status }: Pod): boolean {
  if (isUnseen(context, `pods ${metadata.namespace}/${metadata.name}`)) return false;
  if (["Succeeded", "Failed"].includes(status?.phase ?? "")) return false;
  if (metadata.ownerReferences?.some(({ kind }) => kind === "Node")) return false;
  if (spec.tolerations?.some(toleration => tolerates(toleration, disruptedTaint))) return false;
  const endsAt = Date.parse(metadata.deletionTimestamp ?? "") || Number.POSITIVE_INFINITY;
  return endsAt > context.process.now();
}

function releasedEarly({ objects }: WriteContext, before: StoredClaim, after: StoredClaim | undefined): string[] {
  const isHeld = (claim: StoredClaim | undefined) =>
    claim?.metadata.finalizers?.includes(terminationFinalizer) ?? false;
  if (!isHeld(before) || isHeld(after)) return [];
  const { name, uid } = before.metadata;
  const instance = instanceOf(objects, before.status?.providerID);
  if (instance?.metadata.labels?.["fettle.dev/claim-uid"] !== uid) return [];
  return [`T2 claim ${name} is released although its instance ${instance.metadata.name} is there`];
}
