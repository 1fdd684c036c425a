// What is kept of a Pod: what a drain and the search for a node ask of it, in few enough bytes that 150,000 of them fit.

import type { KubeObject } from "../api/meta.ts";
import { secondMs } from "../api/time.ts";
import { tolerates, type Toleration } from "../api/taint.ts";
import { disruptedTaint, doNotDisruptKey } from "../api/well-known.ts";
import type { Interning } from "./interning.ts";
import { looksLike } from "./looks-like.ts";
import { podNeeds } from "./pod-needs.ts";
import { ownersOf } from "./project-meta.ts";
import { type Fields, fields, items, present, texts, text, time, timeIfPresent, unreadableTime, word } from "./raw.ts";
import type { PodTier, PodView } from "./views.ts";

const phases = ["Pending", "Running", "Succeeded", "Failed"] as const;
const criticalClasses: readonly unknown[] = ["system-cluster-critical", "system-node-critical"];
const mirrorKey = "kubernetes.io/config.mirror";
const defaultGraceSeconds = 30;
const deletionCostKey = "controller.kubernetes.io/pod-deletion-cost";
const noVolumeClaims: readonly string[] = [];

export function projectPod(raw: KubeObject, previous: PodView | undefined, interning: Interning): PodView {
  const view = podView(raw, previous, interning);
  return previous !== undefined && looksLike(previous, view) ? previous : view;
}

function podView(raw: KubeObject, known: PodView | undefined, interning: Interning): PodView {
  const { metadata } = raw;
  const spec = fields(raw["spec"]);
  const status = fields(raw["status"]);
  const owners = ownersOf(raw);
  const owner = owners.find(({ controller }) => controller === true) ?? owners[0];
  const annotations = fields(metadata.annotations);
  return {
    namespace: interning.text(metadata.namespace ?? ""),
    name: metadata.name,
    uid: metadata.uid,
    createdAt: time(metadata.creationTimestamp) ?? unreadableTime,
    graceMs: graceMs(spec["terminationGracePeriodSeconds"]),
    // Only what has surely ended needs no drain.
    phase: phases.find(phase => phase === status["phase"]) ?? "Unknown",
    isReady: isReady(status),
    tier: tierOf(spec, owner?.kind),
    isStatic: owner?.kind === "Node" || Object.hasOwn(annotations, mirrorKey),
    toleratesDisruption: items(spec["tolerations"]).some(toleratesDisruption),
    labels: interning.labels(texts(metadata.labels), known?.labels),
    volumeClaims: volumeClaimsOf(spec, metadata.name),
    needs: interning.needs(podNeeds(spec, status), known?.needs),
    ...present({
      nodeName: interning.text(word(spec["nodeName"])),
      startedAt: time(status["startTime"]),
      deletionAt: timeIfPresent(metadata.deletionTimestamp),
      doNotDisrupt: interning.text(doNotDisruptOf(annotations)),
      ownerKind: interning.text(owner?.kind),
      isUnschedulable: isUnschedulable(status) || undefined,
      nominatedNode: word(status["nominatedNodeName"]),
      evictionCost: evictionCostOf(annotations, spec["priority"]),
    }),
  };
}

function graceMs(seconds: unknown): number {
  const isReadable = typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 0;
  return (isReadable ? seconds : defaultGraceSeconds) * secondMs;
}

function isReady(status: Fields): boolean {
  return items(status["conditions"]).some(item => {
    const condition = fields(item);
    return condition["type"] === "Ready" && condition["status"] === "True";
  });
}

function isUnschedulable(status: Fields): true | false {
  return items(status["conditions"]).some(item => {
    const { type, status: word, reason } = fields(item);
    return type === "PodScheduled" && word === "False" && reason === "Unschedulable";
  });
}

function tierOf({ priorityClassName }: Fields, ownerKind: string | undefined): PodTier {
  const isDaemon = ownerKind === "DaemonSet";
  if (criticalClasses.includes(priorityClassName)) return isDaemon ? "critical-daemon" : "critical";
  return isDaemon ? "daemon" : "workload";
}

function toleratesDisruption(item: unknown): boolean {
  const { key, operator, value, effect } = fields(item);
  const parts = [key, operator, value, effect].filter(part => part !== undefined);
  // Nothing at all would read as a toleration of everything.
  const isReadable = parts.length > 0 && parts.every(part => typeof part === "string");
  return isReadable && tolerates(item as Toleration, disruptedTaint);
}

// What cannot be read costs nothing more, nor less.
function evictionCostOf(annotations: Fields, priority: unknown): number | undefined {
  const deletionCost = Number(annotations[deletionCostKey] ?? 0) || 0;
  const rank = typeof priority === "number" ? priority : 0;
  const cost = Math.min(10, Math.max(-10, 1 + deletionCost / 2 ** 27 + rank / 2 ** 25));
  return cost === 1 ? undefined : cost;
}

// One that is no text was meant to protect all the same.
function doNotDisruptOf(annotations: Fields): string | undefined {
  if (!Object.hasOwn(annotations, doNotDisruptKey)) return undefined;
  return text(annotations[doNotDisruptKey]) ?? "true";
}

function volumeClaimsOf(spec: Fields, podName: string): readonly string[] {
  const names = items(spec["volumes"]).flatMap(item => {
    const { name, persistentVolumeClaim, ephemeral } = fields(item);
    const claimName = word(fields(persistentVolumeClaim)["claimName"]);
    if (claimName !== undefined) return [claimName];
    return ephemeral !== undefined && typeof name === "string" ? [`${podName}-${name}`] : [];
  });
  return names.length === 0 ? noVolumeClaims : names;
}
