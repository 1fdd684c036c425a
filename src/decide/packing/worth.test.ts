import fc from "fast-check";
import { expect, test } from "vitest";
import { atOnce } from "./effort.ts";
import { dot, type Machine, unbeaten, worth } from "./worth.ts";

const worthOf = (machines: Machine[], demand: Float64Array) => atOnce(worth(machines, demand));
const amounts = (...values: number[]) => Float64Array.from(values);

test("with one machine the scarce resource carries the whole price", () => {
  const prices = worthOf([{ room: amounts(4, 8), price: 4 }], amounts(100, 20));
  expect(dot(prices, amounts(100, 20))).toBeCloseTo(100, 0);
});

test("with a machine for each resource each carries its own", () => {
  const machines = [
    { room: amounts(10, 1), price: 1 },
    { room: amounts(1, 10), price: 1 },
  ];
  // The best mix covers 110 of each with 10 of each machine.
  expect(dot(worthOf(machines, amounts(110, 110)), amounts(110, 110))).toBeCloseTo(20, 0);
});

test("no machine is worth more than it costs, so that the sum is a floor under every answer", () => {
  const machine = fc.record({
    room: fc.tuple(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 64 })).map(([a, b]) => amounts(a, b)),
    price: fc.double({ min: 0.1, max: 10, noNaN: true }),
  });
  fc.assert(
    fc.property(
      fc.array(machine, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 500 }),
      (machines, cpu) => {
        const prices = worthOf(machines, amounts(cpu, 100));
        for (const { room, price } of machines) expect(dot(prices, room)).toBeLessThanOrEqual(price * (1 + 1e-9));
      },
    ),
  );
});

test("machines that others beat in all that is asked for change nothing in what resources are worth", () => {
  const amount = fc.integer({ min: 0, max: 64 });
  const machine = fc.record({
    room: fc.tuple(amount, amount, amount).map(([a, b, c]) => amounts(a, b, c)),
    price: fc.integer({ min: 1, max: 20 }),
  });
  const demands = fc.tuple(amount, amount, fc.constantFrom(0, 100));
  fc.assert(
    fc.property(fc.array(machine, { minLength: 1, maxLength: 12 }), demands, (machines, demand) => {
      const asked = amounts(...demand);
      const few = worthOf(unbeaten(machines, asked), asked);
      worthOf(machines, asked).forEach((price, r) => expect(few[r]).toBeCloseTo(price, 9));
    }),
  );
  const larger = { room: amounts(10, 20), price: 10 };
  const other = { room: amounts(1, 4), price: 1.5 };
  const beaten = { room: amounts(1, 1), price: 1 };
  expect(unbeaten([beaten, other, larger], amounts(5, 5))).toEqual([larger, other]);
  expect(unbeaten([beaten, other, larger], amounts(5, 0))).toEqual([larger]);
});
