// NodeClaim: one node, from the wish for it to its end. Its spec never changes once it is written.

import { Duration, Optional, rule, type Static, Struct, Text, Time } from "./define.ts";
import { defineKind } from "./kind-definition.ts";
import type { ObjectMeta } from "./meta.ts";
import { nodeTemplateFields } from "./node-template.ts";
import { Conditions, ResourceList } from "./shapes.ts";

const Spec = Struct(
  "What is wanted of the node. Immutable.",
  {
    ...nodeTemplateFields("the node"),
    expireAfter: Optional(
      Duration(
        "The age at which the node is replaced, or Never. Whole hours, minutes and seconds. Default 720h.",
        "durationOrNever",
        { default: "720h" },
      ),
    ),
    resources: Optional(
      Struct("What the pods that the node is meant for need.", {
        requests: Optional(ResourceList("Quantities by resource, with the least that daemons need on top.")),
      }),
    ),
  },
  { rules: [rule("self == oldSelf", "the spec of a NodeClaim is immutable; delete it and make another")] },
);

const Status = Struct("What became of it.", {
  nodeName: Optional(Text("The name of the node.")),
  providerID: Optional(Text("The provider's name of the instance.", { maxLength: 1024 })),
  imageID: Optional(Text("The provider's name of the image that runs on the node.", { maxLength: 1024 })),
  capacity: Optional(ResourceList("What the node is expected to have in all.")),
  allocatable: Optional(ResourceList("What of it is left for pods.")),
  firstReadyTime: Optional(
    Time("When the node was first seen Ready. From then on readinessTTL has nothing more to say."),
  ),
  lastPodEventTime: Optional(
    Time("When a pod was last bound to the node or went from it; consolidateAfter counts from here."),
  ),
  conditions: Optional(
    Conditions(
      "Ready sums up Launched, Registered and Initialized; Consolidatable, Drifted, Drained, VolumesDetached, InstanceTerminating, DisruptionReason and Rebooting as in Karpenter; DoNotDisrupt since when node or claim ask for that, where the pool has maxDoNotDisrupt.",
    ),
  ),
});

export type NodeClaimSpec = Static<typeof Spec>;
export type NodeClaimStatus = Static<typeof Status>;
export type NodeClaim = {
  apiVersion: string;
  kind: "NodeClaim";
  metadata: ObjectMeta;
  spec: NodeClaimSpec;
  status?: NodeClaimStatus;
};

export const nodeClaims = defineKind({
  group: "karpenter.sh",
  versions: ["v1", "v1beta1"],
  kind: "NodeClaim",
  plural: "nodeclaims",
  categories: ["karpenter", "fettle"],
  description: "One node of a pool, or one that somebody asked for by hand.",
  spec: Spec,
  status: Status,
  columns: [
    { name: "Type", type: "string", jsonPath: ".metadata.labels.node\\.kubernetes\\.io/instance-type" },
    { name: "Capacity", type: "string", jsonPath: ".metadata.labels.karpenter\\.sh/capacity-type" },
    { name: "Zone", type: "string", jsonPath: ".metadata.labels.topology\\.kubernetes\\.io/zone" },
    { name: "Node", type: "string", jsonPath: ".status.nodeName" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
    { name: "ImageID", type: "string", jsonPath: ".status.imageID", priority: 1 },
    { name: "ID", type: "string", jsonPath: ".status.providerID", priority: 1 },
    { name: "NodePool", type: "string", jsonPath: ".metadata.labels.karpenter\\.sh/nodepool", priority: 1 },
    { name: "NodeClass", type: "string", jsonPath: ".spec.nodeClassRef.name", priority: 1 },
    { name: "Drifted", type: "string", jsonPath: '.status.conditions[?(@.type=="Drifted")].status', priority: 1 },
  ],
});
