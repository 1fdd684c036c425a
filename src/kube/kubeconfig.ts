// Kubeconfig files → how to reach one cluster, and as whom. Reads text only: which files, and what they point to, is
// read by others (the command line, identity.ts). A broken file is one sentence that names file, entry and field.

import { isAbsolute, join } from "node:path";
import { type Document, parseDocument } from "yaml";
import { ConfigError } from "./errors.ts";
import { entries, Fields, type Material } from "./kubeconfig-fields.ts";

export type ExecPlugin = {
  apiVersion: "client.authentication.k8s.io/v1" | "client.authentication.k8s.io/v1beta1";
  command: string;
  args: readonly string[];
  env: readonly { name: string; value: string }[];
  installHint?: string;
  provideClusterInfo: boolean;
  interactiveMode: "Never" | "IfAvailable" | "Always";
};

export type User = {
  clientCertificate?: { cert: Material; key: Material };
  token?: string;
  tokenFile?: string;
  basic?: { username: string; password: string };
  exec?: ExecPlugin;
};

export type Impersonation = {
  user: string;
  uid?: string;
  groups: readonly string[];
  extra: Readonly<Record<string, readonly string[]>>;
};

export type ClusterConfig = {
  /** Where this comes from, for messages: `context "prod" of /home/ann/.kube/config`. */
  source: string;
  server: string;
  /** The context's own namespace, for commands that take one. */
  namespace: string;
  ca?: Material;
  tlsServerName?: string;
  insecureSkipTlsVerify: boolean;
  proxyUrl?: string;
  user: User;
  impersonate?: Impersonation;
  /** The cluster's extension for exec plugins, handed to them as it is. */
  execConfig?: unknown;
};

export type Kubeconfig = {
  files: readonly string[];
  currentContext: string | undefined;
  contexts: ReadonlyMap<string, Fields>;
  clusters: ReadonlyMap<string, Fields>;
  users: ReadonlyMap<string, Fields>;
};

/** `baseDir` is what relative paths in this file are relative to: its own directory. */
export function parseKubeconfig(text: string, { file, baseDir }: { file: string; baseDir: string }): Kubeconfig {
  const document = parseDocument(text, { uniqueKeys: true });
  const problem = document.errors[0];
  // The parser's own message quotes the line, which may hold a token.
  if (problem !== undefined) {
    const line = problem.linePos?.[0].line;
    throw new ConfigError(`Kubeconfig ${file} is not valid YAML${line === undefined ? "" : ` (line ${line})`}.`);
  }
  const root = new Fields(plain(document, file), { file, baseDir, entry: "" });
  return {
    files: [file],
    currentContext: root.text("current-context"),
    contexts: entries(root, "contexts", "context"),
    clusters: entries(root, "clusters", "cluster"),
    users: entries(root, "users", "user"),
  };
}

function plain(document: Document, file: string): unknown {
  try {
    return document.toJS() ?? {};
  } catch {
    throw new ConfigError(`Kubeconfig ${file} has YAML aliases that do not resolve: write the values out.`);
  }
}

/** Of several files the first to name an entry wins, whole: fields of two files are never mixed. */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  const merged = (pick: (config: Kubeconfig) => ReadonlyMap<string, Fields>): Map<string, Fields> =>
    new Map([...configs].reverse().flatMap(config => [...pick(config)]));
  return {
    files: configs.flatMap(config => config.files),
    currentContext: configs.find(config => config.currentContext !== undefined)?.currentContext,
    contexts: merged(config => config.contexts),
    clusters: merged(config => config.clusters),
    users: merged(config => config.users),
  };
}

/** The cluster and user of one context; without a name the current one. */
export function resolveContext(kubeconfig: Kubeconfig, name = kubeconfig.currentContext): ClusterConfig {
  const where = `Kubeconfig ${kubeconfig.files.join(", ")}`;
  if (name === undefined) throw new ConfigError(`${where} has no current-context: name a context.`);
  const context = kubeconfig.contexts.get(name);
  if (context === undefined) {
    const known = [...kubeconfig.contexts.keys()].join(", ");
    throw new ConfigError(`${where} has no context "${name}" (it has: ${known === "" ? "none" : known}).`);
  }
  const referenced = (field: "cluster" | "user", among: ReadonlyMap<string, Fields>): Fields => {
    const key = context.required(field);
    return among.get(key) ?? context.fail(field, `names "${key}", which is not defined under ${field}s`);
  };
  const cluster = referenced("cluster", kubeconfig.clusters);
  const user = context.text("user") === undefined ? undefined : referenced("user", kubeconfig.users);
  return {
    source: `context "${name}" of ${context.file}`,
    namespace: context.text("namespace") ?? "default",
    ...clusterOf(cluster),
    user: user === undefined ? {} : userOf(user),
    ...(user === undefined ? {} : impersonationOf(user)),
  };
}

function clusterOf(cluster: Fields): Omit<ClusterConfig, "source" | "namespace" | "user"> {
  const ca = cluster.material("certificate-authority");
  const insecure = cluster.flag("insecure-skip-tls-verify");
  if (insecure && ca !== undefined) {
    cluster.fail("insecure-skip-tls-verify", "cannot be combined with certificate-authority: remove one of them");
  }
  const tlsServerName = cluster.text("tls-server-name");
  const proxyUrl = cluster.url("proxy-url", ["http:", "https:", "socks5:"]);
  const execConfig = cluster.extension("client.authentication.k8s.io/exec");
  return {
    server:
      cluster.url("server", ["http:", "https:"]) ?? cluster.fail("server", "is missing: give the API server's URL"),
    insecureSkipTlsVerify: insecure,
    ...(ca === undefined ? {} : { ca }),
    ...(tlsServerName === undefined ? {} : { tlsServerName }),
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    ...(execConfig === undefined ? {} : { execConfig }),
  };
}

function userOf(user: Fields): User {
  const cert = user.material("client-certificate");
  const key = user.material("client-key");
  if (cert !== undefined && key === undefined) {
    user.fail("client-key", "is missing: a client certificate needs client-key or client-key-data");
  }
  if (cert === undefined && key !== undefined) {
    user.fail("client-certificate", "is missing: a client key needs client-certificate or client-certificate-data");
  }
  const token = user.text("token");
  const tokenFile = user.path("tokenFile");
  const username = user.text("username");
  const exec = user.child("exec");
  if (token !== undefined && username !== undefined) {
    user.fail("username", "cannot be combined with token: remove one of them");
  }
  if (user.has("auth-provider")) {
    user.fail("auth-provider", "is no longer supported by Kubernetes: use an exec plugin, a token or a certificate");
  }
  return {
    ...(cert === undefined || key === undefined ? {} : { clientCertificate: { cert, key } }),
    ...(token === undefined ? {} : { token }),
    ...(tokenFile === undefined ? {} : { tokenFile }),
    ...(username === undefined ? {} : { basic: { username, password: user.text("password") ?? "" } }),
    ...(exec === undefined ? {} : { exec: execOf(exec) }),
  };
}

function execOf(exec: Fields): ExecPlugin {
  const apiVersion = exec.oneOf("apiVersion", [
    "client.authentication.k8s.io/v1",
    "client.authentication.k8s.io/v1beta1",
  ]);
  const command = exec.required("command");
  const installHint = exec.text("installHint");
  // Required in v1; v1beta1 came before the field and means IfAvailable.
  const mode = apiVersion.endsWith("/v1beta1") && !exec.has("interactiveMode") ? "IfAvailable" : undefined;
  return {
    apiVersion,
    // A bare name is looked up in PATH, anything with a slash is a file beside the kubeconfig.
    command: command.includes("/") && !isAbsolute(command) ? join(exec.baseDir, command) : command,
    args: exec.texts("args"),
    env: exec.children("env").map(one => ({ name: one.required("name"), value: one.text("value") ?? "" })),
    provideClusterInfo: exec.flag("provideClusterInfo"),
    interactiveMode: mode ?? exec.oneOf("interactiveMode", ["Never", "IfAvailable", "Always"]),
    ...(installHint === undefined ? {} : { installHint }),
  };
}

function impersonationOf(user: Fields): { impersonate?: Impersonation } {
  const name = user.text("as");
  const uid = user.text("as-uid");
  const groups = user.texts("as-groups");
  const extra = user.textLists("as-user-extra");
  if (name === undefined) {
    if (uid !== undefined || groups.length > 0 || Object.keys(extra).length > 0) {
      user.fail("as", "is missing: a uid, groups or extras can only be impersonated with a user");
    }
    return {};
  }
  return { impersonate: { user: name, groups, extra, ...(uid === undefined ? {} : { uid }) } };
}
