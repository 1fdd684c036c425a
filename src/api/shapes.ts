// Shapes of Kubernetes' own API that several of our kinds contain: conditions, selectors, references, resources.

import {
  ListOf,
  MapOf,
  Optional,
  patterns,
  Quantity,
  rule,
  type Static,
  StringEnum,
  Struct,
  Text,
  Time,
  Whole,
} from "./define.ts";
import type { Rule } from "./schema/schema.ts";

export const ConditionStatus = (description: string) =>
  Text(description, { pattern: patterns.conditionStatus, maxLength: 7 });

export const ConditionType = (description: string) =>
  Text(description, { pattern: patterns.conditionType, minLength: 1, maxLength: 316 });

/** Of a Node's own conditions the server checks neither: whoever reports one may call it anything. */
export const NodeConditionType = (description: string) => Text(description, { minLength: 1, maxLength: 316 });
export const NodeConditionStatus = (description: string) => Text(description, { minLength: 1 });

/** metav1.Condition. Reason and message may be empty: claims that Karpenter wrote have such ones. */
const Condition = Struct("One aspect of the object's state.", {
  type: ConditionType(
    "What the condition is about, in CamelCase, with a domain in front where it is not a general one.",
  ),
  status: ConditionStatus("True, False or Unknown."),
  reason: Optional(
    Text("Why the condition has this status, as one word in CamelCase.", {
      maxLength: 1024,
      pattern: "^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?)?$",
    }),
  ),
  message: Optional(Text("The same for people, in a sentence.", { maxLength: 32768 })),
  lastTransitionTime: Time("When the status last changed."),
  observedGeneration: Optional(Whole("The metadata.generation that the condition speaks of.", { minimum: 0 })),
});
export type Condition = Static<typeof Condition>;

export const Conditions = (description: string) =>
  ListOf(description, Condition, { maxItems: 100, identity: ["type"] });

export const ObservedGeneration = Whole("The metadata.generation that the rest of the status speaks of.", {
  minimum: 0,
});

export const LabelKey = (description: string, rules?: readonly Rule[]) =>
  Text(description, { pattern: patterns.qualifiedName, minLength: 1, maxLength: 316, ...(rules ? { rules } : {}) });

/** Label values are at most 63 characters, as everywhere in Kubernetes. */
export const LabelValue = (description: string) => Text(description, { pattern: patterns.labelValue, maxLength: 63 });

const LabelSelectorRequirement = Struct(
  "One demand on a label.",
  {
    key: LabelKey("The label's key."),
    operator: StringEnum("How the label's value relates to the values given.", [
      "In",
      "NotIn",
      "Exists",
      "DoesNotExist",
    ]),
    values: Optional(
      ListOf("The values for In and NotIn; none for Exists and DoesNotExist.", LabelValue("A label value."), {
        maxItems: 10000,
        identity: "atomic",
      }),
    ),
  },
  {
    rules: [
      rule(
        "self.operator in ['In', 'NotIn'] ? has(self.values) && self.values.size() > 0 : !has(self.values) || self.values.size() == 0",
        "give values with In and NotIn, and none with Exists and DoesNotExist",
      ),
    ],
  },
);

/** All demands must be met. An empty selector matches everything. */
export const LabelSelector = (description: string, rules?: readonly Rule[]) =>
  Struct(
    description,
    {
      matchLabels: Optional(
        MapOf("Labels that must be there with exactly these values.", LabelValue("The label's value."), {
          maxProperties: 1000,
        }),
      ),
      matchExpressions: Optional(
        ListOf("Demands on labels.", LabelSelectorRequirement, { maxItems: 1000, identity: "atomic" }),
      ),
    },
    { "x-kubernetes-map-type": "atomic", ...(rules ? { rules } : {}) },
  );

export const Taint = Struct("A mark on a node that keeps pods without a matching toleration away.", {
  key: LabelKey("The taint's key."),
  value: Optional(LabelValue("The taint's value.")),
  effect: StringEnum("What happens to pods that do not tolerate the taint.", [
    "NoSchedule",
    "PreferNoSchedule",
    "NoExecute",
  ]),
  timeAdded: Optional(Time("When the taint was put on. Kept for compatibility; nobody reads it here.")),
});

export const ResourceList = (description: string, fallback?: Record<string, string>) =>
  MapOf(description, Quantity("A quantity such as 4, 500m or 16Gi."), {
    maxProperties: 1000,
    ...(fallback ? { default: fallback } : {}),
  });

export const Name = (description: string) => Text(description, { minLength: 1 });
export const Uid = (description: string) => Text(description, { minLength: 1, maxLength: 128 });
