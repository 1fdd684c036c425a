// fettle run: the controller on a cluster, until it is told to stop. Several may run: one leads, the others follow along.

import { Command, Option } from "commander";
import { minuteMs, secondMs } from "../api/time.ts";
import { type ControllerName, controllers } from "../decide/decision.ts";
import { type Connection, connect } from "../kube/client.ts";
import type { ClusterConfig } from "../kube/kubeconfig.ts";
import { systemClock as clock } from "../kube/system-clock.ts";
import { journalLine, type LogLevel, logLevels } from "../view/journal-line.ts";
import { Metrics } from "../web/metrics.ts";
import { type Answers, type Serving, serve } from "../web/server.ts";
import { environmentHelp, readEnvironment } from "./environment.ts";
import { type BindAddress, bindAddressOf, booleanOf, choiceOf, controllersOf, durationOf, flag } from "./flags.ts";
import { instanceTypesIn } from "./instance-types.ts";
import { Failure, type Io, untilAborted } from "./io.ts";
import { type ClusterChoice, clusterConfig } from "./kube-access.ts";
import { type LeaderElectFlags, type Leading, leading } from "./leadership.ts";
import { type Log, type LogFormat, log } from "./log.ts";
import { lease } from "./permissions.ts";
import { rival, rivalLease } from "./rival.ts";
import { type ProviderName, providers, measuredWatches, unlisted, type Wired, wire, type WireOptions } from "./wire.ts";

type Flags = ClusterChoice &
  LeaderElectFlags & {
    controllers: ReadonlySet<ControllerName>;
    dryRun: boolean;
    provider: ProviderName;
    instanceTypes?: string;
    clusterName: string;
    foreignClaims: "ignore" | "repair";
    repairUnset: "on" | "off";
    takeOver: boolean;
    metricsBindAddress: BindAddress | undefined;
    logLevel: LogLevel;
    logFormat: LogFormat;
  };

export function runCommand(io: Io, version: string): Command {
  const command = new Command("run").description("run the controller on a cluster");
  for (const option of [...clusterFlags, ...policyFlags, ...electionFlags, ...outputFlags]) command.addOption(option);
  return command.addHelpText("after", help).action(async (_: unknown, self: Command) => {
    readEnvironment(self, io.env);
    await runController(self.opts<Flags>(), io, version);
  });
}

const clusterFlags = [
  new Option("--kubeconfig <path>", "the cluster; without it KUBECONFIG, else the cluster whose pod this is"),
  new Option("--context <name>", "which context of the kubeconfig; by default its current one"),
  flag("--provider <name>", `who has the machines: ${providers.join(" or ")}`, {
    read: choiceOf(...providers),
    or: "none",
  }),
  new Option(
    "--instance-types <file>",
    "simulated provider: a list as in a SimulatedNodeClass, instead of its catalogue",
  ),
  new Option("--cluster-name <name>", "the tag by which instances of this cluster are known").default("fettle"),
];

const policyFlags = [
  flag("--controllers <list>", `what it does: *, name, -name; names: ${controllers.join(", ")}`, {
    read: controllersOf,
    or: "*",
  }),
  flag("--dry-run [boolean]", "decide and show everything, carry out nothing", { read: booleanOf, or: "false" }),
  flag("--foreign-claims <mode>", "claims of classes that the provider does not serve: ignore, or repair them", {
    read: choiceOf("ignore", "repair"),
    or: "ignore",
  }),
  flag("--repair-unset <mode>", "what a pool without spec.repair means: the provider's defaults are on or off", {
    read: choiceOf("on", "off"),
    or: "on",
  }),
  flag("--take-over [boolean]", "act although another controller of the karpenter.sh kinds is alive", {
    read: booleanOf,
    or: "false",
  }),
];

const electionFlags = [
  flag("--leader-elect [boolean]", "act only while holding the lease; false: no other may run", {
    read: booleanOf,
    or: "true",
  }),
  flag("--leader-elect-lease-duration <duration>", "how long others wait for a leader that is silent", {
    read: durationOf,
    or: "15s",
  }),
  flag("--leader-elect-renew-deadline <duration>", "how long a leader tries to renew before it steps down", {
    read: durationOf,
    or: "10s",
  }),
  flag("--leader-elect-retry-period <duration>", "how often the lease is renewed or looked at", {
    read: durationOf,
    or: "2s",
  }),
  new Option("--leader-elect-resource-name <name>", "the lease").default(lease.name),
  new Option("--leader-elect-resource-namespace <name>", "where the lease is").default(lease.namespace),
];

const outputFlags = [
  flag("--metrics-bind-address <address>", "serve /metrics, /healthz and /readyz there; 0 serves nothing", {
    read: bindAddressOf,
    or: ":8080",
  }),
  flag("--log-level <level>", `how much is said: ${logLevels.join(", ")}`, {
    read: choiceOf(...logLevels),
    or: "info",
  }),
  flag("--log-format <format>", "json, or text for people", { read: choiceOf("json", "text"), or: "json" }),
];

const help = `
${environmentHelp}

SIGTERM and Ctrl-C end it in good order: commands in hand are finished and the lease is given back. A second one ends it
at once; whoever leads next goes on from what is written.

Examples:
  fettle run --kubeconfig ./kubeconfig --provider simulated --log-format text
  fettle run --dry-run --controllers='*,-garbage'`;

async function runController(flags: Flags, io: Io, version: string): Promise<void> {
  assertSense(flags);
  const instanceTypes = flags.instanceTypes === undefined ? undefined : await instanceTypesIn(flags.instanceTypes);
  const config = await clusterConfig(flags, io.env);
  const say = log({ level: flags.logLevel, format: flags.logFormat }, io);
  const closing: (() => Promise<void>)[] = [];
  try {
    const process = await start(flags, { config, env: io.env, version, say, closing, instanceTypes });
    closing.push(complaints(process, say));
    say.info({ cluster: config.source, provider: flags.provider }, `Started: ${config.server}`);
    await untilAborted(io.signal);
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

async function start(flags: Flags, { config, env, version, say, closing, instanceTypes }: Start): Promise<Process> {
  const connectTo = { clock, env, onWarning: once(text => say.warn({}, text)) };
  const elector = connect(config, connectTo);
  closing.push(() => elector.close());
  const dryRun = flags.dryRun || (await isRivalAlive(elector, flags, say));
  const lost = (reason: string) => say.warn({ reason }, "No longer leads.");
  const lead = await leading(flags, { api: elector, clock, lost }).catch(unreachable("count this term in the lease"));
  closing.push(() => lead.stop());
  const api = connect(config, { ...connectTo, ...(lead.fence && { fence: lead.fence }) });
  closing.push(() => api.close());
  const metrics = new Metrics({ version, measured: () => wired.controller, watches: () => measuredWatches(wired) });
  const wired: Wired = wire({
    api,
    clock,
    controllers: flags.controllers,
    provider: flags.provider,
    repairUnset: flags.repairUnset,
    settings: { cluster: flags.clusterName, dryRun, foreignClaims: flags.foreignClaims },
    leadership: lead.leadership,
    ...(instanceTypes && { instanceTypes }),
    turned: durationMs => metrics.turned(durationMs),
    journal: (entry, picture) => {
      metrics.record(entry, picture);
      const { level, message, fields } = journalLine(entry, dryRun || picture.safety.policy.dryRun);
      say[level](fields, message);
    },
  });
  closing.push(() => wired.stop());
  const answers = { notReady: () => unlisted(wired.watches), metrics: () => metrics.text() };
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

async function isRivalAlive(api: Connection, { takeOver }: Flags, say: Log): Promise<boolean> {
  const found = await rival(api, clock.now()).catch(unreachable(`read the lease ${rivalLease}`));
  if (found === undefined) return false;
  const fact = `Another controller of the karpenter.sh kinds is alive (${found.holder}, lease in ${found.namespace})`;
  if (takeOver) say.warn({}, `${fact}: acting beside it, as --take-over says. Stop it, or both end nodes.`);
  else say.warn({}, `${fact}: dry run. Stop it and start again, or start with --take-over.`);
  return !takeOver;
}

function unreachable(what: string): (cause: unknown) => never {
  return cause => {
    throw new Failure(`cannot ${what}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  };
}

async function serveAnswers(answers: Answers, address: BindAddress | undefined): Promise<Serving | undefined> {
  if (address === undefined) return undefined;
  return serve(answers, address).catch((cause: Error) => {
    const hint = "choose another with --metrics-bind-address, or 0 for none";
    throw new Failure(`cannot serve metrics on port ${address.port}: ${cause.message}; ${hint}`, { cause });
  });
}

/** What no flag can judge alone. */
function assertSense(flags: Flags): void {
  if (flags.instanceTypes !== undefined && flags.provider !== "simulated") {
    const rule = "--instance-types needs --provider=simulated: no other provider has a catalogue";
    throw new Failure(rule, { exitCode: 2 });
  }
  const { leaderElectLeaseDuration: lease, leaderElectRenewDeadline: renew, leaderElectRetryPeriod: retry } = flags;
  if (lease % secondMs === 0 && lease > renew && renew > retry) return;
  const rule = "whole seconds, longer than the renew deadline, which is longer than the retry period";
  throw new Failure(`--leader-elect-lease-duration must be ${rule}`, { exitCode: 2 });
}

function once(say: (text: string) => void): (text: string) => void {
  const said = new Set<string>();
  return text => {
    if (said.has(text)) return;
    said.add(text);
    say(text);
  };
}
