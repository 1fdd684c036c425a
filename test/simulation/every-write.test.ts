// A controller that dies at each of its writes, before or after it reached the server, from a person's delete until the
// node is gone and another one has come, and from a sickness until a reboot has healed it or the node is replaced: whoever
// leads next finishes it, and nothing is done twice.

import { expect, test } from "vitest";
import { parseScenario } from "../../src/cli/scenario-file.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import type { Scenario } from "../../src/sim/simulation/scenario.ts";
import { parts } from "./parts.ts";

const deleted = `
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

const sick = (heals: string) => `
title: A machine hangs and is rebooted, and the controller dies at one of its writes
until: 20m
cluster:
  manifests:
    - apiVersion: fettle.dev/v1alpha1
      kind: SimulatedNodeClass
      metadata: { name: default }
      spec: { reboot: { time: { median: 5s }, heals: "${heals}" } }
    - apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: { name: web }
      spec:
        replicas: 2
        repair: { action: Reboot, escalateAfter: 2m, policies: [{ conditionType: Ready, toleration: 1m }] }
        template:
          spec:
            nodeClassRef: { group: fettle.dev, kind: SimulatedNodeClass, name: default }
            requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [s-4x-amd64-linux] }]
timeline:
  - at: 3m20s
    do:
      annotate:
        { kind: Node, selector: karpenter.sh/nodepool=web, count: 1, annotations: { fettle.dev/simulate: silent } }
expect:
  - count: { kind: Node, selector: karpenter.sh/initialized=true, where: { spec.unschedulable: "", status.conditions.Ready: "True" }, is: 2 }
  - count: { kind: NodeClaim, is: 2 }
  - count: { kind: ConfigMap, namespace: fettle-simulated, selector: fettle.dev/cluster=simulated, is: 2 }
  - { at: 7m, count: { kind: ConfigMap, namespace: fettle-simulated, where: { data.rebootCount: "1" }, is: 1 } }
`;

const healed = `${sick("100%")}
  - count: { kind: NodeAction, where: { spec.method: Reboot, status.phase: Done }, is: 1 }
  - count: { kind: NodeAction, is: 1 }
  - unharmed: { kind: Node }
`;
const replaced = `${sick("0%")}
  - count: { kind: NodeAction, where: { spec.method: Reboot, status.phase: Failed }, is: 1 }
  - count: { kind: NodeAction, where: { spec.method: Terminate, status.phase: Done }, is: 1 }
  - count: { kind: NodeAction, is: 2 }
`;

type Death = { readonly atWrite: number; readonly committed: boolean };

function dyingAt(story: string, death: Death): Scenario {
  const parsed = parseScenario("story", new TextEncoder().encode(story));
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const crash = { at: "5m", do: { crash: death } };
  return { ...parsed.scenario, timeline: [crash, ...(parsed.scenario.timeline ?? [])] };
}

test.each([
  ["of a deletion, before it is made", deleted, false, 30],
  ["of a deletion, after it is made", deleted, true, 30],
  ["of a reboot that heals, before it is made", healed, false, 8],
  ["of a reboot that heals, after it is made", healed, true, 8],
  ["of a reboot that does not, before it is made", replaced, false, 25],
  ["of a reboot that does not, after it is made", replaced, true, 25],
])(
  "a death at any write %s, is made good",
  async (_, story, committed, leastDeaths) => {
    let deaths = 0;
    for (let atWrite = 1; ; atWrite++) {
      const { journal, verdict } = await simulate(dyingAt(story, { atWrite, committed }), { ...parts, verifyEvery: 5 });
      expect({ atWrite, problems: verdict.problems }).toEqual({ atWrite, problems: [] });
      if (!journal.some(line => line.includes("the controller dies"))) break;
      deaths++;
    }
    expect(deaths).toBeGreaterThan(leastDeaths);
  },
  600_000,
);
