// Nodes, pods and pools in numbers, ready for questions: built once from a problem, kept up to date change by change.
// Whoever asks may try placements on it and must take them back: between questions it shows what is, not what if.

import { nodePoolKey } from "../../api/node.ts";
import { type Pod, podKey } from "../../api/pod.ts";
import { Census, type Count } from "./census.ts";
import { daemonRoom } from "./daemons.ts";
import { Hosts } from "./hosts.ts";
import { hostPorts } from "./host-ports.ts";
import { type Footprint, type Kind, kindSignature, labelsOf, namespaceOf } from "./kind.ts";
import { makeKind } from "./make-kind.ts";
import type { OpenNode } from "./node-view.ts";
import { affinityTerm } from "./pod-terms.ts";
import type { ExistingNode, Namespace, Pool, Problem, UpcomingNode } from "./problem.ts";
import { joined, RequirementTable, setsOfLabels, setsOfRequirements } from "./requirements.ts";
import { type Amounts, amountsSignature, podAmounts, ResourceSpace } from "./resources.ts";
import { Template } from "./template.ts";
import { Texts } from "./texts.ts";
import { oneOf } from "./value-set.ts";
import { type Storage, storageOf, volumeNeeds } from "./volumes.ts";
import { relax, type Wishes, wishesOf } from "./wishes.ts";

/** A pod on a host. */
export type Resident = { pod: Pod; footprint: Footprint; amounts: Amounts; terminating: boolean };

export type PoolTemplate = { pool: Pool; template: Template; limits: Amounts | undefined; limitedNodes: number };

export class Picture {
  readonly space = new ResourceSpace();
  readonly texts = new Texts();
  readonly table = new RequirementTable();
  readonly census = new Census();
  readonly hosts: Hosts;
  readonly residents: Map<string, Resident>[] = [];
  readonly pools: PoolTemplate[];
  readonly upcoming: OpenNode[] = [];
  readonly storage: Storage;
  readonly namespaces: readonly Namespace[];
  readonly daemons: readonly Pod[];
  /** Pods that use a claim which only one may use. */
  readonly exclusiveUsers = new Map<string, number>();
  readonly kinds: Kind[] = [];
  readonly #hostByPod = new Map<string, number>();
  readonly #footprintBySignature = new Map<string, Footprint>();
  readonly #kindBySignature = new Map<string, Kind>();
  readonly #amountsBySignature = new Map<string, Amounts>();
  readonly #waiting = new Map<string, Map<string, Pod>>();
  readonly #filterByCount = new Map<Count, Uint8Array>();

  constructor(problem: Problem) {
    this.namespaces = problem.namespaces;
    this.storage = storageOf(problem);
    this.daemons = problem.daemons;
    this.hosts = new Hosts(this.space, this.texts, problem.nodes.length);
    const pools = [...problem.pools].sort((a, b) => (b.weight ?? 0) - (a.weight ?? 0) || (a.name < b.name ? -1 : 1));
    this.pools = pools.map(pool => this.#poolTemplate(pool));
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
    const pods = [...(this.residents[index]?.values() ?? [])].map(({ pod }) => pod);
    for (const pod of pods) this.#leave(index, podKey(pod));
    this.#domains(index, -1);
    this.hosts.put(index, existing);
    this.hosts.limits[index] = this.storage.limitsByNode.get(name);
    this.residents[index] ??= new Map();
    for (const kind of this.kinds) if (index < kind.admitted.length) kind.admitted[index] = 0;
    for (const known of this.#filterByCount.values()) if (index < known.length) known[index] = 0;
    this.#domains(index, 1);
    for (const pod of pods) this.#enter(index, pod);
    const waiting = this.#waiting.get(name);
    this.#waiting.delete(name);
    for (const pod of waiting?.values() ?? []) this.putPod(pod);
    this.#reserveForDaemons(index, existing);
  }

  removeNode(name: string): void {
    const index = this.hosts.indexByName.get(name);
    if (index === undefined) return;
    const pods = [...(this.residents[index]?.values() ?? [])].map(({ pod }) => pod);
    for (const pod of pods) this.#leave(index, podKey(pod));
    this.#domains(index, -1);
    this.hosts.remove(index);
    for (const kind of this.kinds) if (index < kind.admitted.length) kind.admitted[index] = 0;
    this.#waiting.set(name, new Map(pods.map(pod => [podKey(pod), pod])));
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
    if (index !== undefined) this.#leave(index, key);
    else for (const waiting of this.#waiting.values()) waiting.delete(key);
  }

  addUpcoming(upcoming: UpcomingNode): OpenNode {
    const sets = joined(setsOfLabels(upcoming.labels), setsOfRequirements(upcoming.requirements));
    const input = {
      name: upcoming.pool,
      base: joined(sets, new Map([[nodePoolKey, oneOf([upcoming.pool])]])),
      taints: upcoming.taints ?? [],
      instanceTypes: upcoming.instanceTypes,
    };
    const template = new Template(input, this.space, this.table);
    daemonRoom(this, template);
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
      pods: [],
    };
    this.upcoming.push(node);
    return node;
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
    for (const claim of footprint.volumes.exclusive) {
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

  /** Counts those who are there already for a count that is new. */
  begin(count: Count): void {
    const column = this.hosts.column(count.counter.key);
    const isMember = new Set([...this.census.groups.values()].filter(group => group.counted.includes(count)));
    for (const [index, residents] of this.residents.entries()) {
      const domain = column[index] ?? 0;
      if (this.hosts.nodes[index] === undefined || domain === 0 || !this.isCountedAt(count, index)) continue;
      if (count.filter !== undefined) count.counter.addDomain(domain);
      if (isMember.size === 0) continue;
      for (const { footprint, terminating } of residents.values()) {
        if (isMember.has(footprint.group) && !(terminating && count.filter !== undefined)) count.counter.add(domain, 1);
      }
    }
  }

  hide(index: number, by: 1 | -1): void {
    this.#domains(index, by === 1 ? -1 : 1);
  }

  #tallyAt(count: Count, domain: number, by: 1 | -1): void {
    if (domain !== 0) count.counter.add(domain, by);
  }

  #enter(index: number, pod: Pod): void {
    const resident: Resident = {
      pod,
      footprint: this.#footprint(pod, kindSignature(pod)),
      amounts: this.amounts(pod),
      terminating: pod.metadata.deletionTimestamp !== undefined,
    };
    this.residents[index]?.set(podKey(pod), resident);
    this.#hostByPod.set(podKey(pod), index);
    this.occupy(index, resident, 1);
  }

  #leave(index: number, key: string): void {
    const resident = this.residents[index]?.get(key);
    this.residents[index]?.delete(key);
    this.#hostByPod.delete(key);
    if (resident !== undefined) this.occupy(index, resident, -1);
  }

  occupy(index: number, { footprint, amounts, terminating }: Omit<Resident, "pod">, by: 1 | -1): void {
    this.hosts.take(index, amounts, by);
    if (footprint.ports.length > 0) {
      const ports = this.hosts.ports[index] ?? [];
      if (by === 1) ports.push(...footprint.ports);
      else for (const port of footprint.ports) ports.splice(ports.indexOf(port), 1);
    }
    this.hosts.attach(index, footprint.volumes.attachments, by);
    this.tally(footprint, this.domainAt(index), { by, terminating });
  }

  #footprint(pod: Pod, signature: string): Footprint {
    let footprint = this.#footprintBySignature.get(signature);
    if (footprint === undefined) {
      const own = { namespace: namespaceOf(pod), labels: labelsOf(pod) };
      const terms = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      footprint = {
        group: this.census.group(own.namespace, own.labels),
        ports: hostPorts(pod),
        volumes: volumeNeeds(pod, this.storage),
        repels: terms.map(term => this.census.repeller(affinityTerm(term, own, this.namespaces))),
      };
      this.#footprintBySignature.set(signature, footprint);
    }
    return footprint;
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

  // A node that is still coming up has not got all its daemons: what they will need is kept for them.
  #reserveForDaemons(index: number, { initialized = true }: ExistingNode): void {
    if (initialized || this.daemons.length === 0) return;
    const there = [...(this.residents[index]?.values() ?? [])].filter(({ pod }) =>
      pod.metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet"),
    );
    const rest = new Float64Array(this.space.names.length);
    for (const daemon of this.daemons) {
      const kind = this.kind(daemon);
      const { matches, tolerated } = this.hosts;
      const runs =
        matches.call(this.hosts, index, kind.alternatives) &&
        tolerated.call(this.hosts, index, kind.tolerations, ["NoSchedule", "NoExecute"]);
      for (const [r, amount] of runs ? this.amounts(daemon).entries() : []) rest[r] = (rest[r] ?? 0) + amount;
    }
    for (const { amounts } of there) for (const [r, amount] of amounts.entries()) rest[r] = (rest[r] ?? 0) - amount;
    this.hosts.take(
      index,
      rest.map(amount => Math.max(0, amount)),
      1,
    );
  }

  #poolTemplate(pool: Pool): PoolTemplate {
    const sets = joined(setsOfLabels(pool.labels), setsOfRequirements(pool.requirements));
    const input = {
      name: pool.name,
      base: joined(sets, new Map([[nodePoolKey, oneOf([pool.name])]])),
      taints: pool.taints ?? [],
      instanceTypes: pool.instanceTypes,
      minValues: pool.requirements.filter(({ minValues }) => minValues !== undefined),
    };
    const template = new Template(input, this.space, this.table);
    return { pool, template, ...this.#limitsOf(pool) };
  }

  #limitsOf({ limits, usage }: Pool): Pick<PoolTemplate, "limits" | "limitedNodes"> {
    if (limits === undefined) return { limits: undefined, limitedNodes: Number.POSITIVE_INFINITY };
    const used = this.space.amounts(usage);
    const rest = new Float64Array(this.space.names.length).fill(Number.POSITIVE_INFINITY);
    for (const name in limits) {
      if (name === "nodes") continue;
      const index = this.space.index(name);
      if (index >= rest.length) return this.#limitsOf({ limits, ...(usage && { usage }) } as Pool);
      rest[index] = this.space.value(name, limits[name] ?? "0") - (used[index] ?? 0);
    }
    const nodes = limits["nodes"] === undefined ? Number.POSITIVE_INFINITY : this.space.value("nodes", limits["nodes"]);
    return { limits: rest, limitedNodes: nodes - this.space.value("nodes", usage?.["nodes"] ?? "0") };
  }
}
