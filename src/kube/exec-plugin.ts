// Runs a credential plugin (client.authentication.k8s.io) and reads its answer. What it prints to stdout is a
// credential: it is never quoted.

import { spawn } from "node:child_process";
import type { Clock } from "../control/ports.ts";
import { ConfigError } from "./errors.ts";
import type { ClusterConfig, ExecPlugin } from "./kubeconfig.ts";

const PLUGIN_TIMEOUT_S = 60;
const OUTPUT_MAX_BYTES = 1 << 20;

export type ExecCredential = {
  token?: string;
  cert?: string;
  key?: string;
  /** Wall time in ms; absent: good until the server says 401. */
  expiresAt?: number;
};

export type PluginContext = {
  clock: Clock;
  config: ClusterConfig;
  /** The cluster's CA as PEM, for `provideClusterInfo`. */
  ca: string | undefined;
  env: Readonly<Record<string, string | undefined>>;
};

type Output = { code: number | null; stdout: string; stderr: string; stopped: string | undefined };

export async function runExecPlugin(plugin: ExecPlugin, context: PluginContext): Promise<ExecCredential> {
  const { source } = context.config;
  // We are never interactive: a controller has nobody to ask.
  if (plugin.interactiveMode === "Always") {
    throw new ConfigError(`The credential plugin ${plugin.command} (${source}) needs a terminal: use another user.`);
  }
  const output = await run(plugin, context);
  if (output.stopped !== undefined) {
    throw new ConfigError(`The credential plugin ${plugin.command} (${source}) ${output.stopped}.`);
  }
  if (output.code !== 0) {
    const said = lastLine(output.stderr);
    throw new ConfigError(
      `The credential plugin ${plugin.command} (${source}) failed with exit code ${output.code}${said === "" ? "" : `: ${said}`}.`,
    );
  }
  return parse(output.stdout, plugin, source);
}

function run(plugin: ExecPlugin, context: PluginContext): Promise<Output> {
  const own = Object.fromEntries(plugin.env.map(({ name, value }) => [name, value]));
  const env = { ...context.env, ...own, KUBERNETES_EXEC_INFO: execInfo(plugin, context) };
  return new Promise((resolve, reject) => {
    const child = spawn(plugin.command, [...plugin.args], { env, stdio: ["ignore", "pipe", "pipe"] });
    let stopped: string | undefined;
    // What it started itself may outlive it and hold its output open: we hang up.
    const stop = (complaint: string) => {
      stopped ??= complaint;
      child.kill("SIGKILL");
      child.stdout.destroy();
      child.stderr.destroy();
    };
    const hush = context.clock.after(PLUGIN_TIMEOUT_S * 1000, () => {
      stop(`gave no answer within ${PLUGIN_TIMEOUT_S} s: see whether it waits for somebody to log in`);
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let bytes = 0;
    const collect = (into: Buffer[]) => (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > OUTPUT_MAX_BYTES) stop(`printed more than ${OUTPUT_MAX_BYTES} bytes, which is no credential`);
      else into.push(chunk);
    };
    child.stdout.on("data", collect(stdout));
    child.stderr.on("data", collect(stderr));
    child.on("error", cause => {
      hush();
      reject(notRun(plugin, context.config.source, cause));
    });
    child.on("close", code => {
      hush();
      resolve({ code, stdout: textOf(stdout), stderr: textOf(stderr), stopped });
    });
  });
}

function notRun(plugin: ExecPlugin, source: string, cause: Error): ConfigError {
  const why = "code" in cause && cause.code === "ENOENT" ? "is not installed" : "cannot be run";
  const hint = plugin.installHint === undefined ? "" : ` ${plugin.installHint.trim()}`;
  return new ConfigError(`The credential plugin ${plugin.command} (${source}) ${why}.${hint}`, { cause });
}

function execInfo(plugin: ExecPlugin, { config, ca }: PluginContext): string {
  const cluster = {
    server: config.server,
    ...(config.tlsServerName === undefined ? {} : { "tls-server-name": config.tlsServerName }),
    ...(config.insecureSkipTlsVerify ? { "insecure-skip-tls-verify": true } : {}),
    ...(ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") }),
    ...(config.proxyUrl === undefined ? {} : { "proxy-url": config.proxyUrl }),
    ...(config.execConfig === undefined ? {} : { config: config.execConfig }),
  };
  const spec = { interactive: false, ...(plugin.provideClusterInfo ? { cluster } : {}) };
  return JSON.stringify({ kind: "ExecCredential", apiVersion: plugin.apiVersion, spec });
}

function parse(stdout: string, plugin: ExecPlugin, source: string): ExecCredential {
  const refuse = (complaint: string): never => {
    throw new ConfigError(`The credential plugin ${plugin.command} (${source}) ${complaint}.`);
  };
  const answer = parsed(stdout) ?? refuse("printed no ExecCredential in JSON");
  if (answer["kind"] !== "ExecCredential" || answer["apiVersion"] !== plugin.apiVersion) {
    refuse(`printed another kind or version than ${plugin.apiVersion}: set apiVersion to the version it speaks`);
  }
  const status = asRecord(answer["status"]) ?? refuse("printed an ExecCredential without a status");
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp: expires } = status;
  if (isText(cert) !== isText(key)) refuse("printed a certificate without its key, or a key without its certificate");
  if (!isText(token) && !isText(cert)) refuse("printed neither a token nor a certificate");
  const expiresAt = isText(expires) ? Date.parse(expires) : undefined;
  if (Number.isNaN(expiresAt)) refuse("printed an expirationTimestamp that is not RFC 3339");
  return {
    ...(isText(token) ? { token } : {}),
    ...(isText(cert) && isText(key) ? { cert, key } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}

// The parser's own error quotes what it read, so it goes no further.
function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === "object" && value !== null ? { ...value } : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** The plugin's own last words help most ("session expired"), but long words in them could be credentials. */
function lastLine(stderr: string): string {
  const line = stderr.trim().split("\n").at(-1) ?? "";
  return line.slice(0, 300).replaceAll(/[A-Za-z0-9+/=_.-]{20,}/g, "[redacted]");
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("utf8");
}
