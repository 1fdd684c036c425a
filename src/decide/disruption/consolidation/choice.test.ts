import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { atOnce } from "../../packing/effort.ts";
import { type Choice, choose, type Option } from "./choice.ts";

type Spec = { readonly cpus: number; readonly pods: readonly number[]; readonly worth?: number };

const amounts = (cpus: number) => Float64Array.of(cpus * 1000, 0, 1);

function option(name: string, { cpus, pods, worth }: Spec, more: Partial<Option> = {}): Option {
  const used = pods.reduce((sum, one) => sum + one, 0);
  return {
    name,
    worth,
    free: Float64Array.of((cpus - used) * 1000, 0, 100),
    capacity: Float64Array.of(cpus * 1000, 1, 110),
    pods: pods.map((size, index) => ({ key: `${name}/${index}`, amounts: amounts(size), hardness: size })),
    takesPods: true,
    labelOf: (): number => 0,
    countOf: (): number => 0,
    ...more,
  };
}

const chosen = (options: readonly Option[]): Choice =>
  atOnce(choose(options, { stride: 3, effort: { work: 0 }, isStopped: () => false }));
const sizeOf = (options: readonly Option[]) =>
  new Map(options.flatMap(({ pods }) => pods.map(({ key, amounts: own }) => [key, own[0] ?? 0] as const)));

describe("who goes", () => {
  test("all whose pods fit onto the others", () => {
    const options = [
      option("a", { cpus: 4, pods: [1], worth: 1 }),
      option("b", { cpus: 4, pods: [1], worth: 1 }),
      option("c", { cpus: 4, pods: [1], worth: 1 }),
    ];
    expect(chosen(options).goes).toHaveLength(2);
  });

  test("not the first of them, where others are worth more", () => {
    const options = [
      option("small", { cpus: 2, pods: [1], worth: 1 }),
      option("large", { cpus: 8, pods: [2], worth: 5 }),
      option("lasting", { cpus: 2, pods: [] }),
    ];
    expect(chosen(options)).toEqual({
      goes: ["large"],
      places: new Map([["large/0", "lasting"]]),
    });
  });

  test("two cheap ones in place of a dear one that was taken first, if they are worth more together", () => {
    const options = [
      option("first", { cpus: 8, pods: [2, 2], worth: 5 }),
      option("x", { cpus: 2, pods: [2], worth: 3 }),
      option("y", { cpus: 2, pods: [2], worth: 3 }),
      option("lasting", { cpus: 4, pods: [] }),
    ];
    expect(chosen(options).goes.toSorted()).toEqual(["x", "y"]);
  });

  test("nobody who is not asked about, nor for whom it is not worth it", () => {
    const options = [option("a", { cpus: 4, pods: [1] }), option("b", { cpus: 4, pods: [1], worth: -0.1 })];
    expect(chosen(options)).toEqual({ goes: [], places: new Map() });
  });

  test("nobody, where there is none", () => {
    expect(chosen([])).toEqual({ goes: [], places: new Map() });
  });
});

const aNode = fc.record({
  cpus: fc.constantFrom(2, 4, 8),
  pods: fc.array(fc.constantFrom(0.5, 1, 2), { maxLength: 4 }),
  worth: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
  takesPods: fc.boolean(),
});

const aCluster = fc
  .array(aNode, { maxLength: 40 })
  .map(specs =>
    specs.map(({ worth, takesPods, ...spec }, index) =>
      option(`n${index}`, { ...spec, ...(worth === undefined ? {} : { worth }) }, { takesPods }),
    ),
  );

test("whatever the cluster: who goes may, every pod has a place on one that stays and takes pods, and no node is given too much", () => {
  fc.assert(
    fc.property(aCluster, options => {
      const { goes, places } = chosen(options);
      const gone = new Set(goes);
      const byName = new Map(options.map(one => [one.name, one]));
      for (const name of goes) expect(byName.get(name)?.worth).toBeGreaterThan(0);
      const moving = options.flatMap(({ name, pods }) => (gone.has(name) ? pods.map(({ key }) => key) : []));
      expect([...places.keys()].toSorted()).toEqual(moving.toSorted());
      const sizes = sizeOf(options);
      const taken = new Map<string, number>();
      for (const [key, name] of places) {
        expect(gone.has(name)).toBe(false);
        expect(byName.get(name)?.takesPods).toBe(true);
        taken.set(name, (taken.get(name) ?? 0) + (sizes.get(key) ?? 0));
      }
      for (const [name, cpus] of taken) expect(cpus).toBeLessThanOrEqual(byName.get(name)?.free[0] ?? 0);
    }),
    { numRuns: 300 },
  );
});

test("more than are weighed against one another go in parts: nobody is left out", () => {
  const options = Array.from({ length: 500 }, (_, index) => option(`n${index}`, { cpus: 8, pods: [1], worth: 1 }));
  const { goes, places } = chosen(options);
  // Each of those that stay holds seven more at most, and a little is lost between the parts.
  expect(goes.length).toBeGreaterThan(425);
  expect(places.size).toBe(goes.length);
});

test("the same question has the same answer", () => {
  const options = Array.from({ length: 60 }, (_, index) =>
    option(`n${index}`, { cpus: 8, pods: [1, (index % 4) / 2 + 0.5], worth: 1 + (index % 7) }),
  );
  expect(chosen(options)).toEqual(chosen(options));
});
