// The program as people start it: a process of its own, which can be told to end, killed and stopped in its tracks. It
// goes down with the test process, however that ends.

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const root = join(import.meta.dirname, "../..");
const program = join(root, "bin/fettle.mjs");
const run = promisify(execFile);
const linesMax = 200;

/** Makes the bundle anew where a source is newer than it; from then on it is what runs. */
export async function buildFettle(): Promise<void> {
  await run(process.execPath, [program, "--version"]);
}

/** What the program prints. */
export async function fettle(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [program, ...args], { maxBuffer: 64 << 20 });
  return stdout;
}

export type Address = { url: string; token: string; ca?: string };

export async function writeKubeconfig(path: string, { url, token, ca }: Address): Promise<void> {
  const named = (key: string, value: unknown) => [{ name: "test", [key]: value }];
  const authority = ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: named("cluster", { server: url, ...authority }),
    users: named("user", { token }),
    contexts: named("context", { cluster: "test", user: "test" }),
    "current-context": "test",
  };
  await writeFile(path, JSON.stringify(config), { mode: 0o600 });
}

// A killed parent closes the pipe: so no process is left behind that asks for a cluster which is gone.
const orphansEnd = "process.stdin.on('end', () => process.exit()).resume().unref?.();";

// What befalls a process from within, when the test says so: its heap fills, or its event loop hangs for as long as a file is
// there (two minutes at most). A signal cannot do that: what is stopped from without loses no turn of its own.
const befalls = (folder: string) => `
import { existsSync } from "node:fs";
const cell = new Int32Array(new SharedArrayBuffer(4));
process.on("SIGUSR2", () => {
  const [fills, hangs] = ${JSON.stringify([join(folder, "fills"), join(folder, "hangs")])};
  if (existsSync(fills)) for (const kept = []; ; ) kept.push(Array.from({ length: 1e5 }, () => ({})));
  for (let count = 0; count < 1200 && existsSync(hangs); count++) Atomics.wait(cell, 0, 0, 100);
});`;

export class FettleProcess {
  /** The last lines of its log, as JSON. */
  readonly lines: string[] = [];
  readonly ended: Promise<number | NodeJS.Signals>;
  readonly #child: ChildProcess;
  readonly #folder = mkdtempSync(join(tmpdir(), "fettle-process-"));

  /** Flags before the command are for node itself. */
  constructor(...args: readonly string[]) {
    const preload = `data:text/javascript,${encodeURIComponent(befalls(this.#folder) + orphansEnd)}`;
    const command = args.findIndex(arg => !arg.startsWith("-"));
    const nodeFlags = ["--import", preload, ...args.slice(0, command)];
    this.#child = spawn(process.execPath, [...nodeFlags, program, ...args.slice(command)], {
      stdio: ["pipe", "pipe", "pipe"],
      // No flag comes in by the environment of whoever runs the tests.
      env: { PATH: process.env["PATH"] },
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      // Both are pipes by `stdio` above.
      createInterface({ input: stream! }).on("line", line => {
        this.lines.push(line);
        if (this.lines.length > linesMax) this.lines.shift();
      });
    }
    // Not its exit: then its last lines may still be on their way.
    this.ended = new Promise(resolve =>
      this.#child.once("close", (code, signal) => {
        rmSync(this.#folder, { recursive: true, force: true });
        resolve(signal ?? code ?? "SIGKILL");
      }),
    );
  }

  /** Undefined: it could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Its event loop stands still, as in a long pause for garbage, until `goOn`. */
  hang(): void {
    writeFileSync(join(this.#folder, "hangs"), "");
    this.signal("SIGUSR2");
  }

  goOn(): void {
    rmSync(join(this.#folder, "hangs"), { force: true });
  }

  /** Its heap fills until V8 ends it. */
  fillHeap(): void {
    writeFileSync(join(this.#folder, "fills"), "");
    this.signal("SIGUSR2");
  }

  /** At once, with whatever it was at. */
  async kill(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }

  /** In good order. */
  async stop(): Promise<number | NodeJS.Signals> {
    this.signal("SIGTERM");
    return this.ended;
  }
}
