// Small pods, nodes, types and pools for tests: only what a test says differs from the plainest one.

import type { InstanceType } from "../../api/instance-type.ts";
import { capacityTypeKey, hostnameKey, instanceTypeKey, zoneKey } from "../../api/node.ts";
import type { Pod, PodSpec, ResourceList } from "../../api/pod.ts";
import type { Labels } from "../../api/selector.ts";
import type { Taint } from "../../api/taint.ts";
import type { Answer } from "./answer.ts";
import { emptyProblem, type ExistingNode, type Pool, type Problem } from "./problem.ts";
import { solveNow } from "./solve.ts";

export type PodInput = {
  labels?: Labels;
  namespace?: string;
  requests?: ResourceList;
  node?: string;
  created?: string;
  terminating?: boolean;
} & Partial<PodSpec>;

export function aPod(name: string, input: PodInput = {}): Pod {
  const { labels, namespace, requests = { cpu: "100m" }, node, created, terminating, ...spec } = input;
  return {
    metadata: {
      name,
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(created !== undefined && { creationTimestamp: created }),
      ...(terminating === true && { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    },
    spec: {
      containers: [{ name: "main", resources: { requests } }],
      ...(node !== undefined && { nodeName: node }),
      ...spec,
    },
  };
}

export function aNode(
  name: string,
  {
    labels,
    allocatable,
    taints,
    ...rest
  }: Partial<ExistingNode> & { labels?: Labels; allocatable?: ResourceList; taints?: Taint[] } = {},
): ExistingNode {
  return {
    node: {
      metadata: { name, labels: { [hostnameKey]: name, ...labels } },
      spec: { taints: taints ?? [] },
      status: { allocatable: { cpu: "4", memory: "8Gi", pods: "110", ...allocatable } },
    },
    ...rest,
  };
}

type TypeInput = {
  cpu?: number;
  price?: number;
  zones?: string[];
  capacityType?: string;
  requirements?: InstanceType["requirements"];
  /** Zones where it is sold out. */
  unavailable?: string[];
};

export function aType(
  name: string,
  {
    cpu = 4,
    price = cpu,
    zones = ["a", "b", "c"],
    capacityType = "on-demand",
    requirements = [],
    unavailable = [],
  }: TypeInput = {},
): InstanceType {
  const amounts = { cpu: `${cpu}`, memory: `${cpu * 2}Gi`, pods: "110" };
  return {
    name,
    requirements: [
      { key: instanceTypeKey, operator: "In", values: [name] },
      { key: zoneKey, operator: "In", values: zones },
      { key: capacityTypeKey, operator: "In", values: [capacityType] },
      ...requirements,
    ],
    offerings: zones.map(zone => ({
      requirements: [
        { key: zoneKey, operator: "In", values: [zone] },
        { key: capacityTypeKey, operator: "In", values: [capacityType] },
      ],
      price,
      available: !unavailable.includes(zone),
    })),
    capacity: amounts,
    allocatable: amounts,
  };
}

export function aPool(name: string, input: Partial<Pool> = {}): Pool {
  return { name, requirements: [], instanceTypes: [aType("small", { cpu: 2 }), aType("large", { cpu: 8 })], ...input };
}

export function answerTo(problem: Partial<Problem>): Answer {
  return solveNow({ ...emptyProblem, ...problem });
}

/** Where each pod went: a node's name, `claim:…`, `new:0`, or undefined. */
export function whereabouts({ placements }: Answer): Record<string, string> {
  return Object.fromEntries(
    placements.map(({ pod, target }) => {
      const place =
        target.kind === "existing"
          ? target.node
          : target.kind === "new"
            ? `new:${target.index}`
            : `claim:${target.claim}`;
      return [pod.metadata.name, place];
    }),
  );
}

export function unplacedNames({ unplaced }: Answer): string[] {
  return unplaced.map(({ pod }) => pod.metadata.name).sort();
}

export const zoneOf = (zone: string): Labels => ({ [zoneKey]: zone });
