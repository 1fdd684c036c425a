// The cluster in the box with machines, workloads and the controller itself, on virtual time. A process of the
// controller can be cut off at any write and another one started, as if it had been killed.

import { apiVersionOf, type KubeObject, type Manifest, type Resource } from "../src/api/meta.ts";
import { type Controller, type ControllerOptions, startController } from "../src/control/controller.ts";
import type { Feed, KubeApi } from "../src/control/ports.ts";
import { controllers, type JournalEntry } from "../src/decide/decision.ts";
import { rules } from "../src/decide/rules.ts";
import { Reflector } from "../src/kube/reflector.ts";
import { simulatedProvider } from "../src/provider/simulated.ts";
import { VirtualClock } from "../src/sim/clock.ts";
import { clusterInTheBox } from "../src/sim/cluster-in-the-box.ts";
import { InProcessApi } from "../src/sim/in-process.ts";
import { machines } from "../src/sim/machines.ts";
import { seededRandom } from "../src/sim/random.ts";
import { type World, world } from "../src/sim/world/world.ts";

const startedAt = Date.parse("2026-01-01T00:00:00Z");

export class ControlledBox {
  readonly clock = new VirtualClock(startedAt);
  readonly api: KubeApi;
  readonly journal: JournalEntry[] = [];
  /** Of nodes that nobody provisioned through us, too. */
  readonly kubelets: World["kubelets"];

  constructor(seed = 1) {
    const { clock } = this;
    const random = seededRandom(seed);
    const server = clusterInTheBox({ clock, random });
    this.api = new InProcessApi(server, clock);
    this.kubelets = world({ api: this.api, clock, random }).kubelets;
    machines({ api: this.api, clock, kubelets: this.kubelets, seed });
  }

  /** A process of the controller; `api` is how it sees the cluster. */
  start(options: Partial<ControllerOptions> = {}): Controller {
    const { api = this.api, clock = this.clock } = options;
    const feed: Feed = request => new Reflector({ api, clock, random: () => 0.5, ...request });
    return startController({
      api,
      clock,
      feed,
      provider: simulatedProvider({ api, clock, feed }),
      rules,
      settings: { cluster: "box", dryRun: false, foreignClaims: "ignore" },
      controllers: new Set(controllers),
      leadership: leading(1),
      journal: entry => this.journal.push(entry),
      ...options,
    });
  }

  async run(seconds: number): Promise<void> {
    await this.clock.runFor(seconds * 1000);
  }

  async create(resource: Resource, manifest: Pick<Manifest, "metadata"> & { [field: string]: unknown }) {
    const key = resource.namespaced ? { namespace: "default" } : {};
    const { kind } = resource;
    return this.settle(this.api.create(resource, key, { ...manifest, apiVersion: apiVersionOf(resource), kind }));
  }

  async patch(resource: Resource, name: string, body: unknown): Promise<void> {
    const key = resource.namespaced ? { name, namespace: "default" } : { name };
    await this.settle(this.api.patch(resource, key, { type: "merge", body }));
  }

  async delete(resource: Resource, name: string): Promise<void> {
    await this.settle(this.api.delete(resource, resource.namespaced ? { name, namespace: "default" } : { name }));
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

export function leading(epoch: number): ControllerOptions["leadership"] {
  return { epoch, onChange: () => {} };
}
