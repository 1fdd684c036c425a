import { describe, expect, test } from "vitest";
import {
  acquired,
  isFree,
  isSameTerm,
  type Lease,
  type LeaseSpec,
  microTime,
  observe,
  released,
  renewed,
} from "./lease.ts";

const now = Date.parse("2026-11-15T12:00:00.120Z");

function aLease(spec: LeaseSpec, version = "1", uid = "u"): Lease {
  const metadata = { name: "fettle", namespace: "kube-system", uid, resourceVersion: version, creationTimestamp: "" };
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata, spec };
}

const held = aLease({ holderIdentity: "a", leaseDurationSeconds: 15, leaseTransitions: 4, acquireTime: "then" });

test("a MicroTime has six digits, whatever the clock has", () => {
  expect(microTime(now)).toBe("2026-11-15T12:00:00.120000Z");
  expect(microTime(Date.parse("2026-11-15T12:00:00Z"))).toBe("2026-11-15T12:00:00.000000Z");
});

describe("when a lease may be taken", () => {
  test.each([
    ["a millisecond before its duration is over", 14_999, false],
    ["when we have seen no change for its whole duration", 15_000, true],
  ])("%s", (_, elapsedMs, free) => expect(isFree({ lease: held, since: 100 }, 100 + elapsedMs, 15_000)).toBe(free));

  test("the holder's longer duration counts", () => {
    const long = aLease({ holderIdentity: "a", leaseDurationSeconds: 60 });
    expect(isFree({ lease: long, since: 0 }, 59_999, 15_000)).toBe(false);
  });

  test("a shorter one written into it does not", () => {
    const short = aLease({ holderIdentity: "a", leaseDurationSeconds: 1 });
    expect(isFree({ lease: short, since: 0 }, 14_999, 15_000)).toBe(false);
  });

  test.each([{}, { holderIdentity: "" }])("without a holder at once: %j", spec => {
    expect(isFree({ lease: aLease(spec), since: 0 }, 0, 15_000)).toBe(true);
  });
});

describe("what we saw of it", () => {
  const seen = { lease: held, since: 100 };
  test("keeps its time while nothing changes", () => expect(observe(seen, held, 900)).toBe(seen));
  test("starts anew with every version", () => {
    expect(observe(seen, aLease(held.spec ?? {}, "2"), 900).since).toBe(900);
  });
  test("starts anew with another lease of the name", () => {
    expect(observe(seen, aLease(held.spec ?? {}, "1", "v"), 900).since).toBe(900);
  });
});

describe("terms", () => {
  const claim = { identity: "b", durationMs: 15_000, now, firstTerm: 0 };
  test("the first is as told", () => {
    expect(acquired(undefined, claim).leaseTransitions).toBe(0);
    expect(acquired(undefined, { ...claim, firstTerm: 7 }).leaseTransitions).toBe(7);
    expect(acquired(held, { ...claim, firstTerm: 7 }).leaseTransitions).toBe(5);
  });

  test("each has a number of its own, also after the same holder or none", () => {
    expect(acquired(held, claim).leaseTransitions).toBe(5);
    expect(acquired(held, { ...claim, identity: "a" }).leaseTransitions).toBe(5);
    expect(acquired(aLease(released(held, now)), claim).leaseTransitions).toBe(5);
    expect(acquired(aLease({}), claim).leaseTransitions).toBe(1);
  });

  test("a renewal changes the time and nothing else", () => {
    expect(renewed(held, now)).toEqual({ ...held.spec, renewTime: "2026-11-15T12:00:00.120000Z" });
  });

  test("what others keep in the spec stays", () => {
    const theirs = aLease({ ...held.spec, strategy: "OldestEmulationVersion" });
    expect(acquired(theirs, claim)["strategy"]).toBe("OldestEmulationVersion");
  });

  test("one given back has no holder", () => {
    expect(released(held, now)).not.toHaveProperty("holderIdentity");
  });

  test("a term is told by lease, holder, number and beginning", () => {
    expect(isSameTerm(held, aLease({ ...held.spec, renewTime: "later" }, "9"))).toBe(true);
    expect(isSameTerm(held, aLease({ ...held.spec, leaseTransitions: 5 }))).toBe(false);
    expect(isSameTerm(held, aLease({ ...held.spec, acquireTime: "later" }))).toBe(false);
    expect(isSameTerm(held, aLease({ ...held.spec, holderIdentity: "b" }))).toBe(false);
    expect(isSameTerm(held, aLease(held.spec ?? {}, "1", "v"))).toBe(false);
  });
});
