// fettle up: a cluster of one's own in this process, with nodes, workloads and the controller, in which a story is
// played; the account of what is decided, and why, is in the terminal.

import { Command, InvalidArgumentError, Option } from "commander";
import { fileURLToPath } from "node:url";
import pc from "picocolors";
import type { Clock } from "../control/ports.ts";
import { controllers } from "../decide/decision.ts";
import { systemClock } from "../kube/system-clock.ts";
import { clusterInTheBox } from "../sim/cluster-in-the-box.ts";
import { InProcessApi } from "../sim/in-process.ts";
import { machines } from "../sim/machines.ts";
import { seededRandom } from "../sim/random.ts";
import { actsOfPeople, byPeople } from "../sim/simulation/acts.ts";
import { ClusterObjects } from "../sim/simulation/objects.ts";
import { durationMs, type Scenario } from "../sim/simulation/scenario.ts";
import { joinUnmanaged } from "../sim/simulation/unmanaged-nodes.ts";
import { withBeats } from "../sim/world/beats.ts";
import { type World, world } from "../sim/world/world.ts";
import { Account } from "./account.ts";
import { flag, seedOf } from "./flags.ts";
import { Failure, type Io, untilAborted } from "./io.ts";
import { leading } from "./leadership.ts";
import { defaultCheckMark, lease } from "./permissions.ts";
import { scaledClock } from "./scaled-clock.ts";
import { portOf, type ServedCluster, type ServeFlags, serveCluster } from "./served-cluster.ts";
import { scenarioIn } from "./simulate.ts";
import { wire } from "./wire.ts";

type Flags = ServeFlags & { speed: number; seed: number; story?: string };

export function upCommand(io: Io): Command {
  return new Command("up")
    .description("a cluster of your own, with nodes, workloads and the controller, and a story to watch")
    .addOption(flag("--speed <factor>", "how much faster than real time goes by in it", { read: speedOf, or: "20" }))
    .addOption(flag("--seed <number>", "where chance begins", { read: seedOf, or: "1" }))
    .addOption(new Option("--story <file>", "a scenario; by default an hour in the life of three pools"))
    .addOption(
      flag("--port <number>", "listen on this port of 127.0.0.1; 0 is any free one", { read: portOf, or: "0" }),
    )
    .addOption(
      new Option("--kubeconfig <path>", "write the kubeconfig there and leave it; by default a temporary file"),
    )
    .addHelpText("after", help)
    .action(async (flags: Flags) => up(flags, io));
}

const help = `
Join in with kubectl: delete a node, scale a pool, freeze everything with a SafetyPolicy. When the story is over the
cluster lives on until Ctrl-C. Nothing is stored. Of a scenario the cluster, the workloads and what people do are
played; faults of the process itself and expectations are fettle simulate's.

Examples:
  fettle up
  fettle up --speed 60 --story scenarios/freeze.yaml`;

/** Beside dist/fettle.mjs, which is what runs. */
const ownStory = () => fileURLToPath(new URL("../scenarios/story.yaml", import.meta.url));

function speedOf(text: string): number {
  const speed = Number(text);
  if (!/^\d+$/.test(text) || speed < 1 || speed > 120) throw new InvalidArgumentError("it must be from 1 to 120.");
  return speed;
}

async function up(flags: Flags, io: Io): Promise<void> {
  // From here on a Ctrl-C ends it in good order, also before it has begun.
  const { signal } = io;
  const story = playable(await scenarioIn(flags.story ?? ownStory()));
  const clock = scaledClock(systemClock, flags.speed);
  const random = seededRandom(flags.seed);
  const server = clusterInTheBox({ clock, random });
  const served = await serveCluster(flags, { api: server, clock });
  announce(served, { ...flags, title: story.title }, io);
  const inside = new InProcessApi(server, clock);
  const living = world({ api: inside, clock, random });
  const player = machines({ api: inside, clock, kubelets: living.kubelets, seed: flags.seed });
  const account = new Account(clock, io);
  const cancel = tell(story, { clock, account, objects: new ClusterObjects(server), living });
  // Whoever else is started on this cluster sees that somebody leads.
  const api = withBeats(inside, () => clock.now());
  const lead = await leading(leaseFor(flags.speed), { api, clock, lost: reason => account.say(reason) });
  const wired = wire({
    api,
    clock,
    provider: "simulated",
    controllers: new Set(controllers.filter(name => story.controller?.disruption !== false || name !== "disruption")),
    settings: {
      cluster: "fettle",
      dryRun: story.controller?.dryRun ?? false,
      foreignClaims: "ignore",
      defaultCheck: { isWanted: true, mark: { name: defaultCheckMark, namespace: lease.namespace } },
    },
    leadership: lead.leadership,
    journal: entry => account.record(entry),
  });
  const endSums = account.sumUp(wired.controller.picture);
  await untilAborted(signal);
  cancel();
  endSums();
  await wired.stop();
  await lead.stop();
  player.stop();
  living.stop();
  await served.close();
}

/** As long in real time as that of a controller elsewhere: this process is as often busy as any. */
function leaseFor(speed: number) {
  return {
    leaderElect: true,
    leaderElectLeaseDuration: 15_000 * speed,
    leaderElectRenewDeadline: 10_000 * speed,
    leaderElectRetryPeriod: 2_000 * speed,
    leaderElectResourceName: lease.name,
    leaderElectResourceNamespace: lease.namespace,
  };
}

/** Only what people do: nobody can make this very process stand still or lose its answers. */
function playable(scenario: Scenario): Scenario {
  const other = scenario.timeline?.find(
    ({ do: act, every }) => every !== undefined || !actsOfPeople.some(name => act[name]),
  );
  if (other === undefined) return scenario;
  const [kind] = other.every === undefined ? Object.keys(other.do) : ["every"];
  throw new Failure(`the story has "${kind}" at ${other.at}, which only fettle simulate can play`, { exitCode: 2 });
}

type Stage = { clock: Clock; account: Account; objects: ClusterObjects; living: World };

/** Sets the stage and lets the story begin; the returned function ends it. */
function tell({ cluster = {}, workloads = [], timeline = [], until }: Scenario, stage: Stage): () => void {
  const { clock, account, objects, living } = stage;
  for (const node of cluster.nodes ?? []) joinUnmanaged(living, node);
  for (const manifest of [...(cluster.manifests ?? []), ...workloads]) objects.apply(manifest);
  const cancels = timeline.map(({ at, note, do: act }) =>
    clock.after(durationMs(at), () => {
      if (note !== undefined) account.say(note);
      try {
        byPeople({ objects, tell: (_, message) => account.say(`Somebody ${message}`) }, act);
      } catch (error) {
        // A person at kubectl may have been quicker.
        account.say(`Somebody is refused: ${error instanceof Error ? error.message : String(error)}`);
      }
    }),
  );
  cancels.push(
    clock.after(durationMs(until), () => account.say("The story is over; the cluster lives on until Ctrl-C.")),
  );
  return () => cancels.forEach(cancel => cancel());
}

function announce({ url, kubeconfig }: ServedCluster, story: { speed: number; title: string }, io: Io): void {
  const { bold, cyan } = pc.createColors(io.colour);
  io.out(
    `A cluster of your own is at ${bold(url)}; time goes by ${story.speed} times as fast in it.\n` +
      `Its kubeconfig: ${bold(kubeconfig)}\n` +
      `Join in: ${cyan(`kubectl --kubeconfig ${kubeconfig} get nodes,nodeclaims,nodepools,nodeactions`)}\n` +
      `The story: ${bold(story.title)}. Ctrl-C ends it.\n\n`,
  );
}
