import { beforeEach, describe, expect, test } from "vitest";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import type { Command, Outcome } from "../decide/decision.ts";
import { type Ended, type Errand, Lanes, runningMax } from "./lanes.ts";

type Running = { errand: Errand; signal: AbortSignal; end(outcome: Outcome): void; fail(error: unknown): void };

let clock: ManualClock;
let lanes: Lanes;
let running: Running[];
let ended: Ended[];
let inTerm: boolean;
let mayBegin: boolean;
let taken: Errand[];

beforeEach(() => {
  clock = new ManualClock();
  running = [];
  ended = [];
  inTerm = true;
  mayBegin = true;
  taken = [];
  lanes = new Lanes({
    clock,
    random: () => 0.5,
    taken: one => taken.push(one),
    mayBegin: () => mayBegin,
    mayResend: () => inTerm,
    ended: end => ended.push(end),
    run: (errand, signal) =>
      new Promise((end, fail) => {
        running.push({ errand, signal, end, fail });
      }),
  });
});

const lookUp = (providerID: string): Errand => errand({ kind: "look-up-instance", providerID, why: "" });
const open = (name: string): Errand =>
  errand({ kind: "delete-claim", claim: { name, uid: "u" }, resourceVersion: "1", why: "" });
const update = (name: string): Errand => {
  return errand({ kind: "update-claim", claim: { name, uid: "u" }, resourceVersion: "1", why: "" });
};

function errand(command: Command, subject: Errand["subject"] = "claim/a"): Errand {
  return { command, rule: "rule", subject, epoch: 1 };
}

async function end(index: number, outcome: Outcome): Promise<void> {
  running[index]?.end(outcome);
  await clock.advance(0);
}

const done: Outcome = { result: "done" };
const unknown: Outcome = { result: "retry", reason: "", message: "reset", unknown: true };

function fill(): void {
  for (let index = 0; index < runningMax; index++) expect(lanes.offer(lookUp(`${index}`))).toBe(true);
}

describe("lanes", () => {
  test("run one command at a time on an object, and name whoever else wanted it when it is free", async () => {
    expect(lanes.offer(lookUp("x"))).toBe(true);
    expect(lanes.offer({ ...lookUp("x"), subject: "claim/b" })).toBe(false);
    expect(lanes.offer(lookUp("y"))).toBe(true);
    expect(lanes.ready().subjects).toEqual([]);
    await end(0, done);
    expect(lanes.nextAt).toBe(clock.now());
    expect(lanes.ready().subjects).toEqual(["claim/b", "claim/a"]);
    expect(lanes.runningCount).toBe(1);
  });

  test("run a bounded number at once; who waits for room is served in the order of coming", async () => {
    fill();
    for (const subject of ["claim/first", "claim/second", "claim/third"] as const) {
      expect(lanes.offer({ ...lookUp(`late ${subject}`), subject })).toBe(false);
    }
    expect([lanes.hasRoomForWaiting, lanes.waitingForRoomCount]).toEqual([false, 3]);
    expect(lanes.takeForRoom()).toEqual([]);
    await end(4, done);
    await end(9, done);
    expect(lanes.hasRoomForWaiting).toBe(true);
    expect(lanes.takeForRoom()).toEqual(["claim/first", "claim/second"]);
    expect(lanes.takeForRoom()).toEqual(["claim/third"]);
  });

  describe("with no room left", () => {
    const spec = {} as Extract<Command, { kind: "open-action" }>["spec"];
    const entry = (name: string) => errand({ kind: "open-action", name, spec, phase: "Pending", why: "" }, "cluster");
    const namesRunning = () =>
      running.slice(runningMax).map(({ errand: { command } }) => "name" in command && command.name);

    beforeEach(() => {
      fill();
      for (const name of ["a", "b", "c"]) lanes.offer(entry(name));
    });

    test("can spare a turn for a moment, and for longer behind a long line", async () => {
      expect(lanes.crowdedMs).toBe(50);
      for (let index = 3; index <= runningMax; index++) lanes.offer(entry(`later ${index}`));
      expect(lanes.crowdedMs).toBe(400);
      await end(0, done);
      expect(lanes.crowdedMs).toBe(50);
      lanes.leaveLine();
      await end(1, done);
      expect(lanes.crowdedMs).toBe(0);
    });

    test("take entries of the ledger on at once, and begin them one by one as others end", async () => {
      expect(taken).toHaveLength(runningMax + 3);
      expect(namesRunning()).toEqual([]);
      expect(lanes.offer(entry("a"))).toBe(false);
      await end(7, done);
      expect(namesRunning()).toEqual(["a"]);
      expect(lanes.runningCount).toBe(runningMax);
      await end(8, done);
      await end(9, done);
      await end(10, done);
      expect(namesRunning()).toEqual(["a", "b", "c"]);
      expect([lanes.runningCount, taken.length]).toEqual([runningMax - 1, runningMax + 3]);
    });

    test("begin none that is held by now: it has come to nothing, and whoever wanted it is asked", async () => {
      mayBegin = false;
      await end(0, done);
      expect(namesRunning()).toEqual([]);
      expect(ended.map(({ errand: { command }, outcome }) => [command.kind, outcome.result])).toEqual([
        ["look-up-instance", "done"],
        ...["a", "b", "c"].map(() => ["open-action", "stale"]),
      ]);
      expect(lanes.ready().subjects).toContain("cluster");
    });

    test("let those in line go with their term, or when nothing more is to begin", async () => {
      expect(lanes.leaveLine().map(({ command }) => command)).toMatchObject([
        { name: "a" },
        { name: "b" },
        { name: "c" },
      ]);
      expect(lanes.offer(entry("d"))).toBe(true);
      expect(lanes.reset().map(({ command }) => command)).toMatchObject([{ name: "d" }]);
      for (let index = 0; index < runningMax; index++) await end(index, done);
      expect([lanes.runningCount, running.length]).toEqual([0, runningMax]);
      expect(lanes.offer(entry("a"))).toBe(true);
    });
  });

  test("give room to who starts actions first, in line, then to pods, whoever came before", async () => {
    fill();
    const start = (name: string) =>
      errand({ kind: "start-action", action: { name, uid: "u" }, why: "" }, `action/${name}`);
    const pod = { namespace: "default", name: "p", uid: "u" };
    const late: readonly Errand[] = [
      { ...update("first"), subject: "claim/first" },
      start("a"),
      { ...update("second"), subject: "claim/second" },
      errand({ kind: "delete-pod", pod, deadline: 0, why: "" }, "claim/second"),
      start("b"),
    ];
    expect(late.map(one => lanes.offer(one))).toEqual([false, true, false, false, true]);
    for (const index of [0, 1, 2]) await end(index, done);
    expect(running.slice(runningMax).map(({ errand: { subject } }) => subject)).toEqual(["action/a", "action/b"]);
    expect(lanes.takeForRoom()).toEqual(["claim/second"]);
    expect(lanes.takeForRoom()).toEqual(["claim/first"]);
  });

  const evict = (name: string, hardness: number): Errand =>
    errand({ kind: "evict-pod", pod: { namespace: "default", name, uid: "u" }, hardness, why: "" }, `claim/of-${name}`);

  test("let pods go after all else where there is no room for all, the largest first: the small find room in what is left", async () => {
    fill();
    for (const one of [evict("small", 0.5), evict("large", 4), update("told"), evict("middling", 1)]) lanes.offer(one);
    for (const one of running) one.end(done);
    await clock.advance(0);
    expect(lanes.takeForRoom()).toEqual(["claim/a", "claim/of-large", "claim/of-middling", "claim/of-small"]);
  });

  test.each<[string, Command]>([
    ["opened", { kind: "open-action", name: "a", spec: {} as never, phase: "Pending", why: "" }],
    ["started", { kind: "start-action", action: { name: "a", uid: "u" }, why: "" }],
  ])("let no pod go while an action is being %s: it would come to a node that goes next", async (_what, command) => {
    lanes.offer(errand(command, "action/a"));
    expect(lanes.offer(evict("web", 1))).toBe(false);
    expect(lanes.offer(update("other"))).toBe(true);
    expect([lanes.hasRoomForWaiting, lanes.takeForRoom()]).toEqual([false, []]);
    await end(0, done);
    expect([lanes.hasRoomForWaiting, lanes.takeForRoom()]).toEqual([true, ["claim/of-web"]]);
    expect(lanes.offer(evict("web", 1))).toBe(true);
  });

  test("let pods go after five seconds all the same: one start that hangs stops nobody else", async () => {
    lanes.offer(errand({ kind: "start-action", action: { name: "a", uid: "u" }, why: "" }, "action/a"));
    lanes.offer(evict("web", 1));
    expect(lanes.nextAt).toBe(clock.now() + 5_000);
    await clock.advance(4_999);
    expect(lanes.takeForRoom()).toEqual([]);
    await clock.advance(1);
    expect([lanes.nextAt, lanes.hasRoomForWaiting, lanes.takeForRoom()]).toEqual([undefined, true, ["claim/of-web"]]);
    expect(lanes.offer(evict("web", 1))).toBe(true);
  });

  test("let pods wait no longer for starts that come one after the other", async () => {
    const start = (name: string) =>
      lanes.offer(errand({ kind: "start-action", action: { name, uid: "u" }, why: "" }, `action/${name}`));
    start("a");
    lanes.offer(evict("web", 1));
    await clock.advance(4_000);
    await end(0, done);
    start("b");
    expect(lanes.offer(evict("web", 1))).toBe(false);
    await clock.advance(1_000);
    expect([lanes.hasRoomForWaiting, lanes.takeForRoom()]).toEqual([true, ["claim/of-web"]]);
    expect(lanes.offer(evict("web", 1))).toBe(true);
    // Those that come once all have begun are held anew.
    await end(1, done);
    expect(lanes.offer(evict("other", 1))).toBe(true);
    start("c");
    expect(lanes.offer(evict("last", 1))).toBe(false);
  });

  test("let pods go again when what waited in line is not begun in the next term", async () => {
    fill();
    lanes.offer(errand({ kind: "start-action", action: { name: "a", uid: "u" }, why: "" }, "action/a"));
    lanes.reset();
    for (const one of running) one.end(done);
    await clock.advance(0);
    expect(lanes.offer(evict("web", 1))).toBe(true);
  });

  const tell = (name: string): Errand => {
    const action = { name, uid: "u" };
    return errand({ kind: "update-action", action, resourceVersion: "1", progress: {}, why: "" }, `action/${name}`);
  };
  const start = (name: string): Errand =>
    errand({ kind: "start-action", action: { name, uid: "u" }, why: "" }, `action/${name}`);

  test("tell nothing of the first starts while the last are under way, a second at most", async () => {
    lanes.offer(start("last"));
    expect(lanes.offer(tell("first"))).toBe(false);
    expect([lanes.hasRoomForWaiting, lanes.nextAt]).toEqual([false, clock.now() + 1_000]);
    await clock.advance(999);
    expect(lanes.takeForRoom()).toEqual([]);
    await clock.advance(1);
    expect([lanes.nextAt, lanes.takeForRoom()]).toEqual([undefined, ["action/first"]]);
    expect(lanes.offer(tell("first"))).toBe(true);
  });

  test("tell of the first starts as soon as none is under way, and hold back nothing else meanwhile", async () => {
    lanes.offer(start("last"));
    lanes.offer(tell("first"));
    expect(lanes.offer(update("other"))).toBe(true);
    await end(0, done);
    expect([lanes.hasRoomForWaiting, lanes.takeForRoom()]).toEqual([true, ["action/first"]]);
  });

  const lease = (name: string): Errand => {
    const command = { kind: "take-node-lease", lease: { name, namespace: "leases" }, why: "" } as unknown as Command;
    return errand(command, `node/${name}`);
  };

  /** Turns come when somebody may be served, and when time is up, as in a controller. */
  async function turnsFor(ms: number): Promise<string[]> {
    const served: string[] = [];
    for (let at = 0; at < ms; at += 100) {
      served.push(...lanes.takeForRoom());
      await clock.advance(100);
    }
    return served;
  }

  test.each<[string, Errand, string, number]>([
    ["what is told waits", tell("first"), "action/first", 1_000],
    ["pods wait", evict("web", 1), "claim/of-web", 5_000],
  ])("from when there is room %s for starts, no longer than that, though nobody offers it anew", async (...row) => {
    const [, waiting, subject, maxMs] = row;
    fill();
    lanes.offer(start("hangs"));
    lanes.offer(waiting);
    await clock.advance(3_000);
    for (let index = 0; index < runningMax; index++) await end(index, done);
    expect(await turnsFor(maxMs)).toEqual([]);
    expect(await turnsFor(100)).toEqual([subject]);
  });

  test("let pods go whom nothing holds, though what is told before them is held", async () => {
    fill();
    lanes.offer(lease("n"));
    lanes.offer(tell("first"));
    lanes.offer(evict("web", 1));
    for (let index = 0; index < runningMax; index++) await end(index, done);
    expect(lanes.takeForRoom()).toEqual(["claim/of-web"]);
    expect(lanes.hasRoomForWaiting).toBe(false);
  });

  test("hold back no entry that is adopted, or that a higher reason joins: others wait for it", () => {
    lanes.offer(start("last"));
    const { command } = tell("first");
    const adoption = errand({ ...command, spec: { epoch: 2 } } as Command, "action/first");
    expect(lanes.offer(adoption)).toBe(true);
  });

  test("hold back what is told in a later burst, though nobody came back for it in an earlier one", async () => {
    lanes.offer(start("earlier"));
    lanes.offer(tell("a"));
    await end(0, done);
    lanes.takeForRoom();
    await clock.advance(3_600_000);
    lanes.offer(start("later"));
    expect(lanes.offer(tell("b"))).toBe(false);
  });

  test("let a search wait no longer than who came before it to let pods run, however much is told meanwhile", async () => {
    fill();
    const pod = { namespace: "default", name: "p", uid: "u" };
    for (const one of [
      { ...update("told"), subject: "claim/told" } as const,
      errand({ kind: "delete-pod", pod, deadline: 0, why: "" }, "claim/before"),
      errand({ kind: "search", for: "provisioning", askedAt: 0, why: "" }, "cluster"),
      errand({ kind: "delete-pod", pod, deadline: 0, why: "" }, "claim/after"),
    ]) {
      expect(lanes.offer(one)).toBe(false);
    }
    for (const index of [0, 1]) await end(index, done);
    expect(lanes.takeForRoom()).toEqual(["claim/before", "cluster"]);
  });

  test("give a call that hangs up after its time, though it does not heed its signal, and go on without it", async () => {
    lanes.offer(lookUp("x"));
    lanes.offer(lookUp("y"));
    await end(1, done);
    await clock.advance(19_999);
    expect(ended).toHaveLength(1);
    await clock.advance(1);
    expect(running[0]?.signal.aborted).toBe(true);
    expect(ended[1]).toMatchObject({ outcome: { result: "retry", reason: "", unknown: true }, failureCount: 1 });
    expect(lanes.runningCount).toBe(0);
    // Its answer comes at last: nobody listens.
    await end(0, done);
    expect(ended).toHaveLength(2);
  });

  test("give a launch more time than a write", async () => {
    lanes.offer(errand({ kind: "launch-instance", claim: { name: "a", uid: "u" }, why: "" }));
    await clock.advance(89_999);
    expect(ended).toEqual([]);
    await clock.advance(1);
    expect(ended).toHaveLength(1);
  });

  test("keep a failed lane back and name who waits when its time has come", async () => {
    lanes.offer(lookUp("x"));
    await end(0, { result: "retry", reason: "InternalError", message: "" });
    expect(ended[0]).toMatchObject({ failureCount: 1, retryAt: clock.now() + 1000, isUnresolved: false });
    expect(lanes.ready().subjects).toEqual(["claim/a"]);
    expect(lanes.offer(lookUp("x"))).toBe(false);
    await clock.advance(999);
    expect(lanes.ready().subjects).toEqual([]);
    await clock.advance(1);
    expect(lanes.ready().subjects).toEqual(["claim/a"]);
    expect(lanes.offer(lookUp("x"))).toBe(true);
  });

  test("name no instant at which they are not ready yet, though the clock that never jumps has fractions", async () => {
    await clock.advance(0.3);
    lanes.offer(lookUp("x"));
    await end(0, { result: "retry", reason: "InternalError", message: "" });
    lanes.ready();
    lanes.offer(lookUp("x"));
    await clock.advance(999.99999);
    expect(lanes.ready().subjects).toEqual([]);
    const { nextAt = 0 } = lanes;
    expect(nextAt).toBeGreaterThan(clock.now());
    await clock.advance(nextAt - clock.now());
    expect(lanes.ready().subjects).toEqual(["claim/a"]);
  });

  test("do not wait longer because the wall clock is set back", async () => {
    lanes.offer(lookUp("x"));
    await end(0, { result: "retry", reason: "InternalError", message: "" });
    lanes.ready();
    lanes.offer(lookUp("x"));
    clock.setWallForward(-3_600_000);
    expect(lanes.nextAt).toBe(clock.now() + 1000);
    await clock.advance(1000);
    expect(lanes.ready().subjects).toEqual(["claim/a"]);
  });

  test("an exception is an end like any other", async () => {
    lanes.offer(lookUp("x"));
    running[0]?.fail(new Error("broken"));
    await clock.advance(0);
    expect(ended[0]?.outcome).toMatchObject({ result: "retry", message: "broken" });
  });

  test("send the very command again whose result is unknown, and no other on that object until it is known", async () => {
    const sent = open("a");
    lanes.offer(sent);
    await end(0, unknown);
    expect(ended[0]?.isUnresolved).toBe(true);
    expect(lanes.offer(update("a"))).toBe(false);
    expect(lanes.ready()).toEqual({ subjects: [], unresolved: [] });
    await clock.advance(1000);
    expect(lanes.ready().unresolved).toEqual([sent]);
    expect(lanes.offer(sent)).toBe(true);
    await end(1, { result: "already-so" });
    expect(lanes.ready()).toEqual({ subjects: ["claim/a"], unresolved: [] });
    expect(lanes.offer(update("a"))).toBe(true);
  });

  test("bring what must be sent again back, though there was no room or it was held", async () => {
    const sent = open("a");
    lanes.offer(sent);
    await end(0, unknown);
    fill();
    await clock.advance(1000);
    expect(lanes.ready().unresolved).toEqual([sent]);
    expect(lanes.offer(sent)).toBe(false);
    await clock.advance(1000);
    expect(lanes.ready().unresolved).toEqual([sent]);
    lanes.postpone(sent);
    await clock.advance(1000);
    expect(lanes.ready().unresolved).toEqual([sent]);
  });

  test("leave an unknown result to a new decision where the picture carries nothing of it", async () => {
    lanes.offer(lookUp("x"));
    await end(0, unknown);
    expect(ended[0]?.isUnresolved).toBe(false);
    expect(lanes.ready().subjects).toEqual(["claim/a"]);
  });

  test("pursue nothing of an earlier term", async () => {
    const sent = open("a");
    lanes.offer(sent);
    lanes.offer(open("b"));
    await end(0, unknown);
    expect(lanes.reset()).toEqual([sent]);
    expect([lanes.reset(), lanes.nextAt]).toEqual([[], undefined]);
    // Of one that ends after its term, too.
    inTerm = false;
    await end(1, unknown);
    expect(ended[1]?.isUnresolved).toBe(false);
  });

  test("forget what has long been quiet, and say what had failed there", async () => {
    lanes.offer(lookUp("x"));
    lanes.offer(lookUp("y"));
    await end(0, { result: "retry", reason: "", message: "" });
    await end(1, done);
    lanes.ready();
    clock.pause(600_999);
    expect(lanes.forget()).toEqual([]);
    clock.pause(1);
    expect(lanes.forget()).toEqual(["instance/x"]);
    expect(lanes.forget()).toEqual([]);
  });

  test("are idle when nothing runs", async () => {
    await lanes.idle();
    lanes.offer(lookUp("x"));
    let isIdle = false;
    void lanes.idle().then(() => (isIdle = true));
    await clock.advance(1);
    expect(isIdle).toBe(false);
    await end(0, done);
    expect(isIdle).toBe(true);
  });
});
