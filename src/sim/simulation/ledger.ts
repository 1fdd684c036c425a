// The ledger as it is stored, read without the controller's own eyes: which actions are open on which node, who belongs
// to whom, and what the SafetyPolicy allows. What the invariants count with.

import { parseAmount, roundedUp } from "../../api/amount.ts";
import { type EffectiveCap, effectiveSafetyPolicy } from "../../api/effective-safety-policy.ts";
import type { KubeObject } from "../../api/meta.ts";
import { finalPhases, type NodeAction } from "../../api/node-action.ts";
import type { SafetyPolicySpec } from "../../api/safety-policy.ts";
import { isSameTaint, type Taint } from "../../api/taint.ts";
import { terminationFinalizer, terminationTimestampKey, unregisteredTaint } from "../../api/well-known.ts";
import type { Change } from "../history.ts";
import type { ClusterObjects } from "./objects.ts";

export type Action = KubeObject & Pick<NodeAction, "spec" | "status">;
type Conditions = { conditions?: { type: string; status: string; lastTransitionTime?: string }[] };
export type StoredClaim = KubeObject & { status?: Conditions & { providerID?: string; nodeName?: string } };
export type StoredNode = KubeObject & { spec: { providerID?: string; taints?: Taint[] }; status?: Conditions };
export type StoredPolicy = KubeObject & { spec?: SafetyPolicySpec };

export class Ledger {
  readonly nodeByName = new Map<string, StoredNode>();
  readonly claimByName = new Map<string, StoredClaim>();
  readonly actionByName = new Map<string, Action>();
  readonly #openByNode = new Map<string, Map<string, Action>>();
  readonly #nodesByProviderID = new Map<string, Map<string, StoredNode>>();
  readonly #claimsByProviderID = new Map<string, Map<string, StoredClaim>>();
  policy: StoredPolicy | undefined;

  /** Told of every change of the store. */
  changed(collection: string, { type, key, stored }: Change): void {
    const object = type === "DELETED" ? undefined : stored.object;
    switch (collection) {
      case "nodes": {
        const node = object as StoredNode | undefined;
        move(this.#nodesByProviderID, key, [this.nodeByName.get(key)?.spec.providerID, node?.spec.providerID, node]);
        put(this.nodeByName, key, node);
        break;
      }
      case "nodeclaims.karpenter.sh": {
        const claim: StoredClaim | undefined = object;
        const before = this.claimByName.get(key)?.status?.providerID;
        move(this.#claimsByProviderID, key, [before, claim?.status?.providerID, claim]);
        put(this.claimByName, key, claim);
        break;
      }
      case "nodeactions.fettle.dev": {
        const action = object as Action | undefined;
        const uidOf = (of: Action | undefined) => (of !== undefined && isOpen(of) ? of.spec.node.uid : undefined);
        move(this.#openByNode, key, [uidOf(this.actionByName.get(key)), uidOf(action), action]);
        put(this.actionByName, key, action);
        break;
      }
      case "safetypolicies.fettle.dev":
        if (key === "default") this.policy = object;
    }
  }

  openOn(nodeUid: string): Action[] {
    return [...(this.#openByNode.get(nodeUid)?.values() ?? [])];
  }

  withoutEvidence({ metadata }: StoredNode): string[] {
    return this.openOn(metadata.uid).length > 0
      ? []
      : [`I5 node ${metadata.name} is taken away without an open action that says why`];
  }

  nodesOf(providerID: string | undefined): StoredNode[] {
    return [...(this.#nodesByProviderID.get(providerID ?? "")?.values() ?? [])];
  }

  claimsOf(providerID: string | undefined): StoredClaim[] {
    return [...(this.#claimsByProviderID.get(providerID ?? "")?.values() ?? [])];
  }
}

/** Dry runs are no entries of the real ledger. */
export function isOpen(action: Action): boolean {
  const isOver = (finalPhases as readonly (string | undefined)[]).includes(action.status?.phase);
  return !isOver && !isDryRun(action);
}

export function isDryRun({ spec, status }: Action): boolean {
  return spec.dryRun === true || status?.phase === "DryRun";
}

export function isReady({ status }: StoredNode): boolean {
  return isTrue(status, "Ready");
}

export function isClaimTrue({ status }: StoredClaim, type: string): boolean {
  return isTrue(status, type);
}

function isTrue(status: Conditions | undefined, type: string): boolean {
  return status?.conditions?.some(condition => condition.type === type && condition.status === "True") ?? false;
}

/** The simulated provider's instances are ConfigMaps. */
export function instanceOf(objects: ClusterObjects, providerID = ""): KubeObject | undefined {
  return objects.get("configmaps", `fettle-simulated/${providerID.split("/").at(-1)}`);
}

export function deadlineOf({ metadata }: StoredClaim): number {
  return Date.parse(metadata.annotations?.[terminationTimestampKey] ?? "") || Number.POSITIVE_INFINITY;
}

export function ownNodes(ledger: Ledger, providerID: string | undefined): StoredNode[] {
  return ledger.nodesOf(providerID).filter(node => isOwnNode(ledger, node));
}

/** Something of ours is on it, or its claim names it: a providerID alone anybody can write. */
export function isOwnNode(ledger: Ledger, { metadata, spec }: StoredNode): boolean {
  return (
    (metadata.finalizers ?? []).includes(terminationFinalizer) ||
    (spec.taints ?? []).some(taint => isSameTaint(taint, unregisteredTaint)) ||
    ledger.claimsOf(spec.providerID).some(claim => {
      const isOwner = metadata.ownerReferences?.some(({ uid }) => uid === claim.metadata.uid) ?? false;
      return isOwner || claim.status?.nodeName === metadata.name;
    })
  );
}

const actionsByClass = {
  repair: new Set(["Repair", "Remediation"]),
  disruption: new Set(["Consolidation", "Emptiness", "Expiration", "Drift"]),
};

export function isOfClass(name: keyof typeof actionsByClass, action: string): boolean {
  return actionsByClass[name].has(action);
}

export type Cap = { name: string; cap: EffectiveCap; counts: (other: Action) => boolean };

/** The caps that hold back an action, and which others each of them counts. */
export function capsOver(policy: StoredPolicy | undefined, { spec }: Action): Cap[] {
  const { caps } = effectiveSafetyPolicy(policy?.spec);
  const own = (["repair", "disruption"] as const).filter(name => isOfClass(name, spec.action));
  return [
    ...own.map(name => ({
      name,
      cap: caps[name],
      counts: (other: Action) => isOfClass(name, other.spec.action),
    })),
    { name: "all", cap: caps.all, counts: () => true },
  ];
}

export function allowed(amount: string | undefined, total: number): number {
  const parsed = amount === undefined ? undefined : parseAmount(amount);
  return parsed?.ok ? roundedUp(parsed.value, total) : Number.POSITIVE_INFINITY;
}

function put<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** From one group into another; without a value or a group it is in none. */
function move<T>(
  groups: Map<string, Map<string, T>>,
  key: string,
  [from, to, value]: readonly [string | undefined, string | undefined, T | undefined],
): void {
  if (from !== undefined) {
    const group = groups.get(from);
    group?.delete(key);
    if (group?.size === 0) groups.delete(from);
  }
  if (to === undefined || to === "" || value === undefined) return;
  const group = groups.get(to) ?? new Map<string, T>();
  group.set(key, value);
  groups.set(to, group);
}
