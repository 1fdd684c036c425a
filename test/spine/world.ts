// What a story is told in: a cluster with machines, workloads and the controller, on whatever clock. A story speaks to
// the API as a person would and waits on the world's own time.

import { apiVersionOf, type KubeObject, type Manifest, type Resource } from "../../src/api/meta.ts";
import { type NodeAction, nodeActions } from "../../src/api/node-action.ts";
import { type NodeClaim, type NodeClaimSpec, nodeClaims } from "../../src/api/node-claim.ts";
import {
  parseSimulatedInstance,
  type SimulatedInstance,
  simulatedInstances,
  simulatedNamespace,
} from "../../src/api/simulated-instance.ts";
import { ApiError } from "../../src/api/status.ts";
import type { KubeApi, ObjectKey } from "../../src/control/ports.ts";
import { nodes, pods } from "../../src/control/resources.ts";
import type { Node, Pod } from "../../src/sim/world/objects.ts";

export type World = {
  readonly name: string;
  /** As an administrator. */
  readonly api: KubeApi;
  /** Looks again and again on the world's own clock; the answer of `look` once it is not undefined. */
  until<T>(what: string, look: () => Promise<T | undefined>): Promise<T>;
  /** Lets so much time go by. */
  pass(seconds: number): Promise<void>;
  /** Lets an answer come. */
  settle: <T>(answer: Promise<T>) => Promise<T>;
  stop(): Promise<void>;
};

export type Claim = NodeClaim & KubeObject;
export type Action = NodeAction & KubeObject;
type Body = Pick<Manifest, "metadata"> & { [field: string]: unknown };

const storyKey = "story";
const namespaces: Resource = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };

/** One story's own namespace, labels and names, so that several can be told at once. */
export class Stage {
  readonly world: World;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;

  constructor(world: World, name: string) {
    this.world = world;
    this.name = name;
    this.labels = { [storyKey]: name };
  }

  async open(): Promise<void> {
    await this.create(namespaces, { metadata: { name: this.name } });
  }

  create<T extends KubeObject = KubeObject>(resource: Resource, body: Body): Promise<T> {
    const { api, settle } = this.world;
    const key = resource.namespaced ? { namespace: this.name } : {};
    const manifest = { ...body, apiVersion: apiVersionOf(resource), kind: resource.kind };
    return settle(api.create<T>(resource, key, manifest));
  }

  async claim(name: string, spec: NodeClaimSpec = {}): Promise<Claim> {
    return this.create<Claim>(nodeClaims.resource, { metadata: { name: this.named(name), labels: this.labels }, spec });
  }

  named(name: string): string {
    return `${this.name}-${name}`;
  }

  async patch(resource: Resource, name: string, body: unknown): Promise<void> {
    await this.world.settle(this.world.api.patch(resource, this.#key(resource, name), { type: "merge", body }));
  }

  async delete(resource: Resource, name: string): Promise<void> {
    await this.world.settle(this.world.api.delete(resource, this.#key(resource, name)));
  }

  /** Undefined: there is none. */
  async get<T extends KubeObject>(resource: Resource, name: string): Promise<T | undefined> {
    const { api, settle } = this.world;
    return settle(
      api.get<T>(resource, this.#key(resource, name)).catch((error: unknown) => {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      }),
    );
  }

  #key({ namespaced }: Resource, name: string): ObjectKey {
    return namespaced ? { name, namespace: this.name } : { name };
  }

  claims(): Promise<Claim[]> {
    return this.#list<Claim>(nodeClaims.resource, { labelSelector: this.#selector });
  }

  nodes(): Promise<Node[]> {
    return this.#list<Node>(nodes, { labelSelector: this.#selector });
  }

  pods(): Promise<Pod[]> {
    return this.#list<Pod>(pods, { namespace: this.name });
  }

  /** Of the claims that were named, whatever has become of them. */
  async actions(...claims: readonly Claim[]): Promise<Action[]> {
    const uids = new Set<string | undefined>(claims.map(({ metadata }) => metadata.uid));
    const all = await this.#list<Action>(nodeActions.resource, {});
    return all.filter(({ spec }) => uids.has(spec.claim?.uid));
  }

  async instances(...claims: readonly Claim[]): Promise<SimulatedInstance[]> {
    const uids = new Set<string | undefined>(claims.map(({ metadata }) => metadata.uid));
    const all = await this.#list(simulatedInstances, { namespace: simulatedNamespace });
    const found = all.flatMap(raw => {
      const parsed = parseSimulatedInstance(raw);
      return parsed.ok ? [parsed.value] : [];
    });
    return found.filter(({ claimUid }) => uids.has(claimUid));
  }

  get #selector(): string {
    return `${storyKey}=${this.name}`;
  }

  async #list<T extends KubeObject>(resource: Resource, selection: Parameters<KubeApi["list"]>[1]): Promise<T[]> {
    const { api, settle } = this.world;
    return (await settle(api.list<T>(resource, selection))).items;
  }

  /** The claims once there are so many, all of them Ready. */
  ready(count: number): Promise<Claim[]> {
    return this.world.until(`${count} claims of ${this.name} that are Ready`, async () => {
      const claims = await this.claims();
      return claims.length === count && claims.every(isReady) ? claims : undefined;
    });
  }

  /** Waits until claims, nodes and instances are gone, and holds on the way that none went out of its turn. */
  async gone(...claims: readonly Claim[]): Promise<void> {
    await this.world.until(`the end of ${claims.map(({ metadata }) => metadata.name).join(", ")}`, async () => {
      for (const claim of claims) if (!(await this.#isGone(claim))) return undefined;
      return true;
    });
  }

  /** What goes last is read first: once it is gone, nothing that is read after it may be there. */
  async #isGone(one: Claim): Promise<boolean> {
    const claim = await this.get(nodeClaims.resource, one.metadata.name);
    const isClaimGone = claim?.metadata.uid !== one.metadata.uid;
    const node = await this.get(nodes, one.status?.nodeName ?? "none");
    const instances = await this.instances(one);
    if (isClaimGone && node !== undefined) throw new Error(`Claim ${one.metadata.name} went before its node.`);
    if (node === undefined && instances.length > 0)
      throw new Error(`Node ${one.status?.nodeName} went before its instance.`);
    return isClaimGone;
  }
}

export function isReady({
  status,
}: {
  status?: { conditions?: readonly { type: string; status: string }[] };
}): boolean {
  return status?.conditions?.some(({ type, status: word }) => type === "Ready" && word === "True") ?? false;
}
