// Each node by name, in Karpenter's words: what pods can have of it, what the system keeps, how old it is. As many series
// as nodes have resources.

import { capacityTypeKey, instanceTypeKey } from "../api/node.ts";
import { approximateValue, parseQuantity } from "../api/quantity.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { NodeView } from "../snapshot/views.ts";
import type { Of } from "./measured.ts";
import { breath, type Family, type Sample } from "./family.ts";

const nodeLabels = ["node_name", "nodepool", "instance_type", "capacity_type", "zone", "arch", "os"] as const;
const resourceLabels = [...nodeLabels, "resource_type"];

export function nodeFamilies(of: Of): Family[] {
  return [
    {
      name: "karpenter_nodes_allocatable",
      help: "What pods can have of a node.",
      type: "gauge",
      labels: resourceLabels,
      samples: of(({ picture }) => resourcesByNode(picture, allocatable)),
    },
    {
      name: "karpenter_nodes_system_overhead",
      help: "What a node has and keeps for itself.",
      type: "gauge",
      labels: resourceLabels,
      samples: of(({ picture }) => resourcesByNode(picture, overhead)),
    },
    {
      name: "karpenter_nodes_current_lifetime_seconds",
      help: "Since a node's creation.",
      type: "gauge",
      labels: nodeLabels,
      samples: of(({ picture, now }) => ages(picture, now)),
    },
  ];
}

type Amounts = Iterable<readonly [resource: string, value: number]>;

function* resourcesByNode(picture: Picture, read: (node: NodeView) => Amounts): Iterable<Sample | typeof breath> {
  for (const node of picture.nodes()) {
    const labels = labelsOf(node, picture);
    for (const [resource_type, value] of read(node)) yield { labels: { ...labels, resource_type }, value };
    yield breath;
  }
}

function* ages(picture: Picture, now: number): Iterable<Sample> {
  for (const node of picture.nodes()) {
    yield { labels: labelsOf(node, picture), value: Math.max(0, now - node.createdAt) / 1000 };
  }
}

function* allocatable(node: NodeView): Amounts {
  for (const [resource, amount] of Object.entries(node.allocatable)) yield [resource, valueOf(amount)];
}

function* overhead(node: NodeView): Amounts {
  for (const [resource, amount] of Object.entries(node.capacity)) {
    yield [resource, valueOf(amount) - valueOf(node.allocatable[resource])];
  }
}

/** What cannot be read is nothing: a gauge has no better word. */
function valueOf(amount: string | number | undefined): number {
  const parsed = parseQuantity(String(amount ?? 0));
  return parsed.ok ? approximateValue(parsed.value) : 0;
}

function labelsOf(node: NodeView, picture: Picture): Record<(typeof nodeLabels)[number], string> {
  const { name, labels } = node;
  return {
    node_name: name,
    nodepool: picture.claimOf(node)?.pool ?? "",
    instance_type: labels[instanceTypeKey] ?? "",
    capacity_type: labels[capacityTypeKey] ?? "",
    zone: picture.zoneOf(node) ?? "",
    arch: labels["kubernetes.io/arch"] ?? "",
    os: labels["kubernetes.io/os"] ?? "",
  };
}
