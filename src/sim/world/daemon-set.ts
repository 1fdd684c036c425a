// Keeps one pod of a DaemonSet on every node that it is for, and replaces them when the template changes. The pods are
// bound by the scheduler, each to the one node that its affinity names. Without surge: an old pod goes before a new one
// comes.

import { parseAmount, roundedUp } from "../../api/amount.ts";
import type { Taint, Toleration } from "../../api/taint.ts";
import { untoleratedTaint } from "../../api/taint.ts";
import { deepEqual } from "../json-value.ts";
import { isReady } from "./conditions.ts";
import { nodeMatcher, toleratesAll } from "./node-fit.ts";
import { type DaemonSet, isActive, isDeleting, keyOf, type Node, type Pod, type PodSpec } from "./objects.ts";
import type { Picture } from "./picture.ts";
import { countsOf, isAvailable, podOf, templateHash } from "./pod-template.ts";
import { type ControllerOptions, controllerWorker } from "./workload-controller.ts";
import type { Worker } from "./worker.ts";

const hashLabel = "controller-revision-hash";
const generationLabel = "pod-template-generation";
const generationAnnotation = "deprecated.daemonset.template.generation";

export function daemonSetController(picture: Picture, options: ControllerOptions = {}): Worker {
  const { daemonSets, pods, nodes } = picture;
  const sync = (owner: DaemonSet) => syncDaemonSet(picture, owner);
  const worker = controllerWorker(
    picture,
    { kind: "DaemonSet", owners: daemonSets, dependents: [pods], sync },
    options,
  );
  nodes.onChange(({ object, previous, isGone }) => {
    const looks = ({ metadata, spec }: Node) => [metadata.labels, spec.taints];
    if (!isGone && previous !== undefined && deepEqual(looks(object), looks(previous))) return;
    for (const daemonSet of daemonSets.values())
      if (concerns(picture, daemonSet, object, isGone)) worker.add(keyOf(daemonSet));
  });
  return worker;
}

/** Only where a pod is missing or out of place: the counts wait for the next pod, as in kube-controller-manager. */
function concerns(picture: Picture, daemonSet: DaemonSet, node: Node, isGone: boolean): boolean {
  if (isGone) return true;
  const { name } = node.metadata;
  const isPlaced = picture.podsByController
    .of(daemonSet.metadata.uid)
    .some(pod => (pod.spec.nodeName || targetOf(pod)) === name);
  const { shouldRun, shouldStay } = judge(daemonSet)(node);
  return isPlaced ? !shouldStay : shouldRun;
}

type Place = { node: Node; shouldRun: boolean; shouldStay: boolean; pods: readonly Pod[] };

async function syncDaemonSet(picture: Picture, daemonSet: DaemonSet): Promise<number | undefined> {
  const { metadata, spec } = daemonSet;
  const hash = templateHash(spec.template);
  if (!isDeleting(daemonSet)) {
    const missing = await tidy(picture, placesOf(picture, daemonSet));
    for (const node of missing) await picture.pods.create(daemonPod(daemonSet, node, hash));
    if (spec.updateStrategy.type !== "OnDelete") await roll(picture, daemonSet, hash);
  }
  const places = placesOf(picture, daemonSet);
  const now = picture.clock.now();
  const status = statusOf(daemonSet, { places, hash }, now);
  const current = picture.daemonSets.get(`${metadata.namespace}/${metadata.name}`) ?? daemonSet;
  if (!deepEqual(status, current.status)) await picture.daemonSets.updateStatus(current, status);
  return nextAvailableAt(places, spec.minReadySeconds ?? 0, now);
}

function placesOf({ nodes, podsByController }: Picture, daemonSet: DaemonSet): Place[] {
  const podsByNode = new Map<string, Pod[]>();
  for (const pod of podsByController.of(daemonSet.metadata.uid)) {
    const name = pod.spec.nodeName || targetOf(pod);
    podsByNode.set(name, [...(podsByNode.get(name) ?? []), pod]);
  }
  const judged = judge(daemonSet);
  return [...nodes.values()].map(node => {
    return { node, ...judged(node), pods: podsByNode.get(node.metadata.name) ?? [] };
  });
}

function judge({ spec }: DaemonSet): (node: Node) => { shouldRun: boolean; shouldStay: boolean } {
  const isWanted = nodeMatcher(spec.template.spec);
  const tolerations = [...(spec.template.spec.tolerations ?? []), ...ownTolerations(spec.template.spec)];
  const evicts = ({ effect }: Taint) => effect === "NoExecute";
  return node => {
    const taints = node.spec.taints ?? [];
    const fits = isWanted(node);
    return {
      shouldRun: fits && toleratesAll(taints, tolerations),
      shouldStay: fits && untoleratedTaint(taints, tolerations, { counts: evicts }) === undefined,
    };
  };
}

/** Takes away what is too much, ended or misplaced; returns the nodes where a pod is missing. */
async function tidy({ pods }: Picture, places: readonly Place[]): Promise<Node[]> {
  const missing: Node[] = [];
  for (const { node, shouldRun, shouldStay, pods: here } of places) {
    const running = here.filter(isActive);
    for (const pod of here.filter(pod => !isActive(pod) && !isDeleting(pod))) await pods.delete(pod);
    const kept = shouldStay ? [...running].sort(oldestFirst).slice(0, 1) : [];
    for (const pod of running) if (!kept.includes(pod)) await pods.delete(pod);
    // What is on its way out still holds its place, or two of them would share the node's ports.
    if (shouldRun && here.every(pod => !isActive(pod) && !isDeleting(pod))) missing.push(node);
  }
  return missing;
}

function oldestFirst(a: Pod, b: Pod): number {
  const [left, right] = [a.metadata.creationTimestamp, b.metadata.creationTimestamp];
  return left < right ? -1 : left > right ? 1 : a.metadata.name < b.metadata.name ? -1 : 1;
}

/** Old pods go: those that do not work at once, the others as many as may be unavailable. */
async function roll(picture: Picture, daemonSet: DaemonSet, hash: string): Promise<void> {
  const { spec } = daemonSet;
  const now = picture.clock.now();
  const places = placesOf(picture, daemonSet).filter(({ shouldRun }) => shouldRun);
  const amount = parseAmount(spec.updateStrategy.rollingUpdate?.maxUnavailable ?? 1);
  const unavailableMax = amount.ok ? Math.max(1, roundedUp(amount.value, places.length)) : 1;
  const works = (pod: Pod) => isActive(pod) && isAvailable(pod, spec.minReadySeconds ?? 0, now);
  let spare = unavailableMax - places.filter(({ pods }) => !pods.some(works)).length;
  for (const { pods } of places) {
    for (const pod of pods) {
      if (pod.metadata.labels?.[hashLabel] === hash || !isActive(pod)) continue;
      if (works(pod) && spare-- <= 0) continue;
      await picture.pods.delete(pod);
    }
  }
}

function daemonPod(daemonSet: DaemonSet, { metadata: { name } }: Node, hash: string) {
  const { metadata, spec } = daemonSet;
  const { template } = spec;
  const generation = metadata.annotations?.[generationAnnotation] ?? "1";
  const field = { key: "metadata.name", operator: "In" as const, values: [name] };
  const required = { nodeSelectorTerms: [{ matchFields: [field] }] };
  const affinity = template.spec.affinity;
  return podOf(daemonSet, {
    template,
    named: { generateName: `${metadata.name}-` },
    labels: { [hashLabel]: hash, [generationLabel]: generation },
    spec: {
      affinity: {
        ...affinity,
        nodeAffinity: { ...affinity?.nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: required },
      },
      tolerations: withOwn(template.spec),
    },
  });
}

/** A daemon stays where others leave. */
function ownTolerations({ hostNetwork }: PodSpec): Toleration[] {
  const exists = (name: string, effect: "NoExecute" | "NoSchedule"): Toleration => {
    return { key: `node.kubernetes.io/${name}`, operator: "Exists", effect };
  };
  return [
    exists("not-ready", "NoExecute"),
    exists("unreachable", "NoExecute"),
    exists("disk-pressure", "NoSchedule"),
    exists("memory-pressure", "NoSchedule"),
    exists("pid-pressure", "NoSchedule"),
    exists("unschedulable", "NoSchedule"),
    ...(hostNetwork ? [exists("network-unavailable", "NoSchedule")] : []),
  ];
}

function withOwn(spec: PodSpec): Toleration[] {
  const own = ownTolerations(spec);
  const isOwn = (one: Toleration) => own.some(({ key, effect }) => key === one.key && effect === one.effect);
  return [...(spec.tolerations ?? []).filter(one => !isOwn(one)), ...own];
}

/** The node that an unbound pod was made for. */
function targetOf({ spec }: Pod): string {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? "";
}

type Look = { places: readonly Place[]; hash: string };

function statusOf({ metadata, spec, status: before }: DaemonSet, { places, hash }: Look, now: number) {
  const desired = places.filter(({ shouldRun }) => shouldRun);
  // Of several pods on a node the oldest stands for it.
  const standing = desired.flatMap(({ pods }) => [...pods].sort(oldestFirst).slice(0, 1));
  const available = standing.filter(pod => isAvailable(pod, spec.minReadySeconds ?? 0, now)).length;
  const updated = standing.filter(pod => pod.metadata.labels?.[hashLabel] === hash).length;
  const status: DaemonSet["status"] = {
    currentNumberScheduled: standing.length,
    numberMisscheduled: places.filter(({ shouldRun, pods }) => !shouldRun && pods.length > 0).length,
    desiredNumberScheduled: desired.length,
    numberReady: standing.filter(isReady).length,
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    ...(updated > 0 && { updatedNumberScheduled: updated }),
    ...(available > 0 && { numberAvailable: available }),
    ...(desired.length > available && { numberUnavailable: desired.length - available }),
    ...(before.collisionCount !== undefined && { collisionCount: before.collisionCount }),
  };
  return status;
}

function nextAvailableAt(places: readonly Place[], minReadySeconds: number, now: number): number | undefined {
  return countsOf(
    places.flatMap(({ pods }) => pods),
    minReadySeconds,
    now,
  ).wakeAt;
}
