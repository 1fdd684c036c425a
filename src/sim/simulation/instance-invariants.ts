// Judges the end of an instance, which is a ConfigMap here: one of a claim goes with its claim, by the ledger and after
// the drain (I5, D1); one without a claim only if it is old and nothing runs on it (G1).

import type { KubeObject } from "../../api/meta.ts";
import type { ApiRequest } from "../request.ts";
import { isClaimTrue, isReady, ownNodes, type StoredClaim } from "./ledger.ts";
import { isJoining, type WriteContext } from "./write-context.ts";

const garbageMinAgeMs = 15 * 60_000;

/** Undefined: the write ends none. A patch that says terminatingSince is the provider's delete. */
export function instanceViolations(context: WriteContext, request: ApiRequest): readonly string[] | undefined {
  const { ledger, objects } = context;
  const isEnd = request.verb === "delete" || JSON.stringify(request.body ?? "").includes("terminatingSince");
  const instance = objects.get("configmaps", `${request.namespace}/${request.name}`);
  if (request.namespace !== "fettle-simulated" || request.verb === "create" || !isEnd || instance === undefined) {
    return undefined;
  }
  const uid = instance.metadata.labels?.["fettle.dev/claim-uid"];
  const claim = [...ledger.claimByName.values()].find(({ metadata }) => metadata.uid === uid);
  return claim === undefined ? garbageEnded(context, instance) : endedOf(context, claim);
}

function garbageEnded(
  { ledger, clock }: WriteContext,
  { metadata: { name, creationTimestamp } }: KubeObject,
): string[] {
  const ageMs = clock.now() - Date.parse(creationTimestamp);
  const young = ageMs < garbageMinAgeMs ? [`G1 instance ${name} has no claim but is only ${ageMs} ms old`] : [];
  const node = [...ledger.nodeByName.values()].find(({ spec }) => spec.providerID?.endsWith(`/${name}`));
  const isAlive = node !== undefined && isReady(node);
  return [...young, ...(isAlive ? [`G1 instance ${name} is deleted under a Ready node`] : [])];
}

function endedOf(context: WriteContext, claim: StoredClaim): string[] {
  const { name, deletionTimestamp } = claim.metadata;
  if (deletionTimestamp === undefined) return [`I5 the instance of ${name}, which nobody deletes, is ended`];
  const { ledger } = context;
  const isGivenUp = isClaimTrue(claim, "InstanceTerminating");
  return [
    ...(isGivenUp ? [] : [`D1 the instance of ${name} is ended before the claim says that its drain is over`]),
    ...ownNodes(ledger, claim.status?.providerID)
      .filter(node => !isJoining(context, node))
      .flatMap(node => ledger.withoutEvidence(node)),
  ];
}
