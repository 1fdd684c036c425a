// Workloads by chance: deployments, stateful and daemon sets, with budgets and wishes not to be disrupted.

import type { Manifest } from "../../api/meta.ts";
import type { Dice } from "./dice.ts";

export type RandomWorkload = {
  readonly name: string;
  readonly kind: "Deployment" | "StatefulSet" | "DaemonSet";
  readonly hasBudget: boolean;
  readonly isProtected: boolean;
  readonly manifests: readonly Manifest[];
};

const doNotDisruptKey = "karpenter.sh/do-not-disrupt";

export function randomWorkload(dice: Dice, index: number): RandomWorkload {
  const name = `app-${index}`;
  const kind = dice.one(["Deployment", "Deployment", "Deployment", "StatefulSet", "DaemonSet"] as const);
  const hasBudget = kind !== "DaemonSet" && dice.isLucky(50);
  const isProtected = kind === "Deployment" && dice.isLucky(20);
  const set = workload(dice, { name, kind, isProtected });
  return { name, kind, hasBudget, isProtected, manifests: hasBudget ? [set, budget(dice, name)] : [set] };
}

function workload(
  dice: Dice,
  { name, kind, isProtected }: Pick<RandomWorkload, "name" | "kind" | "isProtected">,
): Manifest {
  const annotations = {
    ...(isProtected && { [doNotDisruptKey]: dice.one(["true", "2h", "soon"]) }),
    ...(dice.isLucky(10) && { "fettle.dev/simulate": dice.one(["stop=Never", "stop=2m", "start=1m"]) }),
  };
  const requests = { cpu: dice.one(["50m", "200m", "500m"]), memory: "64Mi" };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name, namespace: "default" },
    spec: {
      ...(kind !== "DaemonSet" && { replicas: dice.whole(1, 12) }),
      ...(kind === "StatefulSet" && { serviceName: name }),
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name }, annotations },
        spec: {
          terminationGracePeriodSeconds: dice.one([0, 5, 30, 300]),
          ...(dice.isLucky(15) && { priorityClassName: "system-cluster-critical" }),
          containers: [{ name: "main", image: "main", resources: { requests } }],
        },
      },
    },
  };
}

function budget(dice: Dice, name: string): Manifest {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace: "default" },
    spec: { maxUnavailable: dice.one([0, 1, 2, "50%"]), selector: { matchLabels: { app: name } } },
  };
}
