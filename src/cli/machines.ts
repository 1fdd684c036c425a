// fettle machines: plays the machines of the simulated provider on a cluster, with a kubelet each, until it is told to
// stop. All it knows stands in the cluster, so that the next start goes on where this one ended.

import { Command } from "commander";
import { simulatedNodeClasses } from "../api/simulated-node-class.ts";
import { secondMs } from "../api/time.ts";
import { type Connection, connect } from "../kube/client.ts";
import type { ClusterConfig } from "../kube/kubeconfig.ts";
import { systemClock as clock } from "../kube/system-clock.ts";
import { machines } from "../sim/machines.ts";
import { seededRandom } from "../sim/random.ts";
import { Kubelets } from "../sim/world/kubelets.ts";
import { nodePicture } from "../sim/world/picture.ts";
import { refusedBy } from "./cluster-problem.ts";
import { type Io, untilAborted } from "./io.ts";
import { type ClusterChoice, clusterConfig } from "./kube-access.ts";
import { seedOf } from "./flags.ts";

type Flags = ClusterChoice & { seed: number };

export function machinesCommand(io: Io): Command {
  return new Command("machines")
    .description("play the machines of the simulated provider on a cluster")
    .option("--kubeconfig <path>", "the cluster; without it KUBECONFIG, else the cluster whose pod this is")
    .option("--context <name>", "which context of the kubeconfig; by default its current one")
    .option("--seed <number>", "the chance by which machines boot fast or slow and fail", seedOf, 1)
    .addHelpText("after", help)
    .action(async (flags: Flags) => play(flags, io));
}

const help = `
Whatever fettle run --provider simulated launches boots here, joins as a node, runs pods in name only, falls ill as its
SimulatedNodeClass says, and ends. Run one player a cluster. On Ctrl-C its nodes fall silent, as on a power cut; the
next start brings them back.

Examples:
  fettle machines --kubeconfig ./kubeconfig`;

const hintAfterMs = 10 * secondMs;

async function play(flags: Flags, io: Io): Promise<void> {
  // From here on a Ctrl-C ends it in good order, also before it has begun.
  const { signal } = io;
  const config = await clusterConfig(flags, io.env);
  const api = connect(config, { clock, env: io.env, fieldManager: "fettle-machines" });
  await asked(api, config);
  const failed = (error: unknown, key: string) => io.err(`${key}: ${error instanceof Error ? error.message : error}\n`);
  const picture = nodePicture(api, clock);
  const kubelets = new Kubelets(picture, seededRandom(flags.seed), { beats: "written", failed });
  const player = machines({ api, clock, kubelets, seed: flags.seed, failed });
  const cancelHint = clock.after(hintAfterMs, () => io.err(`Still waiting for ${config.server} to list its nodes.\n`));
  const announce = async () => {
    await Promise.all([picture.synced, player.synced]);
    cancelHint();
    io.out(`Playing the machines of ${config.server}. Ctrl-C ends it.\n`);
  };
  void announce();
  await untilAborted(signal);
  cancelHint();
  player.stop();
  kubelets.stop();
  picture.stop();
  await api.close();
}

/** What is wrong between us and the cluster is said at once. */
async function asked(api: Connection, config: ClusterConfig): Promise<void> {
  try {
    await api.list(simulatedNodeClasses.resource, { limit: 1 }).catch(refusedBy(config));
  } catch (error) {
    await api.close();
    throw error;
  }
}
