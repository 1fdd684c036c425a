// The flags of fettle run, and what no flag can judge alone.

import { Option } from "commander";
import { type Millis, secondMs } from "../api/time.ts";
import { type ControllerName, controllers } from "../decide/decision.ts";
import { type Agent, agents } from "../provider/repair-statements.ts";
import { type LogLevel, logLevels } from "../view/journal-line.ts";
import {
  type BindAddress,
  bindAddressOf,
  booleanOf,
  choiceOf,
  controllersOf,
  durationOf,
  flag,
  labelOf,
  someOf,
} from "./flags.ts";
import { Failure } from "./io.ts";
import type { ClusterChoice } from "./kube-access.ts";
import type { LeaderElectFlags } from "./leadership.ts";
import type { LogFormat } from "./log.ts";
import { lease } from "./permissions.ts";
import { type ProviderName, providers } from "./wire.ts";

export type RunFlags = ClusterChoice &
  LeaderElectFlags & {
    controllers: ReadonlySet<ControllerName>;
    dryRun: boolean;
    provider: ProviderName;
    instanceTypes?: string;
    clusterName: string;
    foreignClaims: "ignore" | "repair";
    batchIdleDuration: Millis;
    batchMaxDuration: Millis;
    spotToSpotConsolidation: boolean;
    repairUnset: "on" | "off";
    agentConditions: readonly Agent[];
    defaultHealthCheck: "on" | "off";
    upgradeUnknown: "hold" | "proceed";
    takeOver: boolean;
    metricsBindAddress: BindAddress | undefined;
    logLevel: LogLevel;
    logFormat: LogFormat;
  };

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
  flag("--cluster-name <name>", "the tag by which instances of this cluster are known", {
    read: labelOf,
    or: "fettle",
  }),
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
  flag("--batch-idle-duration <duration>", "pods that wait are looked at once none has come for so long", {
    read: durationOf,
    or: "1s",
  }),
  flag("--batch-max-duration <duration>", "and no later than this after the first of them came", {
    read: durationOf,
    or: "10s",
  }),
  flag("--spot-to-spot-consolidation [boolean]", "replace spot nodes by cheaper spot nodes, of at least 15 types", {
    read: booleanOf,
    or: "false",
  }),
  flag("--repair-unset <mode>", "what a pool without spec.repair means: the provider's defaults are on or off", {
    read: choiceOf("on", "off"),
    or: "on",
  }),
  flag("--agent-conditions <list>", `agents whose conditions mean a sick node, too: none, ${agents.join(", ")}`, {
    read: someOf(...agents),
    or: "none",
  }),
  flag("--default-health-check <mode>", "make one where the cluster has none and never had: on or off", {
    read: choiceOf("on", "off"),
    or: "on",
  }),
  flag("--upgrade-unknown <mode>", "remediations while nobody can tell if the cluster is upgraded: hold or proceed", {
    read: choiceOf("hold", "proceed"),
    or: "hold",
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
  flag("--metrics-bind-address <address>", "serve /metrics, /refusals, /healthz and /readyz there; 0 serves nothing", {
    read: bindAddressOf,
    or: ":8080",
  }),
  flag("--log-level <level>", `how much is said: ${logLevels.join(", ")}`, {
    read: choiceOf(...logLevels),
    or: "info",
  }),
  flag("--log-format <format>", "json, or text for people", { read: choiceOf("json", "text"), or: "json" }),
];

export const runOptions: readonly Option[] = [...clusterFlags, ...policyFlags, ...electionFlags, ...outputFlags];

/** They take no node away. All others write entries that only the ledger starts, adopts and ends. */
const withoutEntries: readonly ControllerName[] = ["ledger", "lifecycle", "provisioning"];

/** What no flag can judge alone. */
export function assertSense(flags: RunFlags): void {
  const [writer] = [...flags.controllers].filter(name => !withoutEntries.includes(name));
  if (writer !== undefined && !flags.controllers.has("ledger")) {
    const rule = `--controllers has ${writer} and not ledger: nobody would carry on or end what it begins; name ledger, too`;
    throw new Failure(rule, { exitCode: 2 });
  }
  if (flags.instanceTypes !== undefined && flags.provider !== "simulated") {
    const rule = "--instance-types needs --provider=simulated: no other provider has a catalogue";
    throw new Failure(rule, { exitCode: 2 });
  }
  if (flags.batchIdleDuration > flags.batchMaxDuration) {
    throw new Failure("--batch-idle-duration must not be longer than --batch-max-duration", { exitCode: 2 });
  }
  const { leaderElectLeaseDuration: lease, leaderElectRenewDeadline: renew, leaderElectRetryPeriod: retry } = flags;
  if (lease % secondMs === 0 && lease > renew && renew > retry) return;
  const rule = "whole seconds, longer than the renew deadline, which is longer than the retry period";
  throw new Failure(`--leader-elect-lease-duration must be ${rule}`, { exitCode: 2 });
}
