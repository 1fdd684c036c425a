// Leader election and the fence, over each API: at most one leads, and no write of an old leader lands in a new one's
// term.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Clock } from "../../src/control/ports.ts";
import type { Connection } from "../../src/kube/client.ts";
import { FencedError } from "../../src/kube/errors.ts";
import { LeaderElection } from "../../src/kube/leader.ts";
import { systemClock } from "../../src/kube/system-clock.ts";
import { type FaultProxy, faultProxy } from "../fault-proxy.ts";
import { connectTo, httpBackends, type Running } from "./backends.ts";
import type { ApiAddress } from "./differential/server.ts";
import { configMap, configMaps, namespaces } from "./kinds.ts";

/** Real time, but for the jumps that a process makes which was paused. */
class JumpingClock implements Clock {
  #skippedMs = 0;
  now = () => systemClock.now() + this.#skippedMs;
  monotonic = () => systemClock.monotonic() + this.#skippedMs;
  after = (delayMs: number, run: () => void) => systemClock.after(delayMs, run);
  jump(byMs: number): void {
    this.#skippedMs += byMs;
  }
}

const times = { durationMs: 6000, renewWithinMs: 4000, retryMs: 200 };
const namespace = "election";

for (const { name, skip, start } of httpBackends) {
  describe.skipIf(skip)(`on ${name}`, () => {
    let server: Running<ApiAddress>;
    let api: Connection;

    beforeAll(async () => {
      server = await start();
      api = connectTo(server);
      await api.create(namespaces, {}, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
    });
    afterAll(async () => {
      await api?.close();
      await server?.close();
    });

    function candidate(lease: string, identity: string, clock: Clock = systemClock, through: Connection = api) {
      const said: string[] = [];
      const election = new LeaderElection({
        api: through,
        clock,
        identity,
        lease: { name: lease, namespace },
        ...times,
        handlers: { elected: epoch => said.push(`elected ${epoch}`), lost: () => said.push("lost") },
      });
      return { election, said };
    }

    test("one of three leads, and when it stops another leads in the next term", async () => {
      const all = ["one", "two", "three"].map(identity => candidate("three", identity));
      const leaders = () => all.filter(({ election }) => election.epoch !== undefined);
      await expect.poll(() => leaders().length, { timeout: 30_000 }).toBe(1);
      const [first] = leaders();
      expect(first?.said).toEqual(["elected 0"]);
      await first?.election.stop();
      await expect.poll(() => leaders().length, { timeout: 30_000 }).toBe(1);
      expect(leaders()[0]?.said).toEqual(["elected 1"]);
      await Promise.all(all.map(({ election }) => election.stop()));
    });

    describe("the fence", () => {
      let proxy: FaultProxy;
      beforeAll(async () => {
        proxy = await faultProxy(server);
      });
      afterAll(() => proxy?.stop());

      test("a leader's writes land; after a pause longer than its lease they do not even leave", async () => {
        const clock = new JumpingClock();
        const { election } = candidate("paused", "one", clock);
        const fenced = connectTo({ ...server, url: proxy.url }, { clock, fence: election.fence });
        try {
          await expect.poll(() => election.epoch, { timeout: 30_000 }).toBeDefined();
          await fenced.create(configMaps, { namespace }, configMap("in-time"));
          const before = proxy.seen.length;
          clock.jump(times.durationMs);
          await expect(fenced.create(configMaps, { namespace }, configMap("too-late"))).rejects.toThrow(FencedError);
          expect(proxy.seen.length).toBe(before);
          await expect(api.get(configMaps, { name: "too-late", namespace })).rejects.toMatchObject({ code: 404 });
        } finally {
          await election.stop();
          await fenced.close();
        }
      });

      test("a write that gets no answer is given up before the lease is over", async () => {
        const { election } = candidate("half-open", "one");
        const fenced = connectTo({ ...server, url: proxy.url }, { fence: election.fence });
        proxy.script(({ method }) => (method === "POST" ? { kind: "half-open" } : undefined));
        try {
          await expect.poll(() => election.epoch, { timeout: 30_000 }).toBeDefined();
          const leftMs = election.fence.remainingMs();
          const error = await fenced.create(configMaps, { namespace }, configMap("unanswered")).catch(asText);
          const allowedMs = Number(/no answer within (\d+) ms/.exec(error as string)?.[1]);
          expect(allowedMs).toBeLessThan(leftMs);
        } finally {
          proxy.script(() => undefined);
          await election.stop();
          await fenced.close();
        }
      });

      test("a leader that is cut off steps down before another can lead", async () => {
        const cutOff = connectTo({ ...server, url: proxy.url });
        const first = candidate("cut-off", "first", systemClock, cutOff);
        await expect.poll(() => first.election.epoch, { timeout: 30_000 }).toBe(0);
        const second = candidate("cut-off", "second");
        proxy.script(() => ({ kind: "half-open" }));
        let both = 0;
        const look = setInterval(() => {
          if (first.election.fence.remainingMs() > 0 && second.election.fence.remainingMs() > 0) both++;
        }, 5);
        try {
          await expect.poll(() => second.said, { timeout: 60_000 }).toEqual(["elected 1"]);
          expect(first.said).toEqual(["elected 0", "lost"]);
          expect(both).toBe(0);
        } finally {
          clearInterval(look);
          proxy.resetAll();
          await cutOff.close();
          await Promise.all([first.election.stop(), second.election.stop()]);
        }
      });
    });
  });
}

const asText = (error: Error) => error.message;
