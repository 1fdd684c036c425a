// A cluster in the box with everything alive in it, on virtual time: for tests that write objects, let time pass and
// look at what became of them.

import type { KubeObject, Manifest, Resource } from "../src/api/meta.ts";
import type { KubeApi } from "../src/control/ports.ts";
import { ApiServer } from "../src/sim/api-server.ts";
import { VirtualClock } from "../src/sim/clock.ts";
import { InProcessApi } from "../src/sim/in-process.ts";
import { builtInKinds } from "../src/sim/kinds/built-in-kinds.ts";
import { seededRandom } from "../src/sim/random.ts";
import type { NodeTemplate } from "../src/sim/world/node-template.ts";
import { type World, type WorldOptions, world } from "../src/sim/world/world.ts";

export const startedAt = Date.parse("2026-01-01T00:00:00Z");

export type BoxOptions = WorldOptions & { seed?: number };

export class LivingBox {
  readonly clock = new VirtualClock(startedAt);
  readonly server: ApiServer;
  readonly api: KubeApi;
  readonly world: World;
  /** Every write that changed something, in order. */
  readonly journal: string[] = [];
  /** What controllers could not write; tests that expect none look here. */
  readonly failures: string[] = [];

  constructor({ seed = 1, ...options }: BoxOptions = {}) {
    const random = seededRandom(seed);
    const { clock } = this;
    this.server = new ApiServer({ clock, random, kinds: builtInKinds });
    this.server.store.onChange(({ name }, { type, key, stored }) => {
      this.journal.push(`${clock.now() - startedAt} ${type} ${name} ${key} ${JSON.stringify(stored.object)}`);
    });
    this.api = new InProcessApi(this.server, clock);
    for (const name of ["default", "kube-system", "kube-node-lease"]) {
      const body = { apiVersion: "v1", kind: "Namespace", metadata: { name } };
      this.server.handle({ verb: "create", group: "", version: "v1", plural: "namespaces", options: {}, body });
    }
    const failed = (error: unknown, key: string) => this.failures.push(`${key}: ${String(error)}`);
    this.world = world({ api: this.api, clock, random, options: { failed, ...options } });
  }

  async run(seconds: number): Promise<void> {
    await this.clock.runFor(seconds * 1000);
  }

  join(name: string, template: Partial<NodeTemplate> = {}): void {
    this.world.kubelets.join({ name, capacity: { cpu: "4", memory: "8Gi", pods: "110" }, ...template });
  }

  /** What a person does with kubectl apply, done once time has been given a chance to pass. */
  async create<T extends KubeObject = KubeObject>(
    resource: Resource,
    manifest: Pick<Manifest, "metadata"> & { [field: string]: unknown },
  ) {
    const { namespaced, kind } = resource;
    const apiVersion = resource.group === "" ? "v1" : `${resource.group}/${resource.version}`;
    const key = namespaced ? { namespace: "default" } : {};
    return this.settle(this.api.create<T>(resource, key, { ...manifest, apiVersion, kind }));
  }

  async patch(resource: Resource, name: string, body: unknown, subresource?: "status"): Promise<void> {
    const key = resource.namespaced ? { name, namespace: "default" } : { name };
    await this.settle(
      this.api.patch(resource, key, { type: "strategic", body }, subresource === undefined ? {} : { subresource }),
    );
  }

  async delete(resource: Resource, name: string): Promise<void> {
    await this.settle(this.api.delete(resource, resource.namespaced ? { name, namespace: "default" } : { name }));
  }

  async get<T extends KubeObject = KubeObject>(resource: Resource, name: string, namespace = "default"): Promise<T> {
    return this.settle(this.api.get<T>(resource, resource.namespaced ? { name, namespace } : { name }));
  }

  async list<T extends KubeObject = KubeObject>(resource: Resource): Promise<T[]> {
    return (await this.settle(this.api.list<T>(resource))).items;
  }

  /** Answers come over the clock, so it has to run, though no time passes. */
  async settle<T>(answer: Promise<T>): Promise<T> {
    const settled = answer.then(
      value => ({ value }),
      (error: unknown) => ({ error }),
    );
    await this.clock.runFor(0);
    const outcome = await settled;
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
}
