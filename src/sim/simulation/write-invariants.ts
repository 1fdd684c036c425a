// Judges one write of the controller on the objects as they are just before it: evidence first (I5), protected pods (I6),
// and no hand on what is not ours.

import type { KubeObject } from "../../api/meta.ts";
import type { Clock } from "../../control/ports.ts";
import type { ApiRequest } from "../request.ts";
import { isReady, type Ledger, type StoredClaim, type StoredNode } from "./ledger.ts";
import type { ClusterObjects } from "./objects.ts";
import type { Process } from "./process.ts";

export type WriteContext = {
  readonly ledger: Ledger;
  readonly objects: ClusterObjects;
  readonly process: Process;
  readonly clock: Clock;
  /** When pods and disruption budgets last changed: what is new may not have been seen. */
  readonly podChangedAt: ReadonlyMap<string, number>;
};

type Verdict = { readonly isDestructive: boolean; readonly violations: readonly string[] };

const harmless: Verdict = { isDestructive: false, violations: [] };
/** What a slow watch may not have shown yet. */
const unseenMs = 60_000;
const garbageMinAgeMs = 15 * 60_000;
const terminationKey = "karpenter.sh/nodeclaim-termination-timestamp";
const doNotDisruptKey = "karpenter.sh/do-not-disrupt";

export function writeViolations(context: WriteContext, request: ApiRequest): Verdict {
  const { verb, plural, subresource, name = "" } = request;
  if (plural === "nodeactions" && verb === "create") return destructive([]);
  if (plural === "configmaps") return instanceTouched(context, request);
  if (plural === "nodes" && verb !== "delete") return strangerTouched(context, name);
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
  { plural, namespace, name = "", body }: ApiRequest,
  judge: (context: WriteContext, object: KubeObject) => string[],
): Verdict {
  const key = namespace === undefined ? name : `${namespace}/${name}`;
  const object = context.objects.get(collectionOf[plural] ?? plural, key);
  const options = (body ?? {}) as DeleteBody & { deleteOptions?: DeleteBody };
  const uid = (options.deleteOptions ?? options).preconditions?.uid;
  if (uid === undefined) return destructive([`P1 ${plural} ${key} is deleted whichever object it is`]);
  return destructive(object === undefined || object.metadata.uid !== uid ? [] : judge(context, object));
}

type DeleteBody = { preconditions?: { uid?: string } };

function claimDeleted({ ledger }: WriteContext, { metadata, status }: StoredClaim): string[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  return ledger.nodesOf(status?.providerID).flatMap(node => withoutEvidence(ledger, node));
}

function nodeDeleted({ ledger }: WriteContext, object: KubeObject): string[] {
  const node = object as StoredNode;
  if (node.metadata.deletionTimestamp !== undefined) return [];
  if (ledger.claimsOf(node.spec.providerID).length > 0) return withoutEvidence(ledger, node);
  return [`U1 node ${node.metadata.name} is not ours and is deleted`];
}

/** A node whose claim has just gone may still be finished; any other without a claim is somebody else's. */
function strangerTouched({ ledger }: WriteContext, name: string): Verdict {
  const node = ledger.nodeByName.get(name);
  const isOurs =
    node === undefined ||
    ledger.claimsOf(node.spec.providerID).length > 0 ||
    node.metadata.labels?.["karpenter.sh/nodepool"] !== undefined ||
    (node.metadata.finalizers ?? []).includes("karpenter.sh/termination");
  return isOurs ? harmless : { isDestructive: false, violations: [`U1 node ${name} is not ours and is written to`] };
}

function withoutEvidence(ledger: Ledger, { metadata }: StoredNode): string[] {
  return ledger.openOn(metadata.uid).length > 0
    ? []
    : [`I5 node ${metadata.name} is taken away without an open action that says why`];
}

type Pod = KubeObject & {
  spec: { nodeName?: string; terminationGracePeriodSeconds?: number };
  status?: { startTime?: string };
};

function podEvicted(context: WriteContext, object: KubeObject): string[] {
  const pod = object as Pod;
  const { annotations, deletionTimestamp } = pod.metadata;
  const key = keyOf(pod);
  const isNew = context.clock.now() - (context.podChangedAt.get(`pods ${key}`) ?? 0) < unseenMs;
  // A duration is left to the rule's own tests: here only what is protected for good.
  const isProtected = annotations?.[doNotDisruptKey] === "true" && deletionTimestamp === undefined;
  const broken = isProtected && !isNew ? [`I6 pod ${key} is evicted although it is not to be disrupted`] : [];
  return [...broken, ...podOfNodeWithoutEvidence(context, pod)];
}

function podDeleted(context: WriteContext, object: KubeObject): string[] {
  const pod = object as Pod;
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  const deadlines = claimsOfPod(context, pod).map(({ metadata }) =>
    Date.parse(metadata.annotations?.[terminationKey] ?? ""),
  );
  const deadline = Math.min(...deadlines.map(at => at || Number.POSITIVE_INFINITY));
  // One that stops already but would take longer than the node has is told to hurry.
  const isTooSlow = Date.parse(pod.metadata.deletionTimestamp ?? "") > deadline;
  const isDue = isTooSlow || context.process.now() >= deadline - graceMs - 1000 || isOfDeadNode(context, pod);
  const broken = isDue ? [] : [`I6 pod ${keyOf(pod)} is deleted by force before its node's deadline asks for it`];
  return [...broken, ...podOfNodeWithoutEvidence(context, pod)];
}

function keyOf({ metadata }: KubeObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Its machine is gone: nothing runs there that could be harmed. */
function isOfDeadNode({ ledger, objects }: WriteContext, { spec }: Pod): boolean {
  const node = ledger.nodeByName.get(spec.nodeName ?? "");
  const instance = node?.spec.providerID?.split("/").at(-1) ?? "";
  return (
    node === undefined || (!isReady(node) && objects.get("configmaps", `fettle-simulated/${instance}`) === undefined)
  );
}

function claimsOfPod({ ledger }: WriteContext, { spec }: Pod): StoredClaim[] {
  return ledger.claimsOf(ledger.nodeByName.get(spec.nodeName ?? "")?.spec.providerID);
}

function podOfNodeWithoutEvidence({ ledger }: WriteContext, { spec }: Pod): string[] {
  const node = ledger.nodeByName.get(spec.nodeName ?? "");
  return node === undefined ? [] : withoutEvidence(ledger, node);
}

/** The instances of the simulated provider are ConfigMaps; a patch that says terminatingSince is their delete. */
function instanceTouched({ ledger, objects, clock }: WriteContext, request: ApiRequest): Verdict {
  const isEnd = request.verb === "delete" || JSON.stringify(request.body ?? "").includes("terminatingSince");
  const instance = objects.get(`configmaps`, `${request.namespace}/${request.name}`);
  if (request.namespace !== "fettle-simulated" || request.verb === "create" || !isEnd || instance === undefined) {
    return harmless;
  }
  const uid = instance.metadata.labels?.["fettle.dev/claim-uid"];
  const claim = [...ledger.claimByName.values()].find(({ metadata }) => metadata.uid === uid);
  if (claim !== undefined) return destructive(instanceOfClaim(ledger, claim));
  const ageMs = clock.now() - Date.parse(instance.metadata.creationTimestamp);
  const young = ageMs < garbageMinAgeMs ? [`G1 instance ${request.name} has no claim but is only ${ageMs} ms old`] : [];
  const node = [...ledger.nodeByName.values()].find(({ spec }) => spec.providerID?.endsWith(`/${request.name}`));
  const alive =
    node !== undefined && isReady(node) ? [`G1 instance ${request.name} is deleted under a Ready node`] : [];
  return destructive([...young, ...alive]);
}

function instanceOfClaim(ledger: Ledger, { metadata, status }: StoredClaim): string[] {
  if (metadata.deletionTimestamp === undefined)
    return [`I5 the instance of ${metadata.name}, which nobody deletes, is ended`];
  return ledger.nodesOf(status?.providerID).flatMap(node => withoutEvidence(ledger, node));
}
