// fettle run: the controller on a cluster, until it is told to stop. Several may run: one leads, the others follow along.

import { Command } from "commander";
import { minuteMs, secondMs } from "../api/time.ts";
import { connect } from "../kube/client.ts";
import { ServerClock } from "../kube/server-clock.ts";
import type { ClusterConfig } from "../kube/kubeconfig.ts";
import { systemClock as clock } from "../kube/system-clock.ts";
import { journalLine } from "../view/journal-line.ts";
import { refusalsAnswer } from "../view/refusals-answer.ts";
import { Metrics } from "../web/metrics.ts";
import { type Answers, type Serving, serve } from "../web/server.ts";
import { refusedBy } from "./cluster-problem.ts";
import { compileLess } from "./compile-less.ts";
import type { BindAddress } from "./flags.ts";
import { giveBack } from "./give-back.ts";
import { instanceTypesIn } from "./instance-types.ts";
import { Failure, type Io, untilAborted } from "./io.ts";
import { clusterConfig } from "./kube-access.ts";
import { type Leading, leading } from "./leadership.ts";
import { type Log, log } from "./log.ts";
import { defaultCheckMark } from "./permissions.ts";
import { actBeside, RivalWatch, showBeside } from "./rival.ts";
import { assertSense, type RunFlags, runOptions } from "./run-flags.ts";
import { measuredWatches, unlisted, type Wired, wire, type WireOptions } from "./wire.ts";

export function runCommand(io: Io, version: string): Command {
  const command = new Command("run").description("run the controller on a cluster");
  for (const option of runOptions) command.addOption(option);
  return command.addHelpText("after", help).action(async (flags: RunFlags) => runController(flags, io, version));
}

const help = `
While another controller of the karpenter.sh kinds is alive, by its Lease, everything is decided and shown, but nothing
is carried out; it is looked for every 10 s. --take-over acts all the same.

SIGTERM and Ctrl-C end it in good order: commands in hand are finished and the lease is given back. A second one ends it
at once; whoever leads next goes on from what is written.

Examples:
  fettle run --kubeconfig ./kubeconfig --provider simulated --log-format text
  fettle run --dry-run --controllers='*,-garbage'`;

async function runController(flags: RunFlags, io: Io, version: string): Promise<void> {
  compileLess("lasting");
  // From here on a Ctrl-C ends it in good order, also before it has begun.
  const { signal } = io;
  assertSense(flags);
  const instanceTypes = flags.instanceTypes === undefined ? undefined : await instanceTypesIn(flags.instanceTypes);
  const config = await clusterConfig(flags, io.env);
  const say = log({ level: flags.logLevel, format: flags.logFormat }, io);
  const closing: (() => Promise<void>)[] = [];
  try {
    const process = await start(flags, { config, env: io.env, version, say, closing, instanceTypes });
    closing.push(complaints(process, say));
    say.info({ cluster: config.source, provider: flags.provider }, `Started: ${config.server}`);
    await untilAborted(signal);
    say.info({}, "Stopping: what is in hand is finished.");
  } finally {
    // The last to come is the first to go: the lease is given back when nothing is written any more.
    for (const close of closing.reverse()) await close();
  }
  say.info({}, "Stopped.");
}

type Start = {
  config: ClusterConfig;
  env: Io["env"];
  version: string;
  say: Log;
  /** What has been opened, for the end. */
  closing: (() => Promise<void>)[];
  instanceTypes: WireOptions["instanceTypes"];
};

async function start(flags: RunFlags, { config, env, version, say, closing, instanceTypes }: Start): Promise<Process> {
  const serverClock = new ServerClock(clock);
  const onDate = serverClock.answered.bind(serverClock);
  const connectTo = { clock, env, onWarning: once(text => say.warn({}, text)), onDate };
  const elector = connect(config, connectTo);
  closing.push(() => elector.close());
  const rivals = await RivalWatch.start({ api: elector, clock }).catch(refusedBy(config));
  closing.push(async () => rivals.stop());
  const lost = (reason: string) => say.warn({ reason }, "No longer leads.");
  const lead = await leading(flags, { api: elector, clock, lost }).catch(refusedBy(config));
  closing.push(() => lead.stop());
  const api = connect(config, { ...connectTo, ...(lead.fence && { fence: lead.fence }) });
  closing.push(() => api.close());
  const settings = {
    cluster: flags.clusterName,
    dryRun: flags.dryRun,
    foreignClaims: flags.foreignClaims,
    batchIdleMs: flags.batchIdleDuration,
    batchMaxMs: flags.batchMaxDuration,
    spotToSpot: flags.spotToSpotConsolidation,
    upgradeUnknown: flags.upgradeUnknown,
    defaultCheck: {
      isWanted: flags.defaultHealthCheck === "on",
      mark: { name: defaultCheckMark, namespace: flags.leaderElectResourceNamespace },
    },
  };
  const metrics = new Metrics({
    version,
    settings,
    now: () => clock.now(),
    measured: () => wired.controller,
    watches: () => measuredWatches(wired),
    pause: () => new Promise(resolve => setImmediate(resolve)),
  });
  const wired: Wired = wire({
    api,
    clock: { ...clock, now: () => serverClock.now() },
    controllers: flags.controllers,
    provider: flags.provider,
    repairUnset: flags.repairUnset,
    agentConditions: flags.agentConditions,
    settings,
    leadership: lead.leadership,
    ...(instanceTypes && { instanceTypes }),
    turned: durationMs => metrics.turned(durationMs),
    journal: (entry, picture) => {
      metrics.record(entry, picture);
      const { level, message, fields } = journalLine(entry);
      say[level](fields, message);
    },
  });
  closing.push(() => wired.stop());
  const cancel = giveBack({ clock, isListed: () => unlisted(wired.watches) === undefined });
  closing.push(async () => cancel());
  serverClock.onChange(aheadMs => wired.controller.setClockAhead(aheadMs));
  if (flags.takeOver) actBeside(rivals, say);
  else showBeside(rivals, { controller: wired.controller, settings, say });
  const answers: Answers = {
    notReady: () => unlisted(wired.watches) ?? wired.controller.picture.staleness?.message,
    metrics: () => metrics.text(),
    refusals: question => refusalsAnswer(wired.controller, question),
  };
  const serving = await serveAnswers(answers, flags.metricsBindAddress);
  if (serving !== undefined) closing.push(() => serving.close());
  return { lead, wired };
}

type Process = { lead: Leading; wired: Wired };

/** What keeps it from working is said after a moment, and then once a minute as long as it lasts. */
function complaints({ lead, wired }: Process, say: Log): () => Promise<void> {
  let cancel = () => {};
  const look = () => {
    const problem = unlisted(wired.watches) ?? lead.problem();
    if (problem !== undefined) say.warn({}, problem);
    cancel = clock.after(minuteMs, look);
  };
  cancel = clock.after(10 * secondMs, look);
  return async () => cancel();
}

async function serveAnswers(answers: Answers, address: BindAddress | undefined): Promise<Serving | undefined> {
  if (address === undefined) return undefined;
  return serve(answers, address).catch((cause: Error) => {
    const hint = "choose another with --metrics-bind-address, or 0 for none";
    throw new Failure(`cannot serve metrics on port ${address.port}: ${cause.message}; ${hint}`, { cause });
  });
}

function once(say: (text: string) => void): (text: string) => void {
  const said = new Set<string>();
  return text => {
    if (said.has(text)) return;
    said.add(text);
    say(text);
  };
}
