// Nobody of ours runs for a while, and meanwhile a node that stood empty is used and left again, which nothing tells of: its
// time runs anew. After a mere restart it goes on.

import { expect, test } from "vitest";
import { parseScenario } from "../../src/cli/scenario-file.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import { parts } from "./parts.ts";

function story(down: string, until: readonly string[]): string {
  return `
title: A node stands empty for an hour, and the controller dies
until: 2h10m
cluster:
  manifests:
    - apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: { name: general }
      spec:
        template:
          spec:
            requirements: [{ key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux] }]
        disruption: { consolidationPolicy: WhenEmpty, consolidateAfter: 30m, budgets: [{ nodes: "0" }] }
workloads:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: { name: visitor, namespace: default }
    spec:
      replicas: 1
      selector: { matchLabels: { app: visitor } }
      template:
        metadata: { labels: { app: visitor } }
        spec: { containers: [{ name: visitor, image: visitor, resources: { requests: { cpu: "3", memory: 1Gi } } }] }
timeline:
  - { at: 5m, do: { patch: { kind: Deployment, name: visitor, merge: { spec: { replicas: 0 } } } } }
  - { at: 1h, do: { crash: { downFor: ${down} } } }
  - { at: 1h5m, do: { patch: { kind: Deployment, name: visitor, merge: { spec: { replicas: ${down === "30m" ? 1 : 0} } } } } }
  - { at: 1h25m, do: { patch: { kind: Deployment, name: visitor, merge: { spec: { replicas: 0 } } } } }
  - { at: 1h29m, do: { patch: { kind: NodePool, name: general, merge: { spec: { disruption: { budgets: [{ nodes: "1" }] } } } } } }
expect:
${until.map(line => `  - ${line}`).join("\n")}
`;
}

test.each<[string, string, readonly string[]]>([
  [
    "half an hour",
    "30m",
    ["{ at: 1h59m, count: { kind: Node, is: 1 } }", "{ at: 2h5m, count: { kind: Node, is: 0 } }"],
  ],
  ["a restart", "20s", ["{ at: 1h28m, count: { kind: Node, is: 1 } }", "{ at: 1h35m, count: { kind: Node, is: 0 } }"]],
])("after %s without a controller", async (_, down, until) => {
  const parsed = parseScenario("story", new TextEncoder().encode(story(down, until)));
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const { verdict } = await simulate(parsed.scenario, parts);
  expect(verdict.problems).toEqual([]);
});
