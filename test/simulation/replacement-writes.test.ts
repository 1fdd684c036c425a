// A controller that dies at each of its writes while a node is replaced before it goes, in a pool for pods and in one with
// replicas, while several are replaced by one, and while a replacement fails: whoever leads next goes on or undoes it.
// Nothing is launched twice, and no taint, claim or machine is left over.

import { expect, test } from "vitest";
import { parseScenario } from "../../src/cli/scenario-file.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import type { Scenario } from "../../src/sim/simulation/scenario.ts";
import { parts } from "./parts.ts";

type Story = {
  readonly pool?: string;
  readonly readinessTTL?: string;
  readonly meanwhile?: string;
  readonly expect?: string;
};

function drifts({ pool = "", readinessTTL = "15m", meanwhile = "", expect: more = "" }: Story): string {
  return `
title: The only node of a pool drifts, and the controller dies at one of its writes
until: 1h
cluster:
  manifests:
    - apiVersion: fettle.dev/v1alpha1
      kind: SimulatedNodeClass
      metadata: { name: default }
      spec: {}
    - apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: { name: web }
      spec:
        ${pool}
        disruption: { consolidateAfter: Never, budgets: [{ nodes: "1" }] }
        template:
          metadata: { labels: { image: one } }
          spec:
            readinessTTL: ${readinessTTL}
            requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [s-4x-amd64-linux] }]
workloads:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: { name: shop, namespace: default }
    spec:
      replicas: 1
      selector: { matchLabels: { app: shop } }
      template:
        metadata: { labels: { app: shop } }
        spec: { containers: [{ name: shop, image: shop, resources: { requests: { cpu: "3", memory: 64Mi } } }] }
timeline:
  - at: 5m
    do: { patch: { kind: NodePool, name: web, merge: { spec: { template: { metadata: { labels: { image: two } } } } } } }
${meanwhile}
expect:
  - { count: { kind: Node, is: 1 } }
  - { count: { kind: Node, selector: "image=two,karpenter.sh/initialized=true", where: { spec.taints: "" }, is: 1 } }
  - { count: { kind: NodeClaim, is: 1 } }
  - { count: { kind: ConfigMap, namespace: fettle-simulated, selector: fettle.dev/cluster=simulated, is: 1 } }
  - { count: { kind: Pod, namespace: default, where: { status.phase: Running }, is: 1 } }
  - { count: { kind: NodeAction, where: { spec.action: Drift, status.phase: Done }, is: 1 } }
${more}
`;
}

/** Their pool allows a larger machine from five minutes on, which costs less than the three together. */
const becomeOne = `
title: Three nodes are consolidated into one, and the controller dies at one of its writes
until: 40m
cluster:
  manifests:
    - apiVersion: fettle.dev/v1alpha1
      kind: SimulatedNodeClass
      metadata: { name: default }
      spec: {}
    - apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: { name: web }
      spec:
        disruption: { consolidateAfter: Never, budgets: [{ nodes: 100% }] }
        template:
          spec:
            requirements:
              - { key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux] }
              - { key: karpenter.sh/capacity-type, operator: In, values: [on-demand] }
workloads:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: { name: shop, namespace: default }
    spec:
      replicas: 3
      selector: { matchLabels: { app: shop } }
      template:
        metadata: { labels: { app: shop } }
        spec: { containers: [{ name: shop, image: shop, resources: { requests: { cpu: 1200m, memory: 512Mi } } }] }
timeline:
  - at: 5m
    do:
      patch:
        kind: NodePool
        name: web
        merge:
          spec:
            disruption: { consolidateAfter: 30s }
            template:
              spec:
                requirements:
                  - { key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux, c-4x-amd64-linux] }
                  - { key: karpenter.sh/capacity-type, operator: In, values: [on-demand] }
expect:
  - { count: { kind: Node, is: 1 } }
  - { count: { kind: Node, selector: karpenter.sh/initialized=true, where: { spec.taints: "" }, is: 1 } }
  - { count: { kind: NodeClaim, is: 1 } }
  - { count: { kind: ConfigMap, namespace: fettle-simulated, selector: fettle.dev/cluster=simulated, is: 1 } }
  - { count: { kind: Pod, namespace: default, where: { status.phase: Running }, is: 3 } }
  - { count: { kind: NodeAction, where: { spec.action: Consolidation, status.phase: Done }, is: 3 } }
`;

const once = `  - { journal: { has: launch-instance done, atMost: 3 } }`;
const noCapacity = `
  - at: 5m
    do: { provider: { fault: InsufficientCapacity, calls: [create], for: 1m } }
`;
/** The first replacement never joins, and is given up with its readinessTTL. */
const neverJoins = `
  - at: 5m
    do: { patch: { kind: SimulatedNodeClass, name: default, merge: { spec: { faults: [{ kind: NeverJoins }] } } } }
  - at: 8m
    do: { patch: { kind: SimulatedNodeClass, name: default, merge: { spec: { faults: null } } } }
`;

type Death = { readonly atWrite: number; readonly committed: boolean };

function dyingAt(story: string, death: Death): Scenario {
  const parsed = parseScenario("story", new TextEncoder().encode(story));
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const crash = { at: "5m", do: { crash: death } };
  return { ...parsed.scenario, timeline: [crash, ...(parsed.scenario.timeline ?? [])] };
}

/** At every nth write, one time before it is made and the next time after. */
test.each<[string, string, number]>([
  ["of a replacement for pods", drifts({ expect: once }), 1],
  ["of a replacement one for one", drifts({ pool: "replicas: 1", expect: once }), 3],
  ["of one for several that go together", becomeOne, 7],
  ["while there is no capacity", drifts({ meanwhile: noCapacity }), 3],
  ["while a replacement never joins", drifts({ readinessTTL: "2m", meanwhile: neverJoins }), 3],
])(
  "a death at a write %s, is made good",
  async (_, story, every) => {
    let deaths = 0;
    for (let atWrite = 1; ; atWrite += every) {
      const death = { atWrite, committed: deaths % 2 === 1 };
      const { journal, verdict } = await simulate(dyingAt(story, death), { ...parts, verifyEvery: 5 });
      expect({ death, problems: verdict.problems }).toEqual({ death, problems: [] });
      if (!journal.some(line => line.includes("the controller dies"))) break;
      deaths++;
    }
    expect(deaths * every).toBeGreaterThan(25);
  },
  900_000,
);
