// What holds of planned disruption: no start above a pool's budgets or outside its windows (I1); no node is taken before
// its replacements are initialized and what runs on it has room elsewhere (I7); no replacement that no action names (I5).

import { plannedActions } from "../../api/budget.ts";
import { type EffectiveNodePool, effectiveNodePool } from "../../api/effective-node-pool.ts";
import type { KubeObject, Manifest } from "../../api/meta.ts";
import { nodePoolKey } from "../../api/node.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import { isSameTaint } from "../../api/taint.ts";
import { disruptedTaint, replacementForKey } from "../../api/well-known.ts";
import { isOpen as isWindowOpen, parseWindow } from "../../api/window.ts";
import type { PodSpec } from "../world/objects.ts";
import { addTo, type Amounts, amountsOf, podRequests } from "../world/pod-requests.ts";
import { type Action, allowed, isClaimTrue, isOpen, isReady, type StoredNode } from "./ledger.ts";
import { isUnseen, silentMs, type WriteContext } from "./write-context.ts";

/** Times in objects are whole seconds, and a write takes a moment. */
const writingMs = 2_000;

/** When an action is stored. */
export function budgetViolations(context: WriteContext, started: Action): string[] {
  const { spec } = started;
  const pool = poolOf(context, spec.nodePool);
  if (pool === undefined) return [];
  const open = [...context.ledger.actionByName.values()].filter(isOpen);
  const going = new Set(open.filter(other => other.spec.nodePool === spec.nodePool).map(other => other.spec.node.uid));
  const claims = [...context.ledger.claimByName.values()];
  const size = claims.filter(({ metadata }) => metadata.labels?.[nodePoolKey] === spec.nodePool).length;
  const decidedAt = Date.parse(spec.decidedAt);
  const most = Math.max(...[decidedAt, decidedAt + 999].map(at => mostOf(pool, spec.action, { at, size })));
  if (going.size <= most) return [];
  return [`I1 ${going.size} nodes of ${spec.nodePool} are going where ${spec.action} may bring it to ${most}`];
}

/** When the claim of a node is deleted for what a plan alone asks. */
export function planViolations(context: WriteContext, { spec }: Action): string[] {
  const isPlan = [spec, ...(spec.joined ?? [])].every(({ action }) => isPlanned(action));
  const node = context.ledger.nodeByName.get(spec.node.name);
  // Whoever deletes the node waits for nobody.
  if (!isPlan || node === undefined || node.metadata.deletionTimestamp !== undefined) return [];
  return [
    ...closed(context, spec),
    ...(spec.replacements ?? []).flatMap(missing(context, spec)),
    ...crowded(context, spec),
  ];
}

/** When a claim is made. */
export function replacementViolations({ ledger }: WriteContext, { metadata }: Manifest): string[] {
  const batch = metadata.annotations?.[replacementForKey];
  if (batch === undefined) return [];
  const isNamed = [...ledger.actionByName.values()].some(
    action => isOpen(action) && action.spec.batch === batch && names(action).includes(metadata.name ?? ""),
  );
  return isNamed ? [] : [`I5 replacement ${metadata.name} is made, and no open action names it`];
}

function names({ spec }: Action): readonly string[] {
  return (spec.replacements ?? []).map(({ name }) => name);
}

function isPlanned(action: string): boolean {
  return (plannedActions as readonly string[]).includes(action);
}

/** Undefined: gone, or just changed, so that the controller may not know it yet. */
function poolOf(context: WriteContext, name = ""): EffectiveNodePool | undefined {
  if (isUnseen(context, `nodepools.karpenter.sh ${name}`, silentMs)) return undefined;
  const pool = context.objects.get("nodepools.karpenter.sh", name) as (KubeObject & { spec: NodePoolSpec }) | undefined;
  return pool && effectiveNodePool(pool.spec);
}

/** How many nodes of a pool an action may bring to be going. */
function mostOf({ disruption }: EffectiveNodePool, action: string, { at, size }: { at: number; size: number }): number {
  const isActive = (window: Parameters<typeof parseWindow>[0] | undefined) => {
    const parsed = window && parseWindow(window);
    return parsed === undefined || (parsed.ok && isWindowOpen(parsed.value, at));
  };
  // Without a budget of its own repair has a pace, which counts otherwise.
  const about = disruption.budgets.filter(
    ({ actions, path }) => (actions as readonly string[]).includes(action) && (isPlanned(action) || path !== "default"),
  );
  const active = about.filter(({ window }) => isActive(window));
  const isOverridden = disruption.budgetPrecedence === "ActionOverridesAll" && active.some(({ forAll }) => !forAll);
  const amounts = active.filter(({ forAll }) => !isOverridden || !forAll).map(({ nodes }) => allowed(nodes, size));
  const isShut = isPlanned(action) && disruption.windows.length > 0 && !disruption.windows.some(isActive);
  return Math.min(...amounts, isShut ? 0 : Number.POSITIVE_INFINITY);
}

function closed(context: WriteContext, { action, nodePool }: Action["spec"]): string[] {
  const pool = poolOf(context, nodePool);
  const now = context.process.now();
  const isOpenNow = pool && [now, now - writingMs].some(at => mostOf(pool, action, { at, size: 1 }) > 0);
  return isOpenNow === false ? [`I1 ${action} of a node of ${nodePool} starts when the pool lets none go`] : [];
}

function missing({ ledger }: WriteContext, { node }: Action["spec"]): (replacement: { name: string }) => string[] {
  return ({ name }) => {
    const claim = ledger.claimByName.get(name);
    const isThere = claim !== undefined && claim.metadata.deletionTimestamp === undefined;
    return isThere && isClaimTrue(claim, "Initialized")
      ? []
      : [`I7 node ${node.name} goes before its replacement ${name} is initialized`];
  };
}

type Pod = KubeObject & { spec: PodSpec & { nodeName?: string }; status?: { phase?: string } };

/** All that is free elsewhere, taken together, holds what runs there: less than that no packing can do. */
function crowded(context: WriteContext, { node, nodePool }: Action["spec"]): string[] {
  const isStatic = poolOf(context, nodePool)?.replicas !== undefined;
  if (isStatic) return [];
  const { ledger, objects } = context;
  const targets = new Map(
    [...ledger.nodeByName].filter(([name, one]) => name !== node.name && takesPods(context, one)),
  );
  const free: Amounts = new Map();
  for (const target of targets.values()) {
    addTo(free, amountsOf((target.status as { allocatable?: Record<string, string> } | undefined)?.allocatable));
  }
  const wanted: Amounts = new Map();
  for (const pod of objects.all<Pod>("pods")) {
    const { nodeName = "" } = pod.spec;
    if (pod.status?.phase === "Succeeded" || pod.status?.phase === "Failed") continue;
    // What has come just now may not have been seen.
    if (isUnseen(context, `pods ${pod.metadata.namespace}/${pod.metadata.name}`)) continue;
    if (targets.has(nodeName)) addTo(free, podRequests(pod.spec), -1);
    else if (nodeName === node.name && mustMove(pod)) addTo(wanted, podRequests(pod.spec));
  }
  const short = [...wanted].filter(([resource, amount]) => amount > (free.get(resource) ?? 0)).map(([name]) => name);
  return short.length === 0 ? [] : [`I7 node ${node.name} goes, and its pods find no ${short.join(", ")} elsewhere`];
}

function takesPods({ ledger }: WriteContext, node: StoredNode): boolean {
  const { taints = [], unschedulable } = node.spec as StoredNode["spec"] & { unschedulable?: boolean };
  const isTainted = taints.some(taint => isSameTaint(taint, disruptedTaint));
  return isReady(node) && !isTainted && unschedulable !== true && ledger.openOn(node.metadata.uid).length === 0;
}

function mustMove({ metadata }: Pod): boolean {
  const belongs = metadata.ownerReferences?.some(({ kind }) => kind === "DaemonSet" || kind === "Node") ?? false;
  return !belongs && metadata.deletionTimestamp === undefined;
}
