// From objects as the API serves them to what the picture keeps, kind by kind. A projection returns the previous view
// when nothing that a rule reads has changed.

import type { KubeObject } from "../api/meta.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import { selectorOf } from "../api/selector.ts";
import { Interning } from "./interning.ts";
import type { Kind, ViewByKind } from "./kind.ts";
import { looksLike } from "./looks-like.ts";
import { projectClaim } from "./project-claim.ts";
import { metaOf } from "./project-meta.ts";
import { projectNode } from "./project-node.ts";
import { projectPod } from "./project-pod.ts";
import { type PoolOptions, projectPool, projectSafetyPolicy } from "./project-policy.ts";
import { csiNode, daemonSet, namespace, storageClass, volume, volumeClaim } from "./project-scheduling.ts";
import { fields, present, timeIfPresent, word } from "./raw.ts";
import type { ActionView, AttachmentView, DisruptionBudgetView } from "./views.ts";

export type Projection<V> = (raw: KubeObject, previous: V | undefined) => V;
export type Projections = { readonly [K in Kind]: Projection<ViewByKind[K]> };

export function projections(options: PoolOptions = {}): Projections {
  const interning = new Interning();
  return {
    node: projectNode,
    claim: projectClaim,
    pod: (raw, previous) => projectPod(raw, previous, interning),
    pool: (raw, previous) => projectPool(raw, previous, options),
    action: projectAction,
    "safety-policy": projectSafetyPolicy,
    "disruption-budget": (raw, previous) => kept(previous, disruptionBudget(raw)),
    attachment: (raw, previous) => kept(previous, attachment(raw)),
    "volume-claim": (raw, previous) => kept(previous, volumeClaim(raw)),
    "daemon-set": (raw, previous) => kept(previous, daemonSet(raw)),
    namespace: (raw, previous) => kept(previous, namespace(raw)),
    volume: (raw, previous) => kept(previous, volume(raw)),
    "storage-class": (raw, previous) => kept(previous, storageClass(raw)),
    "csi-node": (raw, previous) => kept(previous, csiNode(raw)),
  };
}

function kept<V extends object>(previous: V | undefined, view: V): V {
  return previous !== undefined && looksLike(previous, view) ? previous : view;
}

// Every change is one, so that its version is good as a precondition.
function projectAction(raw: KubeObject): ActionView {
  const spec = fields(raw["spec"]) as NodeActionSpec;
  return { ...metaOf(raw), spec, status: fields(raw["status"]) };
}

function disruptionBudget(raw: KubeObject): DisruptionBudgetView {
  const { metadata } = raw;
  const spec = fields(raw["spec"]);
  const status = fields(raw["status"]);
  const selector = spec["selector"] === undefined ? undefined : selectorOf(fields(spec["selector"]));
  const allowed = status["disruptionsAllowed"];
  return {
    namespace: metadata.namespace ?? "",
    name: metadata.name,
    uid: metadata.uid,
    // In policy/v1 an absent selector selects nothing, an empty one everything. One that cannot be read protects all.
    selector: selector && (selector.ok ? selector.value : []),
    disruptionsAllowed: typeof allowed === "number" ? allowed : 0,
    evictsUnhealthyAlways: spec["unhealthyPodEvictionPolicy"] === "AlwaysAllow",
    isObserved: metadata.generation === undefined || status["observedGeneration"] === metadata.generation,
  };
}

function attachment(raw: KubeObject): AttachmentView {
  const { metadata } = raw;
  const spec = fields(raw["spec"]);
  return {
    name: metadata.name,
    uid: metadata.uid,
    nodeName: word(spec["nodeName"]) ?? "",
    ...present({
      volume: word(fields(spec["source"])["persistentVolumeName"]),
      deletingSince: timeIfPresent(metadata.deletionTimestamp),
    }),
  };
}
