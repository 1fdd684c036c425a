// Kinds and manifests that the contract suites use.

import type { Manifest, Resource } from "../../src/api/meta.ts";

const core = (plural: string, kind: string, namespaced = true): Resource => ({
  group: "",
  version: "v1",
  plural,
  kind,
  namespaced,
});

export const namespaces = core("namespaces", "Namespace", false);
export const configMaps = core("configmaps", "ConfigMap");
export const pods = core("pods", "Pod");
export const deployments: Resource = { ...core("deployments", "Deployment"), group: "apps" };
export const budgets: Resource = { ...core("poddisruptionbudgets", "PodDisruptionBudget"), group: "policy" };
export const nodePools: Resource = { ...core("nodepools", "NodePool", false), group: "karpenter.sh" };

export function configMap(
  name: string,
  more: { labels?: Record<string, string>; finalizers?: string[]; data?: Record<string, string> } = {},
): Manifest {
  const { data, ...metadata } = more;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, ...metadata },
    ...(data === undefined ? {} : { data }),
  };
}

const podSpec = { containers: [{ name: "main", image: "app:1" }] };

export function pod(name: string, labels: Record<string, string> = {}): Manifest {
  return { apiVersion: "v1", kind: "Pod", metadata: { name, labels }, spec: podSpec };
}

export function deployment(name: string): Manifest {
  const labels = { app: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: { replicas: 2, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } },
  };
}

export function budget(name: string, labels: Record<string, string>): Manifest {
  const spec = { minAvailable: 1, selector: { matchLabels: labels } };
  return { apiVersion: "policy/v1", kind: "PodDisruptionBudget", metadata: { name }, spec };
}

export function nodePool(name: string): Manifest {
  return { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name }, spec: {} };
}
