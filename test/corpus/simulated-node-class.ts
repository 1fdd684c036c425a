// The machines of the simulated provider: catalogue or types one by one, prices, times, faults.

import { at, bad, type Case, type Entry, good, needed, type Table } from "./entry.ts";
import { least, whole } from "./manifests.ts";
import { conditions, field, item, resources } from "./shapes.ts";
import * as words from "./words.ts";

const machines = least.simulatedNodeClass();
const full = whole("simulated-node-class");
const oneByOne = whole("simulated-node-class-other-names");

/** Some of a few words, at least one, none twice. */
const choice = (...values: string[]): Case[] => [
  ...item(words.oneOf(...values)),
  good("all of them", values),
  bad("none", []),
  bad("one twice", [values[0], values[0]], "[1]"),
  bad("more than there are", [...values, values[0]], "", `[${values.length}]`),
];

const labels = (max: number): Case[] => [
  ...words.list({ min: 1, max }, index => `zone-${index}`),
  ...item(words.labelValue),
  bad("one twice", ["zone-a", "zone-a"], "[1]"),
];

const capacityTypes = choice("on-demand", "spot", "reserved");
const zones = labels(50);

const spec: Table = {
  title: "what can be had",
  entries: [
    ...at(machines, "", [
      good("without a spec", { apiVersion: machines.apiVersion, kind: machines.kind, metadata: { name: "least" } }),
    ]),
    ...at(machines, "spec.zones", zones),
    ...at(machines, "spec.capacityTypes", capacityTypes),
    ...at(machines, "spec.prices.perCPU", words.decimal),
    ...at(machines, "spec.prices.perGiB", words.decimal),
    ...at(machines, "spec.prices.spotFactor", words.decimal),
    ...at(machines, "spec.overhead", resources),
    ...at(machines, "spec.image", words.text({ min: 1, max: 253 })),
    ...at(machines, "spec", [
      bad("a catalogue and types one by one", { ...(full.spec as object), ...(oneByOne.spec as object) }),
    ]),
  ],
};

const numbers = (max: number): Case[] => [
  ...words.list({ min: 1, max }, index => index + 1),
  ...item(words.whole({ min: 1, max: 1024 })),
  bad("one twice", [4, 8, 4], "[2]"),
];

const catalogue: Table = {
  title: "types made by rule",
  entries: [
    ...at(machines, "spec.catalogue", [good("with nothing to say", {})]),
    ...at(machines, "spec.catalogue.cpus", numbers(50)),
    ...at(machines, "spec.catalogue.memoryPerCPU", numbers(10)),
    ...at(machines, "spec.catalogue.operatingSystems", choice("linux", "windows")),
    ...at(machines, "spec.catalogue.architectures", choice("amd64", "arm64")),
    ...at(machines, "spec.catalogue.podsPerCPU", words.whole({ min: 1, max: 1000 })),
    ...at(machines, "spec.catalogue.maxPods", words.whole({ min: 1, max: 10000 })),
  ],
};

const type = "spec.instanceTypes[0]";
const offering = { zone: "zone-a", capacityType: "spot" };

const types: Table = {
  title: "types one by one",
  entries: [
    ...at(oneByOne, "spec.instanceTypes", [
      ...words.list({ min: 1, max: 1000 }, index => ({ name: `type-${index}`, capacity: {} })),
      bad(
        "a name twice",
        [0, 1].map(() => ({ name: "a", capacity: {} })),
        "[1]",
      ),
    ]),
    ...at(oneByOne, `${type}.name`, [...needed, ...words.labelValue]),
    ...at(oneByOne, `${type}.capacity`, [...needed, ...resources]),
    ...at(oneByOne, `${type}.overhead`, resources),
    ...at(oneByOne, `${type}.operatingSystem`, words.oneOf("linux", "windows")),
    ...at(oneByOne, `${type}.architecture`, words.oneOf("amd64", "arm64")),
    ...at(oneByOne, `${type}.labels`, [
      ...words.map({ max: 50 }, "v"),
      good("a value of 63 characters", { a: "a".repeat(63) }),
      bad("a value of 64 characters", { a: "a".repeat(64) }, "a"),
      bad("a value with a slash", { a: "b/c" }, "a"),
      bad("a number", { a: 4 }, "a"),
    ]),
    ...at(oneByOne, `${type}.offerings`, [
      ...words.list({ max: 200 }, index => ({ ...offering, zone: `zone-${index}` })),
      good("a zone with two capacity types", [offering, { ...offering, capacityType: "reserved" }]),
      bad("a zone and capacity type twice", [offering, { ...offering, price: "1" }], "[1]"),
      ...item([
        ...["zone", "capacityType"].flatMap(name => field(offering, name, needed)),
        ...field(offering, "zone", words.labelValue),
        ...field(offering, "capacityType", words.oneOf("on-demand", "spot", "reserved")),
        ...field(offering, "price", words.decimal),
        ...field(offering, "available", words.flag),
      ]),
    ]),
  ],
};

// The rule that compares p99 with the median cannot read a malformed one, and says so beside the pattern.
const p99 = field({ median: "1s" }, "p99", words.duration).map(entry => {
  const text = (entry.value as { p99: unknown }).p99;
  const isMalformed = entry.verdict.kind === "refused" && typeof text === "string" && text.length <= 32;
  return isMalformed ? bad(entry.title, entry.value, "", "p99") : entry;
});

const spread = (path: string): Entry[] => [
  ...at(machines, `${path}.median`, words.duration),
  ...at(machines, path, p99),
  ...at(machines, path, [
    good("p99 equal to the median", { median: "1m", p99: "60s" }),
    bad("p99 below the median", { median: "1m", p99: "59.9s" }),
    bad("p99 below the default median", { p99: "4s" }),
  ]),
];

const times: Table = {
  title: "times of simulated machines",
  entries: [
    ...["spec.boot", "spec.join", "spec.stop", "spec.reboot.time"].flatMap(spread),
    ...at(machines, "spec.reboot.heals", words.percent),
  ],
};

const fault = "spec.faults[0]";

const faults: Table = {
  title: "faults of simulated machines",
  entries: [
    ...at(
      machines,
      "spec.faults",
      words.list({ max: 50 }, () => ({ kind: "Vanishes" })),
    ),
    ...at(full, `${fault}.kind`, [
      ...needed,
      ...words.oneOf("NoCapacity", "NeverJoins", "NeverReady", "Flaps", "HangsOnDelete", "Lies", "Vanishes"),
    ]),
    ...at(full, `${fault}.share`, words.percent),
    ...at(full, `${fault}.zones`, zones),
    ...at(full, `${fault}.instanceTypes`, labels(100)),
    ...at(full, `${fault}.capacityTypes`, capacityTypes),
    ...at(full, `${fault}.after`, words.duration),
    ...at(full, `${fault}.period`, words.duration),
    ...at(full, `${fault}.conditionType`, words.conditionType),
    ...at(full, `${fault}.conditionStatus`, words.conditionStatus),
  ],
};

const status: Table = {
  title: "status of simulated machines",
  entries: [
    ...at(full, "status.observedGeneration", words.whole({ min: 0 })),
    ...at(full, "status.instanceTypes", words.whole({ min: 0 })),
    ...at(full, "status.conditions", conditions),
  ],
};

export const simulatedNodeClass: readonly Table[] = [spec, catalogue, types, times, faults, status];
