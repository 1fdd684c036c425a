import { describe, expect, test } from "vitest";
import { mergeKubeconfigs, parseKubeconfig, resolveContext } from "./kubeconfig.ts";

const place = { file: "/home/ann/.kube/config", baseDir: "/home/ann/.kube" };
const b64 = (text: string) => Buffer.from(text).toString("base64");

type Entry = Record<string, unknown>;

/** One context "prod" with this cluster and user; JSON is YAML. */
function aFile({ cluster = {}, user = {}, context = {} }: { cluster?: Entry; user?: Entry; context?: Entry }): string {
  return JSON.stringify({
    "current-context": "prod",
    contexts: [{ name: "prod", context: { cluster: "c", user: "u", ...context } }],
    clusters: [{ name: "c", cluster: { server: "https://api.example:6443", ...cluster } }],
    users: [{ name: "u", user }],
  });
}

const resolved = (entries: Parameters<typeof aFile>[0]) => resolveContext(parseKubeconfig(aFile(entries), place));

describe("a context", () => {
  test("as kubectl writes it", () => {
    const text = `
apiVersion: v1
kind: Config
current-context: prod
clusters:
- name: eu
  cluster:
    server: https://api.example:6443
    certificate-authority-data: ${b64("CA")}
    tls-server-name: kubernetes
    proxy-url: http://proxy:3128
contexts:
- name: prod
  context: {cluster: eu, user: ann, namespace: web}
users:
- name: ann
  user:
    client-certificate-data: ${b64("CERT")}
    client-key-data: ${b64("KEY")}
`;
    expect(resolveContext(parseKubeconfig(text, place))).toEqual({
      source: 'context "prod" of /home/ann/.kube/config',
      server: "https://api.example:6443",
      namespace: "web",
      ca: { data: "CA" },
      tlsServerName: "kubernetes",
      proxyUrl: "http://proxy:3128",
      insecureSkipTlsVerify: false,
      user: { clientCertificate: { cert: { data: "CERT" }, key: { data: "KEY" } } },
    });
  });

  test("paths are relative to the file they stand in", () => {
    const config = resolved({
      cluster: { "certificate-authority": "pki/ca.crt" },
      user: { "client-certificate": "../ann.crt", "client-key": "/keys/ann.key", tokenFile: "token" },
    });
    expect(config.ca).toEqual({ file: "/home/ann/.kube/pki/ca.crt" });
    expect(config.user).toEqual({
      clientCertificate: { cert: { file: "/home/ann/ann.crt" }, key: { file: "/keys/ann.key" } },
      tokenFile: "/home/ann/.kube/token",
    });
  });

  test("tokens, passwords, impersonation", () => {
    expect(resolved({ user: { token: "t" } }).user).toEqual({ token: "t" });
    expect(resolved({ user: { username: "a", password: "p" } }).user).toEqual({
      basic: { username: "a", password: "p" },
    });
    expect(
      resolved({ user: { as: "bob", "as-uid": "7", "as-groups": ["g"], "as-user-extra": { why: ["x", "y"] } } })
        .impersonate,
    ).toEqual({ user: "bob", uid: "7", groups: ["g"], extra: { why: ["x", "y"] } });
  });

  test("a credential plugin, its extension and its defaults", () => {
    const config = resolved({
      cluster: { extensions: [{ name: "client.authentication.k8s.io/exec", extension: { audience: "x" } }] },
      user: {
        exec: {
          apiVersion: "client.authentication.k8s.io/v1beta1",
          command: "./bin/login",
          args: ["get-token"],
          env: [{ name: "PROFILE", value: "prod" }],
          installHint: "Install it.",
          provideClusterInfo: true,
        },
      },
    });
    expect(config.execConfig).toEqual({ audience: "x" });
    expect(config.user.exec).toEqual({
      apiVersion: "client.authentication.k8s.io/v1beta1",
      command: "/home/ann/.kube/bin/login",
      args: ["get-token"],
      env: [{ name: "PROFILE", value: "prod" }],
      installHint: "Install it.",
      provideClusterInfo: true,
      interactiveMode: "IfAvailable",
    });
  });

  test("a plugin's bare name is left to PATH", () => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "aws", interactiveMode: "Never" };
    expect(resolved({ user: { exec } }).user.exec?.command).toBe("aws");
  });

  test("another than the current one by name; without a user nobody in particular", () => {
    const text = JSON.stringify({
      contexts: [{ name: "dev", context: { cluster: "c" } }],
      clusters: [{ name: "c", cluster: { server: "http://localhost:8001" } }],
    });
    const config = resolveContext(parseKubeconfig(text, place), "dev");
    expect(config).toMatchObject({ server: "http://localhost:8001", namespace: "default", user: {} });
  });
});

describe("several files", () => {
  const first = { file: "/a/config", baseDir: "/a" };
  const second = { file: "/b/config", baseDir: "/b" };
  const merge = (one: object, other: object) =>
    mergeKubeconfigs([parseKubeconfig(JSON.stringify(one), first), parseKubeconfig(JSON.stringify(other), second)]);

  test("the first to name an entry wins, whole, and paths keep their own file's directory", () => {
    const kubeconfig = merge(
      { "current-context": "x", clusters: [{ name: "c", cluster: { server: "https://one" } }] },
      {
        "current-context": "y",
        clusters: [{ name: "c", cluster: { server: "https://two", "certificate-authority": "ca" } }],
        contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
        users: [{ name: "u", user: { tokenFile: "token" } }],
      },
    );
    const config = resolveContext(kubeconfig);
    expect(config.server).toBe("https://one");
    expect(config.ca).toBeUndefined();
    expect(config.user).toEqual({ tokenFile: "/b/token" });
  });

  test("a missing context names all the files", () => {
    expect(() => resolveContext(merge({}, {}), "x")).toThrow(
      'Kubeconfig /a/config, /b/config has no context "x" (it has: none).',
    );
  });
});

describe("a broken file is one sentence that names file, entry and field", () => {
  const file = "Kubeconfig /home/ann/.kube/config";
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "x", interactiveMode: "Never" };
  test.each<[string, Parameters<typeof aFile>[0], string]>([
    ["no server", { cluster: { server: "" } }, 'cluster "c": server is missing: give the API server\'s URL.'],
    [
      "a server without scheme",
      { cluster: { server: "api:6443" } },
      'cluster "c": server must be a URL that begins with http:// or https://.',
    ],
    [
      "a proxy of an unknown kind",
      { cluster: { "proxy-url": "ftp://x" } },
      'cluster "c": proxy-url must be a URL that begins with http:// or https:// or socks5://.',
    ],
    [
      "CA twice",
      { cluster: { "certificate-authority": "a", "certificate-authority-data": "QQ==" } },
      'cluster "c": certificate-authority-data and certificate-authority are both given: remove one.',
    ],
    [
      "CA and no verification",
      { cluster: { "certificate-authority": "a", "insecure-skip-tls-verify": true } },
      'cluster "c": insecure-skip-tls-verify cannot be combined with certificate-authority: remove one of them.',
    ],
    [
      "a flag in quotes",
      { cluster: { "insecure-skip-tls-verify": "true" } },
      'cluster "c": insecure-skip-tls-verify must be true or false.',
    ],
    [
      "data that is not base64",
      { cluster: { "certificate-authority-data": "-----BEGIN" } },
      'cluster "c": certificate-authority-data must be base64.',
    ],
    [
      "an unknown cluster",
      { context: { cluster: "d" } },
      'context "prod": cluster names "d", which is not defined under clusters.',
    ],
    [
      "an unknown user",
      { context: { user: "v" } },
      'context "prod": user names "v", which is not defined under users.',
    ],
    ["no cluster", { context: { cluster: "" } }, 'context "prod": cluster is missing.'],
    [
      "a certificate without key",
      { user: { "client-certificate": "a" } },
      'user "u": client-key is missing: a client certificate needs client-key or client-key-data.',
    ],
    [
      "a key without certificate",
      { user: { "client-key": "a" } },
      'user "u": client-certificate is missing: a client key needs client-certificate or client-certificate-data.',
    ],
    [
      "token and password",
      { user: { token: "t", username: "a" } },
      'user "u": username cannot be combined with token: remove one of them.',
    ],
    ["a token that is a number", { user: { token: 12345 } }, 'user "u": token must be a string: put it in quotes.'],
    [
      "an auth provider",
      { user: { "auth-provider": { name: "gcp" } } },
      'user "u": auth-provider is no longer supported by Kubernetes: use an exec plugin, a token or a certificate.',
    ],
    [
      "an old plugin version",
      { user: { exec: { ...exec, apiVersion: "client.authentication.k8s.io/v1alpha1" } } },
      'user "u" exec: apiVersion must be one of client.authentication.k8s.io/v1, client.authentication.k8s.io/v1beta1.',
    ],
    ["a plugin without command", { user: { exec: { ...exec, command: "" } } }, 'user "u" exec: command is missing.'],
    [
      "a v1 plugin without interactiveMode",
      { user: { exec: { ...exec, interactiveMode: undefined } } },
      'user "u" exec: interactiveMode is missing.',
    ],
    ["args that are no list", { user: { exec: { ...exec, args: "a b" } } }, 'user "u" exec: args must be a list.'],
    [
      "args that are no strings",
      { user: { exec: { ...exec, args: [1] } } },
      'user "u" exec: args must be a list of strings.',
    ],
    [
      "a nameless variable",
      { user: { exec: { ...exec, env: [{ value: "x" }] } } },
      'user "u" exec env[0]: name is missing.',
    ],
    [
      "groups without a user",
      { user: { "as-groups": ["g"] } },
      'user "u": as is missing: a uid, groups or extras can only be impersonated with a user.',
    ],
    ["a user that is a text", { user: "x" as unknown as Entry }, 'user "u" must be a mapping of fields to values.'],
  ])("%s", (_, entries, message) => expect(() => resolved(entries)).toThrow(`${file}, ${message}`));

  test.each([
    ["no current context", "{}", `${file} has no current-context: name a context.`],
    ["two entries of one name", "users: [{name: a}, {name: a}]", `${file}: users has two entries named "a".`],
    ["an entry without name", "users: [{user: {}}]", `${file}, users[0]: name is missing.`],
    ["a list instead of a file", "[1, 2]", `${file} must be a mapping of fields to values.`],
    ["clusters that are no list", "clusters: {}", `${file}: clusters must be a list.`],
    ["a bomb of aliases", bomb(), `${file} has YAML aliases that do not resolve: write the values out.`],
  ])("%s", (_, text, message) => {
    expect(() => resolveContext(parseKubeconfig(text, place))).toThrow(message);
  });

  test("broken YAML is located, not quoted: the line may hold a token", () => {
    const text = "users:\n- name: a\n  user: {token: sentinel-token\n";
    expect(() => parseKubeconfig(text, place)).toThrow(
      /^Kubeconfig \/home\/ann\/\.kube\/config is not valid YAML \(line \d\)\.$/,
    );
  });

  function bomb(): string {
    const lines = Array.from({ length: 9 }, (_, level) => `l${level + 1}: &l${level + 1} [${`*l${level},`.repeat(9)}]`);
    return ["l0: &l0 x", ...lines].join("\n");
  }
});
