import { X509Certificate } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import { type Answer, json, type ScriptedServer, scriptedServer, status } from "../../test/kube/scripted-server.ts";
import type { Resource } from "../api/meta.ts";
import type { Clock } from "../control/ports.ts";
import { type Connection, connect } from "./client.ts";
import type { ClusterConfig, ExecPlugin } from "./kubeconfig.ts";
import { systemClock } from "./system-clock.ts";

const nodes: Resource = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };
const SENTINEL = "sentinel-token-0123456789abcdef";

let dir = "";
let server: ScriptedServer;
let api: Connection | undefined;

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "fettle-"));
  server = await scriptedServer([json(200, {})], { tls: true });
});

afterEach(async () => {
  await api?.close();
  await server.close();
  rmSync(dir, { recursive: true });
});

function connected(more: Partial<ClusterConfig>, clock: Clock = systemClock): Connection {
  api = connect({ ...server.config, ...more }, { clock, env: { PATH: "/usr/bin:/bin" } });
  return api;
}

async function failure(of: Promise<unknown>): Promise<Error> {
  try {
    await of;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("It should have failed.");
}

function file(name: string, text: string): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  return path;
}

const authorizations = (): unknown[] => server.asked.map(asked => asked.headers.authorization);

async function answering(...answers: Answer[]): Promise<void> {
  await server.close();
  server = await scriptedServer(answers, { tls: true });
}

describe("who we are", () => {
  test.each<[string, ClusterConfig["user"], string | undefined]>([
    ["a token", { token: SENTINEL }, `Bearer ${SENTINEL}`],
    ["a password", { basic: { username: "ann", password: "p" } }, `Basic ${Buffer.from("ann:p").toString("base64")}`],
    ["nobody", {}, undefined],
  ])("%s", async (_, user, authorization) => {
    await connected({ user }).raw("/");
    expect(authorizations()).toEqual([authorization]);
  });

  test("a client certificate, from data or from files", async () => {
    const { cert, key } = server.certificate ?? { cert: "", key: "" };
    const { serialNumber } = new X509Certificate(cert);
    await connected({ user: { clientCertificate: { cert: { data: cert }, key: { data: key } } } }).raw("/");
    await api?.close();
    const files = { cert: { file: file("cert", cert) }, key: { file: file("key", key) } };
    await connected({ user: { clientCertificate: files } }).raw("/");
    expect(server.asked.map(asked => asked.tls?.clientSerial)).toEqual([serialNumber, serialNumber]);
  });

  test("impersonation: one header a group, and keys that a header can hold", async () => {
    const impersonate = { user: "bob", uid: "7", groups: ["a", "b"], extra: { "example.org/Why": ["x", "y"] } };
    await connected({ impersonate }).raw("/");
    expect(server.asked[0]?.headers).toMatchObject({
      "impersonate-user": "bob",
      "impersonate-uid": "7",
      "impersonate-group": "a, b",
      "impersonate-extra-example.org%2fwhy": "x, y",
    });
  });
});

describe("whom we trust", () => {
  test("the cluster's authority and no other", async () => {
    const other = await scriptedServer([json(200, {})], { tls: true });
    const error = await failure(connected({ server: other.url }).raw("/"));
    await other.close();
    expect(error.message).toMatch(/^GET \/: no connection \(/);
    expect(other.asked).toEqual([]);
  });

  test("anyone, if told to", async () => {
    const { ca: _, ...config } = server.config;
    api = connect({ ...config, insecureSkipTlsVerify: true }, { clock: systemClock });
    await api.raw("/");
    expect(server.asked).toHaveLength(1);
  });

  test("another name than the URL's, if told to", async () => {
    await connected({ tlsServerName: "localhost" }).raw("/");
    expect(server.asked[0]?.tls?.serverName).toBe("localhost");
    await api?.close();
    const error = await failure(connected({ tlsServerName: "kubernetes" }).raw("/"));
    expect(error.message).toContain("no connection");
  });
});

describe("files", () => {
  test("a rotated token is read again within a minute", async () => {
    const clock = new ManualClock();
    const tokenFile = file("token", "first\n");
    connected({ user: { tokenFile } }, clock);
    await api?.raw("/");
    file("token", "second\n");
    clock.pause(59_999);
    await api?.raw("/");
    clock.pause(1);
    await api?.raw("/");
    expect(authorizations()).toEqual(["Bearer first", "Bearer first", "Bearer second"]);
  });

  test("a token that the server refuses is read again at once, also for a write", async () => {
    const rotating: Answer = (response, asked) => {
      file("token", "second");
      status(401, "Unauthorized")(response, asked);
    };
    await answering(rotating, json(200, {}));
    connected({ user: { tokenFile: file("token", "first") } });
    await api?.update(nodes, { name: "a" }, { apiVersion: "v1", kind: "Node", metadata: {} });
    expect(authorizations()).toEqual(["Bearer first", "Bearer second"]);
  });

  test("a token of the configuration that the server refuses is refused", async () => {
    await answering(status(401, "Unauthorized"));
    expect(await failure(connected({ user: { token: SENTINEL } }).raw("/"))).toMatchObject({ code: 401 });
    expect(server.asked).toHaveLength(1);
  });

  test("a file caught in its rotation: the last token serves on", async () => {
    const clock = new ManualClock();
    const tokenFile = file("token", "first");
    connected({ user: { tokenFile } }, clock);
    await api?.raw("/");
    rmSync(tokenFile);
    clock.pause(60_000);
    await api?.raw("/");
    expect(authorizations()).toEqual(["Bearer first", "Bearer first"]);
  });

  test("a readable file wins over the token beside it", async () => {
    await connected({ user: { token: "given", tokenFile: file("token", "read") } }).raw("/");
    await api?.close();
    await connected({ user: { token: "given", tokenFile: join(dir, "none") } }).raw("/");
    expect(authorizations()).toEqual(["Bearer read", "Bearer given"]);
  });

  test("a rotated authority gets new connections", async () => {
    const clock = new ManualClock();
    const next = await scriptedServer([json(200, {})], { tls: true });
    const ca = { file: file("ca.crt", server.certificate?.ca ?? "") };
    const rotated = connected({ ca, server: next.url }, clock);
    await failure(rotated.get(nodes, { name: "a" }, { timeoutMs: 1 }));
    file("ca.crt", next.certificate?.ca ?? "");
    clock.pause(60_000);
    await rotated.raw("/");
    expect(next.asked).toHaveLength(1);
    await next.close();
  });

  test.each<[string, () => Partial<ClusterConfig>, string]>([
    [
      "no token file",
      () => ({ user: { tokenFile: join(dir, "none") } }),
      "The token file DIR/none (the test) cannot be read: check path and rights.",
    ],
    [
      "an empty token file",
      () => ({ user: { tokenFile: file("token", "\n") } }),
      "The token file DIR/token (the test) is empty.",
    ],
    [
      "no CA file",
      () => ({ ca: { file: join(dir, "none") } }),
      "The certificate authority DIR/none (the test) cannot be read: check path and rights.",
    ],
    [
      "a CA that is none",
      () => ({ ca: { data: "nonsense" } }),
      "The certificate authority of the test is not usable: it must be PEM and, for a key, unencrypted.",
    ],
    [
      "a key that is none",
      () => ({ user: { clientCertificate: { cert: { data: "x" }, key: { data: "y" } } } }),
      "The client certificate or key of the test is not usable: it must be PEM and, for a key, unencrypted.",
    ],
    [
      "a token with a line break",
      () => ({ user: { token: `${SENTINEL}\nx` } }),
      "The token of the test holds characters that no token has: check it for line breaks.",
    ],
  ])("%s: one sentence, and no credential in it", async (_, config, message) => {
    const error = await failure(connected(config()).raw("/"));
    expect(error.message.replace(dir, "DIR")).toBe(message);
    expect(inspect(error, { depth: 10 })).not.toContain(SENTINEL);
    expect(server.asked).toEqual([]);
  });
});

describe("a credential plugin", () => {
  /** A program of one line of JavaScript; `answer(status)` prints an ExecCredential. Its runs are counted in a file. */
  function plugin(line: string, more: Partial<ExecPlugin> = {}): ExecPlugin {
    const version = more.apiVersion ?? "client.authentication.k8s.io/v1";
    const script = file(
      "plugin.mjs",
      `import { appendFileSync } from "node:fs";
appendFileSync(${JSON.stringify(join(dir, "runs"))}, process.env.KUBERNETES_EXEC_INFO + "\\n");
const answer = status => console.log(JSON.stringify({ kind: "ExecCredential", apiVersion: "${version}", status }));
${line}`,
    );
    return {
      apiVersion: "client.authentication.k8s.io/v1",
      command: process.execPath,
      args: [script],
      env: [],
      provideClusterInfo: false,
      interactiveMode: "Never",
      ...more,
    };
  }
  const runs = (): unknown[] =>
    existsSync(join(dir, "runs"))
      ? readFileSync(join(dir, "runs"), "utf8")
          .trim()
          .split("\n")
          .map(line => JSON.parse(line) as unknown)
      : [];

  test("is run once for as long as its token holds, and again when it expires", async () => {
    const clock = new ManualClock();
    const expires = new Date(clock.now() + 600_000).toISOString();
    const exec = plugin(`answer({ token: "${SENTINEL}", expirationTimestamp: "${expires}" })`);
    connected({ user: { exec } }, clock);
    await Promise.all([api?.raw("/"), api?.raw("/")]);
    clock.pause(599_999);
    await api?.raw("/");
    expect(runs()).toHaveLength(1);
    clock.pause(1);
    await api?.raw("/");
    expect(runs()).toHaveLength(2);
    expect(new Set(authorizations())).toEqual(new Set([`Bearer ${SENTINEL}`]));
  });

  test("is run again when the server says 401, once", async () => {
    await answering(status(401, "Unauthorized"));
    const exec = plugin(`answer({ token: "${SENTINEL}" })`);
    expect(await failure(connected({ user: { exec } }).raw("/"))).toMatchObject({ code: 401 });
    expect(runs()).toHaveLength(2);
    expect(server.asked).toHaveLength(2);
  });

  test("can give a client certificate", async () => {
    const { cert, key } = server.certificate ?? { cert: "", key: "" };
    const exec = plugin(`answer(${JSON.stringify({ clientCertificateData: cert, clientKeyData: key })})`);
    await connected({ user: { exec } }).raw("/");
    expect(server.asked[0]?.tls?.clientSerial).toBe(new X509Certificate(cert).serialNumber);
  });

  test("gets its own variables, and of the cluster what it asked for", async () => {
    const exec = plugin("answer({ token: process.env.GREETING })", {
      env: [{ name: "GREETING", value: "hello" }],
      provideClusterInfo: true,
      apiVersion: "client.authentication.k8s.io/v1beta1",
    });
    await connected({ user: { exec }, tlsServerName: "localhost", execConfig: { audience: "x" } }).raw("/");
    expect(authorizations()).toEqual(["Bearer hello"]);
    expect(runs()).toEqual([
      {
        kind: "ExecCredential",
        apiVersion: "client.authentication.k8s.io/v1beta1",
        spec: {
          interactive: false,
          cluster: {
            server: server.url,
            "tls-server-name": "localhost",
            "certificate-authority-data": Buffer.from(server.certificate?.ca ?? "").toString("base64"),
            config: { audience: "x" },
          },
        },
      },
    ]);
  });

  test("is told nothing of the cluster otherwise", async () => {
    await connected({ user: { exec: plugin('answer({ token: "t" })') } }).raw("/");
    expect(runs()).toMatchObject([{ spec: { interactive: false } }]);
    expect(JSON.stringify(runs())).not.toContain("cluster");
  });

  test("is not run for a user with a token of its own", async () => {
    await connected({ user: { token: "own", exec: plugin("process.exit(1)") } }).raw("/");
    expect(authorizations()).toEqual(["Bearer own"]);
    expect(runs()).toEqual([]);
  });

  test("that hangs is given up, also when something it started holds its output", async () => {
    const clock = new ManualClock();
    const child = `["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" }`;
    const exec = plugin(
      `import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
process.on("SIGTERM", () => {});
const { pid } = spawn(process.execPath, ${child});
writeFileSync(${JSON.stringify(join(dir, "pid"))}, String(pid));
setInterval(() => {}, 1000);`,
    );
    const failed = failure(connected({ user: { exec } }, clock).raw("/"));
    await expect.poll(() => existsSync(join(dir, "pid")), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => readFileSync(join(dir, "pid"), "utf8"), { timeout: 20_000 }).not.toBe("");
    const grandchild = Number(readFileSync(join(dir, "pid"), "utf8"));
    try {
      await clock.advance(60_000);
      const sentence = "(the test) gave no answer within 60 s: see whether it waits for somebody to log in.";
      expect((await failed).message).toContain(sentence);
    } finally {
      process.kill(grandchild, "SIGKILL");
    }
  });

  const v1 = "client.authentication.k8s.io/v1";
  test.each<[string, string, Partial<ExecPlugin>, string]>([
    [
      "not installed",
      "",
      { command: "no-such-plugin", installHint: "Install it with brew." },
      "The credential plugin no-such-plugin (the test) is not installed. Install it with brew.",
    ],
    [
      "failed, with its last words but no long ones",
      `console.error("a\\nsession expired ${SENTINEL}"); process.exit(3)`,
      {},
      "failed with exit code 3: session expired [redacted].",
    ],
    ["printed something else", `console.log("token: ${SENTINEL}")`, {}, "printed no ExecCredential in JSON."],
    ["printed half of it", `console.log('{"status":{"token":"${SENTINEL}')`, {}, "printed no ExecCredential in JSON."],
    ["printed nothing", "", {}, "printed no ExecCredential in JSON."],
    [
      "speaks another version",
      `console.log('{"kind":"ExecCredential","apiVersion":"x","status":{"token":"${SENTINEL}"}}')`,
      {},
      `printed another kind or version than ${v1}: set apiVersion to the version it speaks.`,
    ],
    ["printed no status", "answer(undefined)", {}, "printed an ExecCredential without a status."],
    ["printed no credential", "answer({})", {}, "printed neither a token nor a certificate."],
    [
      "printed half a certificate",
      'answer({ clientCertificateData: "x" })',
      {},
      "printed a certificate without its key, or a key without its certificate.",
    ],
    [
      "printed an unreadable time",
      `answer({ token: "${SENTINEL}", expirationTimestamp: "soon" })`,
      {},
      "printed an expirationTimestamp that is not RFC 3339.",
    ],
    [
      "never stops talking",
      `process.stdout.write("${SENTINEL}".repeat(100_000)); setInterval(() => {}, 1000)`,
      {},
      "printed more than 1048576 bytes, which is no credential.",
    ],
    ["wants a terminal", "", { interactiveMode: "Always" }, "needs a terminal: use another user."],
  ])("that %s: one sentence, and no credential in it", async (_, line, more, message) => {
    const error = await failure(connected({ user: { exec: plugin(line, more) } }).raw("/"));
    expect(error.message).toContain(message);
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(SENTINEL);
    expect(server.asked).toEqual([]);
  });
});
