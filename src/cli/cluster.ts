// fettle cluster: serves the cluster in the box until it is told to stop, and says how to reach it.

import { randomInt } from "node:crypto";
import { Command } from "commander";
import pc from "picocolors";
import { systemClock as clock } from "../kube/system-clock.ts";
import { clusterInTheBox } from "../sim/cluster-in-the-box.ts";
import { seededRandom } from "../sim/random.ts";
import { type Io, untilAborted } from "./io.ts";
import { portOf, type ServedCluster, type ServeFlags, serveCluster } from "./served-cluster.ts";

export function clusterCommand(io: Io): Command {
  return new Command("cluster")
    .description("serve a Kubernetes API in this process, for kubectl and for trying things out")
    .option("--port <number>", "listen on this port of 127.0.0.1; 0 is any free one", portOf, 0)
    .option("--kubeconfig <path>", "write the kubeconfig there and leave it; by default a temporary file")
    .addHelpText("after", help)
    .action(async (flags: ServeFlags) => cluster(flags, io));
}

const help = `
Only the API: nothing lives in it. For a cluster with nodes, workloads and the controller there is fettle up. Nothing is
stored: the objects live as long as the command runs. Ctrl-C ends it. What it serves and what it does not:
docs/cluster-in-the-box.md.

Examples:
  fettle cluster
  fettle cluster --port 6443 --kubeconfig ./kubeconfig`;

async function cluster(flags: ServeFlags, io: Io): Promise<void> {
  // From here on a Ctrl-C ends it in good order, also before it has begun.
  const { signal } = io;
  const api = clusterInTheBox({ clock, random: seededRandom(randomInt(2 ** 32)) });
  const served = await serveCluster(flags, { api, clock });
  announce(served, io);
  await untilAborted(signal);
  await served.close();
}

function announce({ url, kubeconfig }: ServedCluster, io: Io): void {
  const { bold, cyan } = pc.createColors(io.colour);
  io.out(
    `The cluster in the box is at ${bold(url)}: only the API, with no controller in it.\n` +
      `Its kubeconfig: ${bold(kubeconfig)}\n` +
      `Try: ${cyan(`kubectl --kubeconfig ${kubeconfig} explain nodepool.spec.repair`)}\n` +
      "Ctrl-C ends it.\n",
  );
}
