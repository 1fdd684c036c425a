// Kinds of pods: those that ask for the same of nodes and of one another, whatever resources they need. What is found
// out about a kind and a node holds for all its pods.

import type { Pod } from "../../api/pod.ts";
import type { Labels } from "../../api/selector.ts";
import type { Toleration } from "../../api/taint.ts";
import type { Count, LabelGroup } from "./census.ts";
import { type HostPort, hostPorts } from "./host-ports.ts";
import type { Requirements } from "./requirements.ts";
import { claimKeys, type VolumeNeeds, wantsDevices } from "./volumes.ts";
import type { Wishes } from "./wishes.ts";

/** What a pod means to others where it is. */
export type Footprint = {
  group: LabelGroup;
  ports: readonly HostPort[];
  volumes: VolumeNeeds;
  /** Required anti-affinity that it bears. */
  repels: readonly Count[];
};

export type SpreadRule = { count: Count; maxSkew: number; minDomains: number; self: 0 | 1 };

/** All counts of one rule look at the same pods. If there are none anywhere, a pod that is one of them may be the first. */
export type AffinityRule = { counts: readonly Count[]; self: boolean };

export type Kind = Footprint & {
  id: number;
  signature: string;
  wishes: Wishes;
  tolerations: readonly Toleration[];
  /** One of them must hold: node selector and affinity, required and preferred, and the places of volumes. */
  alternatives: readonly Requirements[];
  spreads: readonly SpreadRule[];
  affinities: readonly AffinityRule[];
  antis: readonly Count[];
  /** Each count that a rule of its own looks at, once. */
  asks: readonly Count[];
  /** Counts that let so many of its own pods on a host. */
  hostLimits: readonly { count: Count; perHost: number }[];
  /** Whether nodes may open up for it as pods are placed elsewhere: spread and affinity over more than hosts. */
  isShifting: boolean;
  /** By host: 0 not known yet, 1 the rules about the node alone admit it, 2 they do not. */
  admitted: Uint8Array;
  /** By template, in the same manner. */
  tolerated: Uint8Array;
};

/** Whether its pods mean nothing to others, nor others to them: then many are placed as one is. */
export function isPlain({ asks, group, repels, ports, volumes }: Kind): boolean {
  if (asks.length > 0 || group.counted.length > 0 || group.repelled.length > 0 || repels.length > 0) return false;
  return ports.length === 0 && volumes.exclusive.length === 0 && volumes.attachments.length === 0;
}

const noLabels: Labels = {};

export function namespaceOf({ metadata }: Pod): string {
  return metadata.namespace ?? "default";
}

export function labelsOf({ metadata }: Pod): Labels {
  return metadata.labels ?? noLabels;
}

/** The same for pods of one kind; cheap for pods that ask for nothing special. */
export function kindSignature(pod: Pod): string {
  const { nodeSelector, affinity, tolerations, topologySpreadConstraints, volumes } = pod.spec;
  const labels = labelsOf(pod);
  let text = namespaceOf(pod);
  for (const key in labels) text += `\n${key}=${labels[key]}`;
  if (nodeSelector !== undefined) text += `\nselector ${JSON.stringify(nodeSelector)}`;
  if (affinity !== undefined) text += `\naffinity ${JSON.stringify(affinity)}`;
  if (tolerations !== undefined) text += `\ntolerations ${JSON.stringify(tolerations)}`;
  if (topologySpreadConstraints !== undefined) text += `\nspread ${JSON.stringify(topologySpreadConstraints)}`;
  if (volumes !== undefined) text += `\nclaims ${JSON.stringify(claimKeys(pod))}`;
  if (wantsDevices(pod)) text += "\ndevices";
  return hasPorts(pod.spec) ? `${text}\nports ${JSON.stringify(hostPorts(pod))}` : text;
}

function hasPorts({ containers, initContainers }: Pod["spec"]): boolean {
  for (let index = 0; index < containers.length; index++) {
    const ports = containers[index]?.ports;
    if (ports !== undefined && ports.length > 0) return true;
  }
  return initContainers !== undefined;
}
