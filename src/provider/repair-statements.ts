// Which conditions mean a sick node where nobody says otherwise, and how long each is borne: data, no decision.
// The conditions of the usual agents are off until they are asked for, since a cluster may use the names for its own.

import { minuteMs } from "../api/time.ts";
import type { RepairStatement } from "../snapshot/picture.ts";

const bad = (conditionStatus: string, minutes: number, conditionTypes: readonly string[]): RepairStatement[] =>
  conditionTypes.map(conditionType => ({ conditionType, conditionStatus, toleration: minutes * minuteMs }));

/** In force always. */
const byDefault: readonly RepairStatement[] = [
  ...bad("False", 30, ["Ready"]),
  ...bad("Unknown", 30, ["Ready"]),
  ...bad("True", 30, ["NetworkUnavailable"]),
];

/** Times as the cloud providers of Karpenter have them, where they have one; else those of the defaults. */
const statementsByAgent = {
  "node-problem-detector": [
    ...bad("True", 5, ["KernelDeadlock", "ReadonlyFilesystem"]),
    ...bad("True", 30, [
      "XfsShutdown",
      "CperHardwareErrorFatal",
      "DiskBadBlock",
      "CorruptDockerOverlay2",
      "FrequentUnregisterNetDevice",
      "FrequentKubeletRestart",
      "FrequentDockerRestart",
      "FrequentContainerdRestart",
      "KubeletUnhealthy",
      "ContainerRuntimeUnhealthy",
      "KubeProxyUnhealthy",
      "NTPProblem",
    ]),
  ],
  "eks-node-monitoring-agent": [
    ...bad("False", 10, ["AcceleratedHardwareReady"]),
    ...bad("False", 30, ["StorageReady", "NetworkingReady", "KernelReady", "ContainerRuntimeReady"]),
  ],
} as const satisfies Record<string, readonly RepairStatement[]>;
export type Agent = keyof typeof statementsByAgent;
// The keys of an object are texts to the compiler.
export const agents = Object.keys(statementsByAgent) as readonly Agent[];

export function repairStatements(asked: readonly Agent[] = []): readonly RepairStatement[] {
  return [...byDefault, ...new Set(asked)].flatMap(entry =>
    typeof entry === "string" ? [...statementsByAgent[entry]] : [entry],
  );
}
