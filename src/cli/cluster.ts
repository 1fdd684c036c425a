// fettle cluster: serves the cluster in the box until it is told to stop, and says how to reach it.

import { randomBytes, randomInt } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command, InvalidArgumentError } from "commander";
import pc from "picocolors";
import { systemClock } from "../kube/system-clock.ts";
import { clusterInTheBox } from "../sim/cluster-in-the-box.ts";
import { isOurKubeconfig, kubeconfig } from "../sim/http/kubeconfig.ts";
import { type Listening, listen } from "../sim/http/listener.ts";
import { seededRandom } from "../sim/random.ts";
import { Failure, type Io, systemSentence, untilAborted } from "./io.ts";

type Options = { port: number; kubeconfig?: string };

export function clusterCommand(io: Io): Command {
  return new Command("cluster")
    .description("serve a Kubernetes API in this process, for kubectl and for trying things out")
    .option("--port <number>", "listen on this port of 127.0.0.1; 0 is any free one", portOf, 0)
    .option("--kubeconfig <path>", "write the kubeconfig there and leave it; by default a temporary file")
    .addHelpText("after", help)
    .action(async (options: Options) => cluster(options, io));
}

const help = `
Nothing is stored: the objects live as long as the command runs. Ctrl-C ends it. What it serves and what it does not:
docs/cluster-in-the-box.md.

Examples:
  fettle cluster
  fettle cluster --port 6443 --kubeconfig ./kubeconfig`;

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError("it must be a number from 0 to 65535.");
  return port;
}

async function cluster(options: Options, io: Io): Promise<void> {
  const api = clusterInTheBox({ clock: systemClock, random: seededRandom(randomInt(2 ** 32)) });
  const token = randomBytes(32).toString("base64url");
  const { port } = options;
  const listening = await listen({ api, clock: systemClock, now: systemClock.now(), token, port }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new Failure(portProblem(port, error), { cause: error });
    },
  );
  const file = await writeKubeconfig(options.kubeconfig, listening).catch(async (error: Failure) => {
    await listening.close();
    throw error;
  });
  announce(file.path, listening, io);
  await untilAborted(io.signal);
  await listening.close();
  await file.remove();
}

function portProblem(port: number, error: NodeJS.ErrnoException): string {
  switch (error.code ?? "") {
    case "EADDRINUSE":
      return `port ${port} is taken: choose another with --port, or leave it out for any free one`;
    case "EACCES":
      return `port ${port} needs privileges that this process does not have: choose one above 1023 with --port`;
    default:
      return `cannot listen on port ${port}: ${error.message}`;
  }
}

type KubeconfigFile = { path: string; remove(): Promise<void> };

// The token in it opens everything, so that only its owner may read it.
async function writeKubeconfig(asked: string | undefined, listening: Listening): Promise<KubeconfigFile> {
  const folder = asked === undefined ? await mkdtemp(join(tmpdir(), "fettle-")) : undefined;
  const path = asked ?? join(folder ?? "", "kubeconfig");
  try {
    await makeRoom(path);
    await writeFile(path, kubeconfig(listening), { mode: 0o600, flag: "wx" });
  } catch (cause) {
    if (cause instanceof Failure) throw cause;
    throw new Failure(`cannot write the kubeconfig ${path}: ${systemSentence(cause)}`, { cause });
  }
  return {
    path,
    remove: async () => {
      if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A file of somebody else, which may hold the only copy of their credentials, stays. */
async function makeRoom(path: string): Promise<void> {
  const existing = await readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (existing === undefined) return;
  if (existing !== "" && !isOurKubeconfig(existing)) {
    throw new Failure(`${path} exists and was not written by fettle cluster: name another file, or remove it`);
  }
  // A file that exists keeps its mode, so that it is removed.
  await rm(path);
}

function announce(path: string, { url }: Listening, io: Io): void {
  const colours = pc.createColors(io.colour);
  io.out(
    `The cluster in the box is at ${colours.bold(url)}; there is no controller in it yet, only the API.\n` +
      `Its kubeconfig: ${colours.bold(path)}\n` +
      `Try: ${colours.cyan(`kubectl --kubeconfig ${path} explain nodepool.spec.repair`)}\n` +
      "Ctrl-C ends it.\n",
  );
}
