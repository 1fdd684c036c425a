// A clock that jumps ends nothing by itself, from the first look on: also before any answer of the server could tell.

import { expect, test } from "vitest";
import { parseScenario } from "../../src/cli/scenario-file.ts";
import { simulate } from "../../src/sim/simulation/run.ts";
import { noticing, parts } from "./parts.ts";

const story = `
title: A clock jumps while replacements come
until: 30m
cluster:
  manifests:
    - apiVersion: fettle.dev/v1alpha1
      kind: SimulatedNodeClass
      metadata: { name: default }
      spec: { image: one, boot: { median: 3m } }
    - apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: { name: web }
      spec: { disruption: { consolidateAfter: Never, budgets: [{ nodes: "100%" }] } }
workloads:
  - apiVersion: apps/v1
    kind: Deployment
    metadata: { name: shop, namespace: default }
    spec:
      replicas: 3
      selector: { matchLabels: { app: shop } }
      template:
        metadata: { labels: { app: shop } }
        spec: { containers: [{ name: shop, image: shop, resources: { requests: { cpu: "1" } } }] }
timeline:
  - { at: 10m, do: { patch: { kind: SimulatedNodeClass, name: default, merge: { spec: { image: two } } } } }
  - { at: 11m, do: { clock: { jump: 2h } } }
  - { at: 11m, do: { annotate: { kind: Node, selector: karpenter.sh/nodepool=web, labels: { seen: "yes" } } } }
  - { at: 11m30s, do: { clock: { jump: -2h } } }
expect:
  - { at: 10m59s, count: { kind: NodeAction, where: { status.phase: WaitingForReplacement }, atLeast: 1 } }
  - { count: { kind: NodeAction, where: { status.phase: Done }, atLeast: 1 } }
  - { count: { kind: NodeAction, where: { status.phase: Abandoned }, is: 0 } }
`;

test.each([1, 2, 3])("plans outlast a jump (seed %i)", async seed => {
  const parsed = parseScenario("clock-jump.yaml", Buffer.from(story));
  if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
  const { verdict } = await simulate(parsed.scenario, { ...noticing, seed });
  expect(verdict.problems).toEqual([]);
});

const behind = `
title: A clock that was an hour behind is set right while a node is sick
until: 5h
cluster:
  manifests:
    - apiVersion: karpenter.sh/v1
      kind: NodePool
      metadata: { name: web }
      spec: { replicas: 1, repair: { policies: [{ conditionType: Ready, toleration: 2h }] } }
timeline:
  - { at: 30m, do: { clock: { jump: -1h } } }
  - at: 1h
    do: { annotate: { kind: Node, selector: karpenter.sh/nodepool=web, annotations: { fettle.dev/simulate: Ready=False } } }
  - { at: 90m, do: { clock: { jump: 1h } } }
expect:
  - { at: 179m, count: { kind: NodeAction, is: 0 } }
  - { at: 181m, count: { kind: NodeAction, where: { spec.action: Repair }, is: 1 } }
`;

test.each([parts, noticing])(
  "a sickness is borne for its whole time, though it was seen to begin by a clock that was behind",
  async outside => {
    const parsed = parseScenario("behind.yaml", Buffer.from(behind));
    if (!parsed.ok) throw new Error(parsed.problems.join("\n"));
    const { verdict } = await simulate(parsed.scenario, outside);
    expect(verdict.problems).toEqual([]);
  },
);
