// The kinds of objects that the picture keeps, and what tells one object of a kind from another.

import type { CheckView, NodeLeaseView, RemediationView, TemplateView } from "./check-views.ts";
import type {
  ActionView,
  AttachmentView,
  ClaimView,
  CsiNodeView,
  DaemonSetView,
  DisruptionBudgetView,
  NamespaceView,
  NodeView,
  PodView,
  PoolView,
  SafetyView,
  StorageClassView,
  VolumeClaimView,
  VolumeView,
} from "./views.ts";

export type ViewByKind = {
  node: NodeView;
  claim: ClaimView;
  pod: PodView;
  pool: PoolView;
  action: ActionView;
  "safety-policy": SafetyView;
  "disruption-budget": DisruptionBudgetView;
  attachment: AttachmentView;
  "volume-claim": VolumeClaimView;
  "daemon-set": DaemonSetView;
  namespace: NamespaceView;
  volume: VolumeView;
  "storage-class": StorageClassView;
  "csi-node": CsiNodeView;
};
export type Kind = keyof ViewByKind;
export type View = ViewByKind[Kind];
/** Of what health checks work with: kinds of theirs are known only at run time. */
export type CheckedView = CheckView | RemediationView | TemplateView | NodeLeaseView;

/** One object over time. The namespace is empty for kinds that have none. */
export type Identity = { readonly namespace: string; readonly name: string; readonly uid: string };

export function identityOf(view: View | CheckedView): Identity {
  if ("policy" in view) return { namespace: "", name: view.meta?.name ?? "", uid: view.meta?.uid ?? "" };
  const namespace = "namespace" in view ? view.namespace : "";
  // What scheduling alone reads is told apart by name: what it says holds for whoever uses it now.
  return { namespace, name: "name" in view ? view.name : view.nodeName, uid: "uid" in view ? view.uid : "" };
}

/** Where the view itself says of which version it is. */
export function versionOf(view: View | CheckedView): string | undefined {
  if ("policy" in view) return view.meta?.resourceVersion;
  return "resourceVersion" in view ? view.resourceVersion : undefined;
}
