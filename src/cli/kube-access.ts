// Which cluster a command speaks to: the named kubeconfig, else those of KUBECONFIG, else the one whose pod we are.
// Never ~/.kube/config unasked: what is chosen there is chosen for kubectl, and this program ends nodes.

import { readFile } from "node:fs/promises";
import { delimiter, dirname, resolve } from "node:path";
import { environmentProxy } from "../kube/environment-proxy.ts";
import { ConfigError } from "../kube/errors.ts";
import { inClusterConfig } from "../kube/in-cluster.ts";
import { type ClusterConfig, mergeKubeconfigs, parseKubeconfig, resolveContext } from "../kube/kubeconfig.ts";
import { Failure, type Io, systemSentence } from "./io.ts";

export type ClusterChoice = { kubeconfig?: string; context?: string };

export async function clusterConfig({ kubeconfig, context }: ClusterChoice, env: Io["env"]): Promise<ClusterConfig> {
  const files = (kubeconfig === undefined ? (env["KUBECONFIG"] ?? "").split(delimiter) : [kubeconfig]).filter(Boolean);
  try {
    const found =
      files.length > 0
        ? resolveContext(mergeKubeconfigs(await Promise.all(files.map(readConfig))), context)
        : inClusterConfig(env);
    const proxyUrl = found?.proxyUrl ?? (found && environmentProxy(found.server, env));
    if (found !== undefined) return { ...found, ...(proxyUrl === undefined ? {} : { proxyUrl }) };
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    throw new Failure(cause.message, { cause });
  }
  throw new Failure("which cluster? Name its kubeconfig with --kubeconfig, or set KUBECONFIG", { exitCode: 2 });
}

async function readConfig(file: string) {
  const text = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new Failure(`cannot read the kubeconfig ${file}: ${systemSentence(cause)}`, { cause });
  });
  return parseKubeconfig(text, { file, baseDir: dirname(resolve(file)) });
}
