// How many there are of what, and how they stand: pools, claims, nodes, pods and actions.

import { approximateValue, parseQuantity } from "../api/quantity.ts";
import { conditionOf } from "../decide/conditions.ts";
import type { Picture } from "../snapshot/picture.ts";
import type { PoolView } from "../snapshot/views.ts";
import type { Of } from "./measured.ts";
import { type Family, type Sample, tally } from "./family.ts";

export function clusterFamilies(of: Of): Family[] {
  const ofResources = ["nodepool", "resource_type"];
  return [
    {
      name: "karpenter_cluster_state_node_count",
      help: "Nodes in the picture.",
      type: "gauge",
      samples: of(({ picture }) => [{ value: picture.nodeCount }]),
    },
    {
      name: "karpenter_nodepools_limit",
      help: "What a pool may have.",
      type: "gauge",
      labels: ofResources,
      samples: of(({ picture }) => resourcesByPool(picture, ({ effective }) => effective.limits)),
    },
    {
      name: "karpenter_nodepools_usage",
      help: "What a pool has.",
      type: "gauge",
      labels: ofResources,
      samples: of(({ picture }) => resourcesByPool(picture, ({ status }) => status.resources)),
    },
    {
      name: "fettle_nodeclaims",
      help: "Claims of each pool: without an instance yet, with one, or going away.",
      type: "gauge",
      labels: ["nodepool", "state"],
      samples: of(({ picture }) => claimsByPool(picture)),
    },
    {
      name: "fettle_nodes",
      help: "Nodes by pool and by what their Ready condition says; an empty pool: nobody's, or made by hand.",
      type: "gauge",
      labels: ["nodepool", "ready"],
      samples: of(({ picture }) => tally(readiness(picture), ["nodepool", "ready"])),
    },
    {
      name: "fettle_pods",
      help: "Pods by phase.",
      type: "gauge",
      labels: ["phase"],
      samples: of(({ picture }) =>
        [...(picture.podCountByPhase ?? [])].map(([phase, value]) => ({ labels: { phase }, value })),
      ),
    },
    {
      name: "fettle_departures",
      help: "Nodes that are going away now, whoever asked.",
      type: "gauge",
      samples: of(({ picture }) => [{ value: picture.departureCount }]),
    },
    {
      name: "fettle_actions",
      help: "NodeActions that are kept, by what they do and how far they are.",
      type: "gauge",
      labels: ["action", "phase"],
      samples: of(({ picture }) => tally(progress(picture), ["action", "phase"])),
    },
    {
      name: "fettle_picture_stale",
      help: "1 while the picture is too old for anything destructive.",
      type: "gauge",
      samples: of(({ picture }) => [{ value: Number(picture.staleness !== undefined) }]),
    },
  ];
}

function* resourcesByPool(
  picture: Picture,
  read: (pool: PoolView) => Readonly<Record<string, string | number>> | undefined,
): Iterable<Sample> {
  for (const pool of picture.pools()) {
    for (const [resource_type, amount] of Object.entries(read(pool) ?? {})) {
      const parsed = parseQuantity(String(amount));
      if (parsed.ok) yield { labels: { nodepool: pool.name, resource_type }, value: approximateValue(parsed.value) };
    }
  }
}

function* claimsByPool(picture: Picture): Iterable<Sample> {
  for (const { name: nodepool } of picture.pools()) {
    const { claims, staying, launched } = picture.totalsOfPool(nodepool);
    yield { labels: { nodepool, state: "launching" }, value: staying - launched };
    yield { labels: { nodepool, state: "launched" }, value: launched };
    yield { labels: { nodepool, state: "deleting" }, value: claims - staying };
  }
}

function* readiness(picture: Picture): Iterable<string> {
  for (const node of picture.nodes()) {
    yield `${picture.claimOf(node)?.pool ?? ""} ${conditionOf(node.conditions, "Ready")?.status ?? "Unknown"}`;
  }
}

function* progress(picture: Picture): Iterable<string> {
  for (const { spec, status } of picture.actions()) yield `${spec.action} ${status.phase ?? "Pending"}`;
}
