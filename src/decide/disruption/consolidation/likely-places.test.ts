import { describe, expect, test } from "vitest";
import { LikelyPlaces, type MovingPod, type Row } from "./likely-places.ts";
import type { Spread } from "./spread-counts.ts";

const gib = 2 ** 30;

function pod(key: string, cpus: number, gibs = 0, more: Partial<MovingPod> = {}): MovingPod {
  return { key, amounts: Float64Array.of(cpus * 1000, gibs * gib, 1), hardness: cpus + gibs / 4, ...more };
}

type Spec = {
  free: readonly [number, number];
  of?: readonly [number, number];
  pods?: readonly MovingPod[];
  zone?: number;
};

function row({ free, of = [8, 32], pods = [], zone = 0 }: Spec, more: Partial<Row> = {}): Row {
  const amounts = ([cpus, gibs]: readonly [number, number]) => Float64Array.of(cpus * 1000, gibs * gib, 110);
  return {
    free: amounts(free),
    capacity: amounts(of),
    pods,
    takesPods: true,
    labelOf: (): number => zone,
    countOf: (): number => 0,
    ...more,
  };
}

/** Where pods go if the first row does, by their names; undefined: somewhere is no room. */
function placed(...rows: readonly Row[]): Record<string, number> | undefined {
  const likely = new LikelyPlaces(rows, 3);
  const goes = Uint8Array.from(rows, (_, index) => Number(index === 0));
  return likely.fit(goes) ? Object.fromEntries(likely.places(goes)) : undefined;
}

describe("a pod goes where a scheduler would put it", () => {
  test("where most is left", () => {
    expect(
      placed(row({ free: [7, 30], pods: [pod("x", 1, 4)] }), row({ free: [2, 8] }), row({ free: [4, 16] })),
    ).toEqual({
      x: 2,
    });
  });

  test("where CPU and memory are used most evenly, of those where as much is left", () => {
    const pods = [pod("x", 1, 4)];
    expect(placed(row({ free: [7, 30], pods }), row({ free: [6, 12] }), row({ free: [4, 20] }))).toEqual({ x: 2 });
  });

  test("only where there is room, of every resource", () => {
    const pods = [pod("x", 1, 4)];
    expect(placed(row({ free: [7, 30], pods }), row({ free: [8, 3] }), row({ free: [1, 4] }))).toEqual({ x: 2 });
    expect(placed(row({ free: [7, 30], pods }), row({ free: [8, 3] }), row({ free: [0.5, 9] }))).toBeUndefined();
  });

  test("not onto a node that takes none", () => {
    const pods = [pod("x", 1, 4)];
    expect(placed(row({ free: [7, 30], pods }), row({ free: [8, 32] }, { takesPods: false }))).toBeUndefined();
  });

  test("the hardest first: with the small one before it the large one would have no room", () => {
    const pods = [pod("small", 1, 1), pod("large", 3, 4)];
    expect(placed(row({ free: [4, 20], pods }), row({ free: [3, 12] }), row({ free: [2, 4] }))).toEqual({
      large: 1,
      small: 2,
    });
  });
});

test("pods of a workload are kept apart, where room and balance do not say otherwise by much", () => {
  const workload = {};
  const pods = [pod("x", 1, 4, { workload }), pod("y", 1, 4, { workload })];
  const [one, other] = [row({ free: [6, 24] }), row({ free: [5, 20] })];
  expect(placed(row({ free: [7, 30], pods: [pod("x", 1, 4), pod("y", 1, 4)] }), one, other)).toEqual({ x: 1, y: 1 });
  expect(placed(row({ free: [7, 30], pods }), one, other)).toEqual({ x: 1, y: 2 });
  // Of those that are there already, too.
  const full = row({ free: [6, 24] }, { countOf: () => 1 });
  expect(placed(row({ free: [7, 30], pods: pods.slice(0, 1) }), full, other)).toEqual({ x: 2 });
});

test("what was tried before leaves nothing behind", () => {
  const rows = [row({ free: [4, 20], pods: [pod("x", 2, 2)] }), row({ free: [2, 12], pods: [pod("y", 2, 2)] })];
  const likely = new LikelyPlaces(rows, 3);
  for (let times = 0; times < 3; times++) {
    expect(likely.fit(Uint8Array.of(1, 0))).toBe(true);
    expect(likely.fit(Uint8Array.of(1, 1))).toBe(false);
    expect(likely.fit(Uint8Array.of(0, 1))).toBe(true);
  }
});

describe("pods that must be spread", () => {
  const spread: Spread = {
    id: {},
    key: "zone",
    maxSkew: 1,
    countByValue: new Map([
      [1, 2],
      [2, 1],
    ]),
  };
  const inZone = (zone: number, free: readonly [number, number], pods: readonly MovingPod[] = []) =>
    row({ free, pods, zone });

  test("go to the zone that lacks them, however much room there is in another", () => {
    const pods = [pod("x", 1, 1, { spread }), pod("y", 1, 1, { spread })];
    expect(placed(inZone(1, [4, 8], pods), inZone(1, [1, 2]), inZone(2, [8, 32]))).toEqual({ x: 1, y: 2 });
    expect(placed(inZone(1, [4, 8], pods), inZone(1, [0, 0]), inZone(2, [8, 32]))).toBeUndefined();
  });

  test("go nowhere without the label", () => {
    expect(placed(inZone(1, [4, 8], [pod("x", 1, 1, { spread })]), inZone(0, [8, 32]))).toBeUndefined();
  });

  test("are not counted with those that need not be", () => {
    const spreadOnes = [pod("x", 1, 1, { spread }), pod("y", 1, 1, { spread })];
    const pods = [pod("other", 1, 1, { hardness: 9 }), ...spreadOnes];
    expect(placed(inZone(1, [4, 8], pods), inZone(1, [1, 1]), inZone(2, [8, 32]))).toEqual({ other: 2, x: 1, y: 2 });
  });
});
