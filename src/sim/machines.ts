// Plays the machines of the simulated provider, on the box and on a real API server alike: what the provider wrote down
// as an instance boots, joins with a kubelet, falls ill as its class says, reboots and ends. All it knows stands in the
// instances (ConfigMaps): a player that is started anew goes on where the last one stopped.

import type { KubeObject } from "../api/meta.ts";
import {
  isMeantAsInstance,
  moments,
  nodeLabelsOf,
  parseSimulatedInstance,
  providerIdOf,
  type SimulatedInstance,
  simulatedInstances,
  simulatedNamespace,
} from "../api/simulated-instance.ts";
import type { Instant } from "../api/time.ts";
import type { Clock, KubeApi } from "../control/ports.ts";
import { MachineClasses } from "./machines-classes.ts";
import { ailmentsAt, type Life, lifeOf } from "./machines-life.ts";
import type { Kubelets } from "./world/kubelets.ts";
import { type Change, isNotFound, Mirror } from "./world/mirror.ts";
import { nodeResource } from "./world/resources.ts";
import { simulateAnnotation } from "./world/simulated-faults.ts";
import { type Failed, Worker } from "./world/worker.ts";

export type MachinesOptions = {
  api: KubeApi;
  clock: Clock;
  kubelets: Kubelets;
  seed: number;
  /** Told of everything that failed; it is tried again in any case. */
  failed?: Failed;
};

export type Machines = {
  /** All that exists has been seen. */
  synced: Promise<void>;
  stop(): void;
};

const parallelMax = 32;
const unregistered = { key: "karpenter.sh/unregistered", effect: "NoExecute" } as const;

export function machines(options: MachinesOptions): Machines {
  return new Player(options);
}

class Player implements Machines {
  readonly synced: Promise<void>;
  readonly #options: MachinesOptions;
  readonly #classes: MachineClasses;
  readonly #instances: Mirror<KubeObject>;
  readonly #worker: Worker;
  /** Reboots that we have begun, by the instance's key. */
  readonly #rebootByKey = new Map<string, Instant>();
  /** Those whose power we have cut. */
  readonly #off = new Set<string>();

  constructor(options: MachinesOptions) {
    const { api, clock, failed } = options;
    this.#options = options;
    this.#classes = new MachineClasses(options);
    this.#instances = new Mirror({ api, clock, resource: simulatedInstances, namespace: simulatedNamespace });
    this.synced = bothOf(this.#classes.synced, this.#instances.synced);
    const sync = (key: string) => this.#sync(key);
    this.#worker = new Worker({ clock, after: this.synced, parallelMax, sync, ...(failed && { failed }) });
    this.#instances.onChange(change => this.#changed(change));
    this.#classes.onChange(name => this.#classChanged(name));
  }

  stop(): void {
    this.#worker.stop();
    this.#classes.stop();
    this.#instances.stop();
  }

  #changed({ key, object, isGone }: Change<KubeObject>): void {
    if (!isGone) return this.#worker.add(key);
    // Whoever deletes the object has pulled the plug.
    const parsed = parseSimulatedInstance(object);
    if (parsed.ok) this.#options.kubelets.leave(parsed.value.nodeName);
    this.#worker.forget(key);
    this.#rebootByKey.delete(key);
    this.#off.delete(key);
  }

  #classChanged(name: string): void {
    for (const object of this.#instances.values()) {
      const parsed = parseSimulatedInstance(object);
      if (parsed.ok && parsed.value.nodeClass === name) this.#worker.add(`${simulatedNamespace}/${parsed.value.name}`);
    }
  }

  async #sync(key: string): Promise<void> {
    const object = this.#instances.get(key);
    if (object === undefined) return;
    const parsed = parseSimulatedInstance(object);
    // Spoilt by somebody: it is left alone until it changes.
    if (!parsed.ok) return isMeantAsInstance(object) ? this.#options.failed?.(new Error(parsed.error), key) : undefined;
    const instance = parsed.value;
    const life = lifeOf(instance, this.#classes.effective(instance.nodeClass), this.#options.seed);
    if (life.vanishesAt <= this.#now) return this.#end(object, instance);
    this.#lookAgain(key, life.vanishesAt);
    if (instance.terminatingSince === undefined) await this.#run(key, object, { instance, life });
    else await this.#terminate(key, object, { instance, life });
  }

  /** One that hangs goes on as before. */
  async #terminate(key: string, object: KubeObject, { instance, life }: Played): Promise<void> {
    if (life.endsAt <= this.#now) return this.#end(object, instance);
    if (Number.isFinite(life.endsAt)) this.#options.kubelets.leave(instance.nodeName);
    this.#lookAgain(key, life.endsAt);
  }

  async #end(object: KubeObject, { nodeName }: SimulatedInstance): Promise<void> {
    this.#options.kubelets.leave(nodeName);
    await this.#instances.delete(object);
  }

  async #run(key: string, object: KubeObject, { instance, life }: Played): Promise<void> {
    const { kubelets } = this.#options;
    const now = this.#now;
    if (now < life.joinsAt) return this.#lookAgain(key, life.joinsAt);
    if (this.#isOff(key, instance)) return;
    if (!kubelets.has(instance.nodeName)) this.#join(instance, life.readyAt - now);
    const { ailments, changesAt } = ailmentsAt(life.illnesses, instance, now);
    kubelets.afflict(instance.nodeName, ailments);
    this.#lookAgain(key, changesAt);
    if (instance.rebootingSince !== undefined) await this.#reboot(key, object, { instance, life });
  }

  /** What comes back to power has booted anew. */
  #isOff(key: string, { nodeName, offSince }: SimulatedInstance): boolean {
    const { kubelets } = this.#options;
    if (offSince !== undefined) {
      kubelets.halt(nodeName);
      this.#off.add(key);
    } else if (this.#off.delete(key)) kubelets.reboot(nodeName, 0);
    return offSince !== undefined;
  }

  /** Registers the node unless it is there: a player that was away finds its nodes again. */
  #join(instance: SimulatedInstance, readyAfterMs: number): void {
    const { nodeName, capacity, allocatable, rebootCount = 0 } = instance;
    this.#options.kubelets.join({
      name: nodeName,
      labels: nodeLabelsOf(instance),
      taints: [unregistered],
      capacity,
      allocatable,
      providerID: providerIdOf(instance),
      readyAfterMs: Math.max(0, readyAfterMs),
      bootCount: rebootCount,
    });
  }

  async #reboot(key: string, object: KubeObject, { instance, life }: Played): Promise<void> {
    const { nodeName, rebootingSince = 0, rebootCount = 0 } = instance;
    const { rebootedAt, isHealed } = life;
    // One that was over before we came leaves its trace all the same: another boot id.
    if (this.#rebootByKey.get(key) !== rebootingSince) {
      this.#options.kubelets.reboot(nodeName, Math.max(0, rebootedAt - this.#now));
      this.#rebootByKey.set(key, rebootingSince);
    }
    if (this.#now < rebootedAt) return this.#lookAgain(key, rebootedAt);
    if (isHealed) await this.#heal(nodeName);
    const over = moments({ rebootingSince: null, healedAt: isHealed ? rebootedAt : undefined });
    const body = { metadata: { uid: object.metadata.uid }, data: { ...over, rebootCount: String(rebootCount + 1) } };
    await this.#instances.patch(object, { type: "merge", body });
  }

  async #heal(nodeName: string): Promise<void> {
    const body = { metadata: { annotations: { [simulateAnnotation]: null } } };
    try {
      await this.#options.api.patch(nodeResource, { name: nodeName }, { type: "merge", body });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  get #now(): Instant {
    return this.#options.clock.now();
  }

  #lookAgain(key: string, at: Instant): void {
    if (Number.isFinite(at)) this.#worker.addAt(key, at);
  }
}

type Played = { instance: SimulatedInstance; life: Life };

async function bothOf(one: Promise<void>, other: Promise<void>): Promise<void> {
  await one;
  await other;
}
