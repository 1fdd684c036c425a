// Bugs in what is sent to the API server and to the provider, and in what is taken from them.

import type { KubeObject } from "../../../src/api/meta.ts";
import type { DeleteOptions, KubeApi, PatchBody } from "../../../src/control/ports.ts";
import { ApiError } from "../../../src/api/status.ts";
import { parseTime, formatTime, hourMs } from "../../../src/api/time.ts";
import { type Change, withApi, withProvider } from "./change.ts";
import type { Mutant } from "./mutant.ts";

type Body = { metadata?: Record<string, unknown>; spec?: Record<string, unknown> };

function withBody({ type, body }: PatchBody, change: (body: Body) => Body): PatchBody {
  return type === "merge" ? { type, body: change(body as Body) } : ({ type, body } as PatchBody);
}

function without<T extends object>(object: T, key: string): T {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== key)) as T;
}

const evictionsWithoutUid = withApi(api => ({
  create: (resource, key, object, options) => api.create(resource, key, without(object, "deleteOptions"), options),
  delete: (resource, key, options) => api.delete(resource, key, options && without(options, "preconditions")),
}));

const patchesWithoutVersion = withApi(api => ({
  patch: (resource, key, patch, options) => {
    const change = (body: Body) => ({ ...body, metadata: without(body.metadata ?? {}, "resourceVersion") });
    return api.patch(resource, key, withBody(patch, change), options);
  },
}));

const evictionsAsDeletes = withApi(api => ({
  create: async (resource, key, object, options) => {
    if (options?.subresource !== "eviction") return api.create(resource, key, object, options);
    const { name = "", namespace = "" } = key;
    const { preconditions } = (object as { deleteOptions?: DeleteOptions }).deleteOptions ?? {};
    await api.delete(resource, { name, namespace }, preconditions && { preconditions });
    return object as never;
  },
}));

const looserJoins = withApi(api => ({
  patch: (resource, key, patch, options) => {
    const later = (text: unknown) => {
      const time = parseTime(String(text));
      return time.ok ? formatTime(time.value + 10 * hourMs) : text;
    };
    const change = (body: Body) => {
      const { joined, deadline } = body.spec ?? {};
      return joined === undefined ? body : { ...body, spec: { ...body.spec, deadline: later(deadline) } };
    };
    return api.patch(resource, key, withBody(patch, change), options);
  },
}));

/** Instead of a live read, what the watch has shown last. */
const readsItsOwnCache: Change = options => {
  const seen = new Map<string, KubeObject>();
  const get: KubeApi["get"] = async (resource, key, more) =>
    (seen.get(`${resource.plural} ${key.name}`) as never) ?? (await options.api.get(resource, key, more));
  const { api } = withApi(() => ({ get }))(options);
  return {
    ...options,
    api,
    feed: wanted =>
      options.feed({
        ...wanted,
        project: (raw, previous) => {
          if (wanted.resource.plural === "nodes") seen.set(`nodes ${raw.metadata.name}`, raw);
          return wanted.project(raw, previous);
        },
      }),
  };
};

const everyWriteTwice = withApi(api => ({
  create: async (resource, key, object, options) => {
    if (resource.plural !== "nodeactions") return api.create(resource, key, object, options);
    const { name } = object.metadata;
    const twin = { ...object, metadata: { ...object.metadata, name: `${name}-twin` } };
    await api.create(resource, key, twin, options).catch(ifNotThere);
    return api.create(resource, key, object, options);
  },
}));

function ifNotThere(error: unknown): void {
  if (!(error instanceof ApiError && error.reason === "AlreadyExists")) throw error;
}

const foreignFinalizersToo = withApi(api => ({
  patch: (resource, key, patch, options) => {
    const change = (body: Body) =>
      body.metadata?.["finalizers"] === undefined ? body : { ...body, metadata: { ...body.metadata, finalizers: [] } };
    return api.patch(resource, key, withBody(patch, change), options);
  },
}));

const instanceOfEachCall: Change = options => {
  let calls = 0;
  return withProvider(provider => ({
    create: (request, more) => {
      const { claim } = request;
      const uid = `${claim.metadata.uid}-${++calls}`;
      return provider.create({ ...request, claim: { ...claim, metadata: { ...claim.metadata, uid } } }, more);
    },
  }))(options);
};

const endingIsGone = withProvider(provider => ({
  delete: async (providerID, options) => {
    const answer = await provider.delete(providerID, options);
    return answer === "terminating" ? "gone" : answer;
  },
}));

const oldInstances = withProvider(provider => ({
  list: async (cluster, options) => {
    const found = await provider.list(cluster, options);
    return "error" in found ? found : found.map(one => ({ ...one, createdAt: one.createdAt - hourMs }));
  },
}));

const untagged = withProvider(provider => ({
  create: (request, options) => provider.create({ ...request, cluster: "another" }, options),
}));

const servesAll = withProvider(provider => ({ view: { ...provider.view, serves: () => true } }));

export const portMutants: readonly Mutant[] = [
  { name: "evictions and deletes without a uid", wrong: evictionsWithoutUid, story: "a namesake", caughtBy: "P1" },
  {
    name: "patches without the version they were computed from",
    wrong: patchesWithoutVersion,
    story: "a person writes between",
    caughtBy: "expected",
  },
  { name: "pods are deleted, not evicted", wrong: evictionsAsDeletes, story: "replicas with pods", caughtBy: "I6" },
  { name: "a join loosens the deadline", wrong: looserJoins, story: "a sick node in a drain", caughtBy: "expected" },
  {
    name: "the last look is at the cache",
    wrong: readsItsOwnCache,
    story: "a node that recovers late",
    caughtBy: "expected",
  },
  { name: "a second action on a node", wrong: everyWriteTwice, story: "claim-life", caughtBy: "I4" },
  {
    name: "the finalizers of others are taken off, too",
    wrong: foreignFinalizersToo,
    story: "a finalizer of somebody else",
    caughtBy: "expected",
  },
  {
    name: "each call launches an instance of its own",
    wrong: instanceOfEachCall,
    story: "a launch whose answer is lost",
    caughtBy: "expected",
  },
  {
    name: "the finalizer goes before the instance has gone",
    wrong: endingIsGone,
    story: "an instance that does not end",
    caughtBy: "T2",
  },
  { name: "garbage of any age", wrong: oldInstances, story: "an instance without a claim", caughtBy: "G1" },
  {
    name: "instances without the tag of the cluster",
    wrong: untagged,
    story: "an instance without a claim",
    caughtBy: "expected",
  },
  {
    name: "claims of another controller's class are ended",
    wrong: servesAll,
    story: "a claim of another controller",
    caughtBy: "expected",
  },
];
