// The cluster in the box on a port of this machine, with a kubeconfig that only its owner may read: what `fettle cluster`
// and `fettle up` have in common.

import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidArgumentError } from "commander";
import type { Clock } from "../control/ports.ts";
import { systemClock } from "../kube/system-clock.ts";
import type { ApiServer } from "../sim/api-server.ts";
import { isOurKubeconfig, kubeconfig } from "../sim/http/kubeconfig.ts";
import { type Listening, listen } from "../sim/http/listener.ts";
import { Failure, systemSentence } from "./io.ts";

export type ServeFlags = { port: number; kubeconfig?: string };
export type ServedCluster = { readonly url: string; readonly kubeconfig: string; close(): Promise<void> };

type Parts = { api: ApiServer /** For ages in tables. */; clock: Clock };

export async function serveCluster(flags: ServeFlags, { api, clock }: Parts): Promise<ServedCluster> {
  const token = randomBytes(32).toString("base64url");
  const { port } = flags;
  // TLS clients judge the certificate by their own time.
  const listening = await listen({ api, clock, now: systemClock.now(), token, port }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new Failure(portProblem(port, error), { cause: error });
    },
  );
  const file = await writeKubeconfig(flags.kubeconfig, listening).catch(async (error: Failure) => {
    await listening.close();
    throw error;
  });
  const close = async () => {
    await listening.close();
    await file.remove();
  };
  return { url: listening.url, kubeconfig: file.path, close };
}

export function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port > 65_535) throw new InvalidArgumentError("it must be a number from 0 to 65535.");
  return port;
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
