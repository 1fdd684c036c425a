// Pools, classes and a SafetyPolicy by chance.

import type { Manifest } from "../../api/meta.ts";
import { type Dice, times } from "./dice.ts";

export type RandomPool = { readonly name: string; readonly replicas: number; readonly manifest: Manifest };

const instanceTypes = ["s-2x-amd64-linux", "s-4x-amd64-linux", "s-8x-amd64-linux"];

export function randomPool(dice: Dice, index: number, replicas: number): RandomPool {
  const name = `pool-${index}`;
  const grace = dice.isLucky(50) ? { terminationGracePeriod: dice.one(["1m", "10m", "1h"]) } : {};
  const className = dice.isLucky(70) ? "default" : "flawed";
  return {
    name,
    replicas,
    manifest: {
      apiVersion: "karpenter.sh/v1",
      kind: "NodePool",
      metadata: { name },
      spec: {
        replicas,
        ...(dice.isLucky(60) && { repair: repair(dice) }),
        template: {
          metadata: { labels: { team: dice.one(["blue", "green"]) } },
          spec: {
            nodeClassRef: { group: "fettle.dev", kind: "SimulatedNodeClass", name: className },
            requirements: [
              { key: "node.kubernetes.io/instance-type", operator: "In", values: [dice.one(instanceTypes)] },
            ],
            ...grace,
          },
        },
      },
    },
  };
}

function repair(dice: Dice): Record<string, unknown> {
  const policies = [
    { conditionType: "Ready", toleration: dice.one(["0s", "5m", "2h"]) },
    { conditionType: "KernelDeadlock", conditionStatus: "True", toleration: dice.one(["1m", "10m"]) },
  ];
  return {
    mode: dice.one(["Enabled", "Enabled", "Enabled", "DryRun", "Disabled"]),
    policies: policies.filter(() => dice.isLucky(60)),
    ...(dice.isLucky(30) && { defaultTolerationDuration: dice.one(["1m", "15m"]) }),
    ...(dice.isLucky(30) && { maxUnhealthy: dice.one([1, "50%"]) }),
    ...(dice.isLucky(30) && { flappingWindow: dice.one(["0s", "1h"]) }),
    ...(dice.isLucky(40) && { termination: "Graceful" }),
  };
}

/** Faults that a machine gets over, or that its claim can go with. */
const faults = [
  { kind: "NoCapacity", share: "40%" },
  { kind: "NeverJoins", share: "10%" },
  { kind: "NeverReady", share: "15%" },
  { kind: "Flaps", share: "10%", after: "1h", period: "5m" },
  { kind: "HangsOnDelete", share: "20%" },
  { kind: "Lies", share: "10%", after: "30m", conditionType: "KernelDeadlock", conditionStatus: "True" },
  { kind: "Vanishes", share: "5%", after: "5h" },
];

export function nodeClass(dice: Dice, name: string, faultCount: number): Manifest {
  return {
    apiVersion: "fettle.dev/v1alpha1",
    kind: "SimulatedNodeClass",
    metadata: { name },
    spec: {
      boot: { median: dice.one(["10s", "30s", "2m"]), p99: "5m" },
      stop: { median: "5s", p99: dice.one(["10s", "2m"]) },
      faults: times(faultCount, () => dice.one(faults)),
    },
  };
}

export function safetyPolicy(dice: Dice): Manifest {
  const cap = {
    ...(dice.isLucky(60) && { cluster: dice.one([1, 2, "10%", "25%"]) }),
    ...(dice.isLucky(40) && { zone: dice.one([1, "20%"]) }),
    ...(dice.isLucky(40) && { perWindow: { nodes: dice.one([3, "20%"]), duration: dice.one(["10m", "1h"]) } }),
  };
  const untouchable = dice.isLucky(20) ? { untouchable: { matchLabels: { team: "blue" } } } : {};
  return {
    apiVersion: "fettle.dev/v1alpha1",
    kind: "SafetyPolicy",
    metadata: { name: "default" },
    spec: { caps: { all: cap }, ...untouchable },
  };
}
