import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Deployment, ReplicaSet } from "./objects.ts";
import { fencePosts, newReplicas, proportional, shrunk } from "./rolling-update.ts";

type Strategy = { surge?: number | string; unavailable?: number | string; type?: string };

function deployment(replicas: number, { surge = "25%", unavailable = "25%", type = "RollingUpdate" }: Strategy = {}) {
  const strategy = { type, rollingUpdate: { maxSurge: surge, maxUnavailable: unavailable } };
  return { spec: { replicas, strategy }, status: { replicas } } as unknown as Deployment;
}

function replicaSet(name: string, replicas: number, available = replicas, maxReplicas?: number): ReplicaSet {
  const annotations = maxReplicas === undefined ? {} : { "deployment.kubernetes.io/max-replicas": String(maxReplicas) };
  const metadata = { name, uid: name, creationTimestamp: `2026-01-01T00:00:0${name.length}Z`, annotations };
  return { metadata, spec: { replicas }, status: { replicas, availableReplicas: available } } as unknown as ReplicaSet;
}

describe("how far a roll-out may go above and below", () => {
  test.each([
    [4, "25%", "25%", 1, 1],
    [10, "25%", "25%", 3, 2],
    [1, "25%", "25%", 1, 0],
    [3, 0, "10%", 0, 1], // both 0 after rounding: one may be missing
    [3, 2, 0, 2, 0],
    [0, "25%", "25%", 0, 1],
    [2, 0, 5, 0, 2],
  ])("%i replicas, surge %s, unavailable %s", (replicas, surge, unavailable, up, down) => {
    const posts = fencePosts(deployment(replicas, { surge, unavailable }));
    expect(posts).toEqual({ surge: up, unavailable: replicas === 0 ? Math.min(down, 1) : down });
  });
});

describe("the new replica set", () => {
  test.each([
    [10, 0, 10, 3],
    [10, 3, 10, 3],
    [10, 3, 8, 5],
    [10, 10, 0, 10],
    [4, 6, 0, 4],
    [2, 0, 0, 2],
  ])("of %i wanted has %i beside %i old ones: %i", (wanted, own, old, expected) => {
    expect(newReplicas(deployment(wanted), replicaSet("new", own), [replicaSet("a", old)])).toBe(expected);
  });

  test("waits until every old replica set is empty where pods are to be recreated", () => {
    const recreate = deployment(3, { type: "Recreate" });
    expect(newReplicas(recreate, replicaSet("new", 0), [replicaSet("a", 1)])).toBe(0);
    expect(newReplicas(recreate, replicaSet("new", 0), [replicaSet("a", 0)])).toBe(3);
  });
});

describe("old replica sets shrink", () => {
  const sizes = (scalings: ReturnType<typeof shrunk>) =>
    Object.fromEntries(scalings.map(({ replicaSet: { metadata }, replicas }) => [metadata.name, replicas]));

  test("as far as enough stays available", () => {
    expect(sizes(shrunk(deployment(10), replicaSet("new", 3, 0), [replicaSet("a", 10)]))).toEqual({ a: 8 });
    expect(sizes(shrunk(deployment(10), replicaSet("new", 5, 3), [replicaSet("a", 8)]))).toEqual({ a: 5 });
  });

  test("first by what does not work anyway, the oldest before the others", () => {
    const old = [replicaSet("bb", 5, 5), replicaSet("a", 3, 0)];
    expect(sizes(shrunk(deployment(8), replicaSet("new", 2, 2), old))).toEqual({ a: 0, bb: 4 });
  });

  test("not at all while new pods that do not come up eat the allowance", () => {
    expect(
      shrunk(deployment(10, { unavailable: 2, surge: 3 }), replicaSet("new", 5, 0), [replicaSet("a", 8, 7)]),
    ).toEqual([]);
  });

  test("never below what must stay available, whatever the sizes", () => {
    const old = fc.tuple(fc.nat(20), fc.nat(20)).map(([size, up]) => [size, Math.min(size, up)] as const);
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 30 }), old, old, old, (wanted, [n, up], first, second) => {
        const rest = [replicaSet("a", ...first), replicaSet("bb", ...second)];
        const current = replicaSet("new", n, up);
        const scalings = shrunk(deployment(wanted), current, rest);
        const lost = scalings.reduce((sum, { replicaSet: one, replicas }) => {
          return sum + Math.max(0, (one.status.availableReplicas ?? 0) - replicas);
        }, 0);
        const available = up + first[1] + second[1];
        const least = wanted - fencePosts(deployment(wanted)).unavailable;
        expect(available - lost).toBeGreaterThanOrEqual(Math.min(available, least));
        for (const { replicas } of scalings) expect(replicas).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe("a number changed in the middle of a roll-out", () => {
  const sizes = (scalings: ReturnType<typeof proportional>) =>
    Object.fromEntries(scalings.map(({ replicaSet: { metadata }, replicas }) => [metadata.name, replicas]));

  test("goes to the only replica set there is", () => {
    expect(sizes(proportional(deployment(7), replicaSet("new", 3), []))).toEqual({ new: 7 });
    expect(sizes(proportional(deployment(7), replicaSet("new", 0), [replicaSet("a", 3)]))).toEqual({ a: 7 });
    expect(proportional(deployment(7), undefined, [])).toEqual([]);
  });

  test("is shared by size", () => {
    const scalings = proportional(deployment(15, { surge: 3 }), replicaSet("new", 5, 0, 13), [
      replicaSet("a", 8, 8, 13),
    ]);
    expect(sizes(scalings)).toEqual({ a: 11, new: 7 });
  });

  test("leaves nothing over: what rounding loses goes to the largest", () => {
    const sets = ["a", "bb", "ccc"].map(name => replicaSet(name, 1, 1, 4));
    const scalings = proportional(deployment(4, { surge: 1 }), replicaSet("new", 1, 0, 4), sets);
    expect(scalings.reduce((sum, { replicas }) => sum + replicas, 0)).toBe(5);
    expect(scalings.filter(({ replicas }) => replicas === 2)).toHaveLength(1);
  });

  test("to nothing takes all of them", () => {
    const scalings = proportional(deployment(0), replicaSet("new", 5, 0, 13), [replicaSet("a", 8, 8, 13)]);
    expect(sizes(scalings)).toEqual({ a: 0, new: 0 });
  });
});
