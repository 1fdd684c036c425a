// What holds for every answer, over random worlds, judged by code that is as plain as can be.
import fc from "fast-check";
import { expect, test } from "vitest";
import { hostnameKey, zoneKey } from "../../api/node.ts";
import type { Pod, PodSpec } from "../../api/pod.ts";
import type { Answer } from "./answer.ts";
import { emptyProblem, type Problem } from "./problem.ts";
import { solve, solveNow } from "./solve.ts";
import { aNode, aPod, aPool, aType, unplacedNames, zoneOf } from "./test-worlds.ts";

const apps = ["x", "y", "z"];
const anyKey = fc.constantFrom(zoneKey, hostnameKey);
const anyRules = fc.record({
  app: fc.constantFrom(...apps),
  other: fc.constantFrom(...apps),
  key: anyKey,
  maxSkew: fc.integer({ min: 1, max: 2 }),
  cpu: fc.integer({ min: 1, max: 25 }),
  rule: fc.constantFrom("none", "none", "spread", "soft-spread", "apart", "near", "zone-b", "prefers-b", "port"),
});

type Rules = typeof anyRules extends fc.Arbitrary<infer T> ? T : never;

function podOf(name: string, { app, other, key, maxSkew, cpu, rule }: Rules): Pod {
  const labelSelector = { matchLabels: { app: other } };
  const terms = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: key, labelSelector }] };
  const whenUnsatisfiable = rule === "spread" ? ("DoNotSchedule" as const) : ("ScheduleAnyway" as const);
  const inB = { matchExpressions: [{ key: zoneKey, operator: "In" as const, values: ["b"] }] };
  const rules: Partial<PodSpec> = {
    ...(rule.endsWith("spread") && {
      topologySpreadConstraints: [{ maxSkew, topologyKey: key, whenUnsatisfiable, labelSelector }],
    }),
    ...(rule === "apart" && { affinity: { podAntiAffinity: terms } }),
    ...(rule === "near" && { affinity: { podAffinity: terms } }),
    ...(rule === "zone-b" && { nodeSelector: { [zoneKey]: "b" } }),
    ...(rule === "prefers-b" && {
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, preference: inB }] } },
    }),
  };
  const resources = { requests: { cpu: `${cpu * 100}m` } };
  const ports = rule === "port" ? [{ containerPort: 1, hostPort: 80 }] : [];
  return aPod(name, { labels: { app }, containers: [{ name: "c", resources, ports }], ...rules });
}

const zones = ["a", "b", "c"];
const nodeAt = (name: string, zone: string) => aNode(name, { labels: zoneOf(zone) });
const anyWorld: fc.Arbitrary<Problem> = fc
  .record({
    nodes: fc.array(fc.constantFrom(...zones), { maxLength: 4 }),
    pools: fc.constantFrom(0, 1, 2),
    pods: fc.array(anyRules, { minLength: 1, maxLength: 14 }),
    bound: fc.array(anyRules, { maxLength: 4 }),
    limit: fc.option(fc.integer({ min: 4, max: 30 }), { nil: undefined }),
  })
  .map(({ nodes, pools, pods, bound, limit }) => ({
    ...emptyProblem,
    nodes: nodes.map((zone, index) => nodeAt(`n${index}`, zone)),
    bound:
      nodes.length === 0 ? [] : bound.map((one, index) => bind(podOf(`b${index}`, one), `n${index % nodes.length}`)),
    pools: [
      aPool("one", { ...(limit !== undefined && { limits: { cpu: `${limit}` } }) }),
      aPool("two", { instanceTypes: [aType("other", { cpu: 4, zones: ["a", "b"], unavailable: ["a"] })] }),
    ].slice(0, pools),
    pods: pods.map((one, index) => podOf(`p${String(index).padStart(2, "0")}`, one)),
  }));

function bind(pod: Pod, nodeName: string): Pod {
  return { ...pod, spec: { ...pod.spec, nodeName } };
}

test("the order of the input changes nothing in the output", () => {
  const shuffled = anyWorld.chain(world =>
    fc.tuple(
      fc.constant(world),
      fc.record({
        nodes: shuffle(world.nodes),
        pools: shuffle(world.pools),
        pods: shuffle(world.pods),
        bound: shuffle(world.bound),
      }),
    ),
  );
  fc.assert(
    fc.property(shuffled, ([world, order]) => {
      expect(solveNow({ ...world, ...order })).toEqual(solveNow(world));
    }),
    { numRuns: 120 },
  );
});

function shuffle<T>(list: readonly T[]): fc.Arbitrary<T[]> {
  return fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length });
}

test("slices do not change the answer", () => {
  fc.assert(
    fc.property(anyWorld, fc.integer({ min: 1, max: 50 }), (world, budget) => {
      const solver = solve(world);
      let answer: Answer | undefined;
      while (answer === undefined) answer = solver.step(budget);
      expect(answer).toEqual(solveNow(world));
    }),
    { numRuns: 60 },
  );
});

test("every pod is placed once or explained once", () => {
  fc.assert(
    fc.property(anyWorld, world => {
      const { placements, unplaced, newNodes } = solveNow(world);
      const names = [...placements, ...unplaced].map(({ pod }) => pod.metadata.name);
      expect(names.sort()).toEqual(world.pods.map(pod => pod.metadata.name).sort());
      for (const { reason } of unplaced) expect(reason.what).not.toBe("");
      for (const node of newNodes) expect(node.pods.length).toBeGreaterThan(0);
    }),
  );
});

test("adding a node in an existing domain never makes a pod without spread or affinity unplaceable", () => {
  const plain = anyWorld.map(world => ({
    ...world,
    pods: world.pods.filter(({ spec }) => !spec.affinity && !spec.topologySpreadConstraints),
    nodes: world.nodes.length === 0 ? [nodeAt("n0", "a")] : world.nodes,
  }));
  fc.assert(
    fc.property(plain, world => {
      const more = { ...world, nodes: [...world.nodes, nodeAt("n9", "a")] };
      // Without pools: with them the question is one of packing, and every such pod has a place or has none.
      const before = unplacedNames(solveNow({ ...world, pools: [] }));
      const after = unplacedNames(solveNow({ ...more, pools: [] }));
      expect(after.length).toBeLessThanOrEqual(before.length);
    }),
  );
});

// The judge: replays the placements one by one, as the scheduler would see them.
type Spot = { zones: readonly string[]; host: string; cpu: number; pods: Pod[] };

test("no placement breaks a rule", () => {
  expect.hasAssertions();
  fc.assert(
    fc.property(anyWorld, world => {
      const answer = solveNow(world);
      const spots = new Map<string, Spot>();
      for (const { node } of world.nodes) {
        const zone = node.metadata.labels?.[zoneKey] ?? "";
        const pods = world.bound.filter(pod => pod.spec.nodeName === node.metadata.name);
        spots.set(node.metadata.name, { zones: [zone], host: node.metadata.name, cpu: 4000, pods });
      }
      for (const [index, node] of answer.newNodes.entries()) spots.set(`new:${index}`, newSpot(index, node, world));
      const isThere = (spot: Spot) => !spot.host.startsWith("new:") || spot.pods.length > 0;
      for (const { pod, target } of answer.placements) {
        const spot = spots.get(
          target.kind === "new" ? `new:${target.index}` : target.kind === "existing" ? target.node : "",
        );
        if (spot === undefined) throw new Error("placed nowhere");
        judge(
          pod,
          spot,
          [...spots.values()].filter(one => isThere(one) || one === spot),
        );
        spot.pods = [...spot.pods, pod];
      }
    }),
    { numRuns: 250 },
  );
});

function newSpot(index: number, node: Answer["newNodes"][number], world: Problem): Spot {
  const types =
    world.pools
      .find(({ name }) => name === node.pool)
      ?.instanceTypes.filter(({ name }) => node.instanceTypes.includes(name)) ?? [];
  const asked = node.requirements.filter(({ key }) => key === zoneKey);
  const offered = types.flatMap(type =>
    type.offerings.filter(one => one.available).flatMap(one => one.requirements[0]?.values ?? []),
  );
  const possible = [...new Set(offered)].filter(zone =>
    asked.every(({ operator, values = [] }) => values.includes(zone) === (operator === "In")),
  );
  expect(types.length).toBeGreaterThan(0);
  expect(possible.length).toBeGreaterThan(0);
  return {
    zones: possible,
    host: `new:${index}`,
    cpu: 1000 * Math.min(...types.map(type => Number(type.allocatable["cpu"]))),
    pods: [],
  };
}

const cpuOf = ({ spec }: Pod) => Number.parseInt(spec.containers[0]?.resources?.requests?.["cpu"] ?? "0", 10);
const hasPort = ({ spec }: Pod) => (spec.containers[0]?.ports?.length ?? 0) > 0;
const isOf = (pod: Pod, app: string | undefined) => pod.metadata.labels?.["app"] === app;

function judge(pod: Pod, spot: Spot, spots: readonly Spot[]): void {
  expect(spot.pods.reduce((sum, one) => sum + cpuOf(one), cpuOf(pod))).toBeLessThanOrEqual(spot.cpu);
  if (hasPort(pod)) expect(spot.pods.some(hasPort)).toBe(false);
  if (pod.spec.nodeSelector) expect(spot.zones).toEqual(["b"]);
  const domains = (key: string, of: Spot): readonly string[] => (key === hostnameKey ? [of.host] : of.zones);
  const near = (key: string) =>
    spots.filter(other => domains(key, other).some(one => domains(key, spot).includes(one)));
  const anti = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0];
  if (anti) {
    const others = near(anti.topologyKey).flatMap(({ pods }) => pods);
    expect(others.some(other => isOf(other, anti.labelSelector?.matchLabels?.["app"]))).toBe(false);
  }
  for (const other of spots.flatMap(({ pods }) => pods)) {
    const term = other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0];
    if (term === undefined || !isOf(pod, term.labelSelector?.matchLabels?.["app"])) continue;
    expect(near(term.topologyKey).some(({ pods }) => pods.includes(other))).toBe(false);
  }
  const affinity = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.[0];
  if (affinity) {
    const app = affinity.labelSelector?.matchLabels?.["app"];
    const isFirst = isOf(pod, app) && !spots.some(({ pods }) => pods.some(one => isOf(one, app)));
    expect(isFirst || near(affinity.topologyKey).some(({ pods }) => pods.some(one => isOf(one, app)))).toBe(true);
  }
  const spread = pod.spec.topologySpreadConstraints?.find(one => one.whenUnsatisfiable === "DoNotSchedule");
  if (spread) {
    const app = spread.labelSelector?.matchLabels?.["app"];
    const countByDomain = new Map<string, number>();
    for (const one of spots) {
      for (const domain of domains(spread.topologyKey, one)) {
        const here = one.pods.filter(each => isOf(each, app)).length;
        countByDomain.set(domain, (countByDomain.get(domain) ?? 0) + here);
      }
    }
    const least = Math.min(...countByDomain.values());
    for (const domain of domains(spread.topologyKey, spot)) {
      expect((countByDomain.get(domain) ?? 0) + (isOf(pod, app) ? 1 : 0) - least).toBeLessThanOrEqual(spread.maxSkew);
    }
  }
}
