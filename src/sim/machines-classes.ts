// SimulatedNodeClasses as the player of the machines knows them. It also writes their status: the provider, which runs in
// the controller, must be able to write nothing at all in a dry run.

import {
  effectiveSimulatedNodeClass,
  type EffectiveSimulatedNodeClass,
} from "../api/effective-simulated-node-class.ts";
import type { KubeObject } from "../api/meta.ts";
import { simulatedCatalogue } from "../api/simulated-catalogue.ts";
import { simulatedNodeClasses, type SimulatedNodeClass } from "../api/simulated-node-class.ts";
import type { Clock, KubeApi } from "../control/ports.ts";
import { timestamp } from "./object-meta.ts";
import { Mirror } from "./world/mirror.ts";
import { type Failed, Worker } from "./world/worker.ts";

type ClassObject = KubeObject & SimulatedNodeClass;
type Options = { api: KubeApi; clock: Clock; failed?: Failed };

export class MachineClasses {
  readonly synced: Promise<void>;
  readonly #clock: Clock;
  readonly #mirror: Mirror<ClassObject>;
  readonly #worker: Worker;
  readonly #effectiveByName = new Map<string, EffectiveSimulatedNodeClass>();

  constructor({ api, clock, failed }: Options) {
    this.#clock = clock;
    this.#mirror = new Mirror({ api, clock, resource: simulatedNodeClasses.resource });
    this.synced = this.#mirror.synced;
    const sync = (name: string) => this.#writeStatus(name);
    this.#worker = new Worker({ clock, after: this.synced, sync, ...(failed && { failed }) });
    this.#mirror.onChange(({ key }) => {
      this.#effectiveByName.delete(key);
      this.#worker.add(key);
    });
  }

  /** Called with the name of a class whose meaning has changed. */
  onChange(changed: (name: string) => void): void {
    this.#mirror.onChange(({ key, object, previous, isGone }) => {
      const isNews = isGone || object.metadata.generation !== previous?.metadata.generation;
      if (isNews) changed(key);
    });
  }

  /** A class that is gone leaves its machines with the defaults. */
  effective(name: string): EffectiveSimulatedNodeClass {
    const known = this.#effectiveByName.get(name);
    if (known !== undefined) return known;
    const effective = effectiveSimulatedNodeClass(this.#mirror.get(name)?.spec);
    this.#effectiveByName.set(name, effective);
    return effective;
  }

  stop(): void {
    this.#worker.stop();
    this.#mirror.stop();
  }

  async #writeStatus(name: string): Promise<void> {
    const object = this.#mirror.get(name);
    const observedGeneration = object?.metadata.generation ?? 0;
    if (object === undefined || object.status?.observedGeneration === observedGeneration) return;
    const types = simulatedCatalogue(this.effective(name));
    const before = object.status?.conditions?.find(({ type }) => type === "Ready");
    const status = types.ok ? "True" : "False";
    const ready = {
      type: "Ready",
      status,
      reason: types.ok ? "Ready" : "InvalidInstanceTypes",
      message: types.ok ? "Nodes can be launched with this class." : types.error,
      lastTransitionTime: before?.status === status ? before.lastTransitionTime : timestamp(this.#clock.now()),
      observedGeneration,
    };
    const instanceTypes = types.ok ? types.value.length : 0;
    await this.#mirror.updateStatus(object, { observedGeneration, instanceTypes, conditions: [ready] });
  }
}
