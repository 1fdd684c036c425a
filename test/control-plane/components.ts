// The programs of a real control plane: what each is built from and with which arguments it starts. Starts nothing.

import { join } from "node:path";

export type Component = "etcd" | "kube-apiserver" | "kube-controller-manager" | "kube-scheduler" | "kubectl";

const kubernetesFlags = [
  "-trimpath",
  "-ldflags",
  [
    "-s -w",
    "-X k8s.io/component-base/version.gitVersion=v1.36.3",
    "-X k8s.io/component-base/version.gitMajor=1",
    "-X k8s.io/component-base/version.gitMinor=36",
  ].join(" "),
];

type Recipe = { package: string; flags: readonly string[] };

/** Without the version a server would call itself v0.0.0 and refuse every feature that has a minimum version. */
export const recipes: Readonly<Record<Component, Recipe>> = {
  etcd: { package: "go.etcd.io/etcd/server/v3", flags: ["-trimpath", "-ldflags", "-s -w"] },
  "kube-apiserver": { package: "k8s.io/kubernetes/cmd/kube-apiserver", flags: kubernetesFlags },
  "kube-controller-manager": { package: "k8s.io/kubernetes/cmd/kube-controller-manager", flags: kubernetesFlags },
  "kube-scheduler": { package: "k8s.io/kubernetes/cmd/kube-scheduler", flags: kubernetesFlags },
  kubectl: { package: "k8s.io/kubernetes/cmd/kubectl", flags: kubernetesFlags },
};

/** Where one control plane keeps its files; everything under `dir` goes when it stops. */
export type Layout = ReturnType<typeof layout>;

export function layout(dir: string) {
  return {
    dir,
    etcdData: join(dir, "etcd"),
    etcdSocket: join(dir, "etcd.sock"),
    certs: join(dir, "certs"),
    servingCertificate: join(dir, "certs", "apiserver.crt"),
    tokens: join(dir, "tokens.csv"),
    serviceAccountKey: join(dir, "sa.key"),
    serviceAccountPublicKey: join(dir, "sa.pub"),
    auditPolicy: join(dir, "audit-policy.json"),
    auditLog: join(dir, "audit.log"),
    kubeconfig: join(dir, "kubeconfig"),
    kubectlCache: join(dir, "kubectl-cache"),
  };
}

/**
 * Clients use a Unix socket and the peer port is the kernel's choice, so that etcd cannot collide with anything. The
 * advertised address must look like host:port and is used by nobody.
 */
export function etcdArgs(at: Layout): string[] {
  return [
    `--data-dir=${at.etcdData}`,
    "--unsafe-no-fsync",
    `--listen-client-urls=unix://${at.etcdSocket}`,
    "--advertise-client-urls=http://127.0.0.1:0",
    "--listen-peer-urls=http://127.0.0.1:0",
    "--quota-backend-bytes=8589934592",
    "--log-level=error",
  ];
}

export type ApiServerSettings = {
  port: number;
  authorization: "AlwaysAllow" | "RBAC";
  audit: boolean;
  flags: readonly string[];
};

/** Pods need no ServiceAccount, because nothing makes one unless the controller-manager runs. */
export function apiServerArgs(at: Layout, settings: ApiServerSettings): string[] {
  return [
    `--etcd-servers=unix://${at.etcdSocket}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${settings.port}`,
    `--cert-dir=${at.certs}`,
    `--token-auth-file=${at.tokens}`,
    `--authorization-mode=${settings.authorization}`,
    "--disable-admission-plugins=ServiceAccount",
    `--service-account-key-file=${at.serviceAccountPublicKey}`,
    `--service-account-signing-key-file=${at.serviceAccountKey}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    "--service-cluster-ip-range=10.0.0.0/24",
    "--endpoint-reconciler-type=none",
    "--allow-privileged=true",
    ...(settings.audit ? [`--audit-policy-file=${at.auditPolicy}`, `--audit-log-path=${at.auditLog}`] : []),
    ...settings.flags,
  ];
}

/** `controllers` in kube-controller-manager's own names; all that are on by default when it is left out. */
export function controllerManagerArgs(at: Layout, controllers: readonly string[] = ["*"]): string[] {
  return [
    `--kubeconfig=${at.kubeconfig}`,
    `--service-account-private-key-file=${at.serviceAccountKey}`,
    `--controllers=${controllers.join(",")}`,
    "--leader-elect=false",
    "--secure-port=0",
  ];
}

export function schedulerArgs(at: Layout): string[] {
  return [`--kubeconfig=${at.kubeconfig}`, "--leader-elect=false", "--secure-port=0"];
}

/** A watch is counted when it begins, everything else when it is answered; the request stage would count twice. */
export function auditPolicy(bodiesOf: readonly string[]) {
  const verbs = ["create", "update", "patch", "delete"];
  return {
    apiVersion: "audit.k8s.io/v1",
    kind: "Policy",
    omitStages: ["RequestReceived"],
    // A rule without users would be one for all of them.
    rules: [...bodiesOf.map(user => ({ level: "Request", users: [user], verbs })), { level: "Metadata" }],
  };
}
