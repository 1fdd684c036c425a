import { describe, expect, test } from "vitest";
import { type Change, changePicture, pictureOf } from "../../packing/build.ts";
import { atOnce } from "../../packing/effort.ts";
import { emptyProblem, type Problem } from "../../packing/problem.ts";
import { aNode, aPod, aPool, aType } from "../../packing/test-worlds.ts";
import { consolidate } from "./consolidate.ts";
import { KnownStays } from "./known-stays.ts";
import type { Candidate, Question, Terms, Verdict } from "./question.ts";

const terms: Terms = { isBalanced: false, minSavings: 0, atOnce: 10, price: 100, disturbance: 100 };
const one: Candidate = { name: "a", pool: "p", price: 4, isSpot: false, disturbance: 2 };
const types = [aType("two", { cpu: 2 }), aType("four"), aType("eight", { cpu: 8 })];
const dearer = "nothing that is cheaper could take its pods";

function pod(name: string, node: string, cpu: string) {
  return aPod(name, { node, requests: { cpu } });
}

/** Nodes of four CPUs at four dollars, each with one pod of so many. */
class World {
  readonly known = new KnownStays();
  readonly picture;
  readonly effort = { work: 0 };
  readonly #names: readonly string[];
  question: Partial<Question> = {};

  constructor(cpuByNode: Record<string, string>, problem: Partial<Problem> = {}) {
    this.#names = Object.keys(cpuByNode);
    this.picture = pictureOf({
      ...emptyProblem,
      pools: [aPool("p", { instanceTypes: types })],
      nodes: this.#names.map(name => aNode(name)),
      bound: Object.entries(cpuByNode).map(([node, cpu]) => pod(`${node}-0`, node, cpu)),
      ...problem,
    });
  }

  look(more: Partial<Question> = {}, isStopped = () => false): Verdict {
    const names = this.#names.filter(name => this.picture.hosts.indexByName.has(name));
    const question: Question = {
      candidates: names.map(name => ({ ...one, name })),
      termsByPool: new Map([["p", terms]]),
      targets: names,
      spotToSpot: false,
      waiting: [],
      ...this.question,
      ...more,
    };
    const { effort, known, picture } = this;
    return atOnce(consolidate(picture, question, { effort, isStopped, known }));
  }

  change(...changes: readonly Change[]): this {
    for (const change of changes) changePicture(this.picture, change);
    return this;
  }
}

const goneFrom = ({ savings }: Verdict) => savings.map(({ nodes }) => nodes.join("+"));
const full = { a: "3", b: "3500m", c: "4" };

describe("who stayed", () => {
  test("is not judged again while nothing changes, and stays for what was said", () => {
    const world = new World(full);
    const first = world.look();
    expect(first).toMatchObject({ judgedCount: 3, savings: [] });
    expect(world.look()).toEqual({ ...first, judgedCount: 0 });
  });

  test("is judged again when its own pods are others, and nobody else is whom that does not help", () => {
    const world = new World(full);
    world.look();
    world.change({ kind: "pod-gone", pod: "default/a-0" }, { kind: "pod", pod: pod("a-1", "a", "3") });
    expect(world.look().judgedCount).toBe(1);
    world.change({ kind: "pod-gone", pod: "default/a-1" }, { kind: "pod", pod: pod("a-2", "a", "2500m") });
    // 1.5 CPUs are free by now, and nobody has a pod so small.
    expect(world.look().judgedCount).toBe(1);
  });

  test("is judged again when there is room for its pods, and goes", () => {
    const world = new World({ a: "1", b: "4", c: "4" }, { pools: [] });
    expect(goneFrom(world.look())).toEqual([]);
    world.change({ kind: "pod-gone", pod: "default/b-0" }, { kind: "pod", pod: pod("b-1", "b", "3") });
    const verdict = world.look();
    expect([goneFrom(verdict), verdict.judgedCount]).toEqual([["a"], 1]);
  });

  test("is judged again when so much room has grown that something cheaper would take the rest", () => {
    const grown = (cpu: string) => {
      const world = new World({ a: "2", b: "4", c: "4" });
      world.change({ kind: "pod", pod: pod("a-1", "a", "1") });
      world.look();
      world.change({ kind: "pod-gone", pod: "default/b-0" }, { kind: "pod", pod: pod("b-1", "b", cpu) });
      const verdict = world.look();
      return [verdict.judgedCount, verdict.savings.some(({ nodes }) => nodes.includes("a"))];
    };
    expect(grown("3500m")).toEqual([1, false]);
    expect(grown("3")).toEqual([2, true]);
  });

  test.each<[string, Partial<Question>]>([
    ["it costs otherwise", { candidates: [{ ...one, price: 5 }] }],
    ["it is of another pool", { candidates: [{ ...one, pool: "q" }] }],
    ["it is spot", { candidates: [{ ...one, isSpot: true }] }],
    ["its pods would be missed more", { candidates: [{ ...one, disturbance: 3 }] }],
    ["its pool wants another saving", { termsByPool: new Map([["p", { ...terms, minSavings: 0.1 }]]) }],
    ["its pool weighs savings", { termsByPool: new Map([["p", { ...terms, isBalanced: true }]]) }],
  ])("is judged again when %s", (_, more) => {
    const world = new World(full);
    const candidates = [one];
    world.look({ candidates, targets: [] });
    expect(world.look({ candidates, targets: [] }).judgedCount).toBe(0);
    expect(world.look({ candidates, targets: [], ...more }).judgedCount).toBe(1);
  });

  test("is judged again when other machines are offered", () => {
    const world = new World(full);
    world.look();
    const before = world.picture.pools[0];
    Object.assign(before ?? {}, { pool: aPool("p", { instanceTypes: [...types, aType("three", { cpu: 3 })] }) });
    expect(world.look().judgedCount).toBe(3);
  });

  test.each<[string, (world: World) => Partial<Question>]>([
    [
      "takes pods by now",
      world => {
        world.question = { targets: ["a", "c"] };
        world.look();
        return { targets: ["a", "b", "c"] };
      },
    ],
    [
      "is open by now",
      world => {
        world.change({ kind: "node", node: cordoned });
        world.look();
        world.change({ kind: "node", node: aNode("b") });
        return {};
      },
    ],
  ])("is judged again when a node that has room %s", (_, shut) => {
    const world = new World({ a: "1", b: "3", c: "4" }, { pools: [] });
    const opened = shut(world);
    expect(goneFrom(world.look(opened))).toEqual(["a"]);
  });

  test("is judged again when others that were to go do not, and leave it the room that was theirs", () => {
    const world = new World({ a: "1", b: "3", c: "1" }, { pools: [] });
    const isIn = (names: readonly string[]) => ({
      candidates: names.map(name => ({ ...one, name })),
      targets: ["b"],
    });
    expect(goneFrom(world.look(isIn(["a", "c"])))).toEqual(["a"]);
    // A budget holds the first: the other could have gone instead.
    expect(goneFrom(world.look(isIn(["c"])))).toEqual(["c"]);
  });

  test("is judged again when all is forgotten", () => {
    const world = new World(full);
    world.look();
    world.known.forget(7);
    expect([world.known.completeAt, world.look().judgedCount]).toEqual([7, 3]);
  });
});

const cordoned = { node: { ...aNode("b").node, spec: { unschedulable: true } } };

describe("nodes that go together", () => {
  const three = { a: "2500m", b: "2500m", c: "2500m" };
  const problem = { pools: [aPool("p", { instanceTypes: [aType("eight", { cpu: 8, price: 8 }), aType("four")] })] };

  test("are judged again as long as they do not", () => {
    const world = new World(three, problem);
    expect(goneFrom(world.look())).toEqual(["a+b+c"]);
    expect(goneFrom(world.look())).toEqual(["a+b+c"]);
  });

  test("are found by the next look where the last was cut short", () => {
    // All have been judged one by one when it is stopped, and none beside others.
    const cut = Array.from({ length: 20 }, (_, steps) => {
      const world = new World(three, problem);
      let asked = 0;
      return { world, early: world.look({}, () => asked++ >= steps) };
    }).find(({ early }) => early.unanswered.length === 0);
    expect(cut?.early.savings).toEqual([]);
    const next = cut?.world.look();
    expect([next && goneFrom(next), next?.judgedCount]).toEqual([["a+b+c"], 0]);
  });

  test("are found when one of them has changed", () => {
    const world = new World({ ...three, c: "4" }, problem);
    expect(world.look().stays.get("a")).toBe(dearer);
    world.change({ kind: "pod-gone", pod: "default/c-0" }, { kind: "pod", pod: pod("c-1", "c", "2500m") });
    const verdict = world.look();
    expect([goneFrom(verdict), verdict.judgedCount]).toEqual([["c+a+b"], 1]);
  });
});

test("one pod that ends among a thousand nodes has a few judged, for a fifth of the work", () => {
  const names = Array.from({ length: 1_000 }, (_, index) => `n${String(index).padStart(4, "0")}`);
  const bound = names.flatMap((name, index) =>
    Array.from({ length: 3 }, (_, place) =>
      pod(`${name}-${place}`, name, `${1000 + ((index * 7 + place) % 13) * 20}m`),
    ),
  );
  const cpus = Object.fromEntries(names.map(name => [name, "0"]));
  const world = new World(cpus, { bound });
  world.look();
  const complete = world.effort.work;
  world.change({ kind: "pod-gone", pod: "default/n0500-1" });
  const verdict = world.look();
  expect(verdict.judgedCount).toBeGreaterThan(0);
  expect(verdict.judgedCount).toBeLessThan(20);
  expect((world.effort.work - complete) / complete).toBeLessThan(0.2);
});
