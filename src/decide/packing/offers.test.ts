import fc from "fast-check";
import { expect, test } from "vitest";
import type { Pod } from "../../api/pod.ts";
import { offerAnew, pictureOf } from "./build.ts";
import { emptyProblem, type Problem } from "./problem.ts";
import { solveInSlices, solveNow, solveOn } from "./solve.ts";

const zones = ["a", "b", "c"];

function pod(name: string, spread: boolean, nodeName?: string): Pod {
  const labelSelector = { matchLabels: { app: "x" } };
  return {
    metadata: { name, namespace: "default", uid: name, labels: { app: "x" } },
    spec: {
      containers: [{ name: "c", resources: { requests: { cpu: "1" } } }],
      ...(nodeName === undefined ? {} : { nodeName }),
      ...(spread
        ? {
            topologySpreadConstraints: [
              {
                maxSkew: 1,
                topologyKey: "topology.kubernetes.io/zone",
                whenUnsatisfiable: "DoNotSchedule",
                labelSelector,
              },
            ],
          }
        : {
            affinity: {
              podAntiAffinity: {
                requiredDuringSchedulingIgnoredDuringExecution: [
                  { topologyKey: "kubernetes.io/hostname", labelSelector },
                ],
              },
            },
          }),
    },
  };
}

function type(cpu: number) {
  const amounts = { cpu: String(cpu), memory: "8Gi", pods: "20" };
  const offerings = zones.map(zone => ({
    requirements: [{ key: "topology.kubernetes.io/zone", operator: "In" as const, values: [zone] }],
    price: cpu,
    available: true,
  }));
  return { name: `t${cpu}`, requirements: [], offerings, capacity: amounts, allocatable: amounts };
}

function pool(name: string, cpu: number) {
  return { name, requirements: [], instanceTypes: [type(cpu)] };
}

const cluster: Problem = {
  ...emptyProblem,
  nodes: zones.map(zone => ({
    node: {
      metadata: {
        name: `n-${zone}`,
        labels: { "topology.kubernetes.io/zone": zone, "kubernetes.io/hostname": `n-${zone}` },
      },
      status: { allocatable: { cpu: "2", memory: "8Gi", pods: "10" } },
    },
  })),
  bound: [pod("r1", true, "n-a"), pod("r2", false, "n-b")],
};

const offers = fc.record({
  pools: fc.subarray([pool("p", 2), pool("q", 4), pool("r", 8)]),
  upcoming: fc.array(fc.record({ zone: fc.constantFrom(...zones), pods: fc.nat(2), spread: fc.boolean() }), {
    maxLength: 3,
  }),
});

test("a picture that is offered other pools and nodes answers as one that is made with them, and the same after each question", () => {
  fc.assert(
    fc.property(fc.array(offers, { minLength: 1, maxLength: 4 }), fc.nat(6), (rounds, count) => {
      const kept = pictureOf(cluster);
      for (const { pools, upcoming } of rounds) {
        const offered = {
          pools,
          upcoming: upcoming.map(({ zone, pods, spread }, index) => ({
            name: `u${index}`,
            pool: "p",
            requirements: [{ key: "topology.kubernetes.io/zone", operator: "In" as const, values: [zone] }],
            instanceTypes: [type(2)],
            pods: Array.from({ length: spread ? pods : Math.min(1, pods) }, (_, i) => pod(`u${index}-${i}`, spread)),
          })),
        };
        const pods = Array.from({ length: count }, (_, i) => pod(`w${i}`, i % 2 === 0));
        const fresh = solveNow({ ...cluster, ...offered, pods });
        for (const _ of offerAnew(kept, offered, { work: 0 }));
        expect(solveOn(kept, pods)).toEqual(fresh);
        expect(solveOn(kept, pods)).toEqual(fresh);
      }
    }),
    { numRuns: 60 },
  );
});

test("a search that is given up half-way leaves nothing behind", () => {
  const pods = Array.from({ length: 6 }, (_, i) => pod(`w${i}`, i % 2 === 0));
  const picture = pictureOf({ ...cluster, pools: [pool("p", 2)] });
  const whole = solveOn(picture, pods);
  for (let steps = 1; steps < 20; steps++) {
    const run = solveInSlices(picture, pods, { work: 0 });
    for (let i = 0; i < steps; i++) run.next();
    run.return(undefined as never);
    expect(solveOn(picture, pods)).toEqual(whole);
  }
});
