// The instance types that a SimulatedNodeClass offers: those it lists, or those its catalogue makes by rule. The default
// ones are laid out like Karpenter's simulated provider, so that the two can be compared.

import type { EffectiveSimulatedNodeClass } from "./effective-simulated-node-class.ts";
import type { InstanceType, Offering } from "./instance-type.ts";
import { capacityTypeKey, instanceTypeKey, zoneKey } from "./node.ts";
import type { NodeRequirement } from "./node-selector.ts";
import { accepted, type Parsed, refused } from "./parsed.ts";
import type { ResourceList } from "./pod.ts";
import {
  approximateValue,
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  type Quantity,
  subtractQuantities,
  zero,
} from "./quantity.ts";

type Types = EffectiveSimulatedNodeClass["types"];
type Catalogue = Extract<Types, { catalogue: unknown }>["catalogue"];
type ListedType = Extract<Types, { instanceTypes: unknown }>["instanceTypes"][number];
type QuantityByName = ReadonlyMap<string, Quantity>;

const archKey = "kubernetes.io/arch";
const osKey = "kubernetes.io/os";
const gibBytes = 2 ** 30;
/** Of types that are listed without a number of pods. */
const pods = { perCPU: 16, max: 1024 };
const diskSize = "20Gi";
/** Compute, standard and memory, as the peer calls them; other shapes are named after their memory. */
const familyOf = new Map([
  [2, "c"],
  [4, "s"],
  [8, "m"],
]);

export function simulatedCatalogue(nodeClass: EffectiveSimulatedNodeClass): Parsed<readonly InstanceType[]> {
  const { types } = nodeClass;
  const listed = "catalogue" in types ? byRule(types.catalogue) : types.instanceTypes;
  const made: InstanceType[] = [];
  for (const type of listed) {
    const instanceType = instanceTypeOf(type, nodeClass);
    if (!instanceType.ok) return refused(`instance type ${type.name}: ${instanceType.error}`);
    made.push(instanceType.value);
  }
  return accepted(made);
}

function byRule(catalogue: Catalogue): ListedType[] {
  const { cpus, memoryPerCPU, operatingSystems, architectures, podsPerCPU, maxPods } = catalogue;
  return cpus.flatMap(cpu =>
    memoryPerCPU.flatMap(gibPerCPU =>
      operatingSystems.flatMap(operatingSystem =>
        architectures.map(architecture => {
          const family = familyOf.get(gibPerCPU) ?? `g${gibPerCPU}`;
          const size = `${cpu}x`;
          return {
            name: `${family}-${size}-${architecture}-${operatingSystem}`,
            capacity: {
              cpu: String(cpu),
              memory: `${cpu * gibPerCPU}Gi`,
              "ephemeral-storage": diskSize,
              pods: String(Math.min(cpu * podsPerCPU, maxPods)),
            },
            operatingSystem,
            architecture,
            labels: {
              "fettle.dev/instance-family": family,
              "fettle.dev/instance-size": size,
              "fettle.dev/instance-cpu": String(cpu),
              "fettle.dev/instance-memory-gib": String(cpu * gibPerCPU),
            },
          };
        }),
      ),
    ),
  );
}

function instanceTypeOf(type: ListedType, nodeClass: EffectiveSimulatedNodeClass): Parsed<InstanceType> {
  const capacity = quantities(type.capacity);
  const overhead = quantities(type.overhead ?? nodeClass.overhead);
  if (!capacity.ok) return capacity;
  if (!overhead.ok) return overhead;
  const cpu = approximateValue(capacity.value.get("cpu") ?? zero);
  const gib = approximateValue(capacity.value.get("memory") ?? zero) / gibBytes;
  const whole = new Map(capacity.value);
  if (!whole.has("pods")) whole.set("pods", count(Math.min(Math.floor(cpu * pods.perCPU), pods.max)));
  return accepted({
    name: type.name,
    requirements: requirementsOf({
      ...type.labels,
      [instanceTypeKey]: type.name,
      [archKey]: type.architecture ?? "amd64",
      [osKey]: type.operatingSystem ?? "linux",
    }),
    offerings: offeringsOf(type, nodeClass, { cpu, gib }),
    capacity: written(whole),
    allocatable: written(less(whole, overhead.value)),
  });
}

function offeringsOf(
  { offerings }: ListedType,
  { zones, capacityTypes, prices }: EffectiveSimulatedNodeClass,
  { cpu, gib }: { cpu: number; gib: number },
): Offering[] {
  const everywhere = zones.flatMap(zone => capacityTypes.map(capacityType => ({ zone, capacityType })));
  const places: ListedType["offerings"] = offerings ?? everywhere;
  const onDemand = cpu * Number(prices.perCPU) + gib * Number(prices.perGiB);
  return places.map(({ zone, capacityType, price, available = true }) => {
    const byRule = capacityType === "spot" ? onDemand * Number(prices.spotFactor) : onDemand;
    return {
      requirements: requirementsOf({ [zoneKey]: zone, [capacityTypeKey]: capacityType }),
      // Without the noise of binary fractions, so that equal prices are equal.
      price: Number((price === undefined ? byRule : Number(price)).toPrecision(12)),
      available,
    };
  });
}

function requirementsOf(labels: Readonly<Record<string, string>>): NodeRequirement[] {
  return Object.entries(labels).map(([key, value]) => ({ key, operator: "In", values: [value] }));
}

function quantities(list: Readonly<Record<string, string | number>>): Parsed<QuantityByName> {
  const quantityByName = new Map<string, Quantity>();
  for (const [name, text] of Object.entries(list)) {
    const quantity = parseQuantity(String(text));
    if (!quantity.ok) return refused(`${name}: ${quantity.error}`);
    quantityByName.set(name, quantity.value);
  }
  return accepted(quantityByName);
}

/** Never below nothing. */
function less(capacity: QuantityByName, overhead: QuantityByName): QuantityByName {
  return new Map(
    [...capacity].map(([name, quantity]) => {
      const left = subtractQuantities(quantity, overhead.get(name) ?? zero);
      return [name, compareQuantities(left, zero) < 0 ? zero : left];
    }),
  );
}

function written(list: QuantityByName): ResourceList {
  return Object.fromEntries([...list].map(([name, quantity]) => [name, canonicalQuantity(quantity)]));
}

function count(value: number): Quantity {
  return { digits: BigInt(value), exponent: 0, format: "DecimalSI" };
}
