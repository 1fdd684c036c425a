// Stories of owners, namespaces and disruption budgets: what is done, and by what one sees that the controllers have
// finished. What they have made of it is compared by the suite, field by field.

import type { KubeObject, Manifest, OwnerReference, Resource } from "../../../src/api/meta.ts";
import type { DeleteOptions, KubeApi } from "../../../src/control/ports.ts";
import { budget, budgets, configMap, configMaps, namespaces, pod, pods } from "../kinds.ts";

export type Phase = {
  act: (api: KubeApi, namespace: string) => Promise<unknown>;
  /** What is there at the end, in this order: "configmaps/a", and "configmaps/b deleting". */
  rest: readonly string[] | ((objects: readonly KubeObject[]) => boolean);
};

const replicaSets: Resource = {
  group: "apps",
  version: "v1",
  plural: "replicasets",
  kind: "ReplicaSet",
  namespaced: true,
};
const looked = [namespaces, configMaps, pods, replicaSets, budgets];

/** Everything of these kinds in the namespace, and the namespace itself, without what each server chooses freely. */
export async function contents(api: KubeApi, namespace: string): Promise<KubeObject[]> {
  const lists = await Promise.all(
    looked.map(resource =>
      resource.namespaced
        ? api.list(resource, { namespace })
        : api.list(resource, { fieldSelector: `metadata.name=${namespace}` }),
    ),
  );
  const objects = lists.flatMap(({ items }) => items);
  const nameByUid = new Map(objects.map(({ metadata }) => [metadata.uid, metadata.name]));
  return objects.map(object => plain(object, nameByUid) as KubeObject);
}

const dropped = new Set(["resourceVersion", "managedFields", "uid"]);

function plain(value: unknown, nameByUid: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map(item => plain(item, nameByUid));
  if (typeof value === "string") return /^20\d\d-\d\d-\d\dT/.test(value) ? "<time>" : (nameByUid.get(value) ?? value);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([field]) => !dropped.has(field));
  return Object.fromEntries(kept.map(([field, child]) => [field, plain(child, nameByUid)]));
}

export function isAtRest(objects: readonly KubeObject[], rest: Phase["rest"]): boolean {
  if (typeof rest === "function") return rest(objects);
  const seen = objects.filter(({ kind }) => kind !== "Namespace").map(shown);
  return JSON.stringify(seen) === JSON.stringify(rest);
}

const shown = ({ kind, metadata }: KubeObject) =>
  `${kind.toLowerCase()}s/${metadata.name}${metadata.deletionTimestamp === undefined ? "" : " deleting"}`;

type Owned = { controller?: boolean; blockOwnerDeletion?: boolean; finalizers?: string[] };

const make = (api: KubeApi, namespace: string, manifest: Manifest) => api.create(configMaps, { namespace }, manifest);

/** A ConfigMap that belongs to other ConfigMaps. */
async function makeOwned(api: KubeApi, namespace: string, name: string, owners: readonly string[], more: Owned = {}) {
  const { finalizers = [], ...reference } = more;
  const ownerReferences: OwnerReference[] = [];
  for (const owner of owners) {
    const { metadata } = await api.get(configMaps, { name: owner, namespace });
    ownerReferences.push({ apiVersion: "v1", kind: "ConfigMap", name: owner, uid: metadata.uid, ...reference });
  }
  const manifest = configMap(name, { finalizers });
  await make(api, namespace, { ...manifest, metadata: { ...manifest.metadata, ownerReferences } });
}

const remove = (name: string, options?: DeleteOptions) => (api: KubeApi, namespace: string) =>
  api.delete(configMaps, { name, namespace }, options);

const release = (name: string) => (api: KubeApi, namespace: string) =>
  api.patch(configMaps, { name, namespace }, { type: "merge", body: { metadata: { finalizers: null } } });

const hold = ["test.fettle.dev/hold"];

/** An owner and two that belong to it. */
async function family(api: KubeApi, namespace: string, more: Owned = {}): Promise<void> {
  await make(api, namespace, configMap("owner"));
  await makeOwned(api, namespace, "child-a", ["owner"], more);
  await makeOwned(api, namespace, "child-b", ["owner"]);
}

const whole = ["configmaps/child-a", "configmaps/child-b", "configmaps/owner"];

export const scenarios: Readonly<Record<string, readonly Phase[]>> = {
  "in the background the owner goes first": [
    { act: (api, namespace) => family(api, namespace), rest: whole },
    { act: remove("owner", { propagationPolicy: "Background" }), rest: [] },
  ],
  "in the foreground the owner waits for those who block it": [
    { act: (api, namespace) => family(api, namespace, { blockOwnerDeletion: true, finalizers: hold }), rest: whole },
    {
      act: remove("owner", { propagationPolicy: "Foreground" }),
      rest: ["configmaps/child-a deleting", "configmaps/owner deleting"],
    },
    { act: release("child-a"), rest: [] },
  ],
  "in the foreground the owner does not wait for the others": [
    { act: (api, namespace) => family(api, namespace, { finalizers: hold }), rest: whole },
    { act: remove("owner", { propagationPolicy: "Foreground" }), rest: ["configmaps/child-a deleting"] },
    { act: release("child-a"), rest: [] },
  ],
  "orphans stay and forget their owner": [
    { act: (api, namespace) => family(api, namespace), rest: whole },
    { act: remove("owner", { propagationPolicy: "Orphan" }), rest: ["configmaps/child-a", "configmaps/child-b"] },
  ],
  "who has another owner stays": [
    {
      async act(api, namespace) {
        await make(api, namespace, configMap("first"));
        await make(api, namespace, configMap("second"));
        await makeOwned(api, namespace, "child", ["first", "second"]);
      },
      rest: ["configmaps/child", "configmaps/first", "configmaps/second"],
    },
    {
      act: remove("first"),
      rest: objects =>
        objects.some(({ metadata }) => metadata.name === "child" && metadata.ownerReferences?.length === 1),
    },
    { act: remove("second"), rest: [] },
  ],
  "a chain goes to its end": [
    {
      async act(api, namespace) {
        await make(api, namespace, configMap("a"));
        await makeOwned(api, namespace, "b", ["a"]);
        await makeOwned(api, namespace, "c", ["b"]);
      },
      rest: ["configmaps/a", "configmaps/b", "configmaps/c"],
    },
    { act: remove("a"), rest: [] },
  ],
  "who names an owner that does not exist goes": [
    {
      async act(api, namespace) {
        const uid = "00000000-0000-4000-8000-000000000001";
        const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid }];
        await make(api, namespace, { ...configMap("lost"), metadata: { name: "lost", ownerReferences } });
        await make(api, namespace, configMap("other"));
      },
      rest: ["configmaps/other"],
    },
  ],
  "a namespace goes with what is in it": [
    {
      async act(api, namespace) {
        await family(api, namespace);
        await api.create(pods, { namespace }, pod("p"));
        await api.delete(namespaces, { name: namespace });
      },
      rest: objects => objects.length === 0,
    },
  ],
  "a namespace waits for what is held in it and says so": [
    {
      async act(api, namespace) {
        await make(api, namespace, configMap("held", { finalizers: hold }));
        await api.delete(namespaces, { name: namespace });
      },
      rest: objects => JSON.stringify(objects).includes('"reason":"SomeFinalizersRemain"'),
    },
    { act: release("held"), rest: objects => objects.length === 0 },
  ],
  "a budget counts the pods of a workload against its scale": [
    {
      act: (api, namespace) => workload(api, namespace, { replicas: 4, ready: 3 }),
      rest: objects => hasCounted(objects, 3),
    },
    {
      act: (api, namespace) => setReady(api, namespace, "web-2", "False"),
      rest: objects => hasCounted(objects, 2),
    },
    {
      act: (api, namespace) => setReady(api, namespace, "web-2", "True"),
      rest: objects => hasCounted(objects, 3),
    },
  ],
  "a budget of a share needs a workload with a scale": [
    {
      async act(api, namespace) {
        await api.create(pods, { namespace }, pod("bare", { app: "bare" }));
        const manifest = budget("share", { app: "bare" });
        await api.create(
          budgets,
          { namespace },
          { ...manifest, spec: { ...(manifest["spec"] as object), minAvailable: "50%" } },
        );
      },
      rest: objects => JSON.stringify(objects).includes('"DisruptionAllowed"'),
    },
  ],
  "a budget of a number counts pods of nobody": [
    {
      async act(api, namespace) {
        await readyPod(api, namespace, pod("bare", { app: "bare" }));
        await api.create(budgets, { namespace }, budget("number", { app: "bare" }));
      },
      rest: objects => hasCounted(objects, 1),
    },
  ],
  "an eviction is remembered until the pod is gone": [
    {
      act: (api, namespace) => workload(api, namespace, { replicas: 3, ready: 3 }),
      rest: objects => hasCounted(objects, 3),
    },
    {
      async act(api, namespace) {
        const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "web-0", namespace } };
        await api.create(pods, { name: "web-0", namespace }, eviction, { subresource: "eviction" });
      },
      // A pod that is going is neither healthy nor waited for any more.
      rest: objects => hasCounted(objects, 2) && !JSON.stringify(objects).includes('"disruptedPods"'),
    },
    {
      act: (api, namespace) => api.delete(pods, { name: "web-0", namespace }, { gracePeriodSeconds: 0 }),
      rest: objects => hasCounted(objects, 2),
    },
  ],
};

/** A ReplicaSet whose controller is asleep, with pods made by hand, and a budget over them. */
async function workload(api: KubeApi, namespace: string, { replicas, ready }: { replicas: number; ready: number }) {
  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "app:1" }] } };
  const spec = { replicas, selector: { matchLabels: labels }, template };
  const manifest = { apiVersion: "apps/v1", kind: "ReplicaSet", metadata: { name: "web" }, spec };
  const { metadata } = await api.create(replicaSets, { namespace }, manifest);
  const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web", uid: metadata.uid, controller: true };
  for (let index = 0; index < ready; index++) {
    const one = pod(`web-${index}`, labels);
    await readyPod(api, namespace, { ...one, metadata: { ...one.metadata, ownerReferences: [owner] } });
  }
  const limit = { maxUnavailable: "50%", selector: { matchLabels: labels } };
  await api.create(budgets, { namespace }, { ...budget("web", labels), spec: limit });
}

async function readyPod(api: KubeApi, namespace: string, manifest: Manifest): Promise<void> {
  const name = manifest.metadata.name ?? "";
  await api.create(pods, { namespace }, manifest);
  const binding = { apiVersion: "v1", kind: "Binding", metadata: { name }, target: { kind: "Node", name: "n1" } };
  await api.create(pods, { name, namespace }, binding, { subresource: "binding" });
  await setReady(api, namespace, name, "True");
}

async function setReady(api: KubeApi, namespace: string, name: string, status: string): Promise<void> {
  const body = { status: { phase: "Running", conditions: [{ type: "Ready", status }] } };
  await api.patch(pods, { name, namespace }, { type: "merge", body }, { subresource: "status" });
}

/** The budget has seen this many healthy pods, in its present generation. */
function hasCounted(objects: readonly KubeObject[], healthy: number): boolean {
  const found = objects.find(({ kind }) => kind === "PodDisruptionBudget");
  const status = found?.["status"] as { currentHealthy?: number; observedGeneration?: number; conditions?: unknown[] };
  return status?.currentHealthy === healthy && status.observedGeneration === 1 && (status.conditions ?? []).length > 0;
}
