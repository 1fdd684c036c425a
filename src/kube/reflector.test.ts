import { describe, expect, test } from "vitest";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import type { KubeObject, Resource } from "../api/meta.ts";
import { ApiError, type Status } from "../api/status.ts";
import type { KubeApi, List, ListOptions, WatchEvent, WatchHandlers, WatchOptions } from "../control/ports.ts";
import { ConnectionError, DecodeError } from "./errors.ts";
import { Reflector } from "./reflector.ts";

const nodes: Resource = { group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false };

function node(name: string, version: number, uid = `uid-${name}`): KubeObject {
  const metadata = { name, uid, resourceVersion: String(version), creationTimestamp: "2026-11-15T12:00:00Z" };
  return { apiVersion: "v1", kind: "Node", metadata };
}

const added = (object: KubeObject): WatchEvent<KubeObject> => ({ type: "ADDED", object });
const modified = (object: KubeObject): WatchEvent<KubeObject> => ({ type: "MODIFIED", object });
const deleted = (object: KubeObject): WatchEvent<KubeObject> => ({ type: "DELETED", object });
const bookmark = (version: number): WatchEvent<KubeObject> => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(version) } },
});
const complete = (version: number): WatchEvent<KubeObject> => ({
  type: "BOOKMARK",
  object: { metadata: { resourceVersion: String(version), annotations: { "k8s.io/initial-events-end": "true" } } },
});

function statusOf(code: number, reason: string, details: Status["details"] = {}): Status {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", code, reason, details };
}

type Watch = {
  options: WatchOptions;
  send(...events: WatchEvent<KubeObject>[]): void;
  /** As a server does whose last bytes were already on their way. */
  sendThoughClosed(event: WatchEvent<KubeObject>): void;
  end(error?: Error): void;
  closed: boolean;
};

/** A server whose watches the test plays by hand and whose lists it prepares. */
class PlayedServer {
  readonly watches: Watch[] = [];
  readonly lists: ListOptions[] = [];
  readonly pages: (List<KubeObject> | Error)[] = [];

  get last(): Watch {
    const watch = this.watches.at(-1);
    if (watch === undefined) throw new Error("nothing is watched");
    return watch;
  }

  readonly api = {
    watch: (_: Resource, options: WatchOptions, handlers: WatchHandlers<KubeObject>) => {
      let ended = false;
      const end = (error: Error | undefined): void => {
        if (ended) return;
        ended = true;
        handlers.end(error);
      };
      const watch: Watch = {
        options,
        closed: false,
        sendThoughClosed: event => handlers.event(event),
        send: (...events) => {
          for (const event of events) {
            try {
              if (!ended) handlers.event(event);
            } catch (error) {
              end(error as Error);
            }
          }
        },
        end,
      };
      this.watches.push(watch);
      return {
        close: () => {
          watch.closed = true;
          end(undefined);
        },
      };
    },
    list: (_: Resource, options: ListOptions = {}) => {
      this.lists.push(options);
      const page = this.pages.shift() ?? new Error("no page prepared");
      return page instanceof Error ? Promise.reject(page) : Promise.resolve(page);
    },
  } as unknown as Pick<KubeApi, "list" | "watch">;
}

async function aReflector(options: { project?: (raw: KubeObject) => string } = {}) {
  const clock = new ManualClock();
  const server = new PlayedServer();
  const calls: string[] = [];
  const reflector = new Reflector<string>({
    api: server.api,
    clock,
    resource: nodes,
    random: () => 0.5,
    project: options.project ?? (raw => `${raw.metadata.uid}@${raw.metadata.resourceVersion}`),
    handlers: {
      added: value => calls.push(`+${value}`),
      updated: (value, previous) => calls.push(`${previous}→${value}`),
      deleted: value => calls.push(`-${value}`),
      synced: () => calls.push("synced"),
    },
  });
  await clock.advance(0);
  return { clock, server, calls, reflector };
}

async function aSyncedReflector(...listed: KubeObject[]) {
  const made = await aReflector();
  made.server.last.send(...listed.map(added), complete(10));
  made.calls.length = 0;
  return made;
}

describe("the first list", () => {
  test("is asked for as a stream, as new as etcd, with bookmarks and a jittered time-out", async () => {
    const { server } = await aReflector();
    expect(server.last.options).toEqual({
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
      timeoutSeconds: 2_700,
    });
  });

  test("makes the picture complete with the server's word and not before", async () => {
    const { server, reflector, calls } = await aReflector();
    server.last.send(added(node("a", 3)), added(node("b", 2)), bookmark(5));
    expect(reflector.synced).toBe(false);
    expect(reflector.resourceVersion).toBeUndefined();
    server.last.send(complete(10));
    expect(reflector.synced).toBe(true);
    expect(reflector.resourceVersion).toBe("10");
    expect(calls).toEqual(["+uid-a@3", "+uid-b@2", "synced"]);
  });

  test("goes on as a watch on the same connection", async () => {
    const { server, reflector, calls } = await aSyncedReflector(node("a", 3));
    server.last.send(modified(node("a", 11)), deleted(node("a", 12)));
    expect(calls).toEqual(["uid-a@3→uid-a@11", "-uid-a@12"]);
    expect(reflector.resourceVersion).toBe("12");
    expect(reflector.counts).toMatchObject({ connects: 1, lists: 1, missed: 0 });
  });

  test("begins anew when the connection breaks half-way, and nothing listed twice is reported twice", async () => {
    const { clock, server, calls } = await aReflector();
    server.last.send(added(node("a", 3)));
    server.last.end(new ConnectionError("reset", { sent: true }));
    await clock.advance(1000);
    server.last.send(added(node("a", 3)), added(node("b", 2)), complete(10));
    expect(calls).toEqual(["+uid-a@3", "+uid-b@2", "synced"]);
  });
});

describe("where the server cannot stream lists", () => {
  async function withPages(...pages: (List<KubeObject> | Error)[]) {
    const made = await aReflector();
    made.server.pages.push(...pages);
    made.server.last.end(new ApiError(statusOf(422, "Invalid")));
    await made.clock.advance(0);
    return made;
  }

  test("they come in pages of 500 without a version, and a watch follows from there", async () => {
    const { server, reflector, calls } = await withPages(
      { items: [node("a", 3)], resourceVersion: "10", continue: "next" },
      { items: [node("b", 4)], resourceVersion: "10" },
    );
    expect(server.lists).toMatchObject([{ limit: 500 }, { limit: 500, continue: "next" }]);
    expect(server.lists.every(options => options.resourceVersion === undefined)).toBe(true);
    expect(calls).toEqual(["+uid-a@3", "+uid-b@4", "synced"]);
    expect(server.last.options).toMatchObject({ resourceVersion: "10", allowWatchBookmarks: true });
    expect(server.last.options.sendInitialEvents).toBeUndefined();
    expect(reflector.synced).toBe(true);
  });

  test("it remembers that, and does not ask for a stream again", async () => {
    const { clock, server } = await withPages(
      { items: [], resourceVersion: "10" },
      { items: [], resourceVersion: "20" },
    );
    server.last.end(new ApiError(statusOf(410, "Expired")));
    await clock.advance(0);
    expect(server.lists).toHaveLength(2);
    expect(server.last.options.resourceVersion).toBe("20");
  });

  test("pages that outlive their version are fetched again in one piece", async () => {
    const { server, reflector, calls } = await withPages(
      { items: [node("a", 3), node("gone", 4)], resourceVersion: "10", continue: "next" },
      new ApiError(statusOf(410, "Expired")),
      { items: [node("a", 3)], resourceVersion: "30" },
    );
    expect(server.lists[2]?.limit).toBeUndefined();
    expect(server.lists[2]?.continue).toBeUndefined();
    expect(calls).toEqual(["+uid-a@3", "+uid-gone@4", "-uid-gone@4", "synced"]);
    expect(reflector.counts.gone).toBe(1);
  });

  test("a failed list is tried again after a while", async () => {
    const { clock, server, reflector } = await withPages(new ConnectionError("down", { sent: false }));
    expect(reflector.lastError?.message).toBe("down");
    server.pages.push({ items: [], resourceVersion: "10" });
    await clock.advance(800);
    expect(reflector.synced).toBe(true);
    expect(reflector.lastError).toBeUndefined();
  });

  test("a server that never says that its stream is complete is one of those", async () => {
    const { clock, server } = await aReflector();
    server.pages.push({ items: [], resourceVersion: "10" });
    server.last.send(added(node("a", 3)));
    await clock.advance(90_000 + 800);
    expect(server.last.options.sendInitialEvents).toBe(true);
    await clock.advance(90_000 + 1600);
    expect(server.lists).toHaveLength(1);
    expect(server.last.options.resourceVersion).toBe("10");
  });
});

describe("a watch that ends", () => {
  test("is resumed at once from the last version, bookmarks included", async () => {
    const { clock, server, reflector } = await aSyncedReflector(node("a", 3));
    server.last.send(modified(node("a", 11)), bookmark(40));
    await clock.advance(60_000);
    server.last.end();
    await clock.advance(0);
    expect(server.last.options).toMatchObject({ resourceVersion: "40" });
    expect(reflector.synced).toBe(true);
  });

  test("after failures is tried later and later, and quickly again once something came", async () => {
    const { clock, server, reflector } = await aSyncedReflector();
    const delays: number[] = [];
    for (let count = 0; count < 8; count++) {
      const before = server.watches.length;
      const from = clock.monotonic();
      server.last.end(new ConnectionError("down", { sent: false }));
      while (server.watches.length === before) await clock.advance(100);
      delays.push(clock.monotonic() - from);
    }
    expect(delays).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
    server.last.send(bookmark(50));
    server.last.end(new ConnectionError("down", { sent: false }));
    await clock.advance(800);
    expect(server.watches).toHaveLength(10);
    expect(reflector.counts.lists).toBe(1);
  });

  test("waits as long as the server asks", async () => {
    const { clock, server } = await aSyncedReflector();
    server.last.end(new ApiError(statusOf(429, "TooManyRequests", { retryAfterSeconds: 10 })));
    await clock.advance(9_999);
    expect(server.watches).toHaveLength(1);
    await clock.advance(2_500);
    expect(server.watches).toHaveLength(2);
  });

  test("with a line that cannot be read is counted and resumed from before it", async () => {
    const { clock, server, reflector } = await aSyncedReflector();
    server.last.send(added(node("a", 11)));
    server.last.end(new DecodeError("cut off"));
    await clock.advance(1000);
    expect(server.last.options.resourceVersion).toBe("11");
    expect(reflector.counts.decodeErrors).toBe(1);
  });
});

describe("a lost place (410)", () => {
  test.each([
    ["as the answer", (watch: Watch) => watch.end(new ApiError(statusOf(410, "Expired")))],
    ["inside the stream", (watch: Watch) => watch.send({ type: "ERROR", object: statusOf(410, "Expired") })],
  ])("%s: listed again, with deletions for what vanished meanwhile", async (_, gone) => {
    const { clock, server, reflector, calls } = await aSyncedReflector(node("a", 3), node("b", 4), node("c", 5));
    gone(server.last);
    expect(reflector.synced).toBe(false);
    await clock.advance(0);
    expect(server.last.options.sendInitialEvents).toBe(true);
    server.last.send(added(node("a", 3)), added(node("b", 90)), added(node("c", 95, "uid-c2")), complete(100));
    expect(calls).toEqual(["uid-b@4→uid-b@90", "-uid-c@5", "+uid-c2@95", "synced"]);
    expect(reflector.synced).toBe(true);
    expect(reflector.counts).toMatchObject({ gone: 1, lists: 2, missed: 2 });
  });

  test("vanished objects are deleted when the list is whole, not before", async () => {
    const { clock, server, reflector, calls } = await aSyncedReflector(node("a", 3));
    server.last.end(new ApiError(statusOf(410, "Gone")));
    await clock.advance(0);
    expect(reflector.size).toBe(1);
    server.last.send(complete(100));
    expect(calls).toEqual(["-uid-a@3", "synced"]);
    expect(reflector.counts.missed).toBe(1);
  });

  test("again and again does not make a storm of lists", async () => {
    const { clock, server } = await aSyncedReflector();
    server.last.end(new ApiError(statusOf(410, "Expired")));
    await clock.advance(0);
    server.last.end(new ApiError(statusOf(410, "Expired")));
    await clock.advance(799);
    expect(server.watches).toHaveLength(2);
    await clock.advance(1);
    expect(server.watches).toHaveLength(3);
  });
});

describe("silence", () => {
  const relisting = { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };

  test("of 65 s ends a watch, and everything is listed again while what we have stands", async () => {
    const { clock, server, reflector } = await aSyncedReflector(node("a", 3));
    await clock.advance(64_999);
    expect(server.last.closed).toBe(false);
    await clock.advance(1);
    expect(server.watches[0]?.closed).toBe(true);
    expect(reflector.counts.silences).toBe(1);
    await clock.advance(800);
    expect(server.last.options).toMatchObject(relisting);
    expect([reflector.synced, reflector.size]).toEqual([true, 1]);
  });

  test("that was only a late bookmark is over with the new list, which goes on as a watch; nothing is told twice", async () => {
    const { clock, server, reflector, calls } = await aSyncedReflector(node("a", 3));
    await clock.advance(65_800);
    server.last.send(added(node("a", 3)));
    // A part of a list does not tell what is gone.
    expect(reflector.ageMs()).toBe(65_800);
    server.last.send(complete(11));
    expect([reflector.ageMs(), reflector.synced, reflector.counts.missed]).toEqual([0, true, 0]);
    expect(calls).toEqual(["synced"]);
    server.last.send(modified(node("a", 12)));
    expect(calls).toEqual(["synced", "uid-a@3→uid-a@12"]);
    await clock.advance(64_999);
    expect(server.watches).toHaveLength(2);
  });

  test("of a watch that lost events is found: the list has what they said", async () => {
    const { clock, server, reflector, calls } = await aSyncedReflector(node("a", 3), node("b", 4));
    await clock.advance(65_800);
    server.last.send(added(node("a", 9)), complete(11));
    expect(calls).toEqual(["uid-a@3→uid-a@9", "-uid-b@4", "synced"]);
    expect(reflector.counts.missed).toBe(2);
  });

  test("that goes on is asked about later and later; what we have ages, and is not called incomplete", async () => {
    const { clock, server, reflector } = await aSyncedReflector(node("a", 3));
    await clock.advance(65_000);
    const delays: number[] = [];
    // A server that is slow is not asked anew before it can have answered.
    const patience = [15_000, 0, 30_000, 60_000, 90_000];
    for (let probes = 1; probes <= patience.length; probes++) {
      const from = clock.monotonic();
      while (server.watches.length === probes) await clock.advance(100);
      delays.push(clock.monotonic() - from);
      expect(server.last.options).toMatchObject(relisting);
      // Most hang; one breaks off half-way.
      if (probes === 2) {
        server.last.send(added(node("a", 3)));
        server.last.end(new ConnectionError("reset", { sent: true }));
      } else {
        await clock.advance((patience[probes - 1] ?? 0) - 1);
        expect(server.last.closed).toBe(false);
        await clock.advance(1);
        expect(server.last.closed).toBe(true);
      }
      expect(reflector.synced).toBe(true);
    }
    expect(delays).toEqual([800, 1600, 3200, 6400, 12_800]);
    expect(reflector.ageMs()).toBeGreaterThan(100_000);
    expect(server.lists).toEqual([]);
  });

  test("is answered with pages where the server cannot stream lists", async () => {
    const { clock, server, reflector } = await aReflector();
    server.pages.push({ items: [node("a", 3)], resourceVersion: "10" });
    server.last.end(new ApiError(statusOf(400, "BadRequest")));
    await clock.advance(0);
    expect(reflector.synced).toBe(true);
    server.pages.push({ items: [node("a", 3)], resourceVersion: "20" });
    await clock.advance(65_800);
    expect(server.lists).toHaveLength(2);
    expect(reflector.ageMs()).toBeLessThan(1000);
    await clock.advance(0);
    expect(server.last.options.resourceVersion).toBe("20");
  });

  test("after an outage is borne for 5 s: a watch goes on where it was, and only then is all listed again", async () => {
    const { clock, server } = await aSyncedReflector();
    for (let count = 0; count < 7; count++) {
      const before = server.watches.length;
      server.last.end(new ConnectionError("down", { sent: false }));
      while (server.watches.length === before) await clock.advance(100);
    }
    expect(server.last.options.resourceVersion).toBe("10");
    await clock.advance(4999);
    expect(server.last.closed).toBe(false);
    while (server.watches.length === 8) await clock.advance(100);
    expect(server.last.options).toMatchObject(relisting);
  });

  test("counts from the last word, not from the last connection", async () => {
    const { clock, server } = await aSyncedReflector();
    await clock.advance(40_000);
    server.last.end();
    await clock.advance(0);
    expect(server.last.options.resourceVersion).toBe("10");
    await clock.advance(25_000 + 800);
    expect(server.last.options).toMatchObject(relisting);
  });

  test("is broken by a bookmark", async () => {
    const { clock, server } = await aSyncedReflector();
    await clock.advance(60_000);
    server.last.send(bookmark(11));
    await clock.advance(64_999);
    expect(server.watches).toHaveLength(1);
  });

  test("is seen in the age of the last event", async () => {
    const { clock, server, reflector } = await aSyncedReflector();
    await clock.advance(60_000);
    expect(reflector.ageMs()).toBe(60_000);
    server.last.send(bookmark(11));
    expect(reflector.ageMs()).toBe(0);
    expect(reflector.lastEventAt).toBe(clock.monotonic());
  });
});

describe("events that should not be", () => {
  test("repeated and late ones neither change the picture nor move the place back", async () => {
    const { server, reflector, calls } = await aSyncedReflector();
    server.last.send(added(node("a", 11)), modified(node("a", 15)), modified(node("a", 15)), modified(node("a", 12)));
    expect(calls).toEqual(["+uid-a@11", "uid-a@11→uid-a@15"]);
    expect(reflector.resourceVersion).toBe("15");
  });

  test("an exception in a projection leaves the picture untrusted until a whole list went through", async () => {
    let broken = false;
    const { clock, server, reflector } = await aReflector({
      project: raw => {
        if (broken) throw new TypeError("no such field");
        return raw.metadata.uid;
      },
    });
    server.last.send(complete(10));
    broken = true;
    server.last.send(added(node("a", 11)));
    expect(reflector.synced).toBe(false);
    expect(reflector.lastError?.message).toBe("no such field");
    broken = false;
    await clock.advance(1000);
    server.last.send(added(node("a", 11)), complete(12));
    expect(reflector.synced).toBe(true);
    expect(reflector.get({ name: "a" })).toBe("uid-a");
  });
});

describe("stop", () => {
  test("closes the watch, and nothing is heard or started any more", async () => {
    const { clock, server, reflector, calls } = await aSyncedReflector();
    reflector.stop();
    server.last.sendThoughClosed(added(node("a", 11)));
    expect(server.last.closed).toBe(true);
    await clock.advance(600_000);
    expect(server.watches).toHaveLength(1);
    expect(calls).toEqual([]);
    expect(clock.waiting).toBe(0);
  });

  test("gives up a list under way", async () => {
    const { clock, server, reflector, calls } = await aReflector();
    server.pages.push({ items: [node("a", 1)], resourceVersion: "10" });
    server.last.end(new ApiError(statusOf(403, "Forbidden")));
    reflector.stop();
    await clock.advance(10_000);
    expect(server.lists).toHaveLength(0);
    expect(calls).toEqual([]);
  });
});
