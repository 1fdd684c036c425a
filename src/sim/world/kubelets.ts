// Simulated kubelets: they register nodes, keep their leases, report the conditions they own and start and stop pods.
// On the box and on a real API server alike. They fight nobody: what a person writes into a status stays until the
// kubelet has something new to say.

import { ApiError } from "../../api/status.ts";
import type { Clock } from "../../control/ports.ts";
import type { Random } from "../random.ts";
import { beat, beatMs, type Beats, lastBeat, leaseNamespace, leaseOf } from "./beats.ts";
import type { Change } from "./mirror.ts";
import {
  addressOf,
  type Ailment,
  bootId,
  heartbeat,
  isDeclaredUnknown,
  isOwn,
  type NodeTemplate,
  registration,
  reported,
} from "./node-template.ts";
import type { Node } from "./objects.ts";
import type { NodePicture } from "./picture.ts";
import { PodRunner, type PodTimes } from "./pod-runner.ts";
import { nodeFaults, simulateAnnotation } from "./simulated-faults.ts";
import { nodeResource } from "./resources.ts";
import { type Failed, Worker } from "./worker.ts";

export type KubeletOptions = {
  /** `computed` writes no beats, for virtual time; `written` beats as real kubelets do. */
  beats: Beats;
  times?: Partial<PodTimes>;
  failed?: Failed;
};

/** A status without news is still written once in five minutes, as real kubelets do. */
const statusEveryBeats = 30;
const parallelMax = 32;

type Kubelet = {
  readonly template: NodeTemplate;
  readonly number: number;
  joinedAt: number | undefined;
  isOff: boolean;
  isLeaving: boolean;
  /** Of the node that it registered. */
  uid: string | undefined;
  /** What it last said of its node; forgotten when it falls silent, so that it says all again. */
  said: string | undefined;
  /** What is wrong with its machine. */
  ailments: readonly Ailment[];
  /** Conditions that are not a kubelet's own and that it reported all the same. */
  askedTypes: readonly string[];
  beatingSince: number | undefined;
  bootCount: number;
};

export class Kubelets {
  readonly #picture: NodePicture;
  readonly #clock: Clock;
  readonly #beats: Beats;
  readonly #kubeletByName = new Map<string, Kubelet>();
  readonly #worker: Worker;
  readonly #beater: Worker;
  readonly #runner: PodRunner;
  #numbers = 0;

  constructor(picture: NodePicture, random: Random, { beats, times, failed }: KubeletOptions) {
    this.#picture = picture;
    this.#clock = picture.clock;
    this.#beats = beats;
    const common = { clock: picture.clock, after: picture.synced, parallelMax, ...(failed && { failed }) };
    this.#worker = new Worker({ ...common, sync: name => this.#sync(name) });
    this.#beater = new Worker({ ...common, sync: name => this.#beat(name) });
    const hostOf = (nodeName: string) => this.#hostOf(nodeName);
    this.#runner = new PodRunner(picture, { random, hostOf, ...(times && { times }), ...(failed && { failed }) });
    picture.nodes.onChange(change => this.#nodeChanged(change));
  }

  /** A machine starts its kubelet, which registers the node unless it is there already. */
  join(template: NodeTemplate): void {
    const number = ++this.#numbers;
    this.#kubeletByName.set(template.name, {
      template,
      number,
      joinedAt: undefined,
      isOff: false,
      isLeaving: false,
      uid: undefined,
      said: undefined,
      ailments: [],
      askedTypes: [],
      beatingSince: undefined,
      bootCount: template.bootCount ?? 0,
    });
    this.#worker.add(template.name);
  }

  /** The machine is gone for good; its node object stays for others to find. */
  leave(name: string): void {
    const kubelet = this.#kubeletByName.get(name);
    if (kubelet === undefined) return;
    kubelet.isOff = true;
    kubelet.isLeaving = true;
    this.#worker.add(name);
  }

  /** The machine hangs or loses its network, until `resume`. */
  halt(name: string): void {
    this.#switch(name, true);
  }

  resume(name: string): void {
    this.#switch(name, false);
  }

  /** Off for a while; when the machine is back, its boot id is another one. Its pods run on as if nothing had been. */
  reboot(name: string, downMs: number): void {
    const kubelet = this.#kubeletByName.get(name);
    if (kubelet === undefined) return;
    kubelet.bootCount++;
    this.halt(name);
    this.#clock.after(downMs, () => {
      if (this.#kubeletByName.get(name) === kubelet && !kubelet.isLeaving) this.resume(name);
    });
  }

  /** What is wrong with the machine from now on, and nothing else; what the node's annotation says comes on top. */
  afflict(name: string, ailments: readonly Ailment[]): void {
    const kubelet = this.#kubeletByName.get(name);
    if (kubelet === undefined) return;
    kubelet.ailments = ailments;
    this.#worker.add(name);
  }

  has(name: string): boolean {
    return this.#kubeletByName.has(name);
  }

  stop(): void {
    this.#worker.stop();
    this.#beater.stop();
    this.#runner.stop();
  }

  #switch(name: string, isOff: boolean): void {
    const kubelet = this.#kubeletByName.get(name);
    if (kubelet === undefined) return;
    kubelet.isOff = isOff;
    this.#worker.add(name);
  }

  #nodeChanged({ object, previous, isGone }: Change<Node>): void {
    const { name } = object.metadata;
    const kubelet = this.#kubeletByName.get(name);
    if (kubelet === undefined) return;
    const asked = (node: Node | undefined) => node?.metadata.annotations?.[simulateAnnotation];
    const isNews = isGone || previous === undefined || asked(object) !== asked(previous) || isDeclaredUnknown(object);
    if (isNews) this.#worker.add(name);
  }

  /** Where the pods of a node run; undefined while nothing moves there. */
  #hostOf(nodeName: string): string | undefined {
    const kubelet = this.#kubeletByName.get(nodeName);
    if (kubelet === undefined || kubelet.isOff) return undefined;
    const node = this.#picture.nodes.get(nodeName);
    const faults = node && nodeFaults(node);
    return faults?.isSilent || faults?.isStuck ? undefined : addressOf(kubelet.number);
  }

  async #sync(name: string): Promise<void> {
    const kubelet = this.#kubeletByName.get(name);
    if (kubelet === undefined) return;
    if (kubelet.uid === undefined && !kubelet.isOff) await this.#register(kubelet);
    const node = this.#picture.nodes.get(name);
    if (node === undefined) kubelet.beatingSince = undefined;
    else await this.#serve(kubelet, node);
    if (kubelet.isLeaving) this.#kubeletByName.delete(name);
  }

  async #serve(kubelet: Kubelet, node: Node): Promise<void> {
    if (kubelet.uid !== node.metadata.uid) {
      kubelet.uid = node.metadata.uid;
      kubelet.said = undefined;
      kubelet.beatingSince = undefined;
    }
    const faults = nodeFaults(node);
    if (kubelet.isOff || faults.isSilent) {
      kubelet.said = undefined;
      await this.#endBeats(kubelet, node);
      return;
    }
    if (kubelet.beatingSince === undefined) await this.#beginBeats(kubelet, node);
    await this.#report(kubelet, node);
    this.#runner.wake(node.metadata.name);
  }

  async #register(kubelet: Kubelet): Promise<void> {
    const now = this.#clock.now();
    kubelet.joinedAt ??= now;
    const { template, number, ailments } = kubelet;
    const verdicts = reported({ isUp: this.#isUp(kubelet, now), faults: nodeFaults(asNode(template)), ailments });
    const manifest = registration(template, number, heartbeat(undefined, verdicts, now));
    try {
      const node = await this.#picture.nodes.create(manifest);
      kubelet.uid = node.metadata.uid;
      kubelet.said = JSON.stringify(verdicts);
    } catch (error) {
      if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
      await this.#takeOver(template.name, manifest, verdicts);
    }
  }

  /** The node is there before its kubelet: somebody made it, or the machine came back under its old name. */
  async #takeOver(
    name: string,
    { metadata, spec, status }: ReturnType<typeof registration>,
    verdicts: readonly Ailment[],
  ): Promise<void> {
    const node = await this.#picture.api.get<Node>(nodeResource, { name });
    const { providerID } = spec as Node["spec"];
    const { labels, annotations } = metadata;
    const body = {
      metadata: { labels, ...(annotations && { annotations }) },
      ...(providerID && !node.spec.providerID && { spec: { providerID } }),
    };
    const { nodes } = this.#picture;
    await nodes.patch(node, { type: "merge", body });
    // What has not changed has been so since before.
    const said = { ...(status as Node["status"]), conditions: heartbeat(node, verdicts, this.#clock.now()) };
    await nodes.patch(node, { type: "strategic", body: { status: said } }, { subresource: "status" });
  }

  #isUp({ joinedAt = 0, template }: Kubelet, now: number): boolean {
    return now >= joinedAt + (template.readyAfterMs ?? 0);
  }

  async #report(kubelet: Kubelet, node: Node): Promise<void> {
    const now = this.#clock.now();
    const { readyAfterMs = 0, name } = kubelet.template;
    const isUp = this.#isUp(kubelet, now);
    if (!isUp && Number.isFinite(readyAfterMs)) this.#worker.addAt(name, (kubelet.joinedAt ?? now) + readyAfterMs);
    const faults = nodeFaults(node);
    const verdicts = reported({ isUp, faults, ailments: kubelet.ailments });
    const saying = JSON.stringify(verdicts);
    if (saying === kubelet.said && !isDeclaredUnknown(node)) return;
    const asked = verdicts.map(({ type }) => type).filter(type => !isOwn(type));
    const dropped = kubelet.askedTypes.filter(type => !asked.includes(type));
    const conditions = [...heartbeat(node, verdicts, now), ...dropped.map(type => ({ type, $patch: "delete" }))];
    const nodeInfo = { bootID: bootId(kubelet.template, kubelet.number, kubelet.bootCount) };
    const patch = { type: "strategic", body: { status: { conditions, nodeInfo } } } as const;
    await this.#picture.nodes.patch(node, patch, { subresource: "status" });
    kubelet.said = saying;
    kubelet.askedTypes = asked;
  }

  async #beginBeats(kubelet: Kubelet, node: Node): Promise<void> {
    const now = this.#clock.now();
    const { leases } = this.#picture;
    const { name } = kubelet.template;
    const lease = leases.get(`${leaseNamespace}/${name}`);
    if (lease === undefined) await leases.create(leaseOf(node, now, this.#beats));
    else await leases.patch(lease, { type: "merge", body: beat(now, this.#beats) });
    kubelet.beatingSince = now;
    if (this.#beats === "written") this.#beater.addAt(name, now + beatMs);
  }

  /** A silent kubelet writes nothing; where beats are only computed, its last one has still to be told. */
  async #endBeats(kubelet: Kubelet, { metadata }: Node): Promise<void> {
    const since = kubelet.beatingSince;
    kubelet.beatingSince = undefined;
    this.#beater.forget(metadata.name);
    const lease = this.#picture.leases.get(`${leaseNamespace}/${metadata.name}`);
    if (since === undefined || lease === undefined || this.#beats === "written") return;
    const body = beat(lastBeat(since, this.#clock.now()), "written");
    await this.#picture.leases.patch(lease, { type: "merge", body });
  }

  async #beat(name: string): Promise<void> {
    const kubelet = this.#kubeletByName.get(name);
    const lease = this.#picture.leases.get(`${leaseNamespace}/${name}`);
    if (kubelet?.beatingSince === undefined || lease === undefined) return;
    const now = this.#clock.now();
    this.#beater.addAt(name, now + beatMs);
    await this.#picture.leases.patch(lease, { type: "merge", body: beat(now, "written") });
    const count = Math.round((now - kubelet.beatingSince) / beatMs);
    if (count % statusEveryBeats === 0) await this.#refreshStatus(name);
  }

  /** The same conditions, seen a moment ago. */
  async #refreshStatus(name: string): Promise<void> {
    const node = this.#picture.nodes.get(name);
    const own = node?.status.conditions?.filter(({ type }) => isOwn(type)) ?? [];
    if (node === undefined || own.length === 0) return;
    const conditions = heartbeat(node, own, this.#clock.now());
    const patch = { type: "strategic", body: { status: { conditions } } } as const;
    await this.#picture.nodes.patch(node, patch, { subresource: "status" });
  }
}

function asNode({ name, annotations = {} }: NodeTemplate): Node {
  return { metadata: { name, annotations } } as Node;
}
