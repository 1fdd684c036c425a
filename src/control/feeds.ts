// Which kinds are watched, and how each comes into the picture. Every replica keeps the picture, whether it leads or not.

import type { Resource } from "../api/meta.ts";
import { nodeActions } from "../api/node-action.ts";
import { nodeClaims } from "../api/node-claim.ts";
import { nodePools } from "../api/node-pool.ts";
import { safetyPolicies } from "../api/safety-policy.ts";
import type { NodeSeen } from "../decide/correlated.ts";
import type { Kind, View } from "../snapshot/kind.ts";
import type { ClusterPicture } from "../snapshot/cluster-picture.ts";
import type { Fed, Feed } from "./ports.ts";
import {
  attachments,
  csiNodes,
  daemonSets,
  disruptionBudgets,
  namespaces,
  nodes,
  pods,
  storageClasses,
  volumeClaims,
  volumes,
} from "./resources.ts";

export type WatchedKind = { readonly resource: Resource; readonly fed: Fed };

type Source = {
  readonly kind: Kind;
  readonly resource: Resource;
  readonly selection?: { readonly fieldSelector: string };
  /** Nodes, and whatever a person says "stop" by: until that is seen nodes go on going. */
  readonly isUrgent?: boolean;
};

/** There is one that counts. */
const defaultPolicy = { fieldSelector: "metadata.name=default" };

const sources: readonly Source[] = [
  { kind: "node", resource: nodes, isUrgent: true },
  { kind: "claim", resource: nodeClaims.resource },
  { kind: "pool", resource: nodePools.resource, isUrgent: true },
  { kind: "action", resource: nodeActions.resource },
  { kind: "safety-policy", resource: safetyPolicies.resource, selection: defaultPolicy, isUrgent: true },
  { kind: "pod", resource: pods },
  { kind: "disruption-budget", resource: disruptionBudgets },
  { kind: "attachment", resource: attachments },
  { kind: "volume-claim", resource: volumeClaims },
];

/** What only searches for places read. */
const searched: readonly Source[] = [
  { kind: "daemon-set", resource: daemonSets },
  { kind: "namespace", resource: namespaces },
  { kind: "volume", resource: volumes },
  { kind: "storage-class", resource: storageClasses },
  { kind: "csi-node", resource: csiNodes },
];

export type FeedHandlers = {
  /** The picture has taken something in. */
  changed(): void;
  /** A node looks otherwise than before, and the picture has it. */
  nodeSeen(seen: NodeSeen): void;
  /** Whether places are searched for pods: what only that needs is watched only then. */
  readonly isSearching?: boolean;
};

export function startFeeds(feed: Feed, picture: ClusterPicture, handlers: FeedHandlers): readonly WatchedKind[] {
  return [...sources, ...(handlers.isSearching ? searched : [])].map(({ kind, ...options }) => {
    const { resource } = options;
    return { resource, fed: start(kind, { feed, picture, options, handlers }) };
  });
}

type Start = {
  feed: Feed;
  picture: ClusterPicture;
  options: Pick<Parameters<Feed>[0], "resource" | "selection" | "isUrgent">;
  handlers: FeedHandlers;
};

function start(kind: Kind, { feed, picture, options, handlers }: Start): Fed {
  const into = picture.feed(kind);
  const tell = (seen: { before?: View; after?: View }) => {
    // The kind says which views these are.
    if (kind === "node") handlers.nodeSeen(seen as NodeSeen);
    handlers.changed();
  };
  return feed<View>({
    ...options,
    project: (raw, previous) => into.project(raw, previous),
    handlers: {
      added: after => {
        into.handlers.added(after);
        tell({ after });
      },
      updated: (after, before) => {
        into.handlers.updated(after);
        tell({ before, after });
      },
      deleted: before => {
        into.handlers.deleted(before);
        tell({ before });
      },
      synced: () => {
        into.handlers.synced();
        handlers.changed();
      },
    },
  });
}
