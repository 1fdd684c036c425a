// The next host with room is the one that a look at each in turn would find, also after others were filled.
import fc from "fast-check";
import { expect, test } from "vitest";
import { Hosts } from "./hosts.ts";
import { ResourceSpace } from "./resources.ts";
import { Texts } from "./texts.ts";

function hostsOf(cpus: readonly number[]): Hosts {
  const hosts = new Hosts(new ResourceSpace(), new Texts(), cpus.length);
  for (const [index, cpu] of cpus.entries()) {
    const allocatable = { cpu: `${cpu}`, memory: "8Gi", pods: "9" };
    // With as many digits each, so that the order of names is that of numbers.
    hosts.put(index, { node: { metadata: { name: `n${1000 + index}` }, status: { allocatable } } });
  }
  hosts.sort();
  return hosts;
}

const asks = fc.record({
  from: fc.nat(99),
  amounts: fc
    .tuple(fc.integer({ min: 0, max: 9000 }), fc.constantFrom(0, 2 ** 30), fc.constant(1))
    .map(([cpu, memory, pods]) => Float64Array.of(cpu, memory, pods)),
});

test("the next host with room is found past any number that have none", () => {
  const cpus = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 100 });
  fc.assert(
    fc.property(cpus, fc.array(asks, { minLength: 1, maxLength: 60 }), (sizes, all) => {
      const hosts = hostsOf(sizes);
      for (const { from, amounts } of all) {
        const plain = [...hosts.order.keys()].find(at => at >= from && hosts.fits(hosts.order[at] ?? 0, amounts));
        const found = hosts.nextRoom(from, amounts);
        expect(found).toBe(plain ?? sizes.length);
        if (plain !== undefined) hosts.take(hosts.order[plain] ?? 0, amounts, 1);
      }
    }),
  );
});

test("room that is given back is found again", () => {
  const hosts = hostsOf(Array.from({ length: 40 }, () => 1));
  const whole = Float64Array.of(1000, 0, 1);
  for (let index = 0; index < 40; index++) hosts.take(index, whole, 1);
  expect(hosts.nextRoom(0, whole)).toBe(40);
  hosts.take(3, whole, -1);
  expect(hosts.nextRoom(0, whole)).toBe(3);
});
