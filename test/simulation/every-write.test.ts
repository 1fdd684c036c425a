// A controller that dies at each of its writes, before or after it reached the server, from a person's delete until the
// node is gone and another one has come: whoever leads next finishes it, and nothing is done twice.

import { expect, test } from "vitest";
import { parseScenario } from "../../src/cli/scenario-file.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import type { Scenario } from "../../src/sim/simulation/scenario.ts";
import { parts } from "./parts.ts";

const story = `
title: A node of a pool is deleted, and the controller dies at one of its writes
until: 20m
cluster:
  manifests:
    - apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: { name: web }
      spec:
        replicas: 2
        template:
          spec:
            nodeClassRef: { group: fettle.dev, kind: SimulatedNodeClass, name: default }
            requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [s-4x-amd64-linux] }]
workloads:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: { name: web, namespace: default }
    spec:
      replicas: 2
      selector: { matchLabels: { app: web } }
      template:
        metadata: { labels: { app: web } }
        spec: { containers: [{ name: web, image: web, resources: { requests: { cpu: 500m, memory: 64Mi } } }] }
timeline:
  - at: 5m
    do: { delete: { kind: NodeClaim, selector: karpenter.sh/nodepool=web, count: 1 } }
expect:
  - count: { kind: Node, selector: karpenter.sh/initialized=true, is: 2 }
  - count: { kind: NodeClaim, is: 2 }
  - count: { kind: ConfigMap, namespace: fettle-simulated, selector: fettle.dev/cluster=simulated, is: 2 }
  - count: { kind: Pod, where: { status.phase: Running }, is: 2 }
  - count: { kind: NodeAction, is: 1 }
  - count: { kind: NodeAction, where: { status.phase: Done }, is: 1 }
`;

function dyingAt(atWrite: number, committed: boolean): Scenario {
  const parsed = parseScenario("story", new TextEncoder().encode(story));
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const crash = { at: "5m", do: { crash: { atWrite, committed } } };
  return { ...parsed.scenario, timeline: [crash, ...(parsed.scenario.timeline ?? [])] };
}

test.each([
  ["before", false],
  ["after", true],
])(
  "a death %s any write is made good",
  async (_, committed) => {
    let deaths = 0;
    for (let atWrite = 1; ; atWrite++) {
      const { journal, verdict } = await simulate(dyingAt(atWrite, committed), parts);
      expect({ atWrite, problems: verdict.problems }).toEqual({ atWrite, problems: [] });
      if (!journal.some(line => line.includes("the controller dies"))) break;
      deaths++;
    }
    expect(deaths).toBeGreaterThan(30);
  },
  600_000,
);
