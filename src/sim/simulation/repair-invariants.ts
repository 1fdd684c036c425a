// I3: nothing is repaired before its node has been bad for as long as its pool bears it, by the world's clock and not by
// the node's word. A controller whose own clock is ahead sees more time pass, and one that has just started believes the
// node: both are taken as they are.

import type { Evidence } from "../../api/node-action.ts";
import type { NodeClaimSpec } from "../../api/node-claim.ts";
import type { NodePoolSpec } from "../../api/node-pool.ts";
import type { KubeObject } from "../../api/meta.ts";
import { parseDuration } from "../../api/time.ts";
import type { ConditionHistory } from "./condition-history.ts";
import type { Action, StoredNode } from "./ledger.ts";
import type { WriteContext } from "./write-context.ts";

/** The provider's word, and readinessTTL, where nobody says otherwise. */
const toleratedMs = 30 * 60_000;
const readyInMs = 15 * 60_000;
/** Times of objects are whole seconds. */
const roundingMs = 1_000;

type Judging = WriteContext & { readonly history: ConditionHistory };
type Repair = NonNullable<NodePoolSpec["repair"]>;

export function repairViolations(judging: Judging, { spec }: Action): string[] {
  const node = judging.ledger.nodeByName.get(spec.node.name);
  if (spec.action !== "Repair" || node === undefined || node.metadata.uid !== spec.node.uid) return [];
  const isBorne = spec.evidence.length > 0 && spec.evidence.every(one => !isDue(judging, node, one));
  const words = spec.evidence.map(
    ({ kind, conditionType, conditionStatus }) => `${kind} ${conditionType}=${conditionStatus}`,
  );
  return isBorne ? [`I3 node ${spec.node.name} is repaired too early: ${words.join(", ")}`] : [];
}

function isDue(judging: Judging, node: StoredNode, evidence: Evidence): boolean {
  const { history, clock, process } = judging;
  const { conditionType: type = "", conditionStatus: status = "" } = evidence;
  const { uid, creationTimestamp } = node.metadata;
  const now = Math.max(clock.now(), process.now()) + roundingMs;
  const repair = repairOf(judging, node);
  const borneMs = tolerationOf(repair, type, status);
  switch (evidence.kind) {
    case "Condition": {
      const since = history.since(uid, type, status);
      return since !== undefined && Math.min(since, believed(judging, node, type)) + borneMs <= now;
    }
    case "Flapping": {
      const windowMs = lengthOf(repair?.flappingWindow) ?? 2 * borneMs;
      const aheadMs = Math.max(0, process.jumpMs) + roundingMs;
      // A node that is not Ready is sick whether it says so or nobody hears of it.
      const statuses = type === "Ready" ? ["False", "Unknown"] : [status];
      const span = [clock.now() - windowMs, clock.now()] as const;
      const badMs = statuses.reduce((sum, bad) => sum + history.total(uid, { type, status: bad }, span), 0);
      return badMs + aheadMs >= borneMs;
    }
    case "NeverReady": {
      const hadMs = readyInMsOf(judging, node);
      if (!history.wasEver(uid, "Ready", "True")) return Date.parse(creationTimestamp) + hadMs <= now;
      // A process that started since cannot know that it was; it may go by when that ended.
      const since = history.since(uid, type, status) ?? Number.POSITIVE_INFINITY;
      return type === "Ready" && process.startedAt > since && since + hadMs <= now;
    }
    default:
      return true;
  }
}

/** A process that started while the node was bad already has only the node's word. */
function believed({ process, history }: Judging, { metadata, status }: StoredNode, type: string): number {
  const condition = status?.conditions?.find(one => one.type === type);
  const since = history.since(metadata.uid, type, condition?.status ?? "") ?? Number.POSITIVE_INFINITY;
  const word = Date.parse(condition?.lastTransitionTime ?? "");
  return process.startedAt > since && word < since ? word : Number.POSITIVE_INFINITY;
}

/** As its claim has it, which never changes. */
function readyInMsOf({ ledger }: WriteContext, { spec }: StoredNode): number {
  const [claim] = ledger.claimsOf(spec.providerID);
  return lengthOf((claim?.["spec"] as NodeClaimSpec | undefined)?.readinessTTL) ?? readyInMs;
}

function repairOf({ ledger, objects }: WriteContext, { spec }: StoredNode): Repair | undefined {
  const [claim] = ledger.claimsOf(spec.providerID);
  const name = claim?.metadata.labels?.["karpenter.sh/nodepool"] ?? "";
  const pool = objects.get("nodepools.karpenter.sh", name) as (KubeObject & { spec: NodePoolSpec }) | undefined;
  return pool?.spec.repair;
}

function tolerationOf(repair: Repair | undefined, type: string, status: string): number {
  const policy = repair?.policies?.find(
    ({ conditionType, conditionStatus = status }) => conditionType === type && conditionStatus === status,
  );
  return lengthOf(policy?.toleration ?? repair?.defaultTolerationDuration) ?? toleratedMs;
}

function lengthOf(duration: string | undefined): number | undefined {
  const parsed = duration === undefined ? undefined : parseDuration(duration);
  return parsed?.ok ? parsed.value : undefined;
}
