// Nodes for pods that wait, while everything fails that can: whatever the order of events, no pod gets two claims, and no
// pool passes its limits, not for a moment.

import fc from "fast-check";
import { expect, test } from "vitest";
import { simulate } from "../../src/sim/simulation/run.ts";
import type { Scenario } from "../../src/sim/simulation/scenario.ts";
import { parts } from "./parts.ts";

const podCount = 6;
const limit = 4;

const everywhere = [
  { key: "kubernetes.io/arch", operator: "In", values: ["amd64"] },
  { key: "kubernetes.io/os", operator: "In", values: ["linux"] },
  { key: "fettle.dev/instance-cpu", operator: "In", values: ["4"] },
];

function pool(name: string, spec: object) {
  const template = { spec: { requirements: everywhere } };
  return { apiVersion: "karpenter.sh/v1", kind: "NodePool", metadata: { name }, spec: { template, ...spec } };
}

/** Each of its pods fills a machine. */
function workload(name: string, pool_: string) {
  const resources = { requests: { cpu: "3", memory: "1Gi" } };
  const spec = { nodeSelector: { "karpenter.sh/nodepool": pool_ }, containers: [{ name, image: name, resources }] };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "default" },
    spec: {
      replicas: podCount,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec },
    },
  };
}

const instants = fc.constantFrom("0s", "1s", "2s", "3s", "5s", "20s");
const faults = fc.oneof(
  fc
    .record({
      fault: fc.constantFrom("LostAnswer", "LostRequest", "TooManyRequests", "InternalError", "Slow"),
      for: fc.constantFrom("5s", "40s"),
      share: fc.constantFrom("30%", "70%"),
    })
    .map(api => ({ api })),
  fc
    .record({ fault: fc.constantFrom("Delay", "Stall", "Drop", "Repeat"), for: fc.constantFrom("5s", "30s") })
    .map(watch => ({ watch })),
  fc
    .record({
      fault: fc.constantFrom("InsufficientCapacity", "Unknown", "LostAnswer", "Hang"),
      for: fc.constantFrom("5s", "30s"),
    })
    .map(provider => ({ provider })),
  fc
    .record({ downFor: fc.constant("20s"), atWrite: fc.integer({ min: 1, max: 12 }), committed: fc.boolean() })
    .map(crash => ({ crash })),
);

const seconds = Array.from({ length: 40 }, (_, index) => `${1 + index * 3}s`);

function scenario(timeline: readonly { at: string; do: object }[]): Scenario {
  const atMost = (at: string, name: string, most: number) => ({
    at,
    count: { kind: "NodeClaim", selector: `karpenter.sh/nodepool=${name}`, atMost: most },
  });
  return {
    title: "Nodes for pods that wait",
    until: "30m",
    cluster: { manifests: [pool("free", {}), pool("limited", { limits: { cpu: String(4 * limit) } })] },
    workloads: [workload("free", "free"), workload("limited", "limited")],
    timeline: [...timeline],
    expect: [
      ...seconds.flatMap(at => [atMost(at, "free", podCount), atMost(at, "limited", limit)]),
      { count: { kind: "NodeClaim", selector: "karpenter.sh/nodepool=free", is: podCount } },
      { count: { kind: "Pod", selector: "app=free", where: { "status.phase": "Running" }, is: podCount } },
      { count: { kind: "Pod", selector: "app=limited", where: { "status.phase": "Running" }, is: limit } },
    ],
  };
}

test("no pod gets two claims, no pool passes its limits, and in the end every pod that can run does", async () => {
  const story = fc.record({
    seed: fc.integer({ min: 1, max: 1_000 }),
    timeline: fc.array(fc.record({ at: instants, do: faults }), { maxLength: 3 }),
  });
  await fc.assert(
    fc.asyncProperty(story, async ({ seed, timeline }) => {
      const { verdict } = await simulate(scenario(timeline), { ...parts, seed, verifyEvery: 5 });
      expect(verdict.problems).toEqual([]);
    }),
    { numRuns: 16 },
  );
});
