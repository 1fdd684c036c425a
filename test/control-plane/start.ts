// Starts a real control plane on loopback, waits until it answers, and stops it; a guardian process stops it as well
// when the test process dies.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes, randomInt } from "node:crypto";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent, request } from "undici";
import { countRequests, type RequestCount } from "./audit.ts";
import { binary } from "./binaries.ts";
import {
  apiServerArgs,
  auditPolicy,
  type Component,
  controllerManagerArgs,
  etcdArgs,
  type Layout,
  layout,
  schedulerArgs,
} from "./components.ts";

export type Server = Exclude<Component, "kubectl">;

export type ControlPlaneOptions = {
  /** etcd and kube-apiserver always run; name what is wanted besides them. */
  components?: readonly Server[];
  /** Log every request, for `auditCounts`. */
  audit?: boolean;
  /** Whose writes are logged with what they say. */
  auditBodiesOf?: readonly string[];
  authorization?: "AlwaysAllow" | "RBAC";
  /** Users besides "admin", who is in system:masters; each gets a token in `tokens`. */
  users?: readonly string[];
  /** What kube-controller-manager runs, in its own names; all that are on by default when left out. */
  controllers?: readonly string[];
  /** More flags for kube-apiserver, after ours. */
  apiServerFlags?: readonly string[];
};

/** Plain data, so that it can be handed to another process. */
export type ControlPlaneAddress = {
  url: string;
  /** Of the user "admin". */
  token: string;
  tokens: Readonly<Record<string, string>>;
  /** Base64 of PEM, as a kubeconfig has it. */
  caData: string;
  kubeconfigPath: string;
  /** Logs (NAME.log) and everything else of this control plane. */
  dir: string;
};

export type KubectlResult = { code: number; stdout: string; stderr: string };

export type ControlPlane = ControlPlaneAddress & {
  kubectl(args: readonly string[], input?: string): Promise<KubectlResult>;
  /** Needs `audit`. */
  auditCounts(): Promise<RequestCount[]>;
  stop(): Promise<void>;
};

const readyWithinMs = 60_000;
const startAttempts = 5;

export async function controlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const wanted = new Set<Server>(["etcd", "kube-apiserver", ...(options.components ?? [])]);
  const programs = new Map<Server, string>();
  for (const component of wanted) programs.set(component, await binary(component));
  const program = (component: Server) => programs.get(component) ?? "";

  const at = layout(await mkdtemp(join(tmpdir(), "fettle-cp-")));
  const guardian = startGuardian(at.dir);
  try {
    const tokens = await writeCredentials(at, ["admin", ...(options.users ?? [])]);
    await writeFile(at.auditPolicy, JSON.stringify(auditPolicy(options.auditBodiesOf ?? [])));
    guardian.run("etcd", program("etcd"), etcdArgs(at));
    const url = await startApiServer({
      at,
      guardian,
      options,
      file: program("kube-apiserver"),
      token: tokens["admin"] ?? "",
    });
    const address = await writeKubeconfig(at, url, tokens);
    if (wanted.has("kube-controller-manager"))
      guardian.run(
        "kube-controller-manager",
        program("kube-controller-manager"),
        controllerManagerArgs(at, options.controllers),
      );
    if (wanted.has("kube-scheduler")) guardian.run("kube-scheduler", program("kube-scheduler"), schedulerArgs(at));
    return attach(address, () => guardian.stop());
  } catch (error) {
    await guardian.stop();
    throw error;
  }
}

/** A running control plane as seen from this process, which need not be the one that started it. */
export function attach(address: ControlPlaneAddress, stop: () => Promise<void> = async () => {}): ControlPlane {
  // By default kubectl keeps what a server serves for hours, under its port, which another may have next.
  const own = ["--kubeconfig", address.kubeconfigPath, "--cache-dir", layout(address.dir).kubectlCache];
  return {
    ...address,
    stop,
    kubectl: async (args, input) => runKubectl(await binary("kubectl"), [...own, ...args], input),
    auditCounts: async () => countRequests(await readFile(layout(address.dir).auditLog, "utf8")),
  };
}

type Guardian = {
  run(name: Server, file: string, args: readonly string[]): void;
  /** How a program ended by itself, if it did. */
  exitCode(name: Server): number | undefined;
  forget(name: Server): void;
  stop(): Promise<void>;
};

function startGuardian(dir: string): Guardian {
  const child = spawn(process.execPath, [join(import.meta.dirname, "guardian.mjs"), dir], {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true, // Ctrl-C goes to the terminal's whole group; the guardian must outlive its parent by a moment.
  });
  const exits = new Map<string, number>();
  createInterface({ input: child.stdout }).on("line", line => {
    const { name, code } = JSON.parse(line) as { name: string; code: number };
    exits.set(name, code);
  });
  child.unref();
  unrefStreams(child);
  return {
    run: (name, file, args) =>
      child.stdin.write(`${JSON.stringify({ name, file, args, log: join(dir, `${name}.log`) })}\n`),
    exitCode: name => exits.get(name),
    forget: name => exits.delete(name),
    stop: () =>
      new Promise(resolve => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.ref();
        child.once("exit", () => resolve());
        child.stdin.end();
      }),
  };
}

// Otherwise the pipes alone would keep a test process that forgot to stop its control plane alive for ever.
function unrefStreams(child: ChildProcess): void {
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref?(): void })?.unref?.();
}

async function writeCredentials(at: Layout, users: readonly string[]): Promise<Record<string, string>> {
  const tokens = Object.fromEntries(users.map(user => [user, randomBytes(16).toString("hex")]));
  const rows = users.map(user => `${tokens[user]},${user},${user}${user === "admin" ? ',"system:masters"' : ""}`);
  const key = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const secret = { mode: 0o600 };
  await writeFile(at.tokens, `${rows.join("\n")}\n`, secret);
  await writeFile(at.serviceAccountKey, key.privateKey.export({ type: "sec1", format: "pem" }), secret);
  await writeFile(at.serviceAccountPublicKey, key.publicKey.export({ type: "spki", format: "pem" }));
  return tokens;
}

type ApiServerStart = { at: Layout; guardian: Guardian; options: ControlPlaneOptions; file: string; token: string };

// The server cannot be handed a bound socket nor asked for port 0, so somebody may take the port between our choice
// and its own bind: then it exits, and the next port is tried.
async function startApiServer({ at, guardian, options, file, token }: ApiServerStart): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const port = await freePort();
    const { audit = false, authorization = "AlwaysAllow", apiServerFlags: flags = [] } = options;
    guardian.forget("kube-apiserver");
    guardian.run("kube-apiserver", file, apiServerArgs(at, { port, audit, authorization, flags }));
    const url = `https://127.0.0.1:${port}`;
    if (await isReady(url, token, () => guardian.exitCode("kube-apiserver") !== undefined)) return url;
    const log = await readFile(join(at.dir, "kube-apiserver.log"), "utf8").catch(() => "");
    const portTaken = log.includes("address already in use");
    if (!portTaken || attempt === startAttempts)
      throw new Error(`kube-apiserver did not get ready; the end of its log:\n${log.slice(-3000)}`);
  }
}

// Below the range from which kernels pick ports for outgoing connections.
async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000);
    const probe = createServer();
    const free = await new Promise<boolean>(resolve => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
    });
    if (free) return port;
  }
}

// The namespace is made after /readyz has turned; without it the first create of a test would be refused.
async function isReady(url: string, token: string, hasExited: () => boolean): Promise<boolean> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  const answers = async (path: string) => {
    const answer = await request(url + path, { dispatcher, headers: { authorization: `Bearer ${token}` } });
    await answer.body.dump();
    return answer.statusCode === 200;
  };
  try {
    for (const deadline = performance.now() + readyWithinMs; performance.now() < deadline && !hasExited(); ) {
      const ready = await answers("/readyz").catch(() => false);
      if (ready && (await answers("/api/v1/namespaces/default"))) return true;
      await sleep(50);
    }
    return false;
  } finally {
    await dispatcher.destroy();
  }
}

async function writeKubeconfig(at: Layout, url: string, tokens: Record<string, string>): Promise<ControlPlaneAddress> {
  const caData = (await readFile(at.servingCertificate)).toString("base64");
  const token = tokens["admin"] ?? "";
  const named = (name: string, key: string, value: unknown) => [{ name, [key]: value }];
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: named("test", "cluster", { server: url, "certificate-authority-data": caData }),
    users: named("admin", "user", { token }),
    contexts: named("test", "context", { cluster: "test", user: "admin" }),
    "current-context": "test",
  };
  await writeFile(at.kubeconfig, JSON.stringify(config, null, 2), { mode: 0o600 });
  return { url, token, tokens, caData, kubeconfigPath: at.kubeconfig, dir: at.dir };
}

function runKubectl(file: string, args: readonly string[], input?: string): Promise<KubectlResult> {
  return new Promise(resolve => {
    const child = execFile(file, args, { maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.end(input ?? "");
  });
}
