import { describe, expect, test } from "vitest";
import { capacityTypeKey, hostnameKey, zoneKey } from "../../../api/node.ts";
import type { InstanceType } from "../../../api/instance-type.ts";
import type { NewNode } from "../../packing/answer.ts";
import { pictureOf } from "../../packing/build.ts";
import { atOnce } from "../../packing/effort.ts";
import { emptyProblem, type Problem } from "../../packing/problem.ts";
import { aNode, aPod, aPool, aType } from "../../packing/test-worlds.ts";
import { consolidate } from "./consolidate.ts";
import type { Candidate, Question, Saving, Terms, Verdict } from "./question.ts";
import { Replacements } from "./replacement.ts";
import { refusedBy } from "./terms.ts";

const terms: Terms = { isBalanced: false, minSavings: 0, atOnce: 10, price: 100, disturbance: 100 };

/** Disturbs as much as it has pods, unless it is said otherwise. */
type Named = Omit<Candidate, "disturbance"> & Partial<Pick<Candidate, "disturbance">>;

function candidate(name: string, price = 4, more: Partial<Candidate> = {}): Named {
  return { name, pool: "p", price, isSpot: false, ...more };
}

/** So many CPUs on a node, a pod each. */
function podsOn(node: string, ...cpus: readonly string[]) {
  return cpus.map((cpu, index) => aPod(`${node}-${index}`, { node, requests: { cpu } }));
}

const pool = aPool("p", { instanceTypes: [aType("two", { cpu: 2 }), aType("four"), aType("eight", { cpu: 8 })] });
const nodes = ["a", "b", "c"].map(name => aNode(name));

type Asked = Partial<Omit<Question, "candidates">> & { readonly candidates?: readonly Named[] };

function asked(problem: Partial<Problem>, { candidates, ...question }: Asked): Verdict {
  const picture = pictureOf({ ...emptyProblem, pools: [pool], nodes, ...problem });
  const podCountOn = (node: string) => (problem.bound ?? []).filter(({ spec }) => spec.nodeName === node).length;
  const named = candidates ?? ["a", "b", "c"].map(name => candidate(name));
  const whole = {
    candidates: named.map(one => ({ disturbance: 1 + podCountOn(one.name), ...one })),
    termsByPool: new Map([["p", terms]]),
    targets: ["a", "b", "c"],
    spotToSpot: false,
    waiting: [],
  };
  return atOnce(consolidate(picture, { ...whole, ...question }, { effort: { work: 0 }, isStopped: () => false }));
}

function told({ savings, stays }: Verdict): Record<string, string> {
  const gone = savings.map(({ nodes: names, newNodes }): [string, string] => [
    names.join("+"),
    `goes for ${newNodes.map(({ instanceTypes }) => instanceTypes.join("|")).join(" and ") || "nothing"}`,
  ]);
  return Object.fromEntries([...gone, ...stays]);
}

const fewTypes = "its pods could go onto 1 types of cheaper spot nodes, where 15 are wanted to choose from";
const dearer = "nothing that is cheaper could take its pods";
const takes = "it takes pods of other nodes";

describe("of two nodes of which one can go", () => {
  const few = podsOn("a", "750m", "750m", "750m", "750m");
  const many = podsOn("b", ...Array.from({ length: 12 }, () => "250m"));
  const bound = [...few, ...many, ...podsOn("c", "1")];
  const goes = (priceOfMany: number, weight = 1) => {
    const candidates = [
      candidate("a", 3, { disturbance: weight * 5 }),
      candidate("b", priceOfMany, { disturbance: weight * 13 }),
    ];
    const termsByPool = new Map([["p", { ...terms, price: 3 + priceOfMany, disturbance: weight * 18 }]]);
    return asked({ bound }, { candidates, termsByPool }).savings.flatMap(({ nodes: names }) => names);
  };

  // To leave eight pods more alone is worth eight times 3 % of what a node costs.
  test.each([
    ["as much more than the pods are worth that must move for it", 3.5, "a"],
    ["more than that", 4, "b"],
  ])("the one with more pods goes for what it costs: %s", (_, price, name) => {
    expect(goes(price)).toEqual([name]);
  });

  test("where both have very many, the one with twice as many goes for twice the price: it takes no more than half of that to leave them alone", () => {
    const small = (node: string, count: number, cpu: string) =>
      podsOn(node, ...Array.from({ length: count }, () => cpu));
    const crowded = [...small("a", 40, "75m"), ...small("b", 80, "37m"), ...podsOn("c", "1")];
    const candidates = [candidate("a", 3), candidate("b", 6)];
    const termsByPool = new Map([["p", { ...terms, price: 9, disturbance: 122 }]]);
    const roomy = ["a", "b", "c"].map(name => aNode(name, { allocatable: { cpu: "4", memory: "16Gi", pods: "200" } }));
    const { savings } = asked({ bound: crowded, nodes: roomy }, { candidates, termsByPool });
    expect(savings.flatMap(({ nodes: names }) => names)).toEqual(["b"]);
  });

  test("and what a pod weighs counts beside what the others weigh", () => {
    expect(goes(3.5, 10)).toEqual(goes(3.5));
    expect(goes(4, 10)).toEqual(goes(4));
  });
});

describe("one node in place of several, whatever the price list", () => {
  // Each has a little less room than its name says, and the smaller ones yield more for their price.
  const list = [
    aType("two", { cpu: 2, price: 0.096 }),
    aType("four", { cpu: 4, price: 0.17 }),
    aType("eight", { cpu: 8, price: 0.3 }),
  ].map(type => ({
    ...type,
    allocatable: { ...type.allocatable, cpu: `${Number(type.capacity["cpu"]) * 1000 - 100}m` },
  }));
  const priced = { a: 0.17, b: 0.17, c: 0.096 };
  const fragmented = {
    nodes: Object.keys(priced).map(name => aNode(name, { allocatable: { cpu: name === "c" ? "1900m" : "3900m" } })),
    bound: [...podsOn("a", "1", "1", "1"), ...podsOn("b", "1", "1", "1"), ...podsOn("c", "1")],
  };
  const candidates = Object.entries(priced).map(([name, price]) => candidate(name, price));
  const termsByPool = new Map([["p", { ...terms, price: 0.436, disturbance: 10 }]]);

  test("the cheapest that takes them all", () => {
    const verdict = asked({ ...fragmented, pools: [aPool("p", { instanceTypes: list })] }, { candidates, termsByPool });
    expect(told(verdict)).toEqual({ "c+a+b": "goes for eight" });
    expect(verdict.savings[0]?.price).toEqual({ before: 0.17 + 0.17 + 0.096, after: 0.3 });
  });

  test("of another pool of the same weight too, but not of a lighter one", () => {
    const [two, four, eight] = list;
    const small = aPool("p", { instanceTypes: [two, four].flatMap(type => type ?? []) });
    const large = aPool("large", { instanceTypes: [eight].flatMap(type => type ?? []) });
    const both = { ...fragmented, pools: [small, large] };
    expect(told(asked(both, { candidates, termsByPool }))).toEqual({ "c+a+b": "goes for eight" });
    const lighter = { ...fragmented, pools: [{ ...small, weight: 10 }, large] };
    expect(asked(lighter, { candidates, termsByPool }).savings).toEqual([]);
  });

  test("not where pods keep away from one another", () => {
    const labels = { app: "x" };
    const apart = { labelSelector: { matchLabels: labels }, topologyKey: "kubernetes.io/hostname" };
    const bound = Object.keys(priced).map(node =>
      aPod(`${node}-0`, {
        node,
        labels,
        requests: { cpu: "1" },
        affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [apart] } },
      }),
    );
    const odd = [aType("two", { cpu: 2, price: 0.17 }), aType("eight", { cpu: 8, price: 0.2 })];
    const verdict = asked({ ...fragmented, bound, pools: [aPool("p", { instanceTypes: odd })] }, { candidates });
    expect(verdict.savings).toEqual([]);
  });
});

describe("consolidation", () => {
  test("takes away a node whose pods fit onto the others, the one that disturbs least", () => {
    const bound = [...podsOn("a", "1", "1"), ...podsOn("b", "1"), ...podsOn("c", "3")];
    const verdict = asked({ bound }, {});
    expect(told(verdict)).toEqual({ a: takes, b: "goes for nothing", c: dearer });
    expect(verdict.savings[0]).toMatchObject({ podCount: 1, price: { before: 4, after: 0 } });
    expect([...(verdict.savings[0]?.places ?? [])]).toEqual([["default/b-0", "a"]]);
  });

  describe("of nodes of which one may go, keeps those that hold most average pods for their price", () => {
    const gib = (cpu: number, memory: number) => ({ cpu: `${cpu}`, memory: `${memory}Gi` });
    const filled = (node: string, ...requests: readonly Record<string, string>[]) =>
      requests.map((one, index) => aPod(`${node}-${index}`, { node, requests: one }));
    /** Two with 4 GiB a CPU and two with 2, at what such machines cost. */
    const machines = ["s1", "s2", "c1", "c2"].map(name =>
      aNode(name, { allocatable: { cpu: "8", memory: name.startsWith("s") ? "32Gi" : "16Gi", pods: "110" } }),
    );
    const priced = machines.map(({ node: { metadata } }) =>
      candidate(metadata.name, metadata.name.startsWith("s") ? 0.232 : 0.216),
    );
    const question = {
      candidates: priced,
      targets: priced.map(({ name }) => name),
      termsByPool: new Map([["p", { ...terms, price: 0.896, disturbance: 20 }]]),
    };
    const gone = (bound: readonly ReturnType<typeof aPod>[]) =>
      asked({ nodes: machines, bound, pools: [] }, question).savings.flatMap(one => one.nodes);

    test("though more pods have to move for it", () => {
      const heavy = gib(1, 3);
      const bound = [
        ...filled("s1", ...Array.from({ length: 8 }, () => heavy)),
        ...filled("s2", heavy, heavy),
        ...filled("c1", heavy, heavy, heavy, heavy),
        ...filled("c2", heavy, heavy, heavy, heavy),
      ];
      expect(gone(bound)).toEqual(["c1"]);
    });

    test("by the pods that run there: what they leave is room for others, or not", () => {
      const bound = [
        ...filled("s1", ...Array.from({ length: 7 }, () => gib(1, 2))),
        ...filled("s2", ...Array.from({ length: 7 }, () => gib(1, 2))),
        ...filled("c1", gib(1, 1), gib(1, 1), gib(1, 1)),
        ...filled("c2", gib(0.5, 4), gib(0.5, 4), gib(0.5, 4)),
      ];
      expect(gone(bound)).toEqual(["c2"]);
    });
  });

  test("replaces a node by a cheaper one where its pods fit nowhere else", () => {
    const bound = [...podsOn("a", "1"), ...podsOn("b", "4"), ...podsOn("c", "4")];
    expect(told(asked({ bound }, {}))).toEqual({ a: "goes for two", b: dearer, c: dearer });
  });

  test("puts several nodes into fewer", () => {
    const bound = [...podsOn("a", "2500m"), ...podsOn("b", "2500m"), ...podsOn("c", "2500m")];
    const only = aPool("p", { instanceTypes: [aType("eight", { cpu: 8, price: 8 }), aType("four")] });
    const verdict = asked({ bound, pools: [only] }, {});
    expect(told(verdict)).toEqual({ "a+b+c": "goes for eight" });
    expect(verdict.savings[0]?.price).toEqual({ before: 12, after: 8 });
  });

  test.each([
    ["on demand", false, false],
    ["of both kinds", true, false],
    ["spot, where spot may replace spot", true, true],
  ])("three into one: %s", (_, isFirstSpot, areOthersSpot) => {
    const bound = [...podsOn("a", "2500m"), ...podsOn("b", "2500m"), ...podsOn("c", "2500m")];
    const only = aPool("p", { instanceTypes: [aType("eight", { cpu: 8, price: 8 }), aType("four")] });
    const candidates = ["a", "b", "c"].map(name =>
      candidate(name, 4, { isSpot: name === "a" ? isFirstSpot : areOthersSpot }),
    );
    const verdict = asked({ bound, pools: [only] }, { candidates, spotToSpot: true });
    expect(told(verdict)).toEqual({ "a+b+c": "goes for eight" });
  });

  test.each([
    ["a pod", 1, "goes for two"],
    ["as many as it is worth", 9, "goes for two"],
    ["one more than that", 10, "too little would be saved for 10 pods that have to move"],
  ])("exchanges no node for a saving that is not worth its pods: %s", (_, count, becomes) => {
    // A fiftieth of the price, for up to five times that share of what there is to disturb.
    const bound = podsOn("a", ...Array.from({ length: count }, () => "100m"));
    expect(told(asked({ bound }, { candidates: [candidate("a")], targets: [] }))).toEqual({ a: becomes });
  });

  test("makes several nodes of one only where that saves much", () => {
    const bound = podsOn("a", "2", "2");
    const of = (disturbance: number) => ({
      candidates: [candidate("a", 5)],
      targets: ["a"],
      termsByPool: new Map([["p", { ...terms, disturbance }]]),
    });
    const two = (price: number) => aPool("p", { instanceTypes: [aType("two", { cpu: 2, price })] });
    expect(told(asked({ bound, pools: [two(2)] }, of(150)))).toEqual({ a: "goes for two and two" });
    expect(told(asked({ bound, pools: [two(2.1)] }, of(150)))).toEqual({ a: "too little would be saved" });
    // A hundredth of the price for more than two hundredths of what there is to disturb.
    expect(told(asked({ bound, pools: [two(2)] }, of(149)))).toEqual({
      a: "too little would be saved for 2 pods that have to move",
    });
  });

  test.each([
    ["the same price", 4, dearer],
    ["a little more", 4.4, "goes for four"],
  ])("never goes up: a node of %s", (_, price, becomes) => {
    const bound = podsOn("a", "3");
    expect(told(asked({ bound }, { candidates: [candidate("a", price)], targets: [] }))).toEqual({ a: becomes });
  });

  test("lets go whoever fits beside those that go already, and all their pods find their place anew", () => {
    const bound = [
      ["a", "1"],
      ["b", "3"],
      ["c", "3"],
      ["d", "2"],
      ["e", "2"],
    ].flatMap(([node = "", cpu = ""]) => podsOn(node, cpu));
    const names = ["a", "b", "c", "d", "e"];
    const question = { candidates: names.map(name => candidate(name)), targets: names };
    const { savings } = asked({ bound, nodes: names.map(name => aNode(name)) }, question);
    expect(savings.flatMap(({ nodes: gone }) => gone)).toEqual(["a", "d"]);
  });

  test("puts nothing onto nodes that are no targets", () => {
    const bound = [...podsOn("a", "3"), ...podsOn("b", "1")];
    const question = { candidates: [candidate("a")], targets: ["c"] };
    expect(told(asked({ bound }, question))).toEqual({ a: "goes for nothing" });
    expect(told(asked({ bound }, { ...question, targets: [] }))).toEqual({ a: dearer });
  });

  test("takes no notice of a pool that has nothing to offer", () => {
    const bound = podsOn("a", "1");
    const question = { candidates: [candidate("a")], targets: [] };
    const pools = [aPool("empty", { instanceTypes: [], weight: 100 }), pool];
    expect(told(asked({ bound, pools }, question))).toEqual({ a: "goes for two" });
  });

  test("lets nodes go although a pod waits that fits nowhere", () => {
    const bound = [...podsOn("a", "1"), ...podsOn("b", "3")];
    const question = { candidates: [candidate("a", 2)], targets: ["b"] };
    const waiting = [aPod("waits", { requests: { cpu: "1000" } })];
    expect(told(asked({ bound }, { ...question, waiting }))).toEqual({ a: "goes for nothing" });
  });

  test("leaves pods that wait their room first", () => {
    const bound = [...podsOn("a", "1"), ...podsOn("b", "3")];
    const question = { candidates: [candidate("a", 2)], targets: ["b"] };
    const waiting = [aPod("waits", { requests: { cpu: "1" } })];
    expect(told(asked({ bound }, question))).toEqual({ a: "goes for nothing" });
    expect(told(asked({ bound }, { ...question, waiting }))).toEqual({ a: dearer });
  });

  test("asks no more of a pool's budget at once than it has", () => {
    const bound = [...podsOn("a", "2500m"), ...podsOn("b", "2500m"), ...podsOn("c", "2500m")];
    const only = aPool("p", { instanceTypes: [aType("eight", { cpu: 8, price: 8 })] });
    const question = { termsByPool: new Map([["p", { ...terms, atOnce: 2 }]]) };
    expect(asked({ bound, pools: [only] }, question).savings).toEqual([]);
  });

  test("stays within what is left of limits, all moves together", () => {
    const bound = [...podsOn("a", "2"), ...podsOn("b", "2")];
    const question = { candidates: [candidate("a"), candidate("b")], targets: [] };
    const two = [aType("two", { cpu: 2 })];
    const limited = (nodeCount: string) => aPool("p", { instanceTypes: two, limits: { nodes: nodeCount } });
    expect(asked({ bound, pools: [limited("2")] }, question).savings).toHaveLength(2);
    expect(asked({ bound, pools: [limited("1")] }, question).savings).toHaveLength(1);
  });

  test("C lets no node go on which a pod has a volume of that machine: upstream would, and the pod wait for ever", () => {
    const here = [{ matchExpressions: [{ key: hostnameKey, operator: "In" as const, values: ["a"] }] }];
    const volumes = [{ metadata: { name: "disk" }, spec: { nodeAffinity: { required: { nodeSelectorTerms: here } } } }];
    const claims = [{ metadata: { name: "data" }, spec: { volumeName: "disk" } }];
    const using = [{ name: "data", persistentVolumeClaim: { claimName: "data" } }];
    const bound = [aPod("ledger", { node: "a", requests: { cpu: "1" }, volumes: using })];
    const verdict = asked({ bound, volumes, claims }, { candidates: [candidate("a")] });
    expect(told(verdict)).toEqual({ a: "pod ledger would have no place" });
  });

  test("lets no node go on which a pod has devices by resource claims: nobody can tell where else it would have them", () => {
    const resourceClaims = [{ name: "gpu" }];
    const bound = [aPod("trainer", { node: "a", requests: { cpu: "1" }, resourceClaims })];
    expect(told(asked({ bound }, { candidates: [candidate("a")] }))).toEqual({ a: "pod trainer would have no place" });
  });

  test.each([
    [1, "goes for two"],
    [2, "goes for nothing"],
  ])("C keeps pods of a kind spread over zones: with a skew of %i", (maxSkew, becomes) => {
    const labels = { app: "x" };
    const spread = {
      maxSkew,
      topologyKey: zoneKey,
      whenUnsatisfiable: "DoNotSchedule" as const,
      labelSelector: { matchLabels: labels },
    };
    const zoned = ["a", "b"].map(name => aNode(name, { labels: { [zoneKey]: name } }));
    const bound = ["a", "b"].map(node =>
      aPod(`${node}-0`, { node, labels, requests: { cpu: "1" }, topologySpreadConstraints: [spread] }),
    );
    const question = { candidates: [candidate("a")], targets: ["b"] };
    expect(told(asked({ bound, nodes: zoned }, question))).toEqual({ a: becomes });
  });

  test("names the pod that would have no place", () => {
    const bound = [aPod("stuck", { node: "a", requests: { cpu: "1" }, nodeSelector: { only: "here" } })];
    expect(told(asked({ bound }, { candidates: [candidate("a")] }))).toEqual({ a: "pod stuck would have no place" });
  });

  test("of two of a kind into one neither is replaced: one goes onto the other", () => {
    const bound = [...podsOn("a", "1"), ...podsOn("b", "1"), ...podsOn("c", "4")];
    const only = aPool("p", { instanceTypes: [aType("four")] });
    expect(told(asked({ bound, pools: [only] }, {}))).toEqual({ a: "goes for nothing", b: takes, c: dearer });
  });

  test.each<[string, string | undefined, boolean, string]>([
    ["spot by spot, unless that is wanted", "spot", false, "spot nodes are not replaced by spot nodes"],
    ["spot by spot where it is wanted, of fewer than 15 types", "spot", true, fewTypes],
    ["spot by what is cheaper on demand", undefined, false, "goes for two"],
    ["spot by what is reserved", "reserved", false, "goes for two"],
  ])("replaces %s", (_, kind, spotToSpot, becomes) => {
    const bound = podsOn("a", "1");
    const question = { candidates: [candidate("a", 4, { isSpot: true })], targets: [], spotToSpot };
    const two = aType("two", { cpu: 2, ...(kind === undefined ? {} : { capacityType: kind }) });
    expect(told(asked({ bound, pools: [aPool("p", { instanceTypes: [two] })] }, question))).toEqual({ a: becomes });
  });
});

/** Sold as spot for `spot` and on demand for `onDemand`, in two zones, the second 10% dearer. */
function sold(name: string, spot: number, onDemand: number): InstanceType {
  const type = aType(name, { zones: ["a", "b"] });
  const offer = (zone: string, capacityType: string, price: number) => ({
    requirements: [
      { key: zoneKey, operator: "In" as const, values: [zone] },
      { key: capacityTypeKey, operator: "In" as const, values: [capacityType] },
    ],
    price,
    available: true,
  });
  const prices: [string, number][] = [
    ["spot", spot],
    ["on-demand", onDemand],
  ];
  return {
    ...type,
    offerings: prices.flatMap(([kind, price]) => [offer("a", kind, price), offer("b", kind, price * 1.1)]),
  };
}

function aNewNode(types: readonly string[], price: number, requirements: NewNode["requirements"] = []): NewNode {
  return { pool: "p", instanceTypes: types, requirements, requests: {}, price, pods: [] };
}

describe("what a new node may become", () => {
  const onDemand = { key: capacityTypeKey, operator: "In" as const, values: ["on-demand"] };
  const both = aPool("p", { instanceTypes: [sold("t", 1, 3), sold("u", 2, 6)] });
  const narrowed = (most: number, requirements: NewNode["requirements"] = [], input = both) => {
    const found = new Replacements([input]).withinPrice([aNewNode(["t", "u"], 1, requirements)], {
      most,
      isForSpot: false,
    });
    return typeof found === "string" ? found : found.map(({ instanceTypes }) => instanceTypes.join("|")).join();
  };

  test.each([
    [1.1, dearer],
    [1.11, "t"],
    [2.2, "t"],
    [2.21, "t|u"],
  ])("whose dearest offering of the capacity type that is taken costs less than %f", (most, types) => {
    expect(narrowed(most)).toBe(types);
  });

  test("and nothing but spot is left open where that is reckoned with", () => {
    const [node] = new Replacements([both]).withinPrice([aNewNode(["t"], 1)], { most: 2, isForSpot: false });
    expect(node).toMatchObject({ requirements: [{ key: capacityTypeKey, operator: "In", values: ["spot"] }] });
  });

  test("reserved before all else, whatever the others cost", () => {
    const reserved = (price: number) => {
      const type = sold("t", 1, 3);
      const [offer] = type.offerings;
      const requirements = [{ key: capacityTypeKey, operator: "In" as const, values: ["reserved"] }];
      return { ...type, offerings: [...type.offerings, ...(offer ? [{ ...offer, requirements, price }] : [])] };
    };
    const found = new Replacements([aPool("p", { instanceTypes: [reserved(0.1)] })]).withinPrice(
      [aNewNode(["t"], 0.1)],
      { most: 0.5, isForSpot: true },
    );
    expect(found).toMatchObject([{ price: 0.1, requirements: [{ key: capacityTypeKey, values: ["reserved"] }] }]);
  });

  test("on demand, if that was asked for", () => {
    expect(narrowed(3.3, [onDemand])).toBe(dearer);
    expect(narrowed(3.31, [onDemand])).toBe("t");
  });

  test("with the choice that its pool wants", () => {
    const key = "node.kubernetes.io/instance-type";
    const wide = { ...both, requirements: [{ key, operator: "Exists" as const, minValues: 2 }] };
    expect(narrowed(2.2, [], wide)).toBe(dearer);
    expect(narrowed(2.21, [], wide)).toBe("t|u");
  });

  test.each([
    [14, "its pods could go onto 14 types of cheaper spot nodes, where 15 are wanted to choose from"],
    [15, 15],
    [20, 15],
  ])("in place of spot nodes one of 15 spot types, of %i that are cheaper", (count, becomes) => {
    const types = Array.from({ length: count }, (_, index) => sold(`t${String(index).padStart(2, "0")}`, 1, 9));
    const names = types.map(({ name }) => name);
    const found = new Replacements([aPool("p", { instanceTypes: types })]).withinPrice([aNewNode(names, 1)], {
      most: 3,
      isForSpot: true,
      spotToSpot: true,
    });
    expect(typeof found === "string" ? found : found[0]?.instanceTypes.length).toBe(becomes);
  });

  test("in place of spot nodes one of the 15 that are cheapest as spot, whatever they cost on demand", () => {
    const dear = sold("dear", 2, 0.5);
    const types = [dear, ...Array.from({ length: 15 }, (_, index) => sold(`t${index}`, 1, 9))];
    const names = types.map(({ name }) => name);
    const found = new Replacements([aPool("p", { instanceTypes: types })]).withinPrice([aNewNode(names, 0.5)], {
      most: 3,
      isForSpot: true,
      spotToSpot: true,
    });
    expect(found).toMatchObject([{ instanceTypes: names.slice(1), price: 1 }]);
  });

  test("in place of spot nodes one of more types where the pool wants more to choose from", () => {
    const types = Array.from({ length: 20 }, (_, index) => sold(`t${String(index).padStart(2, "0")}`, 1, 9));
    const key = "node.kubernetes.io/instance-type";
    const wide = (minValues: number) =>
      aPool("p", { instanceTypes: types, requirements: [{ key, operator: "Exists" as const, minValues }] });
    const counts = [10, 18, 21].map(minValues => {
      const spending = { most: 3, isForSpot: true, spotToSpot: true };
      const node = aNewNode(
        types.map(({ name }) => name),
        1,
      );
      const found = new Replacements([wide(minValues)]).withinPrice([node], spending);
      return typeof found === "string" ? found : found[0]?.instanceTypes.length;
    });
    expect(counts).toEqual([15, 20, dearer]);
  });

  test("several share what may be spent by their prices", () => {
    const pools = [aPool("p", { instanceTypes: [sold("t", 1, 9), sold("u", 2, 9), sold("v", 4, 9)] })];
    const found = new Replacements(pools).withinPrice([aNewNode(["t", "u", "v"], 1), aNewNode(["u", "v"], 2)], {
      most: 6.75,
      isForSpot: false,
    });
    expect(typeof found === "string" ? found : found.map(({ instanceTypes }) => instanceTypes)).toEqual([
      ["t", "u"],
      ["u", "v"],
    ]);
  });
});

describe("the terms of a pool", () => {
  const saving = (before: number, after: number, podCount: number): Saving => ({
    nodes: ["a"],
    newNodes: [],
    places: new Map(),
    podCount,
    price: { before, after },
  });
  /** Whose pods all have to move. */
  const disturbing = (disturbance: number, more: Partial<Candidate> = {}) => ({
    name: "a",
    pool: "p",
    price: 4,
    isSpot: false,
    disturbance,
    ...more,
  });
  const under = (more: Partial<Terms>) => new Map([["p", { ...terms, ...more }]]);

  test.each([
    ["nothing", saving(4, 4, 1), {}, "nothing would be saved"],
    ["less than it wants", saving(4, 3.61, 1), { minSavings: 0.1 }, "9.7% would be saved, and NodePool p wants 10%"],
    ["as much as it wants", saving(4, 3.6, 1), { minSavings: 0.1 }, undefined],
    // 2 of 100 for 4 of 100: upstream's score of 0.5.
    ["in proportion", saving(4, 2, 3), { isBalanced: true }, undefined],
    [
      "out of proportion",
      saving(4, 2, 4),
      { isBalanced: true },
      "too little would be saved for 4 pods that have to move",
    ],
  ])("saving %s", (_, one, more, why) => {
    expect(refusedBy(one, [disturbing(1 + one.podCount)], { termsByPool: under(more) })).toBe(why);
  });

  test.each([
    ["missed more than most", 4.5, "too little would be saved for 3 pods that have to move"],
    ["missed less, though there are more of them", 4, undefined],
  ])("are met in proportion to what is disturbed: pods that are %s", (_, disturbance, why) => {
    const pods = disturbance > 4 ? 3 : 9;
    expect(refusedBy(saving(4, 2, pods), [disturbing(disturbance)], { termsByPool: under({ isBalanced: true }) })).toBe(
      why,
    );
  });

  test("all pools that weigh savings must agree", () => {
    const [light, heavy] = [under({ isBalanced: true }).get("p"), under({ isBalanced: true, price: 1_000 }).get("p")];
    const both = (one = light, other = light) =>
      new Map([
        ["p", one ?? terms],
        ["q", other ?? terms],
      ]);
    const nodes = [disturbing(2), disturbing(2, { name: "b", pool: "q" })];
    expect(refusedBy(saving(8, 2, 2), nodes, { termsByPool: both() })).toBe(undefined);
    const why = "too little would be saved for 2 pods that have to move";
    expect(refusedBy(saving(8, 2, 2), nodes, { termsByPool: both(light, heavy) })).toBe(why);
    expect(refusedBy(saving(8, 2, 2), nodes, { termsByPool: both(heavy, light) })).toBe(why);
  });

  test("of which nothing is known to disturb are not met, and of which nothing costs are", () => {
    const nodes = [disturbing(2)];
    expect(refusedBy(saving(4, 0, 1), nodes, { termsByPool: under({ isBalanced: true, disturbance: 0 }) })).toContain(
      "too little",
    );
    expect(refusedBy(saving(4, 0, 1), nodes, { termsByPool: under({ isBalanced: true, price: 0 }) })).toBe(undefined);
  });

  // The pods of a fit onto b. A node and a pod are 2 of 10, for the 4 that a costs.
  test.each([
    ["that weighs savings and approves", { isBalanced: true, price: 12 }, [{ isApproved: true, score: 4 / 12 / 0.2 }]],
    ["that weighs savings and rejects", { isBalanced: true, price: 80 }, [{ isApproved: false, score: 4 / 80 / 0.2 }]],
    ["that does not weigh them", {}, []],
  ])("its word on a move is told where it is a pool %s", (_, more, scores) => {
    const termsByPool = under({ disturbance: 10, ...more });
    const bound = [...podsOn("a", "1"), ...podsOn("b", "1")];
    const verdict = asked({ bound, pools: [] }, { candidates: [candidate("a")], targets: ["b"], termsByPool });
    expect(verdict.savings).toHaveLength(scores[0]?.isApproved === false ? 0 : 1);
    expect(verdict.scores).toEqual(scores.map(one => ({ pool: "p", ...one })));
  });

  test("must be known", () => {
    expect(refusedBy(saving(4, 0, 0), [disturbing(1, { pool: "q" })], { termsByPool: under({}) })).toBe(
      "NodePool q is not there",
    );
  });
});
