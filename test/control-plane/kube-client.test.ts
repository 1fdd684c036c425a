// The client, the reflector and the election against a real kube-apiserver: what only it can say.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeObject, Resource } from "../../src/api/meta.ts";
import type { WatchOptions } from "../../src/control/ports.ts";
import { type Connection, connect } from "../../src/kube/client.ts";
import type { ClusterConfig } from "../../src/kube/kubeconfig.ts";
import { LEASES } from "../../src/kube/lease.ts";
import { LeaderElection } from "../../src/kube/leader.ts";
import { Reflector } from "../../src/kube/reflector.ts";
import { systemClock } from "../../src/kube/system-clock.ts";
import { isUnavailable } from "./binaries.ts";
import { sharedControlPlane } from "./shared.ts";

const namespaces: Resource = { group: "", version: "v1", plural: "namespaces", kind: "Namespace", namespaced: false };
const configMaps: Resource = { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap", namespaced: true };
const things: Resource = {
  group: "kube-client.test",
  version: "v1",
  plural: "things",
  kind: "Thing",
  namespaced: false,
};
const definitions: Resource = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  kind: "CustomResourceDefinition",
  namespaced: false,
};

const namespace = "kube-client-test";
const configMap = (name: string, data: Record<string, string> = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, labels: { app: "kube-client-test" } },
  data,
});

describe.skipIf(isUnavailable("etcd", "kube-apiserver"))("on a real API server", () => {
  let config: ClusterConfig;
  let api: Connection;

  beforeAll(async () => {
    const { url, token, caData } = await sharedControlPlane();
    config = {
      source: "the test",
      server: url,
      namespace: "default",
      ca: { data: Buffer.from(caData, "base64").toString("utf8") },
      insecureSkipTlsVerify: false,
      user: { token },
    };
    api = connect(config, { clock: systemClock });
    await api.create(namespaces, {}, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  });
  afterAll(async () => {
    await api?.delete(namespaces, { name: namespace });
    await api?.delete(definitions, { name: "things.kube-client.test" });
    await api?.close();
  });

  test("two candidates: one leads; it stops, and the other leads at once in the next term", async () => {
    const key = { namespace, name: "leader" };
    const said: string[] = [];
    const [first, second] = ["first", "second"].map(
      identity =>
        new LeaderElection({
          api,
          clock: systemClock,
          lease: key,
          identity,
          durationMs: 8_000,
          renewWithinMs: 6_000,
          retryMs: 500,
          handlers: { elected: epoch => said.push(`${identity} ${epoch}`), lost: reason => said.push(reason) },
        }),
    );
    await expect.poll(() => said.length, { timeout: 30_000 }).toBe(1);
    const [leader, other] = said[0] === "first 0" ? [first, second] : [second, first];
    const lease = await api.get(LEASES, key);
    expect(lease).toMatchObject({ spec: { leaseDurationSeconds: 8, leaseTransitions: 0 } });
    await expect
      .poll(async () => (await api.get(LEASES, key)).metadata.resourceVersion, { timeout: 30_000 })
      .not.toBe(lease.metadata.resourceVersion);

    const fenced = connect(config, { clock: systemClock, fence: leader?.fence ?? neverMine });
    const follower = connect(config, { clock: systemClock, fence: other?.fence ?? neverMine });
    await fenced.create(configMaps, { namespace }, configMap("by-the-leader"));
    await expect(follower.create(configMaps, { namespace }, configMap("by-another"))).rejects.toThrow("does not hold");

    await leader?.stop();
    await expect.poll(() => said.length, { timeout: 30_000 }).toBe(2);
    expect(said[1]).toMatch(/ 1$/);
    await expect(fenced.delete(configMaps, { namespace, name: "by-the-leader" })).rejects.toThrow("does not hold");
    await follower.delete(configMaps, { namespace, name: "by-the-leader" });
    await other?.stop();
    expect((await api.get(LEASES, key))["spec"]).not.toHaveProperty("holderIdentity");
    await Promise.all([fenced.close(), follower.close()]);
  });

  test("the server keeps to the limit that a fenced write gives it", async () => {
    const path = `/api/v1/namespaces/${namespace}/configmaps?timeout=1ns`;
    await expect(api.raw(path)).rejects.toMatchObject({ code: 504 });
  });

  test("a streamed list, its changes, and after 410 a list that shows what vanished meanwhile", async () => {
    await defineThings();
    const make = (name: string) =>
      api.create(things, {}, { apiVersion: "kube-client.test/v1", kind: "Thing", metadata: { name } });
    await make("stays");
    await make("goes");
    let disturb = (options: WatchOptions): WatchOptions => options;
    const calls: string[] = [];
    const reflector = new Reflector<string>({
      api: {
        list: (resource, options) => api.list(resource, options),
        // Short, so that it comes back soon.
        watch: (resource, options, handlers) =>
          api.watch(resource, { ...disturb(options), timeoutSeconds: 2 }, handlers),
      },
      clock: systemClock,
      resource: things,
      project: raw => raw.metadata.name,
      handlers: {
        added: name => calls.push(`+${name}`),
        updated: () => {},
        deleted: name => calls.push(`-${name}`),
        synced: () => calls.push("synced"),
      },
    });
    await expect.poll(() => reflector.synced, { timeout: 30_000 }).toBe(true);
    expect(calls).toEqual(["+goes", "+stays", "synced"]);
    await make("comes");
    await expect.poll(() => calls.at(-1), { timeout: 30_000 }).toBe("+comes");

    // Version 1 is older than the kind itself, so no server has its events. The list is held until one object is gone.
    const deleted = new Promise<void>(resolve => {
      disturb = options => {
        disturb = one => one;
        void api.delete(things, { name: "goes" }).then(() => resolve());
        return { ...options, resourceVersion: "1" };
      };
    });
    await deleted;
    await expect.poll(() => reflector.counts.gone, { timeout: 30_000 }).toBe(1);
    await expect.poll(() => reflector.synced, { timeout: 30_000 }).toBe(true);
    await expect.poll(() => calls.includes("-goes"), { timeout: 30_000 }).toBe(true);
    expect(calls.filter(call => call === "synced")).toHaveLength(2);
    expect([...reflector.values()].sort()).toEqual(["comes", "stays"]);
    reflector.stop();
  });

  async function defineThings(): Promise<void> {
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await api.create(
      definitions,
      {},
      {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "things.kube-client.test" },
        spec: {
          group: "kube-client.test",
          scope: "Cluster",
          names: { plural: "things", singular: "thing", kind: "Thing", listKind: "ThingList" },
          versions: [{ name: "v1", served: true, storage: true, schema }],
        },
      },
    );
    await expect.poll(() => api.list(things).catch(() => undefined), { timeout: 30_000 }).toBeDefined();
  }

  test("every kind of patch, preconditions, dry run and field validation are understood", async () => {
    const key = { namespace, name: "patched" };
    const made = await api.create(configMaps, { namespace }, configMap("patched", { a: "1" }));
    await api.patch(configMaps, key, { type: "merge", body: { data: { b: "2" } } });
    await api.patch(configMaps, key, { type: "strategic", body: { data: { c: "3" } } });
    const patched = await api.patch<KubeObject & { data: unknown }>(configMaps, key, {
      type: "json",
      body: [{ op: "remove", path: "/data/a" }],
    });
    expect(patched.data).toEqual({ b: "2", c: "3" });
    await api.patch(configMaps, key, { type: "merge", body: { data: null } }, { dryRun: true });
    await expect(
      api.update(configMaps, key, { ...patched, unknownField: 1 }, { fieldValidation: "Strict" }),
    ).rejects.toMatchObject({ code: 400 });
    await expect(
      api.delete(configMaps, key, { preconditions: { resourceVersion: made.metadata.resourceVersion } }),
    ).rejects.toMatchObject({ code: 409 });
    expect(await api.get(configMaps, key)).toMatchObject({ data: { b: "2", c: "3" } });
    await api.deleteCollection(configMaps, { namespace, fieldSelector: "metadata.name=patched" });
    await expect(api.get(configMaps, key)).rejects.toMatchObject({ code: 404, reason: "NotFound" });
  });
});

const neverMine = { epoch: undefined, remainingMs: () => 0, enter: () => () => {} };
