// The two worlds that a scenario is played in: the living box on virtual time, and a real control plane whose nodes are
// driven by the same kubelets.

import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject, Manifest, Resource } from "../../../src/api/meta.ts";
import type { KubeApi } from "../../../src/control/ports.ts";
import { connect } from "../../../src/kube/client.ts";
import { systemClock } from "../../../src/kube/system-clock.ts";
import { seededRandom } from "../../../src/sim/random.ts";
import { Kubelets } from "../../../src/sim/world/kubelets.ts";
import { nodePicture } from "../../../src/sim/world/picture.ts";
import { namespaceResource } from "../../../src/sim/world/resources.ts";
import { LivingBox } from "../../living-box.ts";
import type { ControlPlane } from "../start.ts";

export type Side = {
  name: string;
  api: KubeApi;
  kubelets: Kubelets;
  /** Waits on the side's own clock; the answer of `look` once it is not undefined. */
  until<T>(what: string, look: () => Promise<T | undefined>): Promise<T>;
  /** Lets answers come. */
  settle: <T>(answer: Promise<T>) => Promise<T>;
  stop(): Promise<void>;
};

const waitMaxSeconds = 180;

export function boxSide(): Side {
  const box = new LivingBox();
  const until: Side["until"] = async (what, look) => {
    for (let second = 0; second < waitMaxSeconds; second++) {
      const found = await look();
      if (found !== undefined) return found;
      await box.run(1);
    }
    throw new Error(`The box: ${what} did not come within ${waitMaxSeconds} s; ${box.failures.join("; ")}`);
  };
  return {
    name: "the box",
    api: box.api,
    kubelets: box.world.kubelets,
    until,
    settle: answer => box.settle(answer),
    stop: async () => box.world.stop(),
  };
}

export async function realSide({ url, token, caData }: ControlPlane): Promise<Side> {
  const api = connect(
    {
      source: "the test",
      server: url,
      namespace: "default",
      ca: { data: Buffer.from(caData, "base64").toString("utf8") },
      insecureSkipTlsVerify: false,
      user: { token },
    },
    { clock: systemClock },
  );
  const picture = nodePicture(api, systemClock);
  const kubelets = new Kubelets(picture, seededRandom(1), { beats: "written" });
  await picture.synced;
  return {
    name: "the real control plane",
    api,
    kubelets,
    until: async (what, look) => {
      for (const end = Date.now() + waitMaxSeconds * 1000; Date.now() < end; await sleep(250)) {
        const found = await look();
        if (found !== undefined) return found;
      }
      throw new Error(`The real control plane: ${what} did not come within ${waitMaxSeconds} s`);
    },
    settle: answer => answer,
    stop: async () => {
      kubelets.stop();
      picture.stop();
      await api.close();
    },
  };
}

/** One scenario's own namespace and nodes, so that several can be played at once. */
export class Stage {
  readonly side: Side;
  readonly name: string;

  constructor(side: Side, name: string) {
    this.side = side;
    this.name = name;
  }

  async open(): Promise<void> {
    const { api, settle } = this.side;
    const body = { apiVersion: "v1", kind: "Namespace", metadata: { name: this.name } };
    await settle(api.create(namespaceResource, {}, body));
  }

  join(node: string, more: { taints?: { key: string; effect: "NoSchedule" }[] } = {}): void {
    this.side.kubelets.join({
      name: this.nodeName(node),
      labels: { stage: this.name },
      capacity: { cpu: "2", memory: "4Gi", pods: "20" },
      ...more,
    });
  }

  nodeName(node: string): string {
    return `${this.name}-${node}`;
  }

  async create(resource: Resource, manifest: Pick<Manifest, "metadata"> & { [field: string]: unknown }): Promise<void> {
    const apiVersion = resource.group === "" ? "v1" : `${resource.group}/${resource.version}`;
    const { api, settle } = this.side;
    await settle(api.create(resource, { namespace: this.name }, { ...manifest, apiVersion, kind: resource.kind }));
  }

  async patch(resource: Resource, name: string, body: unknown): Promise<void> {
    const key = resource.namespaced ? { name, namespace: this.name } : { name };
    await this.side.settle(this.side.api.patch(resource, key, { type: "strategic", body }));
  }

  async list<T extends KubeObject>(resource: Resource): Promise<T[]> {
    const { api, settle } = this.side;
    const selection = resource.namespaced ? { namespace: this.name } : { labelSelector: `stage=${this.name}` };
    return (await settle(api.list<T>(resource, selection))).items;
  }

  /** Waits until all objects of the kind are as `isDone` says, and there are so many. */
  async settled<T extends KubeObject>(resource: Resource, count: number, isDone: (object: T) => boolean): Promise<T[]> {
    return this.side.until(`${count} ${resource.plural} of ${this.name}`, async () => {
      const objects = await this.list<T>(resource);
      return objects.length === count && objects.every(isDone) ? objects : undefined;
    });
  }
}
