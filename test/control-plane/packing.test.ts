// Where a pod may go is what kube-scheduler says: its own filters, asked node by node about random clusters, agree with
// the verifier and with the solver.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { podKey } from "../../src/api/pod.ts";
import { zoneKey } from "../../src/api/node.ts";
import { emptyProblem, type Problem } from "../../src/decide/packing/problem.ts";
import { blindTo, blindSpots } from "../packing/blind.ts";
import { bySolver, byVerifier, type Disagreement, disagreements, type Feasibility } from "../packing/feasibility.ts";
import { askOracle, type OracleAnswer, whyNoOracle } from "../packing/oracle.ts";
import { canary, RealCluster } from "../packing/real-cluster.ts";
import { rules } from "../packing/verifier/rules.ts";
import { clusters, clustersWithStorage, spreadClusters } from "../packing/worlds/clusters.ts";
import { isUnavailable } from "./binaries.ts";
import { type ControlPlane, controlPlane } from "./start.ts";

const worldsOfEachKind = Number(process.env["FETTLE_WORLDS"] ?? 750);
const filters = [
  "InterPodAffinity",
  "NodeAffinity",
  "NodePorts",
  "NodeResourcesFit",
  "NodeUnschedulable",
  "NodeVolumeLimits",
  "PodTopologySpread",
  "TaintToleration",
  "VolumeBinding",
  "VolumeRestrictions",
  "VolumeZone",
];
const seed = Number(process.env["FETTLE_SEED"] ?? 20_260_101);

const whyNot = whyNoOracle();
if (whyNot !== undefined && process.env["FETTLE_REQUIRE_CONTROL_PLANE"] === "1") throw new Error(whyNot);

describe.skipIf(whyNot !== undefined)(`${3 * worldsOfEachKind} random clusters, seed ${seed}`, () => {
  let problems: Problem[] = [];
  let answers: OracleAnswer[] = [];

  beforeAll(async () => {
    const options = { numRuns: worldsOfEachKind, seed };
    problems = [clusters, clustersWithStorage, spreadClusters].flatMap(kind => fc.sample(kind, options));
    answers = await askOracle(problems);
  });

  const differences = (judge: (problem: Problem) => Feasibility): Disagreement[] =>
    problems.flatMap((problem, index) => disagreements(index, answers[index] ?? {}, judge(problem)));

  const isFoundOut = (judge: (problem: Problem) => Feasibility): boolean =>
    problems.some((problem, index) => disagreements(index, answers[index] ?? {}, judge(problem)).length > 0);

  /** The first of them with all that is needed to look into it. */
  function story(found: readonly Disagreement[]): string {
    const [first] = found;
    if (first === undefined) return "";
    const { pods, ...rest } = problems[first.world] ?? { pods: [] };
    const named = pods.filter(({ metadata }) => first.pod.endsWith(`/${metadata.name}`));
    return `${found.length} of them; seed ${seed}, ${JSON.stringify(first)}\n${JSON.stringify({ ...rest, pods: named })}`;
  }

  test("meet every filter, and pass them often enough", () => {
    const verdicts = answers.flatMap(answer => Object.values(answer).flatMap(row => Object.values(row)));
    const plugins = new Set(verdicts.filter(one => one !== "").map(one => one.split(":")[0]));
    expect(answers).toHaveLength(problems.length);
    expect(plugins).toEqual(new Set(filters));
    expect(verdicts.filter(one => one === "").length).toBeGreaterThan(verdicts.length / 5);
  });

  test("the verifier agrees with kube-scheduler about every pod on every node", () => {
    expect(story(differences(problem => byVerifier(problem)))).toBe("");
  });

  test("the solver agrees with kube-scheduler about every pod on every node", () => {
    expect(story(differences(bySolver))).toBe("");
  });

  test.each(Object.keys(rules))("a verifier without its rule of %s is found out", name => {
    const others = Object.fromEntries(Object.entries(rules).filter(([other]) => other !== name));
    expect(isFoundOut(problem => byVerifier(problem, others))).toBe(true);
  });

  test.each(blindSpots)("a verifier that does not see $what is found out", ({ field }) => {
    expect(isFoundOut(problem => byVerifier(blindTo(field, problem)))).toBe(true);
  });

  test.each(blindSpots)("a solver that does not see $what is found out", ({ field }) => {
    expect(isFoundOut(problem => bySolver(blindTo(field, problem)))).toBe(true);
  });
});

describe.skipIf(whyNot !== undefined)("kube-scheduler 1.36 by itself", () => {
  test("takes a namespace selector that asks for absence for all namespaces: when it no longer does, so may the worlds", async () => {
    const other = { name: "b", namespace: "other", labels: { app: "web" } };
    const term = {
      topologyKey: zoneKey,
      labelSelector: { matchLabels: { app: "web" } },
      namespaceSelector: { matchExpressions: [{ key: "stage", operator: "DoesNotExist" as const }] },
    };
    const problem: Problem = {
      ...emptyProblem,
      nodes: [
        { node: { metadata: { name: "n", labels: { [zoneKey]: "a" } }, status: { allocatable: { pods: "9" } } } },
      ],
      bound: [{ metadata: other, spec: { containers: [{ name: "main" }], nodeName: "n" } }],
      pods: [
        {
          metadata: { name: "p", namespace: "default" },
          spec: {
            containers: [{ name: "main" }],
            affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
          },
        },
      ],
      namespaces: [{ metadata: { name: "default" } }, { metadata: { name: "other", labels: { stage: "test" } } }],
    };
    const [answer] = await askOracle([problem]);
    expect(answer).toEqual({ "default/p": { n: "InterPodAffinity: node(s) didn't match pod anti-affinity rules" } });
    expect(byVerifier(problem)).toEqual({ "default/p": { n: "" } });
  });
});

const realWorlds = 24;

describe.skipIf(isUnavailable("etcd", "kube-apiserver", "kube-scheduler"))("a real kube-scheduler", () => {
  let plane: ControlPlane;
  let cluster: RealCluster;
  // Overhead comes from a RuntimeClass or not at all.
  const worlds = fc
    .sample(clusters, { numRuns: realWorlds, seed })
    .map(problem => blindTo("overhead", problem))
    .map(problem => ({ ...problem, nodes: [...problem.nodes, canary] }));

  const outcomes: (string | undefined)[] = [];

  beforeAll(async () => {
    plane = await controlPlane({ components: ["kube-scheduler"] });
    cluster = new RealCluster(plane);
    const [first] = worlds;
    if (first !== undefined) await cluster.putNamespaces(first);
  });
  afterAll(async () => {
    await cluster?.close();
    await plane?.stop();
  });

  test.each(worlds.map((world, index) => ({ world, index })))(
    `puts each pod of world $index, seed ${seed}, on a node where we say it can go, or on none where we say none`,
    async ({ world }) => {
      await cluster.put(world);
      let bound = world.bound;
      for (const pod of world.pods) {
        const problem = { ...world, bound, pods: [pod] };
        const chosen = await cluster.schedule(pod);
        outcomes.push(chosen);
        for (const found of [byVerifier(problem), bySolver(problem)]) {
          const feasible = Object.entries(found[podKey(pod)] ?? {}).flatMap(([node, trouble]) =>
            trouble === "" ? [node] : [],
          );
          if (chosen === undefined) expect(feasible).toEqual([]);
          else expect(feasible).toContain(chosen);
        }
        // One that waits would be tried again whenever something changes.
        if (chosen === undefined) await cluster.remove(pod);
        else bound = [...bound, { ...pod, spec: { ...pod.spec, nodeName: chosen } }];
      }
      await cluster.clear(world, bound);
    },
  );

  test("was asked for both: pods that fit somewhere, and pods that fit nowhere", () => {
    const refused = outcomes.filter(chosen => chosen === undefined).length;
    expect(refused).toBeGreaterThan(5);
    expect(outcomes.length - refused).toBeGreaterThan(20);
  });
});
