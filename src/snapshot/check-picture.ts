// How rules read health checks and what they work with. Look-ups cost nothing or as much as their answer.

import type {
  CheckView,
  KindName,
  KindState,
  MachineChecksView,
  NodeLeaseView,
  RemediationView,
  TemplateView,
  TopologyView,
  UpgradeView,
} from "./check-views.ts";
import type { ActionView, NodeView } from "./views.ts";
import type { Resource } from "../api/meta.ts";
import type { TemplateReference } from "../api/node-health-check.ts";

/** Whatever comes in numbers comes in the order of names. */
export type CheckPicture = {
  /** All checks are in the picture: that there is none means something. */
  readonly isListed: boolean;
  check(name: string): CheckView | undefined;
  all(): readonly CheckView[];
  /** Those that select the node or have a remediation of it. */
  concerning(nodeName: string): readonly CheckView[];
  selects(check: CheckView, nodeName: string): boolean;
  /** How many nodes it selects. */
  selectedCount(check: CheckView): number;
  selected(check: CheckView): readonly NodeView[];
  /** Those it selects that have one of its unhealthy conditions, for however long, or a remediation. */
  notHealthy(check: CheckView): readonly NodeView[];
  notHealthyCount(check: CheckView): number;

  /** Of the node and the check, also those that are being deleted. */
  remediationsOf(check: CheckView, nodeName: string): readonly RemediationView[];
  /** Of the check, on whatever node. */
  remediationsBy(check: CheckView): readonly RemediationView[];
  /** The nodes that the check has remediations of, whether or not they exist. */
  remediatedNodes(check: CheckView): readonly string[];
  /** How many of those do not exist. */
  remediatedAndGoneCount(check: CheckView): number;
  remediation(object: KindName & { readonly namespace?: string; readonly name: string }): RemediationView | undefined;
  /** Of our own kinds, on a node of that name, whoever made them. */
  ownRemediations(nodeName: string): readonly RemediationView[];
  /** Of nodes of the control plane, whoever owns them. */
  controlPlaneRemediations(): readonly RemediationView[];
  /** Remediations of the check that are over, with its node not known to have come back: oldest first. */
  ended(check: CheckView): readonly ActionView[];

  template(reference: TemplateReference): TemplateView | undefined;
  /** All of a kind. */
  templates(kind: KindName): readonly TemplateView[];
  kind(kind: KindName): KindState;
  lease(nodeName: string): NodeLeaseView | undefined;
  readonly upgrade: UpgradeView;
  readonly machineChecks: MachineChecksView;
  readonly topology: TopologyView;
  /** Where Cluster API's Machines are served; undefined: not in this cluster. */
  readonly machines: Resource | undefined;
  /** Whether the default check was made once, or needed none; undefined: that is not known yet. */
  readonly hadDefault: boolean | undefined;
};
