// Puts a controller together from its parts: the watches, the provider and the rules. The same for a real cluster and
// for the one that `fettle up` serves.

import type { Millis } from "../api/time.ts";
import { type Controller, type ControllerOptions, startController } from "../control/controller.ts";
import type { Clock, Feed, InstanceProvider, KubeApi } from "../control/ports.ts";
import { isNotFound } from "../control/outcome.ts";
import { isForbidden } from "../control/staleness.ts";
import type { JournalEntry } from "../decide/decision.ts";
import { rules } from "../decide/rules.ts";
import { Reflector } from "../kube/reflector.ts";
import { noProvider } from "../provider/none.ts";
import { type Agent, repairStatements } from "../provider/repair-statements.ts";
import { simulatedProvider, type SimulatedProviderOptions } from "../provider/simulated.ts";
import type { Picture } from "../snapshot/picture.ts";

export const providers = ["simulated", "none"] as const;
export type ProviderName = (typeof providers)[number];

export type WireOptions = Pick<
  ControllerOptions,
  "api" | "clock" | "settings" | "controllers" | "leadership" | "repairUnset" | "turned"
> &
  Pick<SimulatedProviderOptions, "instanceTypes"> & {
    readonly provider: ProviderName;
    /** Whose conditions mean a sick node, beside those by default. */
    readonly agentConditions?: readonly Agent[];
    readonly journal: (entry: JournalEntry, picture: Picture) => void;
  };

export type Watched = {
  readonly resource: string;
  readonly fed: Pick<Reflector<unknown>, "synced" | "ageMs" | "lastError">;
};

export type Wired = {
  readonly controller: Controller;
  readonly watches: readonly Watched[];
  /** Resolves when what is in hand has ended. */
  stop(): Promise<void>;
};

export function wire({ provider: name, instanceTypes, agentConditions, journal, ...options }: WireOptions): Wired {
  const { api, clock } = options;
  const watches: Watched[] = [];
  const feed = watching(api, clock, watches);
  const statements = repairStatements(agentConditions);
  const parts = { api, clock, feed, repairStatements: statements, ...(instanceTypes && { instanceTypes }) };
  const provider = providerOf(name, parts);
  const controller: Controller = startController({
    ...options,
    feed,
    provider,
    rules,
    random: Math.random,
    journal: entry => journal(entry, controller.picture),
  });
  return {
    controller,
    watches,
    stop: async () => {
      await controller.stop();
      provider.stop();
    },
  };
}

/** Undefined: every kind has been listed, and may be watched. */
export function unlisted(watches: readonly Watched[]): string | undefined {
  const missing = watches.filter(({ fed }) => !fed.synced);
  const lost = watches.filter(({ fed }) => fed.synced && isForbidden(fed.lastError));
  const told = [
    ...named("Not listed yet", missing),
    ...named("Not allowed to watch any more", lost),
    ...remedies([...missing, ...lost]),
  ];
  return told.length === 0 ? undefined : told.join(" ");
}

function named(what: string, watches: readonly Watched[]): string[] {
  const names = watches.map(({ resource, fed }) =>
    fed.lastError ? `${resource} (${fed.lastError.message})` : resource,
  );
  return names.length === 0 ? [] : [`${what}: ${names.join(", ")}.`];
}

function remedies(watches: readonly Watched[]): string[] {
  const isSome = (is: (error: Error | undefined) => boolean) => watches.some(({ fed }) => is(fed.lastError));
  return [
    ...(isSome(isNotFound)
      ? ["Kinds that the cluster does not have: fettle crds | kubectl apply --server-side -f -."]
      : []),
    ...(isSome(isForbidden) ? ["The roles that it needs: fettle install prints them."] : []),
  ];
}

export function measuredWatches({ watches }: Pick<Wired, "watches">) {
  return watches.map(({ resource, fed }) => ({ resource, isSynced: fed.synced, ageMs: fed.ageMs() }));
}

/** How long events may wait that nobody is in a hurry for; most of them are of pods, or repeat what we wrote. */
const gatherMs: Millis = 200;

export function watching(api: KubeApi, clock: Clock, watches: Watched[]): Feed {
  return options => {
    const fed = new Reflector({
      api,
      clock,
      random: Math.random,
      gatherMs: options.isUrgent ? 0 : gatherMs,
      ...options,
    });
    if (!options.isOptional) watches.push({ resource: options.resource.plural, fed });
    return fed;
  };
}

function providerOf(name: ProviderName, options: SimulatedProviderOptions): InstanceProvider {
  return name === "simulated" ? simulatedProvider(options) : noProvider(options);
}
