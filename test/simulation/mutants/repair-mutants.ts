// Bugs in what holds repair back: each of its gates overlooked.

import type { KubeObject } from "../../../src/api/meta.ts";
import { type Change, seeing, withRule } from "./change.ts";
import type { Mutant } from "./mutant.ts";

type Spec = Readonly<Record<string, unknown>>;

function withSpec(plural: string, change: (spec: Spec) => Spec): Change {
  return seeing(plural, raw => ({ ...raw, spec: change((raw["spec"] ?? {}) as Spec) }));
}

const withoutBrake = withSpec("nodepools", spec => {
  return { ...spec, repair: { ...(spec["repair"] as object), maxUnhealthy: "100%" } };
});

const withoutPace = withSpec("nodepools", spec => {
  return { ...spec, disruption: { budgets: [{ nodes: "100%", action: "Repair" }] } };
});

const withoutSettling = withSpec("safetypolicies", spec => ({ ...spec, settle: { quiet: "0s" } }));

const withoutHold = seeing("nodes", (raw: KubeObject) => {
  const { "karpenter.sh/do-not-repair": _, ...annotations } = raw.metadata.annotations ?? {};
  return { ...raw, metadata: { ...raw.metadata, annotations } };
});

/** Believes every time that is written. */
const withoutMemory = withRule("repair", rule => (name, context) => {
  const { remembered: _, ...rest } = context;
  return rule.decide(name, rest);
});

/** The evidence does not say of what it is a part. */
const withoutOutbreaks: Change = withRule("repair", rule => (name, context) => {
  const decision = rule.decide(name, context);
  const proposals = decision.proposals.map(proposal => ({
    ...proposal,
    evidence: proposal.evidence.map(evidence => ({ ...evidence, conditionStatus: "" })),
  }));
  return { ...decision, proposals };
});

export const repairMutants: readonly Mutant[] = [
  { name: "the brake is overlooked", wrong: withoutBrake, story: "repair-agent-roll-out", caughtBy: "expected" },
  {
    name: "what spreads is not waited for",
    wrong: withoutSettling,
    story: "flags that come one by one",
    caughtBy: "expected",
  },
  { name: "repairs have no pace", wrong: withoutPace, story: "two sick nodes of ten", caughtBy: "expected" },
  {
    name: "a condition's own time is believed",
    wrong: withoutMemory,
    story: "a condition that is dated back",
    caughtBy: "expected",
  },
  { name: "do-not-repair is overlooked", wrong: withoutHold, story: "repair-do-not-repair", caughtBy: "expected" },
  { name: "an outbreak is overlooked", wrong: withoutOutbreaks, story: "repair-zone-outage", caughtBy: "expected" },
];
