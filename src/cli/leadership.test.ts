import { beforeEach, describe, expect, test } from "vitest";
import type { Lease } from "../kube/lease.ts";
import { LEASES } from "../kube/lease.ts";
import { VirtualClock } from "../sim/clock.ts";
import { clusterInTheBox } from "../sim/cluster-in-the-box.ts";
import { InProcessApi } from "../sim/in-process.ts";
import { seededRandom } from "../sim/random.ts";
import { type Leading, leading } from "./leadership.ts";

const flags = {
  leaderElect: true,
  leaderElectLeaseDuration: 15_000,
  leaderElectRenewDeadline: 10_000,
  leaderElectRetryPeriod: 2_000,
  leaderElectResourceName: "fettle",
  leaderElectResourceNamespace: "kube-system",
};
const key = { name: "fettle", namespace: "kube-system" };

let clock: VirtualClock;
let api: InProcessApi;

beforeEach(() => {
  clock = new VirtualClock(Date.parse("2026-01-01T00:00:00Z"));
  api = new InProcessApi(clusterInTheBox({ clock, random: seededRandom(1) }), clock);
});

/** Answers come over the clock. */
async function settled<T>(answer: Promise<T>): Promise<T> {
  await clock.runFor(0);
  return answer;
}
const start = (more: Partial<typeof flags> = {}): Promise<Leading> =>
  settled(leading({ ...flags, ...more }, { api, clock, lost: () => {} }));
const leaseNow = () => settled(api.get<Lease>(LEASES, key));

describe("with --leader-elect=false", () => {
  test("each start is a term of its own, counted in the lease that nobody holds", async () => {
    const epochs: (number | undefined)[] = [];
    for (let count = 0; count < 3; count++) {
      const { leadership, fence } = await start({ leaderElect: false });
      epochs.push(leadership.epoch);
      expect(fence).toBeUndefined();
    }
    expect(epochs).toEqual([1, 2, 3]);
    expect((await leaseNow()).spec).toEqual({ leaseTransitions: 3 });
  });

  test("a lease that was deleted does not take the count of terms with it", async () => {
    await start({ leaderElect: false });
    await settled(api.delete(LEASES, key));
    await clock.runFor(5_000);
    expect((await start({ leaderElect: false })).leadership.epoch).toBeGreaterThan(1);
    await settled(api.delete(LEASES, key));
    await clock.runFor(5_000);
    const next = await start();
    await clock.runFor(1_000);
    expect(next.leadership.epoch).toBeGreaterThan(6);
    await settled(next.stop());
  });

  test("a term follows those of elected leaders, and those follow it", async () => {
    const first = await start();
    await clock.runFor(1_000);
    expect(first.leadership.epoch).toBe(0);
    await settled(first.stop());
    expect((await start({ leaderElect: false })).leadership.epoch).toBe(1);
    const third = await start();
    await clock.runFor(1_000);
    expect(third.leadership.epoch).toBe(2);
    await settled(third.stop());
  });
});

describe("elected", () => {
  test("says so to whoever listens, and gives the lease back", async () => {
    const lead = await leading(flags, { api, clock, lost: () => {} });
    const told: (number | undefined)[] = [];
    lead.leadership.onChange(() => told.push(lead.leadership.epoch));
    await clock.runFor(1_000);
    expect(told).toEqual([0]);
    expect(lead.problem()).toBeUndefined();
    expect(lead.fence?.remainingMs()).toBeGreaterThan(10_000);
    expect((await leaseNow()).spec?.holderIdentity).toMatch(/_[0-9a-f-]{36}$/);
    await settled(lead.stop());
    expect((await leaseNow()).spec?.holderIdentity).toBeUndefined();
  });

  test("what keeps it from knowing who leads can be asked for", async () => {
    const lead = await start({ leaderElectResourceNamespace: "absent" });
    await clock.runFor(5_000);
    expect(lead.leadership.epoch).toBeUndefined();
    expect(lead.problem()).toMatch(/^The lease absent\/fettle cannot be had: .*"absent" not found/);
    await settled(lead.stop());
  });
});
