// A reflector keeps its picture true whatever the network does: over each API, under each fault, it ends with what the
// server has, and never calls itself complete while it is not.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { KubeObject } from "../../src/api/meta.ts";
import type { Clock } from "../../src/control/ports.ts";
import type { Connection } from "../../src/kube/client.ts";
import { Reflector } from "../../src/kube/reflector.ts";
import { systemClock } from "../../src/kube/system-clock.ts";
import { type Fault, type FaultProxy, faultProxy, type Script, type Seen } from "../fault-proxy.ts";
import { connectTo, httpBackends, type Running } from "./backends.ts";
import type { ApiAddress } from "./differential/server.ts";
import { configMap, configMaps, namespaces } from "./kinds.ts";

/** Time that runs faster, so that watchdogs and backoffs of minutes take seconds. */
function hastened(factor: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() * factor,
    after: (delayMs, run) => systemClock.after(delayMs / factor, run),
  };
}

const faults: readonly (readonly [string, Fault])[] = [
  ["reset", { kind: "reset" }],
  ["lost answers", { kind: "lose-answer" }],
  ["half-open connections", { kind: "half-open" }],
  ["429 with Retry-After", { kind: "refuse", code: 429, retryAfterSeconds: 1 }],
  ["500", { kind: "refuse", code: 500 }],
  ["503", { kind: "refuse", code: 503, retryAfterSeconds: 1 }],
  ["answers that end in the middle of a line", { kind: "truncate", afterLines: 3 }],
  ["streams cut in the middle of a line", { kind: "cut", afterLines: 2 }],
  ["streams that fall silent", { kind: "stall", afterLines: 2 }],
  ["slow answers", { kind: "slow", bytes: 200, pauseMs: 1 }],
  ["every event twice", { kind: "duplicate" }],
];

const isRead = ({ method, path }: Seen) => method === "GET" && path.endsWith("/configmaps");

/** The first reads all fail, then every second one; nobody would get through if it did not try again. */
function often(fault: Fault): Script {
  let reads = 0;
  return request => (isRead(request) && (++reads <= 2 || reads % 2 === 0) ? fault : undefined);
}

for (const { name, skip, start } of httpBackends) {
  describe.skipIf(skip)(`on ${name}`, () => {
    let server: Running<ApiAddress>;
    let direct: Connection;
    let proxy: FaultProxy;
    let faulty: Connection;
    const clock = hastened(40);

    beforeAll(async () => {
      server = await start();
      proxy = await faultProxy(server);
      direct = connectTo(server);
      faulty = connectTo({ ...server, url: proxy.url }, { clock });
    });
    afterAll(async () => {
      await faulty?.close();
      await proxy?.stop();
      await direct?.close();
      await server?.close();
    });

    async function newNamespace(namespace: string): Promise<void> {
      await direct.create(namespaces, {}, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    }

    function reflect(namespace: string) {
      const log: string[] = [];
      const note = (what: string) => (object: KubeObject) => void log.push(`${what} ${object.metadata.name}`);
      const reflector = new Reflector<KubeObject>({
        api: faulty,
        clock,
        resource: configMaps,
        selection: { namespace },
        project: raw => raw,
        handlers: { added: note("added"), updated: note("updated"), deleted: note("deleted") },
      });
      return { reflector, log };
    }

    const versions = (objects: Iterable<KubeObject>) =>
      [...objects].map(({ metadata }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion}`).sort();

    const isTrue = async (reflector: Reflector<KubeObject>, namespace: string) => {
      const { items } = await direct.list(configMaps, { namespace });
      return reflector.synced && JSON.stringify(versions(items)) === JSON.stringify(versions(reflector.values()));
    };

    /** Creates, changes, deletes and makes anew, so that names come back with another uid. */
    async function churn(namespace: string, rounds: number): Promise<void> {
      for (let round = 0; round < rounds; round++) {
        const key = { name: `c${round % 7}`, namespace };
        if (round % 3 === 0) await direct.delete(configMaps, key).catch(() => undefined);
        const manifest = configMap(key.name, { data: { round: String(round) } });
        await direct
          .create(configMaps, { namespace }, manifest)
          .catch(() => direct.patch(configMaps, key, { type: "merge", body: { data: { round: String(round) } } }));
      }
    }

    test.each(faults)("converges under %s", { timeout: 120_000 }, async (what, fault) => {
      const namespace = `converge-${what.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-")}`;
      await newNamespace(namespace);
      await churn(namespace, 10);
      proxy.script(often(fault));
      const { reflector, log } = reflect(namespace);
      try {
        await churn(namespace, 40);
        await expect.poll(() => isTrue(reflector, namespace), { timeout: 60_000 }).toBe(true);
        proxy.script(() => undefined);
        await churn(namespace, 20);
        await expect.poll(() => isTrue(reflector, namespace), { timeout: 60_000 }).toBe(true);
        expect(picture(log)).toEqual([...reflector.values()].map(({ metadata }) => metadata.name).sort());
      } finally {
        reflector.stop();
      }
    });

    test("a place in the stream that is gone is found again, and what vanished meanwhile is deleted", async () => {
      const namespace = "gone";
      await newNamespace(namespace);
      await churn(namespace, 7);
      const { reflector, log } = reflect(namespace);
      try {
        await expect.poll(() => isTrue(reflector, namespace), { timeout: 30_000 }).toBe(true);
        // Cut off while the world moves on by more than the box keeps.
        proxy.script(request => (isRead(request) ? { kind: "reset" } : undefined));
        proxy.resetAll();
        await direct.delete(configMaps, { name: "c1", namespace });
        await churn(namespace, 100);
        await direct.delete(configMaps, { name: "c2", namespace }).catch(() => undefined);
        proxy.script(() => undefined);
        await expect.poll(() => isTrue(reflector, namespace), { timeout: 60_000 }).toBe(true);
        expect(log).toContain("deleted c2");
        expect(reflector.get({ name: "c2", namespace })).toBeUndefined();
      } finally {
        reflector.stop();
      }
    });

    test("where lists cannot be streamed it pages", async () => {
      const namespace = "paged";
      await newNamespace(namespace);
      await churn(namespace, 7);
      const before = proxy.seen.length;
      // What a server says that does not know the feature.
      proxy.script(({ query }) => (query.has("sendInitialEvents") ? { kind: "refuse", code: 400 } : undefined));
      const { reflector } = reflect(namespace);
      try {
        await expect.poll(() => isTrue(reflector, namespace), { timeout: 30_000 }).toBe(true);
        const asked = proxy.seen.slice(before).filter(isRead);
        expect(asked.filter(({ query }) => query.has("sendInitialEvents"))).toHaveLength(1);
        expect(asked.some(({ query }) => query.get("limit") === "500")).toBe(true);
      } finally {
        reflector.stop();
        proxy.script(() => undefined);
      }
    });
  });
}

/** Whom somebody knows who only listens. */
function picture(log: readonly string[]): string[] {
  const known = new Set<string>();
  for (const line of log) {
    const [what, name = ""] = line.split(" ");
    if (what === "deleted") known.delete(name);
    else known.add(name);
  }
  return [...known].sort();
}
