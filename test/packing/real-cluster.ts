// Puts a random cluster on a real API server, hands its pods to the real kube-scheduler one by one, and says where each
// went. One world at a time: nodes belong to the whole cluster.

import { Agent, request } from "undici";
import { vi } from "vitest";
import type { ExistingNode, Problem } from "../../src/decide/packing/problem.ts";
import type { Node } from "../../src/api/node.ts";
import { type Pod, podKey } from "../../src/api/pod.ts";
import type { ControlPlane } from "../control-plane/start.ts";

type Method = "GET" | "POST" | "PATCH" | "DELETE";

type Stored = { spec: { nodeName?: string }; status?: { conditions?: { type: string; status: string }[] } };

/** It keeps everybody off who does not tolerate all, and tells when the scheduler has seen what came before it. */
export const canary: ExistingNode = {
  node: {
    metadata: { name: "canary", labels: {} },
    spec: { taints: [{ key: "canary", effect: "NoSchedule" }] },
    status: { allocatable: { cpu: "64", memory: "64Gi", pods: "110" } },
  },
};

export class RealCluster {
  readonly #plane: ControlPlane;
  readonly #dispatcher: Agent;

  constructor(plane: ControlPlane) {
    this.#plane = plane;
    this.#dispatcher = new Agent({ connect: { ca: Buffer.from(plane.caData, "base64").toString() } });
  }

  close(): Promise<void> {
    return this.#dispatcher.close();
  }

  async putNamespaces({ namespaces }: Problem): Promise<void> {
    for (const { metadata } of namespaces) {
      await this.#call("POST", "/api/v1/namespaces", { metadata: { name: metadata.name } }, [409]);
      await this.#call("PATCH", `/api/v1/namespaces/${metadata.name}`, { metadata: { labels: metadata.labels } });
    }
  }

  /** Everything but the pods to place; returns once the scheduler has seen it. */
  async put({ nodes, bound }: Problem): Promise<void> {
    for (const { node } of nodes) await this.#putNode(node);
    for (const pod of bound) await this.#putBound(pod);
    const probe: Pod = {
      metadata: { name: "probe", namespace: "default" },
      spec: {
        containers: [{ name: "main" }],
        tolerations: [{ operator: "Exists" }],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["canary"] }] }],
            },
          },
        },
      },
    };
    await this.#create(probe);
    await vi.waitUntil(async () => (await this.#read(probe)).spec.nodeName !== undefined, waiting);
    await this.remove(probe);
  }

  /** The node that the scheduler chose; undefined: it found none. */
  async schedule(pod: Pod): Promise<string | undefined> {
    await this.#create(pod);
    const decided = await vi.waitUntil(async () => {
      const stored = await this.#read(pod);
      const isRefused = stored.status?.conditions?.some(one => one.type === "PodScheduled" && one.status === "False");
      return stored.spec.nodeName !== undefined || isRefused ? stored : undefined;
    }, waiting);
    return decided.spec.nodeName;
  }

  async remove(pod: Pod): Promise<void> {
    await this.#call("DELETE", pathOf(pod), { gracePeriodSeconds: 0 }, [404]);
  }

  async clear({ nodes }: Problem, pods: readonly Pod[]): Promise<void> {
    for (const pod of pods) await this.remove(pod);
    for (const { node } of nodes) await this.#call("DELETE", `/api/v1/nodes/${node.metadata.name}`);
  }

  // The API server taints a node that it sees for the first time; only a second write says what the taints are.
  async #putNode({ metadata, spec, status }: Node): Promise<void> {
    const path = `/api/v1/nodes/${metadata.name}`;
    await this.#call("POST", "/api/v1/nodes", { metadata });
    await this.#call("PATCH", `${path}/status`, { status: { ...status, capacity: status?.allocatable } });
    await this.#call("PATCH", path, {
      spec: { taints: spec?.taints ?? null, unschedulable: spec?.unschedulable ?? null },
    });
  }

  async #putBound(pod: Pod): Promise<void> {
    const { deletionTimestamp, ...metadata } = pod.metadata;
    await this.#create({ ...pod, metadata });
    await this.#call("PATCH", `${pathOf(pod)}/status`, { status: pod.status });
    if (deletionTimestamp !== undefined) await this.#call("DELETE", pathOf(pod), { gracePeriodSeconds: 3600 });
  }

  async #create({ metadata, spec }: Pod): Promise<void> {
    const { name, namespace, labels } = metadata;
    const withImage = <T extends object>(list: readonly T[] = []) => list.map(one => ({ ...one, image: "none" }));
    const body = {
      metadata: { name, namespace, labels },
      spec: { ...spec, containers: withImage(spec.containers), initContainers: withImage(spec.initContainers) },
    };
    await this.#call("POST", `/api/v1/namespaces/${namespace}/pods`, body);
  }

  #read(pod: Pod): Promise<Stored> {
    return this.#call("GET", pathOf(pod)) as Promise<Stored>;
  }

  async #call(method: Method, path: string, body?: unknown, allowed: readonly number[] = []): Promise<unknown> {
    const { statusCode, body: answer } = await request(this.#plane.url + path, {
      method,
      dispatcher: this.#dispatcher,
      headers: {
        authorization: `Bearer ${this.#plane.token}`,
        "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json",
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (statusCode < 300 || allowed.includes(statusCode)) return JSON.parse(text);
    throw new Error(`${method} ${path} was answered ${statusCode}: ${text}\n${JSON.stringify(body)}`);
  }
}

const waiting = { timeout: 60_000, interval: 20 };

function pathOf(pod: Pod): string {
  return `/api/v1/namespaces/${podKey(pod).replace("/", "/pods/")}`;
}
