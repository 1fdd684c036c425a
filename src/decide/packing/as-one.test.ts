// Pods of nodes that go, under price lists of any kind: what several new nodes cost is never more than one would that
// takes them all. The cheapest one is found here by trying every type.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Answer } from "./answer.ts";
import { pictureOf } from "./build.ts";
import { atOnce } from "./effort.ts";
import { emptyProblem, type Pool } from "./problem.ts";
import { aNode, aPod, aPool, aType } from "./test-worlds.ts";
import { Trial } from "./trial.ts";

type Asked = { readonly cpu: number; readonly memory: number };
type Type = Asked & { readonly price: number };

const amount = fc.integer({ min: 1, max: 16 });
const type: fc.Arbitrary<Type> = fc.record({ cpu: amount, memory: amount, price: fc.integer({ min: 1, max: 40 }) });
const pod: fc.Arbitrary<Asked> = fc.record({
  cpu: fc.integer({ min: 1, max: 4 }),
  memory: fc.integer({ min: 1, max: 4 }),
});

function poolOf(name: string, types: readonly Type[]): Pool {
  const instanceTypes = types.map(({ cpu, memory, price }, index) => {
    const one = aType(`${name}-${index}`, { cpu, price });
    const room = { cpu: `${cpu}`, memory: `${memory}Gi`, pods: "110" };
    return { ...one, capacity: room, allocatable: room };
  });
  return aPool(name, { instanceTypes });
}

function without(pods: readonly Asked[], pools: readonly Pool[]): Answer {
  const bound = pods.map(({ cpu, memory }, index) =>
    aPod(`p${index}`, { node: "a", requests: { cpu: `${cpu}`, memory: `${memory}Gi` } }),
  );
  const picture = pictureOf({ ...emptyProblem, nodes: [aNode("a")], bound, pools });
  const trial = new Trial({ picture, gone: new Set(), effort: { work: 0 } });
  atOnce(trial.takeAway([0]));
  const answer = atOnce(trial.anywhere());
  trial.undo();
  expect(picture.residents[0]?.size).toBe(pods.length);
  return answer;
}

/** Of one machine that takes all, by hand. */
function cheapestOne(pods: readonly Asked[], types: readonly Type[]): number {
  const total = (of: keyof Asked) => pods.reduce((sum, one) => sum + one[of], 0);
  const large = types.filter(({ cpu, memory }) => cpu >= total("cpu") && memory >= total("memory"));
  return Math.min(...large.map(({ price }) => price));
}

test("new nodes never cost more than one that takes all their pods", () => {
  let insteadCount = 0;
  fc.assert(
    fc.property(
      fc.array(pod, { minLength: 2, maxLength: 8 }),
      fc.array(type, { minLength: 1, maxLength: 6 }),
      fc.array(type, { maxLength: 4 }),
      (pods, types, others) => {
        const answer = without(pods, [poolOf("p", types), poolOf("q", others)]);
        const one = cheapestOne(pods, [...types, ...others]);
        const price = answer.newNodes.reduce((sum, node) => sum + node.price, 0);
        if (Number.isFinite(one)) expect(answer.unplaced).toEqual([]);
        expect(price).toBeLessThanOrEqual(one);
        if (price === one) insteadCount++;
      },
    ),
    { numRuns: 500 },
  );
  expect(insteadCount).toBeGreaterThan(20);
});
