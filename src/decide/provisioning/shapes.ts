// Nodes, pods and claims of the picture in the shapes of packing. A node or claim that is going away has none.

import type { InstanceType } from "../../api/instance-type.ts";
import { instanceTypeKey } from "../../api/node.ts";
import type { Pod, ResourceList } from "../../api/pod.ts";
import { compareQuantities, parseQuantity } from "../../api/quantity.ts";
import { formatTime } from "../../api/time.ts";
import { initializedKey, registeredKey } from "../../api/well-known.ts";
import type { NodeClassRef } from "../../snapshot/picture.ts";
import type { ClaimView, DaemonSetView, NamespaceView, NodeView, PodView } from "../../snapshot/views.ts";
import { isEphemeralTaint } from "../initialization.ts";
import type { ExistingNode, Namespace, UpcomingNode } from "../packing/problem.ts";
import { setsOfRequirements } from "../packing/requirements.ts";
import { allows } from "../packing/value-set.ts";

const noContainers = { containers: [] };
const daemonOwner = { apiVersion: "apps/v1", kind: "DaemonSet", name: "", uid: "" };
const nodeOwner = { apiVersion: "v1", kind: "Node", name: "", uid: "" };

/** `nodeName`: where it is, or is expected; absent: it is to be placed. */
export function podShape(view: PodView, nodeName?: string): Pod {
  const { namespace, name, uid, labels, createdAt, deletionAt, ownerKind, isStatic, volumeClaims, needs } = view;
  return {
    metadata: {
      name,
      namespace,
      uid,
      labels,
      creationTimestamp: formatTime(createdAt),
      ...(deletionAt === undefined ? {} : { deletionTimestamp: formatTime(deletionAt) }),
      ...(ownerKind === "DaemonSet" ? { ownerReferences: [daemonOwner] } : {}),
      ...(isStatic ? { ownerReferences: [nodeOwner] } : {}),
    },
    spec: specOf(needs?.spec ?? noContainers, nodeName, volumeClaims),
    status: {
      ...(nodeName === undefined ? {} : { phase: view.phase }),
      ...(needs?.allocated ? { containerStatuses: needs.allocated, initContainerStatuses: needs.allocated } : {}),
    },
  };
}

// The same object for pods of one template wherever it can be: packing looks at it once then.
function specOf(spec: Pod["spec"], nodeName: string | undefined, volumeClaims: readonly string[]): Pod["spec"] {
  if (nodeName === undefined && volumeClaims.length === 0) return spec;
  return {
    ...spec,
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(volumeClaims.length === 0 ? {} : { volumes: volumeClaims.map(claimVolume) }),
  };
}

function claimVolume(claimName: string) {
  return { name: claimName, persistentVolumeClaim: { claimName } };
}

export function daemonShape({ namespace, name, labels, needs }: DaemonSetView): Pod {
  return { metadata: { name, namespace, labels, ownerReferences: [daemonOwner] }, spec: needs.spec };
}

export function namespaceShape({ name, labels }: NamespaceView): Namespace {
  return { metadata: { name, labels } };
}

/**
 * A node that is still coming up will lose the taints of its start, and may not say yet what it has. Before it is
 * registered its claim says what its labels and taints will be. It never has more room than its claim says.
 */
export function hostShape(view: NodeView, claim: ClaimView | undefined): ExistingNode {
  const { name, isCordoned } = view;
  const isRegistered = claim === undefined || view.labels[registeredKey] === "true";
  const labels = isRegistered ? view.labels : { ...view.labels, ...claim.labels };
  const taints = isRegistered ? view.taints : [...view.taints, ...claim.spec.taints];
  const initialized = claim === undefined || labels[initializedKey] === "true";
  const startup = claim?.spec.startupTaints ?? [];
  const isPassing = (taint: NodeView["taints"][number]) =>
    isEphemeralTaint(taint) || startup.some(({ key, effect }) => key === taint.key && effect === taint.effect);
  return {
    node: {
      metadata: { name, labels },
      spec: { unschedulable: isCordoned, taints },
      status: { allocatable: roomOf(view, claim, initialized) },
    },
    initialized,
    ...(initialized ? {} : { passingTaints: taints.filter(isPassing) }),
  };
}

/**
 * What a node says of itself is a claim: one that names more than its machine has would draw the pods of others. Of what
 * the provider says nothing about, such as the devices of a plugin, there is only the node's word, as for a node without
 * a claim; kube-scheduler takes it too.
 */
function roomOf({ allocatable }: NodeView, claim: ClaimView | undefined, initialized: boolean): ResourceList {
  if (claim === undefined) return allocatable;
  const { allocatable: promised, capacity } = claim.status;
  const said = initialized ? allocatable : { ...texts(promised), ...allocatable };
  const known: Readonly<Record<string, string | number>> = { ...capacity, ...promised };
  const bounded = Object.entries(said).map(([name, amount]) => [name, smaller(amount, known[name])] as const);
  return Object.fromEntries(bounded);
}

function smaller(said: string, known: string | number | undefined): string {
  if (known === undefined || said === known) return said;
  const [amount, most] = [parseQuantity(said), parseQuantity(String(known))];
  return amount.ok && most.ok && compareQuantities(amount.value, most.value) > 0 ? String(known) : said;
}

export type TypesOf = (nodeClass: NodeClassRef | undefined) => readonly InstanceType[];

export function upcomingShape(claim: ClaimView, typesOf: TypesOf, pods: readonly PodView[]): UpcomingNode {
  const { name, pool = "", labels, spec } = claim;
  return {
    name,
    pool,
    labels,
    taints: spec.taints,
    requirements: spec.requirements,
    instanceTypes: typesFor(claim, typesOf(spec.nodeClassRef)),
    pods: pods.map(pod => podShape(pod)),
  };
}

/** Those that a claim may become; once it is launched the one that it is, whether more of it can be had or not. */
export function typesFor({ labels, spec, status }: ClaimView, types: readonly InstanceType[]): readonly InstanceType[] {
  const launched = status.providerID === undefined ? undefined : labels[instanceTypeKey];
  if (launched === undefined) {
    const wanted = setsOfRequirements(spec.requirements).get(instanceTypeKey);
    return wanted === undefined ? types : types.filter(type => allows(wanted, type.name));
  }
  const type = types.find(({ name }) => name === launched);
  const { capacity = type?.capacity, allocatable = type?.allocatable } = status;
  if (capacity === undefined || allocatable === undefined) return [];
  const offerings = type?.offerings ?? [{ requirements: [], price: 0, available: true }];
  return [
    {
      name: launched,
      requirements: type?.requirements ?? [],
      offerings: offerings.map(offering => ({ ...offering, available: true })),
      capacity: texts(capacity),
      allocatable: texts(allocatable),
    },
  ];
}

function texts(list: Readonly<Record<string, string | number>> | undefined): Record<string, string> {
  return Object.fromEntries(Object.entries(list ?? {}).map(([name, amount]) => [name, String(amount)]));
}
