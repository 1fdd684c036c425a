// What health checks work with, watched for as long as a check uses it: the checks themselves, the leases on nodes, the
// kinds of remediations and templates that checks name, and what OpenShift says where it is. A kind that
// is not there or not ours to read stops nothing but the checks that name it, and they say so.

import { machineKind } from "../api/cluster-api.ts";
import type { Resource } from "../api/meta.ts";
import { nodeLeaseNamespace } from "../api/node-health-check-contract.ts";
import { nodeHealthChecks } from "../api/node-health-check.ts";
import { ownRemediationKinds } from "../api/remediation.ts";
import { isEqual } from "../api/schema/correlate.ts";
import { secondMs } from "../api/time.ts";
import { defaultKinds } from "../decide/health-check/default-check.ts";
import { wantedKinds } from "../decide/health-check/templates.ts";
import { keyOfKind, type KindName, type KindState } from "../snapshot/check-views.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { KeptKind } from "../snapshot/kept-kind.ts";
import type { CheckedView } from "../snapshot/kind.ts";
import { Access } from "./access.ts";
import { Definitions, definitions } from "./definitions.ts";
import type { WatchedKind } from "./feeds.ts";
import { OpenShift } from "./openshift.ts";
import { isNotFound } from "./outcome.ts";
import type { Clock, Fed, Feed, KubeApi } from "./ports.ts";
import { leases } from "./resources.ts";
import { isForbidden, isSilent, silentIn } from "./staleness.ts";

type Options = {
  readonly api: Pick<KubeApi, "create">;
  readonly feed: Feed;
  readonly clock: Clock;
  readonly picture: ClusterPicture;
  readonly isLeading: () => boolean;
  /** The picture has taken something in. */
  readonly changed: () => void;
};

type Watching = { readonly name: KindName; readonly resource: Resource; readonly fed: Fed };

const lookAgainMs = secondMs;

export class RemediationFeeds {
  /** Without these nothing can be decided. */
  readonly kinds: readonly WatchedKind[];
  readonly #options: Options;
  readonly #definitions: Definitions;
  readonly #openShift: OpenShift;
  readonly #access: Access;
  readonly #watching = new Map<string, Watching>();
  readonly #told = new Map<string, KindState>();
  /** Wanted whether or not there are objects of them. */
  #named: ReadonlySet<string> = new Set();
  #cancel = (): void => {};
  #isStopped = false;

  constructor(options: Options) {
    const { feed, picture, changed } = options;
    this.#options = options;
    const look = () => this.look();
    this.#definitions = new Definitions(feed, look);
    this.#openShift = new OpenShift(feed, look);
    this.#access = new Access({ ...options, changed: look });
    // A person pauses a check to stop it: that is seen at once, as nodes are (feeds.ts).
    const urgent = { feed, changed: look, isUrgent: true };
    const checks = start(urgent, nodeHealthChecks.resource, picture.checkFeeds.checks);
    const inNamespace = { selection: { namespace: nodeLeaseNamespace } };
    const held = start({ feed, changed, ...inNamespace }, leases, picture.checkFeeds.leases);
    this.kinds = [
      { resource: nodeHealthChecks.resource, fed: checks },
      { resource: leases, fed: held },
      { resource: definitions, fed: this.#definitions.fed },
    ];
    this.#lookLater();
  }

  /** Begins and ends watches as the checks want it, and tells the picture how each kind stands. */
  look(): void {
    if (this.#isStopped) return;
    const { picture, changed } = this.#options;
    const [checks] = this.kinds;
    if (checks?.fed.synced && !picture.checks.isListed) picture.checks.setListed();
    const named = this.#namedKinds();
    this.#named = new Set(named.map(keyOfKind));
    const wanted = new Map([...named, ...this.#runningKinds()].map(name => [keyOfKind(name), name]));
    for (const [key, watching] of this.#watching) if (!wanted.has(key)) this.#end(key, watching);
    for (const name of wanted.values()) this.#tell(name, this.#stateOf(name));
    this.#openShift.look(this.#definitions, picture);
    picture.checks.setMachines(this.#definitions.firstServed(machineKind));
    changed();
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    for (const { fed } of this.#watching.values()) fed.stop();
    this.#openShift.stop();
    this.#access.stop();
  }

  #namedKinds(): readonly KindName[] {
    const { checks } = this.#options.picture;
    // Others' templates are of interest only as long as a check by default may be made from one.
    return [...wantedKinds(checks.all()), ...ownRemediationKinds, ...(checks.hadDefault === false ? defaultKinds : [])];
  }

  /** What a check has made and would no longer make, since it was edited. */
  #runningKinds(): readonly KindName[] {
    const { checks } = this.#options.picture;
    return checks.all().flatMap(check => {
      const made = checks.remediatedNodes(check).flatMap(node => checks.remediationsOf(check, node));
      return made.map(({ apiVersion, kind }) => ({ apiVersion, kind }));
    });
  }

  #stateOf(name: KindName): KindState {
    const key = keyOfKind(name);
    const resource = this.#definitions.resourceOf(name);
    const before = this.#watching.get(key);
    if (before !== undefined && !isEqual(before.resource, resource)) this.#end(key, before);
    if (resource === undefined) return { state: this.#definitions.fed.synced ? "NotFound" : "Listing" };
    const { fed } = this.#watching.get(key) ?? this.#begin(name, resource);
    if (isForbidden(fed.lastError)) return { state: "Forbidden", verb: verbIn(fed.lastError), resource };
    if (fed.synced && !isSilent(fed)) return { state: "Served", resource, ...this.#lacking(name, resource) };
    return { state: isNotFound(fed.lastError) ? "NotFound" : "Listing" };
  }

  /** Of our own kinds `fettle install` grants everything, and templates are only read. */
  #lacking({ apiVersion, kind }: KindName, resource: Resource): { readonly lacking?: string } {
    const isOurs = ownRemediationKinds.some(one => one.kind === kind && one.apiVersion === apiVersion);
    const verb = isOurs || kind.endsWith("Template") ? undefined : this.#access.lacking(resource);
    return verb === undefined ? {} : { lacking: verb };
  }

  #begin(name: KindName, resource: Resource): Watching {
    const { feed, picture, changed } = this.#options;
    const kept = picture.checkFeeds.kind(name);
    const key = keyOfKind(name);
    // Of what is in step and named by a check, an object more or less changes nothing of what is to be watched.
    const isSettled = () => this.#told.get(key)?.state === "Served" && this.#named.has(key);
    const options = { feed, changed: () => (isSettled() ? changed() : this.look()), isOptional: true };
    // One of the two; the compiler cannot see that the project and handlers of each go together.
    const watching = { name, resource, fed: start(options, resource, kept as KeptKind<CheckedView>) };
    this.#watching.set(key, watching);
    return watching;
  }

  #end(key: string, { name, resource, fed }: Watching): void {
    fed.stop();
    this.#access.forget(resource);
    this.#watching.delete(key);
    this.#told.delete(key);
    this.#options.picture.checkFeeds.drop(name);
  }

  #tell(name: KindName, state: KindState): void {
    const key = keyOfKind(name);
    if (isEqual(this.#told.get(key), state)) return;
    this.#told.set(key, state);
    this.#options.picture.checks.setKind(name, state);
  }

  #lookLater(): void {
    const isServed = [...this.#told.values()].every(({ state }) => state === "Served");
    // What is in step is looked at when the first of their watches could have gone silent.
    const silentInMs = Math.min(...[...this.#watching.values()].map(({ fed }) => silentIn(fed)));
    const inMs = isServed && Number.isFinite(silentInMs) ? Math.max(lookAgainMs, silentInMs) : lookAgainMs;
    this.#cancel = this.#options.clock.after(inMs, () => {
      this.look();
      this.#lookLater();
    });
  }
}

type Start = Pick<Options, "feed" | "changed"> & Omit<Parameters<Feed>[0], "resource" | "project" | "handlers">;

function start<V extends CheckedView>(
  { feed, changed, ...options }: Start,
  resource: Resource,
  kept: KeptKind<V>,
): Fed {
  const told =
    <A extends readonly unknown[]>(handle: (...args: A) => void) =>
    (...args: A) => {
      handle(...args);
      changed();
    };
  const { added, updated, deleted, synced } = kept.handlers;
  return feed<V>({
    ...options,
    resource,
    project: kept.project,
    handlers: { added: told(added), updated: told(updated), deleted: told(deleted), synced: told(synced) },
  });
}

/** As the server says it: … cannot list resource … */
function verbIn({ message }: Error): string {
  return /cannot (\w+) resource/.exec(message)?.[1] ?? "list";
}
