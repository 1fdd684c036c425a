import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Journey, LeaseServer } from "../../test/kube/lease-server.ts";
import { ManualClock } from "../../test/kube/manual-clock.ts";
import type { Clock, Fence } from "../control/ports.ts";
import { assertFits, writeTimeoutMs } from "./fence.ts";
import { LeaderElection } from "./leader.ts";

const key = { namespace: "kube-system", name: "fettle" };
const quick: Journey = { thereMs: 5, backMs: 5 };

function candidate(server: LeaseServer, clock: Clock, identity: string, journey: () => Journey = () => quick) {
  const said: string[] = [];
  const election = new LeaderElection({
    api: server.api(clock, journey),
    clock,
    lease: key,
    identity,
    random: () => 0.5,
    handlers: { elected: epoch => said.push(`elected ${epoch}`), lost: reason => said.push(reason) },
  });
  return { election, said };
}

describe("becoming the leader", () => {
  test("where there is no lease one is made, and the first term is 0", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    const { election, said } = candidate(server, clock, "a");
    await clock.advance(100);
    expect(said).toEqual(["elected 0"]);
    expect(election.epoch).toBe(0);
    expect(server.lease?.spec).toMatchObject({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 0 });
    expect(server.lease?.spec?.renewTime).toMatch(/\.\d{6}Z$/);
  });

  test("a lease that is renewed is not taken, however old its times look", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    const first = candidate(server, clock, "a");
    await clock.advance(100);
    const { after, monotonic } = clock;
    const second = candidate(server, { after, monotonic, now: () => clock.now() + 86_400_000 }, "b");
    await clock.advance(120_000);
    expect(second.said).toEqual([]);
    expect(second.election.holder).toBe("a");
    expect(second.election.fence.remainingMs()).toBe(0);
    expect(first.said).toEqual(["elected 0"]);
  });

  test("a lease that nobody renews is taken one duration after it was seen, not before", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    server.api(clock, () => quick);
    await orphanedLease(server, clock);
    const seenAt = clock.monotonic();
    const { said } = candidate(server, clock, "b");
    await clock.advance(15_000);
    expect(said).toEqual([]);
    await clock.advance(5_000);
    expect(said).toEqual(["elected 1"]);
    expect(clock.monotonic() - seenAt).toBe(20_000);
  });

  test("it is known when somebody last led before we looked, and what comes later changes nothing of that", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    const first = candidate(server, clock, "a");
    await clock.advance(10_000);
    expect(first.election.ledUntil).toBeUndefined();
    void first.election.stop();
    const stoppedAt = clock.now();
    await clock.advance(3_600_000);
    const second = candidate(server, clock, "b");
    await clock.advance(60_000);
    expect(second.said).toEqual(["elected 1"]);
    expect(second.election.ledUntil).toBe(stoppedAt);
  });

  test("of two candidates one wins", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    const both = [candidate(server, clock, "a"), candidate(server, clock, "b")];
    await clock.advance(30_000);
    expect(both.flatMap(({ said }) => said)).toEqual(["elected 0"]);
  });

  test("a lease with our own name that this process did not take is another's", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    await orphanedLease(server, clock);
    const { said } = candidate(server, clock, "orphan");
    await clock.advance(10_000);
    expect(said).toEqual([]);
    await clock.advance(10_000);
    expect(said).toEqual(["elected 1"]);
  });

  test("a lease that was deleted under its holder's feet is not made anew before the holder's time is over", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    await orphanedLease(server, clock);
    const { said } = candidate(server, clock, "b");
    await clock.advance(3_000);
    server.lease = undefined;
    await clock.advance(10_000);
    expect(said).toEqual([]);
    await clock.advance(10_000);
    expect(said).toEqual(["elected 1"]);
  });

  async function orphanedLease(server: LeaseServer, clock: ManualClock): Promise<void> {
    const { election } = candidate(server, clock, "orphan", () => quick);
    await clock.advance(100);
    // Only its loop is stopped: the lease stays as a killed process leaves it.
    const lease = server.lease;
    void election.stop();
    await clock.advance(100);
    server.lease = lease;
  }
});

describe("staying and ceasing to be the leader", () => {
  test("the fence counts from the start of the last answered renewal", async () => {
    const clock = new ManualClock();
    const { election } = candidate(new LeaseServer(), clock, "a", () => ({ thereMs: 300, backMs: 200 }));
    await clock.advance(1000);
    // Get and create took 500 ms each; the create began at 500.
    expect(election.fence.remainingMs()).toBe(15_000 - 500);
    await clock.advance(2000);
    expect(election.fence.remainingMs()).toBe(15_000 - 2500);
    await clock.advance(500);
    expect(election.fence.remainingMs()).toBe(15_000 - 500);
  });

  test("a leader that cannot renew steps down after 10 s and the fence is closed", async () => {
    const clock = new ManualClock();
    let journey: Journey = quick;
    const { election, said } = candidate(new LeaseServer(), clock, "a", () => journey);
    await clock.advance(100);
    journey = { ...quick, refused: 500 };
    await clock.advance(9_000);
    expect(said).toEqual(["elected 0"]);
    await clock.advance(1_000);
    expect(said).toEqual(["elected 0", "Not renewed for 10000 ms."]);
    expect(election.fence.remainingMs()).toBe(0);
    expect(election.epoch).toBeUndefined();
  });

  test("a renewal whose answer was lost does not end the term", async () => {
    const clock = new ManualClock();
    let journey: Journey = quick;
    const { said } = candidate(new LeaseServer(), clock, "a", () => journey);
    await clock.advance(100);
    journey = { ...quick, lost: true };
    await clock.advance(3_000);
    journey = quick;
    await clock.advance(60_000);
    expect(said).toEqual(["elected 0"]);
  });

  test("another's name in the lease ends it at once", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    const { said } = candidate(server, clock, "a");
    await clock.advance(100);
    const { lease } = server;
    if (lease === undefined) throw new Error("no lease");
    server.lease = {
      ...lease,
      metadata: { ...lease.metadata, resourceVersion: "99" },
      spec: { ...lease.spec, holderIdentity: "b" },
    };
    await clock.advance(2_100);
    expect(said).toEqual(["elected 0", "b holds the lease now."]);
  });

  test("a deleted lease ends it, and the next term has a new number", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    const { said } = candidate(server, clock, "a");
    await clock.advance(100);
    server.lease = undefined;
    await clock.advance(2_100);
    expect(said).toEqual(["elected 0", "The lease was deleted or given away."]);
    await clock.advance(30_000);
    expect(said[2]).toBe("elected 1");
  });

  test("a paused process finds its fence closed before it has done anything else", async () => {
    const clock = new ManualClock();
    const { election } = candidate(new LeaseServer(), clock, "a");
    await clock.advance(100);
    clock.pause(60_000);
    expect(election.fence.remainingMs()).toBeLessThan(0);
  });

  test("a suspended machine too, though its monotonic clock slept", async () => {
    const clock = new ManualClock();
    const { election } = candidate(new LeaseServer(), clock, "a");
    await clock.advance(100);
    clock.setWallForward(60_000);
    expect(election.fence.remainingMs()).toBeLessThan(0);
    await clock.advance(4_000);
    expect(election.fence.remainingMs()).toBeGreaterThan(10_000);
  });
});

describe("stopping", () => {
  test("gives the lease back, and the next leader need not wait", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    const first = candidate(server, clock, "a");
    await clock.advance(100);
    const second = candidate(server, clock, "b");
    const stopped = first.election.stop();
    await clock.advance(5_000);
    await stopped;
    expect(second.said).toEqual(["elected 1"]);
    expect(first.said).toEqual(["elected 0"]);
  });

  test("closes the fence before anything else", async () => {
    const clock = new ManualClock();
    const { election } = candidate(new LeaseServer(), clock, "a");
    await clock.advance(100);
    void election.stop();
    expect(election.fence.remainingMs()).toBe(0);
  });

  test("waits for the answer to a write that is under way", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    const { election } = candidate(server, clock, "a");
    await clock.advance(100);
    const answered = election.fence.enter();
    void election.stop();
    await clock.advance(5_000);
    expect(server.lease?.spec?.holderIdentity).toBe("a");
    answered();
    await clock.advance(100);
    expect(server.lease?.spec?.holderIdentity).toBeUndefined();
  });

  test("waits no longer than an unanswered write can take", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    const { election } = candidate(server, clock, "a");
    await clock.advance(100);
    election.fence.enter();
    void election.stop();
    await clock.advance(14_800);
    expect(server.lease?.spec?.holderIdentity).toBe("a");
    await clock.advance(300);
    expect(server.lease?.spec?.holderIdentity).toBeUndefined();
  });

  test("of a candidate touches nothing", async () => {
    const clock = new ManualClock();
    const server = new LeaseServer();
    candidate(server, clock, "a");
    await clock.advance(100);
    const second = candidate(server, clock, "b");
    await clock.advance(100);
    const before = server.lease?.metadata.resourceVersion;
    await second.election.stop();
    expect(server.lease?.metadata.resourceVersion).toBe(before);
  });
});

test("settings that would let two lead are refused", () => {
  const make = (durationMs: number, renewWithinMs: number, retryMs: number) => () =>
    new LeaderElection({
      api: new LeaseServer().api(new ManualClock(), () => quick),
      clock: new ManualClock(),
      lease: key,
      identity: "a",
      durationMs,
      renewWithinMs,
      retryMs,
      handlers: { elected: () => {}, lost: () => {} },
    });
  expect(make(15_000, 10_000, 2_000)).not.toThrow();
  expect(make(10_000, 10_000, 2_000)).toThrow("longer than renewWithinMs");
  expect(make(15_000, 2_000, 2_000)).toThrow("longer than retryMs");
  expect(make(15_500, 10_000, 2_000)).toThrow("whole seconds");
});

/** A process of its own on the common time: while it is paused its timers wait. */
class PausableClock implements Clock {
  #pausedUntil = 0;
  readonly #common: ManualClock;
  constructor(common: ManualClock) {
    this.#common = common;
  }
  now = (): number => this.#common.now();
  monotonic = (): number => this.#common.monotonic();
  pauseFor(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.monotonic() + ms);
  }
  after = (delayMs: number, run: () => void): (() => void) => {
    let cancel = (): void => {};
    const fire = (): void => {
      const leftMs = this.#pausedUntil - this.monotonic();
      if (leftMs > 0) cancel = this.#common.after(leftMs, fire);
      else run();
    };
    cancel = this.#common.after(delayMs, fire);
    return () => cancel();
  };
}

test("no write of an old leader lands in a new one's term, whatever is paused, late, lost or stopped", async () => {
  const step = fc.record({
    process: fc.nat(2),
    what: fc.constantFrom("pause", "slow", "lose", "heal", "stop"),
    ms: fc.constantFrom(500, 3_000, 9_000, 16_000, 40_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), fc.nat(), async (steps, seed) => {
      const random = seeded(seed);
      const common = new ManualClock();
      const server = new LeaseServer();
      const wrong: string[] = [];
      let landed = 0;
      const processes = [0, 1, 2].map(number => {
        const clock = new PausableClock(common);
        let journey: Journey = quick;
        const { election } = candidate(server, clock, `p${number}`, () => journey);
        const write = (): void => {
          clock.after(250, write);
          try {
            const timeoutMs = writeTimeoutMs(election.fence.remainingMs(), 60_000);
            const epoch = election.epoch;
            // It waits for a connection; then comes the moment of the socket; then the network and the server.
            clock.after(random() * 3_000, () => {
              ifItFits(election.fence, { epoch, timeoutMs }, () => {
                const answered = election.fence.enter();
                common.after(random() * timeoutMs, () => {
                  landed++;
                  if (server.lease?.spec?.leaseTransitions !== epoch) wrong.push(`term ${epoch} by p${number}`);
                  answered();
                });
              });
            });
          } catch {
            // No time left: nothing is written.
          }
        };
        write();
        const effects: Record<string, (ms: number) => void> = {
          pause: ms => clock.pauseFor(ms),
          slow: ms => (journey = { thereMs: ms / 4, backMs: ms / 4 }),
          lose: () => (journey = { ...quick, lost: true }),
          heal: () => (journey = quick),
          stop: () => void election.stop(),
        };
        return effects;
      });
      await common.advance(2_000);
      for (const { process, what, ms } of steps) {
        processes[process]?.[what]?.(ms);
        await common.advance(ms);
      }
      await common.advance(10_000);
      expect(wrong).toEqual([]);
      expect(landed).toBeGreaterThan(0);
    }),
    { numRuns: 80 },
  );
});

/** Even over [0, 1): fast-check's own numbers crowd at the ends. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function ifItFits(fence: Fence, write: Parameters<typeof assertFits>[1], run: () => void): void {
  try {
    assertFits(fence, write);
  } catch {
    return;
  }
  run();
}
