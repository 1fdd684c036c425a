// Rules about a node and what is on it: cordon, taints, node affinity, resources, host ports.

import type { ContainerPort, Pod } from "../../../src/api/pod.ts";
import { formatTaint } from "../../../src/api/taint.ts";
import type { Machine, Spot } from "./cluster.ts";
import { isWanted, repellingTaint } from "./matching.ts";
import { type Amounts, added, requestsOf } from "./requests.ts";

const cordon = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" } as const;

export function cordoned(pod: Pod, { machine }: Spot): string | undefined {
  return machine.isCordoned && repellingTaint(pod, [cordon]) !== undefined ? "is unschedulable" : undefined;
}

export function tainted(pod: Pod, { machine }: Spot): string | undefined {
  const taint = repellingTaint(pod, machine.taints);
  return taint === undefined ? undefined : `has the taint ${formatTaint(taint)}`;
}

export function unwanted(pod: Pod, { machine, shape }: Spot): string | undefined {
  return isWanted(pod, { name: machine.name, labels: shape.labels }) ? undefined : "has not the labels it asks for";
}

/** A pod that asks for none of a resource fits even where too much of it was given away. */
export function short(pod: Pod, { machine, shape }: Spot): string | undefined {
  const { daemons } = shape;
  const used = daemons.length === 0 ? usedOn(machine) : added(usedOn(machine), ...daemons.map(requestsOf));
  for (const [name, asked] of requestsOf(pod)) {
    const free = (shape.allocatable.get(name) ?? 0n) - (used.get(name) ?? 0n);
    if (asked > 0n && asked > free) return `has ${free} of ${name} left, not ${asked}`;
  }
  return undefined;
}

const lastSum = new WeakMap<Machine, { pods: number; sum: Amounts }>();

// Asked for each type that a new node may become; pods are only ever added.
function usedOn(machine: Machine): Amounts {
  const { pods, reserved } = machine;
  const last = lastSum.get(machine);
  if (last?.pods === pods.length) return last.sum;
  const sum = added(reserved, ...pods.map(requestsOf));
  lastSum.set(machine, { pods: pods.length, sum });
  return sum;
}

export function portTaken(pod: Pod, { machine, shape }: Spot): string | undefined {
  const wanted = hostPorts(pod);
  if (wanted.length === 0) return undefined;
  const taken = [...machine.pods, ...shape.daemons].flatMap(hostPorts);
  const clash = wanted.find(port => taken.some(other => isSamePort(port, other)));
  return clash === undefined ? undefined : `has host port ${clash.hostPort} in use`;
}

/** Sidecars hold theirs while the pod runs; what an init container opens is closed again. */
function hostPorts({ spec }: Pod): ContainerPort[] {
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...sidecars, ...spec.containers]
    .flatMap(({ ports = [] }) => ports)
    .filter(({ hostPort = 0 }) => hostPort > 0);
}

function isSamePort(a: ContainerPort, b: ContainerPort): boolean {
  if (a.hostPort !== b.hostPort || (a.protocol ?? "TCP") !== (b.protocol ?? "TCP")) return false;
  const [ipA, ipB] = [a.hostIP || "0.0.0.0", b.hostIP || "0.0.0.0"];
  return ipA === ipB || ipA === "0.0.0.0" || ipB === "0.0.0.0";
}
