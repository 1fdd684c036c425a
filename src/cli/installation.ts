// The objects that run Fettle in a cluster, beside its CustomResourceDefinitions: namespace, identity, roles and a
// Deployment that the restricted Pod Security Standard admits.

import type { Manifest } from "../api/meta.ts";
import { nodePoolKey } from "../api/node.ts";
import { nodeLeaseNamespace } from "../api/node-health-check-contract.ts";
import { simulatedNamespace } from "../api/simulated-instance.ts";
import { aggregation, type Permission, permissions } from "./permissions.ts";
import type { ProviderName } from "./wire.ts";

export type InstallationOptions = {
  namespace: string;
  provider: ProviderName;
  image: string;
  replicas: number;
};

const name = "fettle";
const labels = { "app.kubernetes.io/name": name };
const metricsPort = 8080;

export function installation(options: InstallationOptions): Manifest[] {
  const { namespace, provider } = options;
  const { cluster, byNamespace } = permissions(provider);
  return [
    namespaceObject(namespace, restricted),
    namespaceObject(nodeLeaseNamespace),
    ...(provider === "simulated" ? [namespaceObject(simulatedNamespace)] : []),
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace, labels } },
    role("ClusterRole", { name }, cluster),
    binding("ClusterRoleBinding", { name }, namespace),
    aggregated,
    binding("ClusterRoleBinding", { name: aggregated.metadata.name }, namespace, aggregated.metadata.name),
    ...[...byNamespace].flatMap(([place, rules]) => [
      role("Role", { name, namespace: place }, rules),
      binding("RoleBinding", { name, namespace: place }, namespace),
    ]),
    deployment(options),
    disruptionBudget(namespace),
  ];
}

/** Whatever is put there by mistake is refused, too. */
const restricted = { "pod-security.kubernetes.io/enforce": "restricted" };

function namespaceObject(namespace: string, more: Record<string, string> = {}): Manifest {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace, labels: { ...labels, ...more } } };
}

type Place = { name: string; namespace?: string };
const rbac = "rbac.authorization.k8s.io";

/** The reasons go with the rules, for whoever audits the cluster. */
function role(kind: "ClusterRole" | "Role", place: Place, granted: readonly Permission[]): Manifest {
  const reasons = granted.map(({ resource, verbs, why }) => `${resource} (${verbs.join(", ")}): ${why}\n`).join("");
  return {
    apiVersion: `${rbac}/v1`,
    kind,
    metadata: { ...place, labels, annotations: { "fettle.dev/reasons": reasons } },
    rules: granted.map(({ group, resource, verbs, name: only }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs,
      ...(only === undefined ? {} : { resourceNames: [only] }),
    })),
  };
}

/**
 * Filled by the cluster from the roles of those who serve remediations: we write no rights ourselves. No rules, not even
 * none: they are another's field, and who applied this a second time would be in conflict with that.
 */
const aggregated = {
  apiVersion: `${rbac}/v1`,
  kind: "ClusterRole",
  metadata: { name: `${name}-ext-remediation`, labels },
  aggregationRule: { clusterRoleSelectors: [{ matchLabels: aggregation }] },
};

function binding(
  kind: "ClusterRoleBinding" | "RoleBinding",
  place: Place,
  namespace: string,
  roleName: string = name,
): Manifest {
  return {
    apiVersion: `${rbac}/v1`,
    kind,
    metadata: { ...place, labels },
    roleRef: { apiGroup: rbac, kind: kind.replace("Binding", ""), name: roleName },
    subjects: [{ kind: "ServiceAccount", name, namespace }],
  };
}

function deployment({ namespace, provider, image, replicas }: InstallationOptions): Manifest {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: podSpec(image, ["run", `--provider=${provider}`]) },
    },
  };
}

function podSpec(image: string, args: readonly string[]) {
  return {
    serviceAccountName: name,
    // A Service named fettle would put FETTLE_PORT and more into the environment, where flags have their twins.
    enableServiceLinks: false,
    // Whoever repairs nodes must not be the first to be evicted from one.
    priorityClassName: "system-cluster-critical",
    securityContext: { runAsNonRoot: true, runAsUser: 65_532, seccompProfile: { type: "RuntimeDefault" } },
    tolerations: [{ key: "CriticalAddonsOnly", operator: "Exists" }],
    // Rather on a node that it will not take away itself.
    affinity: {
      nodeAffinity: {
        preferredDuringSchedulingIgnoredDuringExecution: [
          { weight: 100, preference: { matchExpressions: [{ key: nodePoolKey, operator: "DoesNotExist" }] } },
        ],
      },
    },
    // Not all on the node, or in the zone, that fails.
    topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map(topologyKey => ({
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: labels },
    })),
    // Time for the command in hand and for giving the lease back.
    terminationGracePeriodSeconds: 30,
    containers: [container(image, args)],
  };
}

function container(image: string, args: readonly string[]) {
  return {
    name,
    image,
    args,
    ports: [{ name: "metrics", containerPort: metricsPort }],
    // Enough for 5,000 nodes and 150,000 pods (npm run bench); more CPU than it asks for is welcome at the first list.
    resources: { requests: { cpu: "100m", memory: "256Mi" }, limits: { memory: "1Gi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    },
    livenessProbe: probe("/healthz", { periodSeconds: 20, failureThreshold: 6 }),
    readinessProbe: probe("/readyz", { periodSeconds: 10, failureThreshold: 3 }),
  };
}

function probe(path: string, pace: { periodSeconds: number; failureThreshold: number }) {
  return { httpGet: { path, port: "metrics" }, timeoutSeconds: 5, ...pace };
}

function disruptionBudget(namespace: string): Manifest {
  return {
    apiVersion: "policy/v1",
    kind: "PodDisruptionBudget",
    metadata: { name, namespace, labels },
    spec: { maxUnavailable: 1, selector: { matchLabels: labels } },
  };
}
