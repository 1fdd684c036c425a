// Which states of a node's conditions are sick, by whose word, how long each is borne and what follows: the pool's
// policies first, then the provider's statements. Knows no time and no node.

import { type EffectiveRepair, type EffectiveRepairPolicy, effectiveNodePool } from "../api/effective-node-pool.ts";
import type { NodeActionSpec } from "../api/node-action.ts";
import { accepted, type Parsed } from "../api/parsed.ts";
import { type Millis, parseDuration } from "../api/time.ts";
import type { Picture, ProviderView, RepairStatement } from "../snapshot/picture.ts";
import type { ClaimView, ConditionView, PoolView } from "../snapshot/views.ts";

/** What a condition says, without when. */
export type State = Pick<ConditionView, "type" | "status" | "reason">;

/** Whose word holds for a node. */
export type RepairRules = {
  /** Absent: the claim is of no pool. */
  readonly pool?: PoolView;
  readonly repair: EffectiveRepair;
  readonly provider: Pick<ProviderView, "name" | "repairStatements">;
};

export type Treatment = Pick<EffectiveRepair, "mode" | "termination" | "action" | "escalateAfter" | "attempts"> & {
  readonly priority: number;
};

/** The word that makes a state sick. */
export type Ruling = {
  readonly place: NonNullable<NodeActionSpec["policy"]>;
  readonly toleration: Parsed<Millis>;
  /** In which a condition that comes and goes is added up; 0: not at all. */
  readonly flappingWindow: Parsed<Millis>;
  readonly treatment: Treatment;
};

/** Without a pool holds what a pool that says nothing gets. */
const standalone = {
  on: effectiveNodePool({}).repair,
  off: effectiveNodePool({}, { repairUnset: "off" }).repair,
};

/** Undefined: the claim's pool is not there, so nobody knows its word. */
export function rulesFor({ pool: name }: ClaimView, picture: Picture): RepairRules | undefined {
  const { provider } = picture;
  if (name === undefined) return rulesWithoutPool(provider, picture.repairUnset);
  const pool = picture.pool(name);
  return pool && rulesOf(pool, provider);
}

export function rulesOf(pool: PoolView, provider: RepairRules["provider"]): RepairRules {
  return { pool, repair: pool.effective.repair, provider };
}

/** For claims of no pool, and for nodes that nobody provisioned through us where they are counted. */
export function rulesWithoutPool(provider: RepairRules["provider"], repairUnset: "on" | "off" = "on"): RepairRules {
  return { repair: standalone[repairUnset], provider };
}

/** Undefined: the state is not sick. Of several policies the first that matches counts. */
export function rulingOn(state: State, rules: RepairRules): Ruling | undefined {
  const { repair, provider } = rules;
  const statement = provider.repairStatements.find(stated => isStated(stated, state));
  const policy = repair.policies.find(one => matchesPolicy(one, state, statement !== undefined));
  if (policy !== undefined) {
    const { path, toleration, mode, termination, action, escalateAfter, attempts, priority } = policy;
    return ruling(rules, {
      place: placeIn(rules, path),
      toleration: parseDuration(toleration),
      treatment: { mode, termination, action, escalateAfter, attempts, priority },
    });
  }
  if (statement === undefined) return undefined;
  const { mode, termination, action, escalateAfter, attempts, defaultTolerationDuration: own } = repair;
  return ruling(rules, {
    place:
      own === undefined
        ? { kind: "Provider", name: provider.name }
        : placeIn(rules, "spec.repair.defaultTolerationDuration"),
    toleration: own === undefined ? accepted(statement.toleration) : parseDuration(own),
    treatment: { mode, termination, action, escalateAfter, attempts, priority: 0 },
  });
}

/** Policies that can never match: the provider does not say when their condition is bad, and neither do they. */
export function policiesWithoutEffect({ repair, provider }: RepairRules): readonly EffectiveRepairPolicy[] {
  return repair.policies.filter(
    ({ conditionType, conditionStatus }) =>
      conditionStatus === undefined &&
      !provider.repairStatements.some(stated => stated.conditionType === conditionType),
  );
}

function ruling({ repair }: RepairRules, found: Omit<Ruling, "flappingWindow">): Ruling {
  const { flappingWindow: written } = repair;
  const { toleration } = found;
  const twice = toleration.ok ? accepted(2 * toleration.value) : toleration;
  return { ...found, flappingWindow: written === undefined ? twice : parseDuration(written) };
}

function placeIn({ pool }: RepairRules, path: string): Ruling["place"] {
  return pool === undefined
    ? { kind: "Default", path }
    : { kind: "NodePool", name: pool.name, path, generation: pool.generation };
}

function isStated({ conditionType, conditionStatus }: RepairStatement, { type, status }: State): boolean {
  return conditionType === type && conditionStatus === status;
}

function matchesPolicy(policy: EffectiveRepairPolicy, { type, status, reason }: State, isBad: boolean): boolean {
  if (policy.conditionType !== type) return false;
  if (policy.conditionStatus === undefined ? !isBad : policy.conditionStatus !== status) return false;
  return policy.conditionReasons.length === 0 || policy.conditionReasons.some(one => matchesReason(one, reason));
}

/** A star stands for any run of characters. In one pass, for both texts are other people's. */
function matchesReason(pattern: string, reason: string): boolean {
  const [head = "", ...rest] = pattern.split("*");
  const tail = rest.pop();
  if (tail === undefined) return reason === pattern;
  if (!reason.startsWith(head) || !reason.endsWith(tail)) return false;
  let from = head.length;
  for (const part of rest) {
    const found = reason.indexOf(part, from);
    if (found < 0) return false;
    from = found + part.length;
  }
  return from <= reason.length - tail.length;
}
