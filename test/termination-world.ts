// A claim that goes, as views, and what commands make of them: enough of a cluster to see a termination through to its
// end, and small enough to see why it does not come there.

import { formatTime, type Instant } from "../src/api/time.ts";
import { disruptedTaint, terminationTimestampKey } from "../src/api/well-known.ts";
import type { ActionProgress, Command, Context, Decision, MetadataChange } from "../src/decide/decision.ts";
import { nodeDeletion } from "../src/decide/departing.ts";
import { actionName, actionSpec } from "../src/decide/ledger.ts";
import { termination } from "../src/decide/termination.ts";
import type { ActionView, ClaimView, InstanceView, NodeView, PodView } from "../src/snapshot/views.ts";
import { aClaim, anAction, aNode, at, aWorld, type WorldOptions } from "./builders.ts";

/** When the claim was deleted. */
export const deletedAt = at("10m");
export const providerID = "test:///a";

export const closed = { "node.kubernetes.io/exclude-from-external-load-balancers": "karpenter" };

export function leavingClaim(options: Parameters<typeof aClaim>[1] = {}): ClaimView {
  return aClaim("a", { deletingSince: deletedAt, ...options });
}

/** Tainted and deleted, as the first step leaves it. */
export function leavingNode(options: Parameters<typeof aNode>[1] & { name?: string } = {}): NodeView {
  const { name = "a", ...rest } = options;
  return aNode(name, { taints: [disruptedTaint], labels: closed, deletingSince: deletedAt, providerID, ...rest });
}

/** With the claim as it was when somebody looked last: these conditions added. */
export function withConditions(claim: ClaimView, ...conditions: ClaimView["conditions"]): ClaimView {
  return { ...claim, conditions: [...claim.conditions, ...conditions] };
}

export const settings: Context["settings"] = { cluster: "test", dryRun: false, foreignClaims: "ignore" };

/** What is decided for the claim `a`; its node is tainted and its action runs, unless the world says otherwise. */
export function decided(now: Instant, world: WorldOptions = {}): Decision {
  const { nodes = [leavingNode()] } = world;
  const actions = nodes.map(node => anAction(actionName("Deletion", node.uid), { node }));
  const picture = aWorld({ claims: [leavingClaim()], nodes, actions, ...world });
  return termination.decide("a", { picture, now, settings, epoch: 1 });
}

type Of<K extends Command["kind"]> = Extract<Command, { kind: K }>;
type Named = { readonly name: string; readonly namespace?: string };

function keyOf({ namespace = "", name }: Named): string {
  return `${namespace}/${name}`;
}

function byKey<V extends Named>(views: readonly V[] = []): Map<string, V> {
  return new Map(views.map(view => [keyOf(view), view]));
}

/** How this cluster behaves by itself. */
export type Nature = {
  /** Kubelets that do not answer: pods there do not end. */
  readonly deadKubelets?: readonly string[];
  /** How long the provider takes to end an instance. */
  readonly endsAfterMs?: number;
};

export class TerminationWorld {
  now: Instant = deletedAt;
  epoch = 1;
  readonly claims: Map<string, ClaimView>;
  readonly nodes: Map<string, NodeView>;
  readonly pods: Map<string, PodView>;
  readonly actions: Map<string, ActionView>;
  /** What we remember: lost with the process. */
  readonly instances = new Map<string, InstanceView>();
  readonly #rest: WorldOptions;
  readonly #nature: Nature;
  #budgets: NonNullable<WorldOptions["budgets"]>;
  #attachments: NonNullable<WorldOptions["attachments"]>;
  #goneAt: Instant | undefined;
  #version = 1;

  constructor(world: WorldOptions, nature: Nature = {}) {
    this.claims = byKey(world.claims);
    this.nodes = byKey(world.nodes);
    this.pods = byKey(world.pods);
    this.actions = byKey(world.actions);
    this.#budgets = world.budgets ?? [];
    this.#attachments = world.attachments ?? [];
    this.#rest = world;
    this.#nature = nature;
  }

  get isOver(): boolean {
    return this.claims.size === 0 && this.nodes.size === 0;
  }

  get context(): Context {
    const picture = aWorld({
      ...this.#rest,
      claims: [...this.claims.values()],
      nodes: [...this.nodes.values()],
      pods: [...this.pods.values()],
      actions: [...this.actions.values()],
      budgets: this.#budgets,
      attachments: this.#attachments,
      instances: [...this.instances.values()],
    });
    return { picture, now: this.now, settings, epoch: this.epoch };
  }

  /** What is decided now, for the claim and for its nodes, as one. */
  decide(): Decision {
    const { context } = this;
    const names = [...this.nodes.values()].map(({ name }) => name);
    const all = [termination.decide("a", context), ...names.map(name => nodeDeletion.decide(name, context))];
    const wakes = all.flatMap(({ wakeAt }) => wakeAt ?? []);
    return {
      commands: all.flatMap(({ commands }) => commands),
      proposals: all.flatMap(({ proposals }) => proposals),
      refusals: all.flatMap(({ refusals }) => refusals),
      notices: all.flatMap(({ notices }) => notices),
      wakeAt: wakes.length === 0 ? undefined : Math.min(...wakes),
    };
  }

  /** The writes that a decision comes to, each for itself. */
  writes({ commands, proposals }: Decision): (() => void)[] {
    return [
      ...proposals.map(proposal => () => this.#open(proposal)),
      ...commands.map(command => () => this.apply(command)),
    ];
  }

  /** The process is gone with all it had in mind; a new leader has adopted what was open. */
  restart(): void {
    this.instances.clear();
    this.epoch++;
    for (const action of this.actions.values()) {
      this.#store(this.actions, { ...action, spec: { ...action.spec, epoch: this.epoch } });
    }
  }

  /** Lets time pass until something is due, here or in the decision. False: nothing ever will be. */
  passOn({ wakeAt }: Decision): boolean {
    const ends = [...this.pods.values()].filter(pod => this.#ends(pod)).map(({ deletionAt = 0 }) => deletionAt);
    const next = Math.min(...[...ends, wakeAt ?? Number.POSITIVE_INFINITY].filter(instant => instant > this.now));
    if (!Number.isFinite(next)) return false;
    this.now = next;
    for (const pod of this.pods.values()) {
      if (this.#ends(pod) && (pod.deletionAt ?? 0) <= next) this.pods.delete(keyOf(pod));
    }
    const used = new Set([...this.pods.values()].flatMap(({ volumeClaims }) => volumeClaims));
    this.#attachments = this.#attachments.filter(({ volume = "" }) => used.has(volume));
    return true;
  }

  apply(command: Command): void {
    switch (command.kind) {
      case "update-claim":
        return this.#updateClaim(command);
      case "update-node":
        return this.#updateNode(command);
      case "delete-node":
        return this.#deleteNode(command);
      case "evict-pod":
        return this.#evict(command);
      case "delete-pod":
        return this.#stop(command.pod, Math.max(1, Math.floor((command.deadline - this.now) / 1_000)) * 1_000);
      case "delete-instance":
        this.#goneAt ??= this.now + (this.#nature.endsAfterMs ?? 8_000);
        return this.#saw(command.providerID);
      case "look-up-instance":
        return this.#saw(command.providerID);
      case "update-action":
        return this.#updateAction(command);
      default:
        throw new Error(`a termination has no business with ${command.kind}`);
    }
  }

  /** The arbiter grants it, and the ledger begins it by deleting the claim. */
  #open(proposal: Decision["proposals"][number]): void {
    const spec = actionSpec(proposal, this.context);
    const name = actionName(proposal.action, proposal.node.uid);
    this.#store(this.actions, anAction(name, { spec, phase: "Pending" }));
    const claim = this.claims.get("/a");
    if (claim && claim.deletingSince === undefined) this.#store(this.claims, { ...claim, deletingSince: this.now });
  }

  #ends({ deletionAt, nodeName = "" }: PodView): boolean {
    return deletionAt !== undefined && this.#nature.deadKubelets?.includes(nodeName) !== true;
  }

  #saw(id: string): void {
    const state = this.#goneAt === undefined ? "running" : this.#goneAt <= this.now ? "gone" : "terminating";
    this.instances.set(id, { providerID: id, state, seenAt: this.now });
  }

  #updateClaim({ claim: target, resourceVersion, metadata, status }: Of<"update-claim">): void {
    const claim = this.claims.get(keyOf(target));
    if (claim?.uid !== target.uid || claim.resourceVersion !== resourceVersion) throw new Error("a stale claim");
    const timestamp = metadata?.annotations?.[terminationTimestampKey];
    const conditions = (status?.conditions ?? claim.conditions).map(one => ({ since: seconds(this.now), ...one }));
    const next = { ...claim, ...changed(claim, metadata), conditions };
    this.#store(this.claims, timestamp ? { ...next, terminationAt: Date.parse(timestamp) } : next);
  }

  #updateNode({ node: target, change }: Of<"update-node">): void {
    const node = this.nodes.get(keyOf(target));
    if (node?.uid !== target.uid) return;
    const { addTaints = [], addFinalizers = [] } = change;
    if (addFinalizers.length > 0 && node.deletingSince !== undefined) throw new Error("a finalizer comes too late");
    this.#store(this.nodes, { ...node, ...changed(node, change), taints: [...node.taints, ...addTaints] });
  }

  #deleteNode({ node: target }: Of<"delete-node">): void {
    const node = this.nodes.get(keyOf(target));
    if (node?.uid === target.uid) this.#store(this.nodes, { ...node, deletingSince: node.deletingSince ?? this.now });
  }

  #evict({ pod: target }: Of<"evict-pod">): void {
    const pod = this.pods.get(keyOf(target));
    if (pod?.uid !== target.uid || pod.deletionAt !== undefined) return;
    const over = this.context.picture.budgetsOver(pod).map(({ uid }) => uid);
    this.#budgets = this.#budgets.map(budget => {
      if (!over.includes(budget.uid) || pod.phase === "Pending" || !pod.isReady) return budget;
      if (budget.disruptionsAllowed < 1) throw new Error(`429: ${budget.name}`);
      return { ...budget, disruptionsAllowed: budget.disruptionsAllowed - 1 };
    });
    this.#stop(target, pod.graceMs);
  }

  #stop(target: Named, graceMs: number): void {
    const pod = this.pods.get(keyOf(target));
    if (pod === undefined) return;
    const deletionAt = Math.min(pod.deletionAt ?? Number.POSITIVE_INFINITY, seconds(this.now + graceMs));
    this.pods.set(keyOf(target), { ...pod, deletionAt });
  }

  #updateAction({ action: target, resourceVersion, progress = {} }: Of<"update-action">): void {
    const action = this.actions.get(keyOf(target));
    if (action?.uid !== target.uid || action.resourceVersion !== resourceVersion) throw new Error("a stale action");
    this.#store(this.actions, { ...action, status: statusAfter(action.status, progress, formatTime(this.now)) });
  }

  /** As the API server stores: a new version, and gone once it is deleted and nobody holds it. */
  #store<V extends ClaimView | NodeView | ActionView>(views: Map<string, V>, view: V): void {
    if (view.deletingSince !== undefined && view.finalizers.length === 0) views.delete(keyOf(view));
    else views.set(keyOf(view), { ...view, resourceVersion: String(++this.#version) });
  }
}

function seconds(instant: Instant): Instant {
  return Math.floor(instant / 1_000) * 1_000;
}

function statusAfter(status: ActionView["status"], progress: ActionProgress, time: string): ActionView["status"] {
  const { phase = status.phase, steps, waitingFor } = progress;
  const { steps: stepsBefore = [], waitingFor: waitBefore, ...rest } = status;
  const until = waitingFor?.until === undefined ? {} : { until: formatTime(waitingFor.until) };
  const wait = waitingFor === undefined ? waitBefore : waitingFor && { ...waitingFor, ...until, since: time };
  return {
    ...rest,
    ...(phase === undefined ? {} : { phase }),
    ...(wait ? { waitingFor: wait as NonNullable<ActionView["status"]["waitingFor"]> } : {}),
    steps:
      steps?.map(({ name, isFinished, message }) => ({
        name,
        startedAt: time,
        ...(isFinished ? { finishedAt: time } : {}),
        ...(message === undefined ? {} : { message }),
      })) ?? stepsBefore,
  };
}

function changed(view: ClaimView | NodeView, change: MetadataChange = {}) {
  const { labels, annotations, addFinalizers = [], removeFinalizers = [] } = change;
  return {
    labels: { ...view.labels, ...(labels as Record<string, string> | undefined) },
    annotations: { ...view.annotations, ...(annotations as Record<string, string> | undefined) },
    finalizers: [...view.finalizers, ...addFinalizers].filter(one => !removeFinalizers.includes(one)),
  };
}
