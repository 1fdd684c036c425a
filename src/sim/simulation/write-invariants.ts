// Judges one write of the controller on the objects as they are just before it: evidence first (I5), protected pods (I6),
// and no hand on what is not ours.

import type { KubeObject, Manifest } from "../../api/meta.ts";
import { confirmedHealthyKey } from "../../api/node-health-check-contract.ts";
import { nodePoolKey } from "../../api/node.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { isEqual } from "../../api/schema/correlate.ts";
import { parseDuration } from "../../api/time.ts";
import type { ApiRequest } from "../request.ts";
import { remediations, remediationViolations } from "./check-invariants.ts";
import { instanceViolations } from "./instance-invariants.ts";
import { deadlineOf, instanceOf, isOwnNode, isReady, ownNodes, type StoredClaim, type StoredNode } from "./ledger.ts";
import { planViolations, replacementViolations } from "./plan-invariants.ts";
import { policyViolations } from "./policy-invariants.ts";
import { isJoining, isUnseen, type WriteContext } from "./write-context.ts";

type Verdict = { readonly isDestructive: boolean; readonly violations: readonly string[] };

const harmless: Verdict = { isDestructive: false, violations: [] };
const doNotDisruptKey = "karpenter.sh/do-not-disrupt";

export function writeViolations(context: WriteContext, request: ApiRequest): Verdict {
  const { verb, plural, subresource, name = "" } = request;
  if (plural === "nodeactions" && verb === "create") return destructive([]);
  if (plural.endsWith(remediations) && verb === "create") {
    return destructive(remediationViolations(context, request.body as Manifest));
  }
  if (plural === "configmaps") {
    const violations = instanceViolations(context, request);
    return violations === undefined ? harmless : destructive(violations);
  }
  if (plural === "nodes" && verb !== "delete") {
    return isConfirmationUsedUp(request) ? harmless : strangerTouched(context, name);
  }
  if (verb === "create" && plural === "nodeclaims") {
    return { isDestructive: false, violations: replacementViolations(context, request.body as Manifest) };
  }
  if (verb === "delete" && plural === "nodeclaims") return guarded(context, request, claimDeleted);
  if (verb === "delete" && plural === "nodes") return guarded(context, request, nodeDeleted);
  if (verb === "delete" && plural === "pods") return guarded(context, request, podDeleted);
  if (verb === "create" && subresource === "eviction") return guarded(context, request, podEvicted);
  return harmless;
}

function destructive(violations: readonly string[]): Verdict {
  return { isDestructive: true, violations };
}

const collectionOf: Readonly<Record<string, string>> = { nodeclaims: "nodeclaims.karpenter.sh" };

/** Every delete is meant for one very object: without its uid it is wrong, with another's it does nothing. */
function guarded(
  context: WriteContext,
  request: ApiRequest,
  judge: (context: WriteContext, object: KubeObject, request: ApiRequest) => string[],
): Verdict {
  const { plural, namespace, name = "", body } = request;
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const object = context.objects.get(collectionOf[plural] ?? plural, key);
  const options = (body ?? {}) as DeleteBody & { deleteOptions?: DeleteBody };
  const uid = (options.deleteOptions ?? options).preconditions?.uid;
  if (uid === undefined) return destructive([`P1 ${plural} ${key} is deleted whichever object it is`]);
  return destructive(object === undefined || object.metadata.uid !== uid ? [] : judge(context, object, request));
}

type DeleteBody = { preconditions?: { uid?: string }; gracePeriodSeconds?: number };

function claimDeleted(context: WriteContext, { metadata, status }: StoredClaim): string[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  const { ledger } = context;
  const nodes = ownNodes(ledger, status?.providerID).filter(node => !isJoining(context, node));
  const actions = nodes.flatMap(node => ledger.openOn(node.metadata.uid));
  return [
    ...nodes.flatMap(node => ledger.withoutEvidence(node)),
    ...actions.flatMap(action => [...policyViolations(context, action), ...planViolations(context, action)]),
  ];
}

function nodeDeleted({ ledger }: WriteContext, object: KubeObject): string[] {
  const node = object as StoredNode;
  if (node.metadata.deletionTimestamp !== undefined) return [];
  if (isOwnNode(ledger, node)) return ledger.withoutEvidence(node);
  return [`U1 node ${node.metadata.name} is not ours and is deleted`];
}

/** The word of a person that the node is well: whoever's node it is, it is taken off once it has been heeded. */
function isConfirmationUsedUp({ body }: ApiRequest): boolean {
  const { metadata, ...others } = body as { metadata?: Record<string, unknown> };
  const { annotations, uid: _uid, resourceVersion: _version, ...more } = metadata ?? {};
  return isEqual([annotations, others, more], [{ [confirmedHealthyKey]: null }, {}, {}]);
}

/** Its own, or about to become so: the only node with the providerID of a claim that stays. */
function strangerTouched({ ledger }: WriteContext, name: string): Verdict {
  const node = ledger.nodeByName.get(name);
  if (node === undefined || isOwnNode(ledger, node)) return harmless;
  const { providerID } = node.spec;
  const isWanted = ledger.claimsOf(providerID).some(({ metadata }) => metadata.deletionTimestamp === undefined);
  if (isWanted && ledger.nodesOf(providerID).length === 1) return harmless;
  return { isDestructive: false, violations: [`U1 node ${name} is not ours and is written to`] };
}

type Pod = KubeObject & {
  spec: { nodeName?: string; terminationGracePeriodSeconds?: number };
  status?: { startTime?: string };
};

function podEvicted(context: WriteContext, object: KubeObject): string[] {
  const pod = object as Pod;
  const { annotations, deletionTimestamp } = pod.metadata;
  const key = keyOf(pod);
  const isNew = isUnseen(context, `pods ${key}`);
  // A duration is left to the rule's own tests: here only what is protected for good.
  const isProtected =
    annotations?.[doNotDisruptKey] === "true" && deletionTimestamp === undefined && isBorne(context, pod);
  const broken = isProtected && !isNew ? [`I6 pod ${key} is evicted although it is not to be disrupted`] : [];
  return [...broken, ...podOfNodeWithoutEvidence(context, pod)];
}

/** The node's pool may bear no pod's wish for longer than so. */
function isBorne(context: WriteContext, pod: Pod): boolean {
  const since = Date.parse(pod.status?.startTime ?? pod.metadata.creationTimestamp ?? "");
  return claimsOfPod(context, pod).every(claim => {
    const name = claim.metadata.labels?.[nodePoolKey] ?? "";
    const spec = context.objects.get("nodepools.karpenter.sh", name)?.["spec"] as NodePoolSpec | undefined;
    const max = parseDuration(spec?.disruption?.maxDoNotDisrupt ?? "");
    return !max.ok || context.process.now() < since + max.value;
  });
}

function podDeleted(context: WriteContext, object: KubeObject, request: ApiRequest): string[] {
  const pod = object as Pod;
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  const deadline = Math.min(...claimsOfPod(context, pod).map(deadlineOf));
  // One that stops already but would take longer than the node has is told to hurry.
  const isTooSlow = Date.parse(pod.metadata.deletionTimestamp ?? "") > deadline;
  const isTime = isTooSlow || context.process.now() >= deadline - graceMs - 1000;
  const isDue = isTime || !hurries(pod, request) || isOfDeadNode(context, pod) || isOfSilentNode(context, pod);
  const broken = isDue ? [] : [`I6 pod ${keyOf(pod)} is deleted by force before its node's deadline asks for it`];
  return [...broken, ...forgotten(context, pod, request), ...podOfNodeWithoutEvidence(context, pod)];
}

/** Without any grace the server forgets the pod at once: another of its name may run while this one still does. */
function forgotten({ ledger, objects }: WriteContext, pod: Pod, { body }: ApiRequest): string[] {
  const { gracePeriodSeconds } = (body ?? {}) as DeleteBody;
  const machine = instanceOf(objects, ledger.nodeByName.get(pod.spec.nodeName ?? "")?.spec.providerID);
  if (gracePeriodSeconds !== 0 || machine === undefined) return [];
  return [`I6 pod ${keyOf(pod)} is forgotten while its machine is there`];
}

/** The server keeps to the shorter of two graces: a pod that stops as soon or sooner by itself is not touched. */
function hurries({ metadata }: Pod, { body }: ApiRequest): boolean {
  const { gracePeriodSeconds = 0 } = (body ?? {}) as DeleteBody;
  return metadata.deletionTimestamp === undefined || gracePeriodSeconds < (metadata.deletionGracePeriodSeconds ?? 0);
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Its machine is gone: nothing runs there that could be harmed. Who ended it need not wait until the node says so, too. */
function isOfDeadNode({ ledger, objects }: WriteContext, { spec }: Pod): boolean {
  const node = ledger.nodeByName.get(spec.nodeName ?? "");
  if (node === undefined) return true;
  const isEnded = ledger.claimsOf(node.spec.providerID).some(isEnding);
  return (isEnded || !isReady(node)) && instanceOf(objects, node.spec.providerID) === undefined;
}

function isEnding({ status }: StoredClaim): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === "InstanceTerminating" && is === "True") ?? false;
}

/** Its kubelet is silent, and the node is being repaired for that: the pod cannot be told to stop, only to run elsewhere. */
function isOfSilentNode({ ledger }: WriteContext, { spec }: Pod): boolean {
  const node = ledger.nodeByName.get(spec.nodeName ?? "");
  const ready = node?.status?.conditions?.find(({ type }) => type === "Ready");
  if (node === undefined || ready?.status !== "Unknown") return false;
  const reasons = ledger.openOn(node.metadata.uid).flatMap(action => [action.spec, ...(action.spec.joined ?? [])]);
  return reasons.some(
    ({ action, evidence }) =>
      action === "Repair" &&
      evidence.length > 0 &&
      evidence.every(
        ({ conditionType, conditionStatus }) => conditionType === "Ready" && conditionStatus === "Unknown",
      ),
  );
}

function claimsOfPod({ ledger }: WriteContext, { spec }: Pod): StoredClaim[] {
  return ledger.claimsOf(ledger.nodeByName.get(spec.nodeName ?? "")?.spec.providerID);
}

function podOfNodeWithoutEvidence({ ledger }: WriteContext, { spec }: Pod): string[] {
  const node = ledger.nodeByName.get(spec.nodeName ?? "");
  return node === undefined ? [] : ledger.withoutEvidence(node);
}
