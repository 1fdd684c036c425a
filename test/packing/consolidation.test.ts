// What consolidation finds in random worlds, judged by the verifier: nobody is left without a place, nothing costs more
// than before whatever is launched, and the picture is afterwards as it was, wherever it is dropped.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Pod, podKey } from "../../src/api/pod.ts";
import { consolidate } from "../../src/decide/disruption/consolidation/consolidate.ts";
import { KnownStays } from "../../src/decide/disruption/consolidation/known-stays.ts";
import type { Question, Saving, Verdict } from "../../src/decide/disruption/consolidation/question.ts";
import type { Answer, Placement } from "../../src/decide/packing/answer.ts";
import { changePicture, pictureOf } from "../../src/decide/packing/build.ts";
import { atOnce } from "../../src/decide/packing/effort.ts";
import type { Picture } from "../../src/decide/packing/picture.ts";
import type { Problem } from "../../src/decide/packing/problem.ts";
import { solveOn } from "../../src/decide/packing/solve.ts";
import { rules, type RuleSet } from "./verifier/rules.ts";
import { type Breach, verify } from "./verifier/verify.ts";
import { worlds } from "./worlds/pools.ts";

const runs = Number(process.env["FETTLE_WORLDS"] ?? 200);
const seed = Number(process.env["FETTLE_SEED"] ?? 20_260_108);
const poolName = "p-a";

/** A world without pods that wait and nodes on their way: consolidation is asked of what runs. */
const settled = worlds.map((problem): Problem => ({ ...problem, pods: [], upcoming: [] }));
/** A price for each of the nodes n0 … n4. */
const prices = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 5, maxLength: 5 });

function questionOf({ nodes, bound }: Problem, priceByIndex: readonly number[]): Question {
  const known = nodes.filter(({ initialized }) => initialized !== false).map(({ node }) => node.metadata.name);
  const terms = { isBalanced: false, minSavings: 0, atOnce: 5, price: 100, disturbance: 100 };
  return {
    candidates: known.map((name, index) => ({
      name,
      pool: poolName,
      price: priceByIndex[index] ?? 1,
      isSpot: false,
      disturbance: 1 + bound.filter(({ spec }) => spec.nodeName === name).length,
    })),
    termsByPool: new Map([[poolName, terms]]),
    targets: known,
    spotToSpot: false,
    waiting: [],
  };
}

function consolidated(picture: Picture, question: Question): Verdict {
  return atOnce(consolidate(picture, question, { effort: { work: 0 }, isStopped: () => false }));
}

/** All savings at once, as a packing problem with its answer. */
function outcome(problem: Problem, savings: readonly Saving[]): { problem: Problem; answer: Answer } {
  const gone = new Set(savings.flatMap(({ nodes }) => nodes));
  const stays = problem.bound.filter(({ spec }) => !gone.has(spec.nodeName ?? ""));
  const podByKey = new Map(problem.bound.map(pod => [podKey(pod), pod]));
  const placements: Placement[] = [];
  const newNodes = savings.flatMap(saving => saving.newNodes);
  const put = (pod: Pod | undefined, target: Placement["target"]) => {
    if (pod === undefined) throw new Error("A pod is placed that there is not.");
    placements.push({ pod: { ...pod, spec: { ...pod.spec, nodeName: "" } }, target, relaxed: [] });
  };
  for (const { places } of savings) {
    for (const [key, node] of places) put(podByKey.get(key), { kind: "existing", node });
  }
  for (const [index, node] of newNodes.entries()) for (const pod of node.pods) put(pod, { kind: "new", index });
  const pods = placements.map(({ pod }) => pod);
  const nodes = problem.nodes.filter(({ node }) => !gone.has(node.metadata.name));
  return { problem: { ...problem, nodes, bound: stays, pods }, answer: { placements, newNodes, unplaced: [] } };
}

/** Whether a pod may follow another, or how many are where, depends on who comes first: not known for several savings. */
const { "pod affinity": _, "topology spread": __, ...whateverTheOrder } = rules;

/** Types that would do as well and cost too much are left out on purpose. */
function breaches(problem: Problem, answer: Answer, by?: RuleSet): Breach[] {
  return verify(problem, answer, by).filter(({ says }) => !says.endsWith("would do as well"));
}

/** The most that a new node may cost, by the plainest reading of its types and requirements. */
function dearest({ pool, instanceTypes, requirements }: Saving["newNodes"][number], { pools }: Problem): number {
  const open = (key: string, value: string) =>
    requirements.every(one => one.key !== key || one.operator !== "In" || (one.values ?? []).includes(value));
  const types = pools.find(({ name }) => name === pool)?.instanceTypes ?? [];
  const offers = types.filter(({ name }) => instanceTypes.includes(name)).flatMap(({ offerings }) => offerings);
  const possible = offers.filter(
    offer =>
      offer.available && offer.requirements.every(({ key, values = [] }) => values.some(value => open(key, value))),
  );
  return Math.max(...possible.map(({ price }) => price));
}

function movable(problem: Problem, names: readonly string[]): string[] {
  const owned = ({ metadata }: Pod) => metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet") ?? false;
  return problem.bound
    .filter(pod => names.includes(pod.spec.nodeName ?? "") && !owned(pod))
    .filter(pod => pod.metadata.deletionTimestamp === undefined)
    .filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed")
    .map(podKey)
    .sort();
}

/** What shows a trial that was left behind: room, and where pods would go. */
function footprint(picture: Picture, problem: Problem): string {
  const pods = problem.bound.map(pod => ({ ...pod, metadata: { ...pod.metadata, name: `${pod.metadata.name}-copy` } }));
  const answer = solveOn(picture, pods.slice(0, 3));
  return JSON.stringify([[...picture.hosts.free], [...picture.hosts.order], answer]);
}

describe(`consolidation, in ${runs} random worlds of seed ${seed}`, () => {
  test("leaves no pod without a place, and every pod that ran on a node that goes is told where", () => {
    fc.assert(
      fc.property(settled, prices, (problem, priceByIndex) => {
        const { savings } = consolidated(pictureOf(problem), questionOf(problem, priceByIndex));
        const { problem: then, answer } = outcome(problem, savings);
        const moved = answer.placements.map(({ pod }) => podKey(pod)).sort();
        expect(moved).toEqual(
          movable(
            problem,
            savings.flatMap(({ nodes }) => nodes),
          ),
        );
        expect(breaches(then, answer, whateverTheOrder)).toEqual([]);
        const [only] = savings;
        if (savings.length === 1 && only?.newNodes.length === 0) expect(breaches(then, answer)).toEqual([]);
      }),
      { numRuns: runs, seed },
    );
  });

  test("never costs more, whatever the provider launches; nobody goes twice, and who takes pods stays", () => {
    fc.assert(
      fc.property(settled, prices, (problem, priceByIndex) => {
        const question = questionOf(problem, priceByIndex);
        const { savings } = consolidated(pictureOf(problem), question);
        for (const { newNodes, nodes, price } of savings) {
          const before = question.candidates.filter(({ name }) => nodes.includes(name)).map(one => one.price);
          expect(price.before).toBeCloseTo(before.reduce((sum, one) => sum + one, 0));
          const most = newNodes.reduce((sum, node) => sum + dearest(node, problem), 0);
          expect(most).toBeLessThan(price.before);
        }
        const gone = savings.flatMap(({ nodes }) => nodes);
        expect(new Set(gone).size).toBe(gone.length);
        expect(savings.flatMap(({ places }) => [...places.values()]).filter(name => gone.includes(name))).toEqual([]);
      }),
      { numRuns: runs, seed },
    );
  });

  test("answers the same whatever the order of what it is given, and says of each candidate what becomes of it", () => {
    fc.assert(
      fc.property(settled, prices, (problem, priceByIndex) => {
        const question = questionOf(problem, priceByIndex);
        const verdict = consolidated(pictureOf(problem), question);
        const backwards = {
          ...question,
          candidates: question.candidates.toReversed(),
          targets: question.targets.toReversed(),
        };
        expect(consolidated(pictureOf(problem), backwards)).toEqual(verdict);
        const told = [...verdict.savings.flatMap(({ nodes }) => nodes), ...verdict.stays.keys()];
        expect(told.sort()).toEqual(question.candidates.map(({ name }) => name).sort());
        expect(verdict.unanswered).toEqual([]);
      }),
      { numRuns: runs, seed },
    );
  });

  test("with what is known from an earlier look finds nothing that could not be, and with all forgotten all there is", () => {
    const ended = fc.array(fc.nat(20), { maxLength: 4 });
    fc.assert(
      fc.property(settled, prices, ended, (problem, priceByIndex, places) => {
        const [picture, known] = [pictureOf(problem), new KnownStays()];
        const question = questionOf(problem, priceByIndex);
        const look = () =>
          atOnce(consolidate(picture, question, { effort: { work: 0 }, isStopped: () => false, known }));
        const first = look();
        expect(first).toEqual(consolidated(pictureOf(problem), question));
        const gone = new Set(places.flatMap(place => problem.bound[place] ?? []));
        for (const pod of gone) changePicture(picture, { kind: "pod-gone", pod: podKey(pod) });
        const later = { ...problem, bound: problem.bound.filter(pod => !gone.has(pod)) };
        const whole = consolidated(pictureOf(later), question);
        const { savings } = look();
        const { problem: then, answer } = outcome(later, savings);
        expect(breaches(then, answer, whateverTheOrder)).toEqual([]);
        for (const { newNodes, price } of savings)
          expect(newNodes.reduce((sum, node) => sum + dearest(node, later), 0)).toBeLessThan(price.before);
        known.forget(0);
        expect(look().savings.map(({ nodes }) => nodes)).toEqual(whole.savings.map(({ nodes }) => nodes));
      }),
      { numRuns: runs, seed },
    );
  });

  test("leaves the picture as it was, also where it is dropped half-way or told to come to an end", () => {
    fc.assert(
      fc.property(settled, prices, fc.nat(60), (problem, priceByIndex, steps) => {
        const [picture, question] = [pictureOf(problem), questionOf(problem, priceByIndex)];
        const before = footprint(picture, problem);
        const whole = consolidated(picture, question);
        expect(footprint(picture, problem)).toBe(before);
        const dropped = consolidate(picture, question, { effort: { work: 0 }, isStopped: () => false });
        for (let step = 0; step < steps && dropped.next().done !== true; ) step++;
        dropped.return({ savings: [], stays: new Map(), unanswered: [], judgedCount: 0, scores: [] });
        expect(footprint(picture, problem)).toBe(before);
        let asked = 0;
        const stopped = consolidate(picture, question, { effort: { work: 0 }, isStopped: () => asked++ >= steps });
        const part = atOnce(stopped);
        expect(footprint(picture, problem)).toBe(before);
        const told = part.savings.flatMap(({ nodes }) => nodes).length + part.stays.size + part.unanswered.length;
        expect(told).toBe(question.candidates.length);
        expect(consolidated(picture, question)).toEqual(whole);
      }),
      { numRuns: runs, seed },
    );
  });

  test("has something to do: nodes that go onto others, nodes that are exchanged, and nodes that stay", () => {
    const verdicts = fc
      .sample(fc.tuple(settled, prices), { numRuns: runs, seed })
      .map(([problem, priceByIndex]) => consolidated(pictureOf(problem), questionOf(problem, priceByIndex)));
    const savings = verdicts.flatMap(verdict => verdict.savings);
    const isExchange = ({ newNodes }: Saving) => newNodes.length > 0;
    expect(savings.filter(one => !isExchange(one) && one.podCount > 0).length).toBeGreaterThan(runs / 20);
    expect(savings.filter(isExchange).length).toBeGreaterThan(runs / 20);
    expect(verdicts.reduce((sum, { stays }) => sum + stays.size, 0)).toBeGreaterThan(runs / 4);
  });
});
