import { beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import { refusal, ScriptedApi } from "../../test/scripted-shell.ts";
import type { Notice } from "../decide/decision.ts";
import { zeroCounts } from "./counts.ts";
import { Events } from "./events.ts";

const minuteMs = 60_000;
const aNotice = (more: Partial<Notice> = {}): Notice => ({
  about: { kind: "Node", name: "a", uid: "a-uid" },
  type: "Warning",
  reason: "FailedDraining",
  message: "held by web",
  ...more,
});

let clock: ManualClock;
let server: ScriptedApi;
let events: Events;
let counts: ReturnType<typeof zeroCounts>["events"];

beforeEach(() => {
  clock = new ManualClock();
  server = new ScriptedApi();
  counts = zeroCounts().events;
  events = new Events({ api: server.api, clock, counts });
});

async function saidAfter(notice: Notice, ms: number): Promise<boolean> {
  await clock.advance(ms);
  const said = events.note(notice);
  await clock.advance(0);
  return said;
}

describe("events", () => {
  test("are written to the namespace default about what has none, with who, what and when", async () => {
    expect(await saidAfter(aNotice(), 0)).toBe(true);
    expect(server.calls).toMatchObject([
      {
        verb: "create",
        plural: "events",
        body: {
          metadata: { namespace: "default" },
          involvedObject: { apiVersion: "v1", kind: "Node", name: "a", uid: "a-uid" },
          type: "Warning",
          reason: "FailedDraining",
          message: "held by web",
          count: 1,
          firstTimestamp: "2026-11-15T12:00:00Z",
          source: { component: "fettle" },
        },
      },
    ]);
    expect(counts).toEqual({ written: 1, repeated: 0, dropped: 0, failed: 0 });
  });

  test("are written two at a time, in their order, however many are noted at once", async () => {
    const answers: (() => void)[] = [];
    const names: string[] = [];
    const create = (_resource: unknown, _key: unknown, body: { metadata: object }) => {
      names.push((body as unknown as { message: string }).message);
      return new Promise<never>(resolve => answers.push(() => resolve(undefined as never)));
    };
    events = new Events({ api: { ...server.api, create }, clock, counts });
    for (const message of ["1", "2", "3", "4"]) expect(events.note(aNotice({ message }))).toBe(true);
    expect(names).toEqual(["1", "2"]);
    answers[1]?.();
    await clock.advance(0);
    expect(names).toEqual(["1", "2", "3"]);
    answers[0]?.();
    answers[2]?.();
    await clock.advance(0);
    expect(names).toEqual(["1", "2", "3", "4"]);
    answers[3]?.();
    await clock.advance(0);
    expect(counts.written).toBe(4);
  });

  test("are dropped while a hundred wait for a server that does not answer", async () => {
    const create = () => new Promise<never>(() => {});
    events = new Events({ api: { ...server.api, create }, clock, counts });
    const about = (uid: number) => ({ kind: "Node" as const, name: `n${uid}`, uid: `uid-${uid}` });
    const noteEach = (from: number) =>
      Array.from({ length: 100 }, (_, i) => events.note(aNotice({ about: about(from + i) }))).filter(Boolean).length;
    expect(noteEach(0)).toBe(100);
    await clock.advance(60 * minuteMs);
    // Two of the first are being written.
    expect(noteEach(100)).toBe(2);
    expect(counts.dropped).toBe(98);
  });

  test("are written beside a pod in its own namespace", async () => {
    await saidAfter(aNotice({ about: { kind: "Pod", name: "p", namespace: "shop", uid: "p-uid" } }), 0);
    expect(server.calls[0]?.body).toMatchObject({
      metadata: { namespace: "shop" },
      involvedObject: { kind: "Pod", namespace: "shop" },
    });
  });

  test("are said again after two minutes, by counting the one that is there", async () => {
    await saidAfter(aNotice(), 0);
    expect(await saidAfter(aNotice(), 2 * minuteMs - 1)).toBe(false);
    expect(await saidAfter(aNotice(), 1)).toBe(true);
    expect(server.calls[1]).toMatchObject({
      verb: "patch",
      name: server.calls[0]?.name,
      body: { count: 2, lastTimestamp: "2026-11-15T12:02:00Z" },
    });
    expect(counts).toMatchObject({ written: 1, repeated: 1 });
  });

  test("are made anew when the server has forgotten the first one, or would have by now", async () => {
    await saidAfter(aNotice(), 0);
    server.answers.push(({ verb }) => (verb === "patch" ? Promise.reject(refusal(404, "NotFound")) : undefined));
    await saidAfter(aNotice(), 2 * minuteMs);
    await saidAfter(aNotice(), 61 * minuteMs);
    expect(server.writes.map(write => write.split(" ")[0])).toEqual(["create", "patch", "create", "create"]);
    expect(server.calls[3]?.body).toMatchObject({ count: 1 });
  });

  test.each([
    ["NodeRepairBlocked", 15],
    ["Unconsolidatable", 15],
    ["FailedScheduling", 5],
    ["NoCompatibleInstanceTypes", 1],
  ])("with the reason %s come every %i minutes, as Karpenter's", async (reason, minutes) => {
    const notice = aNotice({ reason });
    await saidAfter(notice, 0);
    expect(await saidAfter(notice, minutes * minuteMs - 1)).toBe(false);
    expect(await saidAfter(notice, 1)).toBe(true);
  });

  test("that a budget of a pool is spent comes every 15 minutes, that a node is held every two", async () => {
    const reason = "DisruptionBlocked";
    const [pool, node] = [
      aNotice({ reason, about: { kind: "NodePool", name: "web", uid: "web-uid" } }),
      aNotice({ reason }),
    ];
    for (const notice of [pool, node]) await saidAfter(notice, 0);
    expect([await saidAfter(node, 2 * minuteMs), await saidAfter(pool, 13 * minuteMs - 1)]).toEqual([true, false]);
    expect(await saidAfter(pool, 1)).toBe(true);
  });

  test("of what goes well with pods and nodes come one in four seconds, after twenty at once, and leave room for others", async () => {
    const about = (index: number) =>
      ({ kind: "Pod", name: `p-${index}`, uid: `p-${index}`, namespace: "default" }) as const;
    const reasons = ["Nominated", "Registered", "Initialized", "DisruptionLaunching", "DisruptionWaitingReadiness"];
    const said = Array.from({ length: 200 }, (_, index) =>
      events.note(aNotice({ reason: reasons[index % 5] ?? "", about: about(index) })),
    );
    expect(said.filter(Boolean)).toHaveLength(20);
    expect(events.note(aNotice())).toBe(true);
    expect(await saidAfter(aNotice({ reason: "Nominated", about: about(200) }), 3_999)).toBe(false);
    expect(await saidAfter(aNotice({ reason: "Registered", about: about(200) }), 1)).toBe(true);
  });

  test("of nodes that stay come once an object, whatever they say, and a few at a time", async () => {
    const stays = (message: string) => aNotice({ reason: "Unconsolidatable", message });
    expect(events.note(stays("its pods do not fit"))).toBe(true);
    expect(await saidAfter(stays("nothing is cheaper"), 15 * minuteMs - 1)).toBe(false);
    expect(await saidAfter(stays("nothing is cheaper"), 1)).toBe(true);
    expect(server.calls[1]).toMatchObject({ verb: "patch", body: { count: 2, message: "nothing is cheaper" } });
    const about = (index: number) => ({ kind: "Node", name: `n-${index}`, uid: `n-${index}` }) as const;
    const said = Array.from({ length: 50 }, (_, index) => events.note({ ...stays(""), about: about(index) }));
    expect(said.filter(Boolean)).toHaveLength(19);
    expect(await saidAfter({ ...stays(""), about: about(60) }, 4_999)).toBe(false);
    expect(await saidAfter({ ...stays(""), about: about(60) }, 1)).toBe(true);
  });

  test("with other words are others, within what one object may say", async () => {
    const said = Array.from({ length: 15 }, (_, index) => events.note(aNotice({ message: `held by web-${index}` })));
    expect(said.filter(Boolean)).toHaveLength(10);
    expect(counts.dropped).toBe(5);
    // One more every half minute.
    expect(await saidAfter(aNotice({ message: "later" }), 30_000)).toBe(true);
    expect(await saidAfter(aNotice({ message: "much later" }), 0)).toBe(false);
    expect(await saidAfter(aNotice({ about: { kind: "Node", name: "b", uid: "b-uid" } }), 0)).toBe(true);
  });

  test("are bounded over all objects, and come back as time passes", async () => {
    const about = (index: number) => aNotice({ about: { kind: "Node", name: `n-${index}`, uid: `uid-${index}` } });
    for (let index = 0; index < 150; index++) events.note(about(index));
    await clock.advance(0);
    expect(counts).toMatchObject({ written: 100, dropped: 50 });
    expect(await saidAfter(about(200), 200)).toBe(true);
    expect(await saidAfter(about(201), 0)).toBe(false);
  });

  test("that cannot be written are counted and lost", async () => {
    server.answers.push(() => Promise.reject(refusal(403, "Forbidden")));
    await saidAfter(aNotice(), 0);
    await saidAfter(aNotice(), 2 * minuteMs);
    expect(counts.failed).toBe(2);
  });

  test("are cut where they are too long, in name and message", async () => {
    const about = { kind: "Node", name: "n".repeat(253), uid: "u" } as const;
    await saidAfter(aNotice({ about, message: "m".repeat(2000) }), 0);
    expect(server.calls[0]?.name.length).toBeLessThanOrEqual(253);
    expect(server.calls[0]?.body).toHaveProperty("message.length", 1024);
  });
});
