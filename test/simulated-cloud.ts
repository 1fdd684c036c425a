// The living box with a simulated cloud: the provider launches, the player brings the machines to life. For tests of
// either; both can be stopped and started anew, as a killed process would be.

import { customResourceDefinition } from "../src/api/crd.ts";
import type { KubeObject, Resource } from "../src/api/meta.ts";
import type { NodeClaim, NodeClaimSpec } from "../src/api/node-claim.ts";
import { simulatedInstances, simulatedNamespace } from "../src/api/simulated-instance.ts";
import { simulatedNodeClasses, type SimulatedNodeClassSpec } from "../src/api/simulated-node-class.ts";
import type { Feed, InstanceProvider } from "../src/control/ports.ts";
import { Reflector } from "../src/kube/reflector.ts";
import { simulatedProvider, type SimulatedProviderOptions } from "../src/provider/simulated.ts";
import { type Machines, machines } from "../src/sim/machines.ts";
import { seededRandom } from "../src/sim/random.ts";
import type { Node } from "../src/sim/world/objects.ts";
import { nodeResource } from "../src/sim/world/resources.ts";
import { type World, world } from "../src/sim/world/world.ts";
import type { Instance } from "../src/snapshot/instance.ts";
import { type BoxOptions, LivingBox } from "./living-box.ts";

export const defaultRef = { group: "fettle.dev", kind: "SimulatedNodeClass", name: "default" };
const customResources = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

export class SimulatedCloud extends LivingBox {
  readonly provider: InstanceProvider;
  readonly player: Machines;
  readonly #seed: number;

  private constructor(options: BoxOptions) {
    super(options);
    this.#seed = options.seed ?? 1;
    this.provider = this.newProvider();
    this.player = this.newPlayer();
  }

  static async started(
    spec?: SimulatedNodeClassSpec,
    { seed = 1, ...options }: BoxOptions = {},
  ): Promise<SimulatedCloud> {
    const cloud = new SimulatedCloud({ seed, ...options });
    await cloud.create(customResources, { ...customResourceDefinition(simulatedNodeClasses) });
    await cloud.run(1);
    if (spec !== undefined) await cloud.applyClass("default", spec);
    await cloud.run(4);
    return cloud;
  }

  newProvider(options: Partial<SimulatedProviderOptions> = {}): InstanceProvider {
    const { clock } = this;
    const feed: Feed = request => new Reflector({ api: this.api, clock, random: () => 0.5, ...request });
    return simulatedProvider({ api: this.api, clock, feed, ...options });
  }

  newPlayer({ kubelets }: Pick<World, "kubelets"> = this.world): Machines {
    const { api, clock } = this;
    return machines({ api, clock, kubelets, seed: this.#seed, failed: (error, key) => this.#failed(error, key) });
  }

  /** Another one, when the first has been stopped. */
  newWorld(): World {
    const { api, clock } = this;
    const failed = (error: unknown, key: string) => this.#failed(error, key);
    return world({ api, clock, random: seededRandom(this.#seed), options: { failed } });
  }

  #failed(error: unknown, key: string): void {
    this.failures.push(`${key}: ${String(error)}`);
  }

  async applyClass(name: string, spec: SimulatedNodeClassSpec): Promise<void> {
    await this.create(simulatedNodeClasses.resource, { metadata: { name }, spec });
    await this.run(1);
  }

  async patchClass(name: string, body: { spec: SimulatedNodeClassSpec }): Promise<void> {
    await this.mergePatch(simulatedNodeClasses.resource, name, body);
    await this.run(1);
  }

  async mergePatch(resource: Resource, name: string, body: unknown): Promise<void> {
    await this.settle(this.api.patch(resource, { name }, { type: "merge", body }));
  }

  async launch(name: string, spec: NodeClaimSpec = {}): Promise<Instance> {
    const answer = await this.settle(this.provider.create(launchOf(name, spec)));
    if ("error" in answer) throw new Error(`${answer.error}: ${answer.message}`);
    return answer;
  }

  async instances(): Promise<KubeObject[]> {
    return (await this.settle(this.api.list(simulatedInstances, { namespace: simulatedNamespace }))).items;
  }

  async node(providerID: string): Promise<Node | undefined> {
    return (await this.list<Node>(nodeResource)).find(({ spec }) => spec.providerID === providerID);
  }
}

export function launchOf(name: string, spec: NodeClaimSpec = {}) {
  return { claim: aClaimOf(name, spec), nodeClass: defaultRef, cluster: "blue" };
}

function aClaimOf(name: string, spec: NodeClaimSpec): NodeClaim {
  const metadata = { name, uid: `uid-${name}`, resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  return { apiVersion: "karpenter.sh/v1", kind: "NodeClaim", metadata, spec };
}
