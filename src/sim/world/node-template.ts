// How a simulated kubelet registers its node and what it reports of it: the conditions that kubelets own and no other.

import type { Manifest } from "../../api/meta.ts";
import { hostnameKey } from "../../api/node.ts";
import { chance } from "../../api/simulated-chance.ts";
import type { Taint } from "../../api/taint.ts";
import { timestamp } from "../object-meta.ts";
import { conditionOf, type Verdict, withTransition } from "./conditions.ts";
import type { Condition, Node } from "./objects.ts";
import { type NodeFaults, simulateAnnotation } from "./simulated-faults.ts";

export type NodeTemplate = {
  name: string;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  taints?: readonly Taint[];
  capacity: Readonly<Record<string, string>>;
  /** Default: all of the capacity. */
  allocatable?: Readonly<Record<string, string>>;
  providerID?: string;
  /** From registration to Ready. Default 0; Infinity: never. */
  readyAfterMs?: number;
  /** How often a machine that outlives its kubelet had been rebooted before: its boot id is another one only then. */
  bootCount?: number;
};

const ownConditions = ["MemoryPressure", "DiskPressure", "PIDPressure", "Ready"] as const;

const well: Record<(typeof ownConditions)[number], Verdict> = {
  MemoryPressure: {
    type: "MemoryPressure",
    status: "False",
    reason: "KubeletHasSufficientMemory",
    message: "kubelet has sufficient memory available",
  },
  DiskPressure: {
    type: "DiskPressure",
    status: "False",
    reason: "KubeletHasNoDiskPressure",
    message: "kubelet has no disk pressure",
  },
  PIDPressure: {
    type: "PIDPressure",
    status: "False",
    reason: "KubeletHasSufficientPID",
    message: "kubelet has sufficient PID available",
  },
  Ready: { type: "Ready", status: "True", reason: "KubeletReady", message: "kubelet is posting ready status" },
};
const notYetReady: Verdict = {
  type: "Ready",
  status: "False",
  reason: "KubeletNotReady",
  message: "container runtime network not ready",
};

/** What is wrong with the machine, as its node reports it. `since`: from when, it says, whatever is true. */
export type Ailment = Verdict & { since?: number };

export type Report = { isUp: boolean; faults: NodeFaults; ailments: readonly Ailment[] };

/** What the node says now: the kubelet's own conditions first. A person's word counts more than the machine's state. */
export function reported({ isUp, faults, ailments }: Report): Ailment[] {
  const verdictByType = new Map<string, Ailment>(
    ownConditions.map(type => [type, type === "Ready" && !isUp ? notYetReady : well[type]]),
  );
  for (const ailment of ailments) verdictByType.set(ailment.type, ailment);
  for (const [type, status] of faults.statusByCondition) {
    if (verdictByType.get(type)?.status !== status) verdictByType.set(type, simulated(type, status));
  }
  return [...verdictByType.values()];
}

export function isOwn(type: string): boolean {
  return (ownConditions as readonly string[]).includes(type);
}

/** Somebody else found us silent: what we own reads Unknown until we write it again. */
export function isDeclaredUnknown(node: Node): boolean {
  return ownConditions.some(type => conditionOf(node, type)?.reason === "NodeStatusUnknown");
}

export function heartbeat(node: Node | undefined, verdicts: readonly Ailment[], now: number): Condition[] {
  return verdicts.map(({ since, ...verdict }) => ({
    lastHeartbeatTime: timestamp(now),
    ...withTransition(node && conditionOf(node, verdict.type), verdict, now),
    ...(since !== undefined && { lastTransitionTime: timestamp(since) }),
  }));
}

/** `number` tells the machine from the others: its address and ids are made of it. */
export function registration(template: NodeTemplate, number: number, conditions: readonly Condition[]): Manifest {
  const { name, labels, annotations, taints, capacity, allocatable = capacity, providerID } = template;
  const architecture = labels?.["kubernetes.io/arch"] ?? "amd64";
  const operatingSystem = labels?.["kubernetes.io/os"] ?? "linux";
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name,
      labels: {
        "beta.kubernetes.io/arch": architecture,
        "beta.kubernetes.io/os": operatingSystem,
        "kubernetes.io/arch": architecture,
        "kubernetes.io/os": operatingSystem,
        [hostnameKey]: name,
        ...labels,
      },
      // Of every kubelet by default.
      annotations: { "volumes.kubernetes.io/controller-managed-attach-detach": "true", ...annotations },
    },
    spec: { ...(providerID && { providerID }), ...(taints?.length && { taints }) },
    status: {
      capacity,
      allocatable,
      conditions,
      addresses: [
        { type: "InternalIP", address: addressOf(number) },
        { type: "Hostname", address: name },
      ],
      nodeInfo: nodeInfo(template, number, { architecture, operatingSystem }),
    },
  };
}

/** 10.128.0.0/9 is the machines'; pods have the other half. */
export function addressOf(number: number): string {
  return `10.${128 + ((number >> 16) & 127)}.${(number >> 8) & 255}.${number & 255}`;
}

function nodeInfo(
  template: NodeTemplate,
  number: number,
  { architecture, operatingSystem }: { architecture: string; operatingSystem: string },
): Record<string, string> {
  return {
    machineID: number.toString(16).padStart(32, "0"),
    systemUUID: idOf(number, 0),
    bootID: bootId(template, number, template.bootCount ?? 0),
    kernelVersion: "6.12.0",
    osImage: "Simulated",
    containerRuntimeVersion: "simulated://1.0.0",
    kubeletVersion: "v1.36.3",
    kubeProxyVersion: "",
    operatingSystem,
    architecture,
  };
}

/** Another one after each boot. */
export function bootId({ name, bootCount }: NodeTemplate, number: number, count: number): string {
  return idOf(bootCount === undefined ? number : Math.floor(chance(name, "boot") * 2 ** 32), count + 1);
}

function idOf(number: number, part: number): string {
  const hex = (value: number, length: number) => value.toString(16).padStart(length, "0");
  return `${hex(number, 8)}-0000-4000-8000-${hex(part, 12)}`;
}

function simulated(type: string, status: string): Verdict {
  const reason = type === "Ready" ? "KubeletNotReady" : "Simulated";
  return { type, status, reason, message: `The annotation ${simulateAnnotation} asks for it.` };
}
