// What the SafetyPolicy means, also when there is none: every limit with its value.

import { defaultedSpec } from "./kind-definition.ts";
import { safetyPolicies, type SafetyPolicySpec } from "./safety-policy.ts";

/** Absent: no such cap. Amounts are rounded up. */
export type EffectiveCap = { cluster?: string; zone?: string; perWindow?: { nodes: string; duration: string } };

type Breadth = { nodes: number; share: string };

export type EffectiveSafetyPolicy = {
  dryRun: boolean;
  freeze?: { reason: string; scope: "Everything" | "Disruption"; until?: string };
  /** Absent: none. */
  untouchable?: NonNullable<SafetyPolicySpec["untouchable"]>;
  caps: { repair: EffectiveCap; disruption: EffectiveCap; all: EffectiveCap };
  correlatedFailure: {
    mode: "Enabled" | "Disabled";
    within: string;
    cluster: Breadth;
    zone: Breadth;
    clearAfter: string;
  };
  settle: { quiet: string; max: string };
};

type CapSpec = NonNullable<NonNullable<SafetyPolicySpec["caps"]>["all"]>;

export function effectiveSafetyPolicy(written: SafetyPolicySpec | undefined): EffectiveSafetyPolicy {
  // The schema gives a default to everything but freeze, untouchable and the two caps that are off.
  const spec = defaultedSpec(safetyPolicies, written) as SafetyPolicySpec & EffectiveSafetyPolicy;
  const { dryRun, freeze, untouchable, correlatedFailure, settle } = spec;
  const { repair, disruption, all } = spec.caps as Record<string, CapSpec | undefined>;
  return {
    dryRun,
    ...(freeze ? { freeze } : {}),
    ...(untouchable ? { untouchable } : {}),
    caps: { repair: cap(repair), disruption: cap(disruption), all: cap(all) },
    correlatedFailure,
    settle,
  };
}

function cap({ cluster, zone, perWindow }: CapSpec = {}): EffectiveCap {
  const { nodes, duration } = perWindow ?? {};
  return {
    ...(cluster === undefined ? {} : { cluster: String(cluster) }),
    ...(zone === undefined ? {} : { zone: String(zone) }),
    ...(nodes === undefined || duration === undefined ? {} : { perWindow: { nodes: String(nodes), duration } }),
  };
}
