// SimulatedNodeClass: the machines of the simulated provider: what can be had where and at what price, how long they
// take, and what goes wrong with them.

import {
  Duration,
  Flag,
  ListOf,
  MapOf,
  Optional,
  Percent,
  patterns,
  rule,
  type Static,
  StringEnum,
  Struct,
  Text,
  Whole,
} from "./define.ts";
import { defineKind } from "./kind-definition.ts";
import type { ObjectMeta } from "./meta.ts";
import { Conditions, ConditionStatus, ConditionType, LabelValue, ObservedGeneration, ResourceList } from "./shapes.ts";

const capacityTypes = ["on-demand", "spot", "reserved"] as const;
const architectures = ["amd64", "arm64"] as const;
const operatingSystems = ["linux", "windows"] as const;

const Decimal = (description: string, fallback?: string) =>
  Text(description, { pattern: patterns.decimal, maxLength: 20, ...(fallback ? { default: fallback } : {}) });

const Choice = <V extends readonly string[]>(description: string, values: V, fallback?: readonly V[number][]) =>
  ListOf(description, StringEnum("One of them.", values), {
    maxItems: values.length,
    minItems: 1,
    identity: "set",
    ...(fallback ? { default: fallback } : {}),
  });

const ZoneNames = (description: string, options: { default?: readonly string[] } = {}) =>
  ListOf(description, LabelValue("A zone's name."), { maxItems: 50, minItems: 1, identity: "set", ...options });

const Spread = (description: string, median: string) =>
  Struct(
    `${description} Default ${median} each time.`,
    {
      median: Optional(Duration(`Half of them take no longer. Default ${median}.`, "duration", { default: median })),
      p99: Optional(
        Duration(
          "Of a hundred, one takes longer; the spread is log-normal. At least the median. Default: each takes the median.",
        ),
      ),
    },
    {
      default: {},
      rules: [
        rule(
          "!has(self.p99) || !has(self.median) || duration(self.p99) >= duration(self.median)",
          "p99 must be at least the median",
        ),
      ],
    },
  );

const Catalogue = Struct(
  "Instance types made by rule: every number of CPUs with every amount of memory for every system and architecture. Not together with instanceTypes.",
  {
    cpus: Optional(
      ListOf(
        "Numbers of CPUs. Default 1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192 and 256.",
        Whole("A number of CPUs.", { minimum: 1, maximum: 1024 }),
        {
          maxItems: 50,
          minItems: 1,
          identity: "set",
          default: [1, 2, 4, 8, 16, 32, 48, 64, 96, 128, 192, 256],
        },
      ),
    ),
    memoryPerCPU: Optional(
      ListOf("Memory for each CPU, in GiB. Default 2, 4 and 8.", Whole("GiB per CPU.", { minimum: 1, maximum: 1024 }), {
        maxItems: 10,
        minItems: 1,
        identity: "set",
        default: [2, 4, 8],
      }),
    ),
    operatingSystems: Optional(
      Choice("Operating systems. Default linux and windows.", operatingSystems, operatingSystems),
    ),
    architectures: Optional(Choice("Architectures. Default amd64 and arm64.", architectures, architectures)),
    podsPerCPU: Optional(
      Whole("How many pods a node takes for each CPU. Default 16.", { minimum: 1, maximum: 1000, default: 16 }),
    ),
    maxPods: Optional(
      Whole("How many pods a node takes at most. Default 1024.", { minimum: 1, maximum: 10000, default: 1024 }),
    ),
  },
);

const Offering = Struct("A place where a type can be had.", {
  zone: LabelValue("The zone."),
  capacityType: StringEnum("The capacity type.", capacityTypes),
  price: Optional(Decimal("Price for an hour. Default: by spec.prices.")),
  available: Optional(Flag("Whether there is capacity now. Default true.", { default: true })),
});

const InstanceType = Struct("A type of machine.", {
  name: LabelValue("Its name, the value of node.kubernetes.io/instance-type."),
  capacity: ResourceList("What it has: cpu and memory at least. Default for pods: 16 for each CPU, at most 1,024."),
  overhead: Optional(ResourceList("What of it pods cannot use. Default: spec.overhead.")),
  operatingSystem: Optional(StringEnum("Its operating system. Default linux.", operatingSystems, { default: "linux" })),
  architecture: Optional(StringEnum("Its architecture. Default amd64.", architectures, { default: "amd64" })),
  labels: Optional(
    MapOf("Further labels of its nodes. At most 50.", LabelValue("The label's value."), { maxProperties: 50 }),
  ),
  offerings: Optional(
    ListOf("Where it can be had. Default: in every zone with every capacity type, by spec.prices.", Offering, {
      maxItems: 200,
      identity: ["zone", "capacityType"],
    }),
  ),
});

const faultKinds = ["NoCapacity", "NeverJoins", "NeverReady", "Flaps", "HangsOnDelete", "Lies", "Vanishes"] as const;

const Fault = Struct("Something that goes wrong with some of the machines.", {
  kind: StringEnum(
    "NoCapacity: the launch is refused. NeverJoins: no node registers. NeverReady: it registers and stays unready. Flaps: a condition comes and goes. HangsOnDelete: the instance does not end. Lies: a condition is reported with a time long past. Vanishes: the instance is gone without a word.",
    faultKinds,
  ),
  share: Optional(Percent("How many of the machines it strikes. Default 100%.", { default: "100%" })),
  zones: Optional(ZoneNames("Only in these zones. Default: in all.")),
  instanceTypes: Optional(
    ListOf("Only these types. Default: all.", LabelValue("A type's name."), {
      maxItems: 100,
      minItems: 1,
      identity: "set",
    }),
  ),
  capacityTypes: Optional(Choice("Only these capacity types. Default: all.", capacityTypes)),
  after: Optional(Duration("How long after the machine's start. Default 0s.", "duration", { default: "0s" })),
  period: Optional(
    Duration("With Flaps: how long the condition is bad, and then good again. Default 20s.", "duration", {
      default: "20s",
    }),
  ),
  conditionType: Optional(ConditionType("With Flaps and Lies: which condition. Default Ready.")),
  conditionStatus: Optional(ConditionStatus('With Flaps and Lies: its bad status, quoted. Default "False".')),
});

const Spec = Struct(
  "What can be had.",
  {
    zones: Optional(
      ZoneNames("Zones. At most 50. Default test-zone-a, test-zone-b, test-zone-c and test-zone-d.", {
        default: ["test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"],
      }),
    ),
    capacityTypes: Optional(
      Choice("Capacity types. Default on-demand and spot.", capacityTypes, ["on-demand", "spot"]),
    ),
    prices: Optional(
      Struct(
        "Prices for an hour.",
        {
          perCPU: Optional(Decimal("For each CPU. Default 0.025.", "0.025")),
          perGiB: Optional(Decimal("For each GiB of memory. Default 0.001.", "0.001")),
          spotFactor: Optional(Decimal("What spot costs, as a part of on-demand. Default 0.7.", "0.7")),
        },
        { default: {} },
      ),
    ),
    overhead: Optional(
      ResourceList("What of each machine pods cannot use. Default cpu 100m, memory 10Mi.", {
        cpu: "100m",
        memory: "10Mi",
      }),
    ),
    catalogue: Optional(Catalogue),
    instanceTypes: Optional(
      ListOf(
        "The types one by one. At most 1,000. Not together with catalogue. Default: the catalogue with all its defaults.",
        InstanceType,
        {
          maxItems: 1000,
          minItems: 1,
          identity: ["name"],
        },
      ),
    ),
    image: Optional(
      Text(
        "What its machines run. Nodes that were launched with another have drifted. Default: nothing is said of it.",
        {
          minLength: 1,
          maxLength: 253,
        },
      ),
    ),
    boot: Optional(Spread("How long from the launch until the node registers.", "30s")),
    join: Optional(Spread("How long from there until it is Ready.", "10s")),
    stop: Optional(Spread("How long from the delete until the instance is gone.", "5s")),
    reboot: Optional(
      Struct(
        "What a reboot does.",
        {
          time: Optional(Spread("How long it takes.", "1m")),
          heals: Optional(Percent("How many sick machines it heals. Default 100%.", { default: "100%" })),
        },
        { default: {} },
      ),
    ),
    faults: Optional(
      ListOf("What goes wrong. At most 50. Default: nothing.", Fault, { maxItems: 50, identity: "atomic" }),
    ),
  },
  {
    default: {},
    rules: [rule("!(has(self.catalogue) && has(self.instanceTypes))", "set either catalogue or instanceTypes")],
  },
);

const Status = Struct("What Fettle sees.", {
  observedGeneration: Optional(ObservedGeneration),
  instanceTypes: Optional(Whole("How many types can be had.", { minimum: 0 })),
  conditions: Optional(Conditions("Ready says whether nodes can be launched with this class.")),
});

export type SimulatedNodeClassSpec = Static<typeof Spec>;
export type SimulatedNodeClassStatus = Static<typeof Status>;
export type SimulatedNodeClass = {
  apiVersion: string;
  kind: "SimulatedNodeClass";
  metadata: ObjectMeta;
  spec: SimulatedNodeClassSpec;
  status?: SimulatedNodeClassStatus;
};

export const simulatedNodeClasses = defineKind({
  group: "fettle.dev",
  versions: ["v1alpha1"],
  kind: "SimulatedNodeClass",
  plural: "simulatednodeclasses",
  shortNames: ["simnc"],
  categories: ["fettle"],
  description: "The machines of the simulated provider: catalogue, zones, prices, times and faults.",
  spec: Spec,
  status: Status,
  columns: [
    { name: "Types", type: "integer", jsonPath: ".status.instanceTypes" },
    { name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" },
  ],
});
