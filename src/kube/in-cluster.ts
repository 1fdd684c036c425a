// How a pod reaches the API server of its own cluster: the service account's mounted files and two variables.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "./errors.ts";
import type { ClusterConfig } from "./kubeconfig.ts";

const SERVICE_ACCOUNT_DIR = "/var/run/secrets/kubernetes.io/serviceaccount";

/** undefined outside of a pod. `tokenFile` and `ca` stay files: the kubelet replaces them while we run. */
export function inClusterConfig(
  env: Readonly<Record<string, string | undefined>>,
  dir = SERVICE_ACCOUNT_DIR,
): ClusterConfig | undefined {
  const host = env["KUBERNETES_SERVICE_HOST"];
  const port = env["KUBERNETES_SERVICE_PORT"];
  if (host === undefined || port === undefined || host === "" || port === "") return undefined;
  return {
    source: "the pod's service account",
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    namespace: readNamespace(join(dir, "namespace")),
    ca: { file: join(dir, "ca.crt") },
    insecureSkipTlsVerify: false,
    user: { tokenFile: join(dir, "token") },
  };
}

function readNamespace(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    throw new ConfigError(
      `The pod has no service account namespace at ${file}: set automountServiceAccountToken or give a kubeconfig.`,
      { cause },
    );
  }
}
