// Objects of the stories, each as small as it can be.

import type { Manifest } from "../../../src/api/meta.ts";

const nodeClassRef = { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" };
const requirements = [{ key: "node.kubernetes.io/instance-type", operator: "In", values: ["s-4x-amd64-linux"] }];

export function pool(replicas: number, labels: Record<string, string> = {}, name = "web"): Manifest {
  const template = { metadata: { labels }, spec: { nodeClassRef, requirements } };
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodePool",
    metadata: { name },
    spec: { replicas, template },
  };
}

export function claim(metadata: object = {}, more: object = {}): Manifest {
  return {
    apiVersion: "karpenter.sh/v1",
    kind: "NodeClaim",
    metadata: { name: "by-hand", ...metadata },
    spec: { nodeClassRef, requirements, ...more },
  };
}

export function faultyClass(...faults: object[]): Manifest {
  return {
    apiVersion: "fettle.dev/v1alpha1",
    kind: "SimulatedNodeClass",
    metadata: { name: "default" },
    spec: { faults },
  };
}

export function safetyPolicy(spec: object): Manifest {
  return { apiVersion: "fettle.dev/v1alpha1", kind: "SafetyPolicy", metadata: { name: "default" }, spec };
}

export function workload(
  kind: string,
  replicas: number,
  { annotations = {}, ...more }: Record<string, unknown> = {},
): Manifest {
  const container = { name: "main", image: "main", resources: { requests: { cpu: "200m", memory: "64Mi" } } };
  const labels = { app: kind.toLowerCase() };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: { name: kind.toLowerCase(), namespace: "default" },
    spec: {
      ...(kind === "DaemonSet" ? {} : { replicas }),
      ...(kind === "StatefulSet" ? { serviceName: "stateful" } : {}),
      selector: { matchLabels: labels },
      template: { metadata: { labels, annotations }, spec: { containers: [container], ...more } },
    },
  };
}

export function budget(app: string, maxUnavailable: number): Manifest {
  const spec = { maxUnavailable, selector: { matchLabels: { app } } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name: app, namespace: "default" }, spec };
}

/** For pods of nodes that have a label, or have it not. */
export function nodeAffinity(key: string, operator: "Exists" | "DoesNotExist"): object {
  const nodeSelectorTerms = [{ matchExpressions: [{ key, operator }] }];
  return { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } };
}
