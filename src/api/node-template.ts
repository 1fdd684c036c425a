// What a NodePool's template and a NodeClaim say about a node in the same words: where it may run, what it carries,
// how long it may live. Whoever differs (a claim may name its pool) says so by an argument.

import { Duration, ListOf, Optional, rule, type Static, StringEnum, Struct, Text, Whole } from "./define.ts";
import type { Rule } from "./schema/schema.ts";
import { LabelKey, LabelValue, Name, Taint } from "./shapes.ts";

const nodePoolKey = "karpenter.sh/nodepool";

/**
 * Keys that Karpenter keeps for itself, judged as upstream does: by the end of the domain. `key` is how the rule calls
 * the key, `quantified` puts a check into the expression that runs over all of them.
 */
export function keyRules(key: string, quantified = (check: string) => check) {
  return {
    reserved: [
      rule(
        quantified(
          `${key} in ['karpenter.sh/capacity-type', '${nodePoolKey}'] || !${key}.matches('^[^/]*karpenter[.]sh(/|$)')`,
        ),
        "keys of the domain karpenter.sh are reserved; only karpenter.sh/capacity-type may be set",
      ),
      rule(
        quantified(`${key} != 'kubernetes.io/hostname'`),
        "kubernetes.io/hostname is set by the node itself; leave it out",
      ),
    ],
    notTheNodePool: rule(
      quantified(`${key} != '${nodePoolKey}'`),
      "karpenter.sh/nodepool is set from the pool's own name; leave it out",
    ),
  };
}

const integerOperators = "['Gt', 'Lt', 'Gte', 'Lte']";

function Requirements({ mayNameItsPool }: { mayNameItsPool: boolean }) {
  const { reserved, notTheNodePool } = keyRules("self");
  const Requirement = Struct(
    "One demand on a node's labels.",
    {
      key: LabelKey("The label's key.", mayNameItsPool ? reserved : [...reserved, notTheNodePool]),
      operator: StringEnum(
        "How the label's value relates to the values given. Gt, Lt, Gte and Lte compare it as an integer with the one value given.",
        ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"],
      ),
      values: Optional(
        ListOf(
          "The values for In and NotIn, one integer of at least 0 for Gt, Lt, Gte and Lte, none for Exists and DoesNotExist. At most 10,000.",
          LabelValue("A label value."),
          { maxItems: 10000, identity: "atomic" },
        ),
      ),
      minValues: Optional(
        Whole(
          "How many different values of this label must stay possible when a node is launched, 1 to 50; for spot capacity, which needs a wide choice. Default: no such demand.",
          { minimum: 1, maximum: 50, format: "int32" },
        ),
      ),
    },
    {
      rules: [
        rule(
          "self.operator != 'In' || (has(self.values) && self.values.size() > 0)",
          "a requirement with operator In needs at least one value",
        ),
        rule(
          `!(self.operator in ${integerOperators}) || (has(self.values) && self.values.size() == 1 && self.values[0].matches('^[0-9]{1,18}$'))`,
          "a requirement with operator Gt, Lt, Gte or Lte needs exactly one value, an integer of at least 0",
        ),
        rule(
          "self.operator != 'In' || !has(self.minValues) || (has(self.values) && self.values.size() >= self.minValues)",
          "a requirement with operator In needs at least minValues values",
        ),
      ],
    },
  );
  return ListOf(
    "Which nodes may be launched: demands on their labels, all of which must hold. At most 100. Default: whatever the node class offers.",
    Requirement,
    { maxItems: 100, identity: "atomic" },
  );
}

// Absent both, the rule on their presence speaks; this one must not fail on top of it.
const groupOf = (ref: string) =>
  `(has(${ref}.group) ? ${ref}.group : has(${ref}.apiVersion) ? ${ref}.apiVersion.split('/')[0] : '')`;

const immutableClass = [
  rule(`${groupOf("self")} == ${groupOf("oldSelf")}`, "the group of nodeClassRef is immutable; make a new pool"),
  rule("self.kind == oldSelf.kind", "the kind of nodeClassRef is immutable; make a new pool"),
];

const NodeClassRef = (rules: readonly Rule[]) =>
  Struct(
    "The provider's class of nodes: image, network and whatever else the provider needs to know. Default: the provider's default class.",
    {
      group: Optional(Text("The class's API group.", { minLength: 1, pattern: "^[^/]*$" })),
      apiVersion: Optional(
        Text("Another way to give the group, as group/version. Not together with group.", {
          minLength: 1,
          pattern: "^[^/]+/[^/]+$",
        }),
      ),
      kind: Text("The class's kind.", { minLength: 1, maxLength: 63 }),
      name: Name("The class's name."),
    },
    { rules: [rule("has(self.group) != has(self.apiVersion)", "set either group or apiVersion"), ...rules] },
  );

const ReadinessTTL = (whose: string) =>
  Duration(
    `How long ${whose} may take to become Ready for the first time: counted from its registration, or from the claim's creation while no node has registered. After that it is replaced by the repair path. Default 15m, longer than 0s. Once the node was Ready the field has done its work; a change is no drift.`,
    "duration",
    {
      default: "15m",
      rules: [rule("duration(self) > duration('0s')", "must be longer than 0s, or no node could ever become Ready")],
    },
  );

/** A claim's whole spec is immutable, so only a pool's reference needs rules of its own. */
export const nodeTemplateFields = (whose: "a node of the pool" | "the node") => ({
  taints: Optional(
    ListOf("Taints that each node gets. At most 1,000, no key and effect twice, startupTaints included.", Taint, {
      maxItems: 1000,
      identity: "atomic",
    }),
  ),
  startupTaints: Optional(
    ListOf(
      "Taints that each node starts with and that somebody else, as a rule a DaemonSet, takes off when the node is set up. Pods need not tolerate them to have a node launched. At most 1,000.",
      Taint,
      { maxItems: 1000, identity: "atomic" },
    ),
  ),
  nodeClassRef: Optional(NodeClassRef(whose === "the node" ? [] : immutableClass)),
  requirements: Optional(Requirements({ mayNameItsPool: whose === "the node" })),
  terminationGracePeriod: Optional(
    Duration(
      "How long a node may take to drain before what is left on it is deleted by force, PodDisruptionBudgets and do-not-disrupt notwithstanding; pods are deleted early enough to have their own grace period. Whole hours, minutes and seconds. Default: no limit.",
      "wholeDuration",
    ),
  ),
  readinessTTL: Optional(ReadinessTTL(whose)),
});

export type Requirement = Static<ReturnType<typeof Requirements>>[number];
export type NodeClassRef = Static<ReturnType<typeof NodeClassRef>>;
export type Taint = Static<typeof Taint>;
