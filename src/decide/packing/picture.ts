// Nodes, pods and pools in numbers, ready for questions: built once from a problem, kept up to date change by change.
// Whoever asks may try placements on it and must take them back: between questions it shows what is, not what if.

import { nodePoolKey } from "../../api/node.ts";
import { type Pod, podKey } from "../../api/pod.ts";
import type { CsiNode } from "../../api/storage.ts";
import { admit } from "./admit.ts";
import { Census, type Count } from "./census.ts";
import { daemonRoom, daemonsToCome, isDaemon } from "./daemons.ts";
import type { Effort } from "./effort.ts";
import { Ground, type GroundChange } from "./ground.ts";
import { Hosts } from "./hosts.ts";
import { hostPorts } from "./host-ports.ts";
import { type Footprint, type Kind, kindSignature, labelsOf, namespaceOf } from "./kind.ts";
import { makeKind } from "./make-kind.ts";
import { domainOn, type OpenNode, sum } from "./node-view.ts";
import type { PictureParts, Resident } from "./picture-parts.ts";
import { affinityTerm } from "./pod-terms.ts";
import { type PoolTemplate, poolTemplate } from "./pool-template.ts";
import type { ExistingNode, Pool, Problem, UpcomingNode } from "./problem.ts";
import { joined, RequirementTable, setsOfLabels, setsOfRequirements } from "./requirements.ts";
import { type Amounts, amountsSignature, podAmounts, ResourceSpace } from "./resources.ts";
import { makeTemplate, type Template } from "./template.ts";
import { Texts } from "./texts.ts";
import { oneOf } from "./value-set.ts";
import { driverLimits, volumeNeeds } from "./volumes.ts";
import { relax, required, type Wishes, wishesOf } from "./wishes.ts";

export class Picture implements PictureParts {
  readonly space = new ResourceSpace();
  readonly texts = new Texts();
  readonly table = new RequirementTable();
  readonly census = new Census();
  readonly hosts: Hosts;
  readonly residents: Map<string, Resident>[] = [];
  readonly pools: PoolTemplate[] = [];
  readonly upcoming: OpenNode[] = [];
  readonly ground: Ground;
  daemons: readonly Pod[];
  /** Pods that use a claim which only one may use. */
  readonly exclusiveUsers = new Map<string, number>();
  readonly kinds: Kind[] = [];
  #work = 0;
  readonly #hostByPod = new Map<string, number>();
  /** Hosts that are away while somebody tries what if. */
  readonly #hidden = new Set<number>();
  readonly #footprintBySignature = new Map<string, Footprint>();
  readonly #kindBySignature = new Map<string, Kind>();
  readonly #amountsBySignature = new Map<string, Amounts>();
  readonly #waiting = new Map<string, Map<string, Pod>>();
  readonly #heldByHost = new Map<number, Amounts>();
  readonly #filterByCount = new Map<Count, Uint8Array>();
  readonly #templateBySignature = new Map<string, Template>();
  /** What pods on nodes on their way were counted for, to be taken back. */
  readonly #seated: { readonly count: Count; readonly domain: number }[] = [];

  constructor(problem: Problem) {
    this.ground = new Ground(problem);
    const names = new Set<string>();
    for (const { instanceTypes } of problem.pools)
      for (const { allocatable } of instanceTypes) for (const name in allocatable) names.add(name);
    for (const { node } of problem.nodes) for (const name in node.status?.allocatable) names.add(name);
    // In an order that does not depend on who was met first.
    for (const name of [...names].sort()) this.space.index(name);
    this.daemons = problem.daemons;
    this.hosts = new Hosts(this.space, this.texts, problem.nodes.length);
  }

  /**
   * No pools and no nodes on their way, so that others can be offered. Hosts and the pods on them stay; kinds and counts,
   * which look at the pools too, are found out anew.
   */
  withdraw(): void {
    for (const { count, domain } of this.#seated.splice(0)) count.counter.add(domain, -1);
    for (const { kind } of this.upcoming.splice(0).flatMap(node => node.seated)) this.#use(kind, -1);
    this.census.forgetCounts();
    this.kinds.length = 0;
    this.#kindBySignature.clear();
    this.#filterByCount.clear();
    this.#templateBySignature.clear();
    this.pools.length = 0;
  }

  *offer(pools: readonly Pool[], effort: Effort): Generator<void, void> {
    const inOrder = [...pools].sort((a, b) => (b.weight ?? 0) - (a.weight ?? 0) || (a.name < b.name ? -1 : 1));
    for (const pool of inOrder) this.pools.push(yield* poolTemplate(pool, this, effort));
  }

  /** What it had to do beyond what it was asked, since it was last asked for. */
  effort(): number {
    const work = this.#work;
    this.#work = 0;
    return work;
  }

  amounts(pod: Pod): Amounts {
    const signature = amountsSignature(pod);
    let amounts = this.#amountsBySignature.get(signature);
    if (amounts === undefined) {
      amounts = podAmounts(pod, this.space);
      this.#amountsBySignature.set(signature, amounts);
    }
    return amounts;
  }

  /** `wishes` where some of the pod's own are given up. */
  kind(pod: Pod, signature = kindSignature(pod), wishes?: Wishes): Kind {
    const full = wishes === undefined ? signature : `${signature}\n${wishes.relaxed.length}`;
    let kind = this.#kindBySignature.get(full);
    if (kind === undefined) {
      kind = makeKind(this, {
        pod,
        signature,
        wishes: wishes ?? wishesOf(pod),
        footprint: this.#footprint(pod, signature),
      });
      this.#work += 20 + 40 * kind.asks.length;
      this.kinds.push(kind);
      this.#kindBySignature.set(full, kind);
    }
    return kind;
  }

  /** The kind with one wish less, if it has any. */
  relaxed(kind: Kind, pod: Pod): Kind | undefined {
    const wishes = relax(kind.wishes);
    return wishes === undefined ? undefined : this.kind(pod, kind.signature, wishes);
  }

  /** The kind with all its wishes. */
  unrelaxed({ signature, ...kind }: Kind): Kind {
    return this.#kindBySignature.get(signature) ?? { signature, ...kind };
  }

  putNode(existing: ExistingNode): void {
    const { name } = existing.node.metadata;
    const index = this.hosts.indexByName.get(name) ?? this.hosts.length;
    const pods = index < this.hosts.length ? [...(this.residents[index]?.values() ?? [])].map(({ pod }) => pod) : [];
    for (const pod of pods) this.#leave(index, podKey(pod));
    this.#domains(index, -1);
    this.hosts.put(index, existing);
    this.#heldByHost.delete(index);
    this.hosts.limits[index] = this.ground.storage.limitsByNode.get(name);
    this.residents[index] ??= new Map();
    for (const kind of this.kinds) if (index < kind.admitted.length) kind.admitted[index] = 0;
    for (const known of this.#filterByCount.values()) if (index < known.length) known[index] = 0;
    this.#domains(index, 1);
    this.#holdForDaemons(index);
    for (const pod of pods) this.#enter(index, pod);
    const waiting = this.#waiting.get(name);
    this.#waiting.delete(name);
    for (const pod of waiting?.values() ?? []) this.putPod(pod);
  }

  removeNode(name: string): void {
    const index = this.hosts.indexByName.get(name);
    if (index === undefined) return;
    const pods = [...(this.residents[index]?.values() ?? [])].map(({ pod }) => pod);
    for (const pod of pods) this.#leave(index, podKey(pod));
    this.#domains(index, -1);
    this.hosts.remove(index);
    for (const kind of this.kinds) if (index < kind.admitted.length) kind.admitted[index] = 0;
    if (pods.length > 0) this.#waiting.set(name, new Map(pods.map(pod => [podKey(pod), pod])));
  }

  /** Undefined: nothing is known of its drivers any more. */
  putCsiNode(name: string, csiNode: CsiNode | undefined): void {
    const { limitsByNode } = this.ground.storage;
    if (csiNode === undefined) limitsByNode.delete(name);
    else limitsByNode.set(name, driverLimits(csiNode));
    const index = this.hosts.indexByName.get(name);
    if (index !== undefined) this.hosts.limits[index] = limitsByNode.get(name);
  }

  /** Before other pools are offered: kinds that rest on it are made anew then. */
  putGround(change: GroundChange): void {
    for (const signature of this.ground.put(change)) {
      this.#footprintBySignature.delete(signature);
      for (const pod of this.ground.podsOf(signature)) this.putPod(pod);
    }
  }

  /** In the same manner. */
  putDaemons(daemons: readonly Pod[]): void {
    this.daemons = daemons;
    for (const [index, node] of this.hosts.nodes.entries())
      if (node?.initialized === false) this.#holdForDaemons(index);
  }

  /** A pod on a node, as it is now. One that has ended, or that is bound to no node, is removed. */
  putPod(pod: Pod): void {
    const key = podKey(pod);
    this.removePod(key);
    const { nodeName } = pod.spec;
    if (!nodeName || pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") return;
    const index = this.hosts.indexByName.get(nodeName);
    if (index !== undefined) {
      this.#enter(index, pod);
      return;
    }
    const waiting = this.#waiting.get(nodeName) ?? new Map<string, Pod>();
    this.#waiting.set(nodeName, waiting.set(key, pod));
  }

  removePod(key: string): void {
    const index = this.#hostByPod.get(key);
    if (index !== undefined) {
      this.#leave(index, key);
      return;
    }
    for (const [name, waiting] of this.#waiting) {
      if (waiting.delete(key) && waiting.size === 0) this.#waiting.delete(name);
    }
  }

  *addUpcoming(upcoming: UpcomingNode, effort: Effort): Generator<void, void> {
    const signature = upcomingSignature(upcoming);
    effort.work += 20;
    // Claims that are alike share what is possible for them.
    const known = this.#templateBySignature.get(signature);
    const template = known ?? (yield* this.#upcomingTemplate(upcoming, effort));
    this.#templateBySignature.set(signature, template);
    const node: OpenNode = {
      template,
      pool: -1,
      index: -1,
      host: this.texts.fresh(),
      claim: upcoming.name,
      allowed: undefined,
      state: template.root,
      used: new Float64Array(this.space.names.length),
      ports: template.daemonPorts,
      seated: [],
    };
    this.upcoming.push(node);
    for (const pod of upcoming.pods) this.#seat(node, pod);
    for (const count of this.census.counts()) {
      const domain = count.filter === undefined ? 0 : domainOn(node, count, this.texts);
      if (domain !== 0) count.counter.addDomain(domain);
    }
  }

  *#upcomingTemplate(upcoming: UpcomingNode, effort: Effort): Generator<void, Template> {
    const sets = joined(setsOfLabels(upcoming.labels), setsOfRequirements(upcoming.requirements));
    const input = {
      name: upcoming.pool,
      base: joined(sets, new Map([[nodePoolKey, oneOf([upcoming.pool])]])),
      taints: upcoming.taints ?? [],
      instanceTypes: upcoming.instanceTypes,
    };
    const template = yield* makeTemplate(input, this, effort);
    effort.work += template.types.length * this.daemons.length;
    daemonRoom(this, template);
    return template;
  }

  // An earlier answer put the pod there: it counts, even if today's rules would say otherwise.
  #seat(node: OpenNode, pod: Pod): void {
    const wished = this.kind(pod);
    const kind = this.kind(pod, wished.signature, required(wished.wishes));
    const around = { texts: this.texts, hostMin: () => 0, settled: new Map() };
    const state = admit(kind, node, { around, holds: () => true });
    if (typeof state !== "string") node.state = state;
    node.used = sum(node.used, this.amounts(pod));
    node.ports = [...node.ports, ...kind.ports];
    node.seated.push({ pods: [pod], kind });
    const domainOf = (count: Count): number => {
      const domain = domainOn(node, count, this.texts);
      if (domain !== 0) this.#seated.push({ count, domain });
      return domain;
    };
    this.tally(kind, domainOf, { by: 1, terminating: false });
  }

  /** Enters or takes back what a pod means to others, at a host's labels or in a node's state. */
  tally(
    footprint: Footprint,
    domainOf: (count: Count) => number,
    { by, terminating }: { by: 1 | -1; terminating: boolean },
  ): void {
    for (const count of footprint.group.counted) {
      // Pods on their way out are not counted by spread constraints, but are by affinity.
      if (terminating && count.filter !== undefined) continue;
      this.#tallyAt(count, domainOf(count), by);
    }
    for (const count of footprint.repels) this.#tallyAt(count, domainOf(count), by);
    this.#use(footprint, by);
  }

  #use({ volumes }: Footprint, by: 1 | -1): void {
    for (const claim of volumes.exclusive) {
      this.exclusiveUsers.set(claim, (this.exclusiveUsers.get(claim) ?? 0) + by);
    }
  }

  domainAt(index: number): (count: Count) => number {
    return count => (this.isCountedAt(count, index) ? (this.hosts.column(count.counter.key)[index] ?? 0) : 0);
  }

  /** Whether a spread constraint counts the pods of a host. */
  isCountedAt(count: Count, index: number): boolean {
    if (count.filter === undefined) return true;
    let known = this.#filterByCount.get(count);
    if (known === undefined || known.length < this.hosts.length) {
      known = new Uint8Array(this.hosts.length * 2);
      this.#filterByCount.set(count, known);
    }
    if (known[index] === 0) known[index] = this.#passes(count.filter, index) ? 1 : 2;
    return known[index] === 1;
  }

  /** Counts those who are there already for a count that is new: as it is now, also while somebody tries something. */
  begin(count: Count): void {
    const column = this.hosts.column(count.counter.key);
    const isCounted = (index: number) => (column[index] ?? 0) !== 0 && this.isCountedAt(count, index);
    if (count.filter !== undefined) {
      this.#work += this.residents.length * 0.5;
      for (const [index, node] of this.hosts.nodes.entries()) {
        if (node !== undefined && !this.#hidden.has(index) && isCounted(index))
          count.counter.addDomain(column[index] ?? 0);
      }
    }
    for (const { staying, leaving } of this.census.members(count)) {
      this.#work += staying.size * 0.2;
      for (const seats of count.filter === undefined ? [staying, leaving] : [staying])
        for (const [index, pods] of seats) if (isCounted(index)) count.counter.add(column[index] ?? 0, pods);
    }
    this.#beginOnUpcoming(count);
  }

  // Pods that an earlier answer put on nodes on their way.
  #beginOnUpcoming(count: Count): void {
    for (const node of this.upcoming) {
      const domain = domainOn(node, count, this.texts);
      if (domain === 0) continue;
      if (count.filter !== undefined) count.counter.addDomain(domain);
      for (const { kind, pods } of node.seated)
        if (kind.group.counted.includes(count)) count.counter.add(domain, pods.length);
    }
  }

  hide(index: number, by: 1 | -1): void {
    this.#domains(index, by === 1 ? -1 : 1);
    if (by === 1) this.#hidden.add(index);
    else this.#hidden.delete(index);
  }

  #tallyAt(count: Count, domain: number, by: 1 | -1): void {
    if (domain !== 0) count.counter.add(domain, by);
  }

  #enter(index: number, pod: Pod): void {
    const signature = kindSignature(pod);
    const resident: Resident = {
      pod,
      footprint: this.#footprint(pod, signature),
      amounts: this.amounts(pod),
      terminating: pod.metadata.deletionTimestamp !== undefined,
    };
    this.residents[index]?.set(podKey(pod), resident);
    this.ground.enter(signature, podKey(pod), pod);
    this.#hostByPod.set(podKey(pod), index);
    this.occupy(index, resident, 1);
    if (isDaemon(pod)) this.#holdForDaemons(index);
  }

  #leave(index: number, key: string): void {
    const resident = this.residents[index]?.get(key);
    this.residents[index]?.delete(key);
    this.#hostByPod.delete(key);
    if (resident === undefined) return;
    this.ground.leave(kindSignature(resident.pod), key);
    this.occupy(index, resident, -1);
    if (isDaemon(resident.pod)) this.#holdForDaemons(index);
  }

  occupy(index: number, { footprint, amounts, terminating }: Omit<Resident, "pod">, by: 1 | -1): void {
    this.hosts.take(index, amounts, by);
    if (footprint.ports.length > 0) {
      const ports = this.hosts.ports[index] ?? [];
      if (by === 1) ports.push(...footprint.ports);
      else for (const port of footprint.ports) ports.splice(ports.indexOf(port), 1);
    }
    this.hosts.attach(index, footprint.volumes.attachments, by);
    this.census.seat(footprint.group, index, { by, terminating });
    this.tally(footprint, this.domainAt(index), { by, terminating });
  }

  /** So many of a plain kind: all that others could mind of them is where they are. */
  occupyPlainly(index: number, { footprint, amounts }: Pick<Resident, "footprint" | "amounts">, count: number): void {
    this.hosts.take(index, amounts, count);
    this.census.seat(footprint.group, index, { by: count, terminating: false });
  }

  #footprint(pod: Pod, signature: string): Footprint {
    let footprint = this.#footprintBySignature.get(signature);
    if (footprint === undefined) {
      const own = { namespace: namespaceOf(pod), labels: labelsOf(pod) };
      const terms = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      footprint = {
        group: this.census.group(own.namespace, own.labels),
        ports: hostPorts(pod),
        volumes: volumeNeeds(pod, this.ground.storage),
        repels: terms.map(term => this.census.repeller(affinityTerm(term, own, this.ground.namespaces))),
      };
      this.ground.note(signature, pod);
      this.#footprintBySignature.set(signature, footprint);
    }
    return footprint;
  }

  // A node that is still coming up has not got all its daemons: what they will need is kept for them.
  #holdForDaemons(index: number): void {
    const before = this.#heldByHost.get(index);
    if (before !== undefined) this.hosts.take(index, before, -1);
    this.#heldByHost.delete(index);
    if (this.daemons.length === 0 || this.hosts.nodes[index]?.initialized !== false) return;
    const held = daemonsToCome(this, index);
    this.#heldByHost.set(index, held);
    this.hosts.take(index, held, 1);
  }

  #passes({ keys, alternatives, tolerations }: NonNullable<Count["filter"]>, index: number): boolean {
    if (keys.some(key => (this.hosts.column(key)[index] ?? 0) === 0)) return false;
    if (alternatives !== undefined && !this.hosts.matches(index, alternatives)) return false;
    return tolerations === undefined || this.hosts.tolerated(index, tolerations, ["NoSchedule", "NoExecute"]);
  }

  #domains(index: number, by: 1 | -1): void {
    if (this.hosts.nodes[index] === undefined) return;
    for (const count of this.census.counts()) {
      const domain = this.hosts.column(count.counter.key)[index] ?? 0;
      if (count.filter === undefined || domain === 0 || !this.isCountedAt(count, index)) continue;
      if (by === 1) count.counter.addDomain(domain);
      else count.counter.dropDomain(domain);
    }
  }
}

function upcomingSignature({ pool, labels, taints, requirements, instanceTypes }: UpcomingNode): string {
  const types = instanceTypes.map(({ name, allocatable }) => [name, allocatable]);
  return JSON.stringify([pool, labels, taints, requirements, types]);
}
